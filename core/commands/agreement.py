"""`concord agreement`: how well judges agree with people, and people with each other."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from core import studies
from core.exchange import figures
from core.workspace import Workspace

_KEPT = "Correlations leave out {n} of {all} units: {reason}. --keep-refused counts them."


@click.command("agreement")
@click.option("--study", required=True, metavar="NAME", help="The study to measure.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "latex"]),
    default="table",
    show_default=True,
)
@click.option(
    "--resamples", type=click.IntRange(0), default=1000, show_default=True, help="Bootstrap draws of items."
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The same seed gives the same intervals.",
)
@click.option(
    "--panel",
    "panels",
    metavar="A,B,…",
    multiple=True,
    help="A panel of judges to measure beside the mean of all and every pair; may be repeated.",
)
@click.option(
    "--runs",
    type=click.Choice(["mean", "single"]),
    default="mean",
    show_default=True,
    help="Repeated runs of a judge: their mean, or each by itself.",
)
@click.option("--keep-refused", is_flag=True, help="Count conversations in which a judge saw a refusal.")
@click.pass_obj
def command(
    workspace: str,
    study: str,
    form: str,
    resamples: int,
    seed: int,
    panels: tuple[str, ...],
    runs: studies.Runs,
    keep_refused: bool,
) -> None:
    """Agreement of people with each other, and of judges and panels with people.

    Exits with 1, after printing what can be measured, where a study lacks people, judges or anything to compare.
    """
    with Workspace.open(workspace, create=False).read() as db:
        ratings = studies.ratings_for_agreement(db, study, runs=runs, exclude_refused=not keep_refused)
    found = studies.agreement(
        ratings,
        panels=[[name.strip() for name in panel.split(",") if name.strip()] for panel in panels],
        resamples=resamples,
        seed=seed,
    )
    if form == "json":
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(figures.as_csv(found), nl=False)
    elif form == "latex":
        click.echo(figures.as_latex(found), nl=False)
    else:
        _show(found, ratings)
    for note in _notes(ratings, found):
        click.echo(note, err=True)
    problems = studies.shortcomings(found, anonymous=ratings.study.anonymous)
    for sentence in problems:
        click.echo(f"Error: {sentence}", err=True)
    if problems:
        sys.exit(1)


def _notes(ratings: studies.StudyRatings, found: Mapping[str, Any]) -> list[str]:
    units = found["items"] + len(ratings.left_out)
    notes = [
        _KEPT.format(n=n, all=units, reason=reason)
        for reason, n in Counter(ratings.left_out.values()).items()
    ]
    if ratings.stand_ins:
        notes.append(f"Stand-ins, neither people nor language models: {', '.join(ratings.stand_ins)}.")
    if ratings.study.anonymous:
        notes.append("People's ratings have no names: no figure compares one person with another.")
    if 0 < len(ratings.counted) < len([c for c in ratings.study.criteria if c.counted]):
        notes.append(f"Final is the mean of what people and judges both rated: {', '.join(ratings.counted)}.")
    return notes


def _show(found: Mapping[str, Any], ratings: studies.StudyRatings) -> None:
    console = Console()
    criteria = found["criteria"]
    people = Table(title=f"People agree with each other: {found['study']}", title_justify="left")
    for heading in (
        "criterion",
        "raters",
        "items",
        "alpha, ordinal",
        "alpha, interval",
        "each with the others",
    ):
        people.add_column(heading, justify="left" if heading == "criterion" else "right")
    for name, part in criteria.items():
        humans = part["humans"]
        ceiling = [p["vs_others"] for p in humans["each"] if p["vs_others"] is not None]
        people.add_row(
            name,
            str(humans["raters"]),
            str(humans["items"]),
            *(_with_interval(humans["alpha"][metric], "value") for metric in ("ordinal", "interval")),
            f"{min(ceiling):.3f} to {max(ceiling):.3f}" if ceiling else "undefined",
        )
    console.print(people)
    rows: dict[str, dict[str, str]] = {}
    for name, part in criteria.items():
        for rater in [*part["judges"], *part["panels"]]:
            rows.setdefault(figures.name_of(rater), {})[name] = _with_interval(rater, "spearman")
    if rows:
        console.print(_judges(rows, list(criteria)))
    reasons: dict[str, dict[str, None]] = {}
    for name, part in criteria.items():
        for row in [*part["humans"]["alpha"].values(), *part["judges"], *part["panels"]]:
            if "reason" in row:
                reasons.setdefault(row["reason"], {})[name] = None
    for reason, where in reasons.items():
        console.print(
            f"undefined, {reason}: {', '.join(where)}", highlight=False, markup=False, soft_wrap=True
        )
    console.print(
        f"{found['items']} items; intervals: percentile bootstrap over items, {found['resamples']} resamples, seed {found['seed']}. "
        "All figures: --format json.",
        highlight=False,
        soft_wrap=True,
    )


def _judges(rows: Mapping[str, Mapping[str, str]], criteria: list[str]) -> Table:
    """Judges and panels × criteria; the longer side goes down the page."""
    table = Table(title="Judges agree with the mean of people (Spearman, 95% interval)", title_justify="left")
    down, across = (list(rows), criteria) if len(rows) >= len(criteria) else (criteria, list(rows))
    table.add_column("judge or panel" if down is not criteria else "criterion")
    for heading in across:
        table.add_column(heading, justify="right")
    for first in down:
        pairs = [(first, other) if down is not criteria else (other, first) for other in across]
        table.add_row(first, *(rows[rater][criterion] for rater, criterion in pairs))
    return table


def _with_interval(row: Mapping[str, Any], key: str) -> str:
    value, ends = row[key], row["ci"]
    if value is None:
        return "undefined"
    return f"{value:.3f}" + (f" [{ends[0]:.2f}, {ends[1]:.2f}]" if ends else "")
