"""`concord town …`: towns that social tasks are played in."""

from __future__ import annotations

import json
from pathlib import Path

import click

from core.benchmarks.stss import views
from core.benchmarks.stss.tasks import task_from, values_of
from core.benchmarks.stss.templates import load_templates
from core.benchmarks.stss.town import problems, read_town
from core.benchmarks.stss.trajectory import from_stored, records
from core.benchmarks.stss.trajectory_files import write_trajectory
from core.store import conversations, trajectories
from core.workspace import Workspace


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
    templates = file.with_name("templates.toml")
    if templates.is_file():
        found += f", {len(load_templates(templates, town).templates)} task templates"
    longest = max(town.minutes(a, b) for a in town.sectors for b in town.sectors)
    click.echo(f"{found}. Everything can be reached; the longest way takes {longest:.0f} minutes.")


@command.command("export")
@click.argument("number", type=int)
@click.argument("out", metavar="DIR", type=click.Path(path_type=Path))
@click.pass_obj
def _export(folder: str, number: int, out: Path) -> None:
    """Write stored simulation NUMBER (its conversation's) to DIR: tasks.json and trajectory.jsonl, as `concord score stss` reads them.

    Beside them simulation.json says who played it in which town, and what the performer had planned for its task (TDP).
    """
    with Workspace.open(folder, create=False).read() as db:
        lived = from_stored(trajectories.load(db, number))
        played, simulated = conversations.load(db, number), conversations.found(db, number).simulated
    task = task_from(played.context["_task"])
    about = {
        "key": played.key, "player": played.player, "simulated": simulated, "facets": dict(played.facets),
        "residents": played.meta.get("residents"), "embeddings": played.meta.get("embeddings"),
        "prompts": played.meta.get("prompts"), "planned": views.planned_in(task, lived),
    }  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    for name, values in (("tasks.json", [values_of(task)]), ("simulation.json", about)):
        (out / name).write_text(json.dumps(values, ensure_ascii=False, indent=1), encoding="utf-8")
    written = write_trajectory(records(lived), out / "trajectory.jsonl")
    click.echo(
        f"{out / 'tasks.json'}: the task “{task.id}”; {out / 'trajectory.jsonl'}: {written:,} records; "
        f"{out / 'simulation.json'}: who played it{', and what the performer planned' if about['planned'] else ''}."
    )
