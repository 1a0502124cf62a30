"""`concord agreement --nominal`: answers taken as categories, such as yes and no."""

from __future__ import annotations

import json

import click
import pandas as pd
from rich.markup import escape
from rich.table import Table

from core.agreement import Ratings, nominal, read_ratings
from core.commands import printing
from core.studies.studies import StudyRatings, lacking


def show(ratings: StudyRatings, *, form: str, resamples: int, seed: int) -> None:
    """Print nominal alpha and the kappas of each criterion that has more than a mark of one person: as table, JSON or CSV.

    Exits with 1, after printing, where the study lacks people, judges or anything to compare.
    """
    if form == "latex":
        raise click.UsageError("Nominal figures come as table, json or csv.")
    table = read_ratings(
        ratings.table, criteria=ratings.criteria, counted=(), exclude_units=ratings.left_out,
        anonymous_people=ratings.study.anonymous,
    )  # fmt: skip
    found = {
        name: nominal(table, name, resamples=resamples, seed=seed, clusters=ratings.clusters)
        for name in ratings.criteria
    }
    rows = pd.concat(
        [figures.rows.assign(criterion=name) for name, figures in found.items()], ignore_index=True
    )
    rows = rows[["criterion", "coefficient", "a", "b", "value", "low", "high", "agreement", "n", "reason"]]
    if form == "csv":
        click.echo(rows.to_csv(index=False), nl=False)
    elif form == "json":
        values = rows.astype(object).where(rows.notna(), None).to_dict("records")
        click.echo(json.dumps({"study": ratings.study.name, "figures": values}, ensure_ascii=False, indent=2))
    else:
        printing.console().print(_table(rows))
    for name, figures in found.items():
        click.echo(f"{name}: {figures.basis}", err=True)
    if ratings.simulated:
        click.echo(
            f"Mock models, neither people nor language models: {', '.join(ratings.simulated)}.", err=True
        )
    problems = _problems(ratings, table, rows)
    for sentence in problems:
        click.echo(f"Error: {sentence}", err=True)
    if problems:
        raise SystemExit(1)


def _problems(ratings: StudyRatings, table: Ratings, rows: pd.DataFrame) -> list[str]:
    scores = [table[name] for name in ratings.criteria]
    people = max((len(s.people) for s in scores), default=0)
    judges = {name for s in scores for name in s.judges}
    compared = rows[rows.a.isin(judges)]
    reason = next(iter(compared.reason), "") if compared.value.isna().all() else None
    return lacking(ratings.study.name, people, bool(judges), reason, anonymous=ratings.study.anonymous)


def _table(rows: pd.DataFrame) -> Table:
    table = printing.table("Answers as categories")
    # Undefined ones say why in the place of their value.
    noted = bool((rows.value.notna() & (rows.reason != "")).any())
    for heading in ("criterion", "coefficient", "of"):
        table.add_column(heading)
    for heading in ("value", "95% interval", "equal answers", "n"):
        table.add_column(heading, justify="right")
    if noted:
        table.add_column("why")
    for row in rows.to_dict("records"):
        of = f"{row['a']} – {row['b']}" if row["a"] else "people"
        undefined = row["value"] != row["value"]
        value = f"undefined: {row['reason']}" if undefined else f"{row['value']:.3f}"
        ends = "" if row["low"] != row["low"] else f"{row['low']:.2f} to {row['high']:.2f}"
        share = "" if row["agreement"] != row["agreement"] else f"{row['agreement']:.0%}"
        table.add_row(
            escape(str(row["criterion"])),
            str(row["coefficient"]),
            escape(of),
            value,
            ends,
            share,
            str(row["n"]),
            *([] if not noted else [""] if undefined else [escape(str(row["reason"]))]),
        )
    return table
