"""`concord town …`: towns that social tasks are played in."""

from __future__ import annotations

from pathlib import Path

import click

from core.benchmarks.stss.town import problems, read_town


@click.group("town")
def command() -> None:
    """The towns that social tasks are played in."""


@command.command("check")
@click.argument("file", type=click.Path(path_type=Path))
def _check(file: Path) -> None:
    """Whether the town in FILE can be lived in: doors, ways, homes, work, names. Exits with 1 where it cannot."""
    town = read_town(file)
    wrong = problems(town)
    for sentence in wrong:
        click.echo(f"- {sentence}")
    arenas = sum(len(s.arenas) for s in town.sectors.values())
    found = f"{town.name}: {len(town.sectors)} sectors with {arenas} arenas, {len(town.residents)} residents"
    if wrong:
        click.echo(f"{found}, {len(wrong)} problem{'s' if len(wrong) > 1 else ''}.", err=True)
        raise SystemExit(1)
    longest = max(town.minutes(a, b) for a in town.sectors for b in town.sectors)
    click.echo(f"{found}. Everything can be reached; the longest way takes {longest:.0f} minutes.")
