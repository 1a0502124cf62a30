"""`concord agreement`: how well judges agree with people, and people with each other."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from core.agreement import show
from core.commands import agreement_nominal, options
from core.studies import studies
from core.workspace import Workspace

_KEPT = "Correlations leave out {n} of {all} units: {reason}. --keep-refused counts them."


@click.command("agreement")
@click.option("--study", required=True, metavar="NAME", help="The study to measure.")
@options.form("json", "csv", "latex")
@options.resamples("items")
@options.seed
@options.measuring
@click.option(
    "--nominal",
    is_flag=True,
    help="Take answers as categories (yes/no): nominal alpha and Cohen's kappa instead.",
)
@click.pass_obj
def command(
    workspace: str,
    study: str,
    form: str,
    resamples: int,
    seed: int,
    panels: tuple[tuple[str, ...], ...],
    runs: studies.Runs,
    keep_refused: bool,
    cluster_by: tuple[str, ...],
    nominal: bool,
) -> None:
    """Agreement of people with each other, and of judges and panels with people.

    Exits with 1, after printing what can be measured, where a study lacks people, judges or anything to compare.
    """
    with Workspace.open(workspace, create=False).read() as db:
        ratings = studies.ratings_for_agreement(
            db, study, runs=runs, exclude_refused=not keep_refused, cluster_by=cluster_by
        )
    if nominal:
        agreement_nominal.show(ratings, form=form, resamples=resamples, seed=seed)
        return
    found = studies.agreement(ratings, panels=panels, resamples=resamples, seed=seed)
    if form == "json":
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(show.to_csv(found), nl=False)
    elif form == "latex":
        click.echo(show.latex(found), nl=False)
    else:
        click.echo(show.text(found, reported=studies.reported(ratings.study)), nl=False)
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
    if ratings.simulated:
        notes.append(f"Mock models, neither people nor language models: {', '.join(ratings.simulated)}.")
    if ratings.study.anonymous:
        notes.append("People's ratings have no names: no figure compares one person with another.")
    if 0 < len(ratings.counted) < len([c for c in ratings.study.criteria if c.counted]):
        notes.append(f"Final is the mean of what people and judges both rated: {', '.join(ratings.counted)}.")
    return notes
