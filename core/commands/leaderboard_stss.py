"""`concord leaderboard stss`: agents by what they bring about and by what they say, and the gap between the two."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from core import leaderboards_stss as tables
from core.agreement.show import escape
from core.benchmarks.stss.tasks import TITLES
from core.leaderboards import Figure
from core.workspace import Workspace


def show(workspace: Workspace, *, judges: Sequence[str], form: str, resamples: int, seed: int) -> None:
    """Print the tables in the form asked for."""
    with workspace.read() as db:
        found = tables.leaderboard(db, judges=judges, resamples=resamples, seed=seed)
    if form == "json":
        click.echo(json.dumps(as_values(found), ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(as_csv(found), nl=False)
    elif form == "latex":
        click.echo(as_latex(found), nl=False)
    else:
        console = Console(width=None if sys.stdout.isatty() else 180)
        for table in _tables(found):
            console.print(table)
    for note in notes(found):
        click.echo(note, err=True)


def notes(found: tables.Tables) -> list[str]:
    """What a reader has to know of the figures, one sentence each."""
    told = [
        f"95% intervals: percentile bootstrap over tasks, {found.resamples} resamples, seed {found.seed}. Several simulations of a task are averaged first."
    ]
    if found.language:
        told.append(
            f"Language level: mean of {', '.join(found.judges)}; SR all conditions met, GCSR share met; micro over conversations, macro over tasks."
        )
    left_out = sum(row.left_out for row in found.language)
    if left_out:
        told.append(
            f"{left_out} conversations are left out because a judge of the panel has not usably answered."
        )
    counts = {row.n for row in found.action}
    if len(counts) > 1:
        told.append(f"The agents were not simulated equally often ({min(counts)} to {max(counts)} times).")
    if found.gaps:
        told.append(
            "The gap is SR on conversations less the action score, on the tasks that an agent has both for: words not followed by deeds."
        )
    players = [row.stand_in for row in found.action] + [row.stand_in for row in found.language]
    if found.stand_ins or any(players):
        told.append("Stand-ins take part: these figures say nothing about language models.")
    return told


def as_values(found: tables.Tables) -> dict[str, Any]:
    """Everything, ready for JSON. A figure is {"value", "ci"}; undefined is null with a "reason"."""
    return {
        "action": [
            {
                **_named(row.agent), "n": row.n, "stand_in": row.stand_in,
                "types": {kind: {**_figure(figure), "tasks": row.tasks[kind]} for kind, figure in row.kinds.items()},
                "overall": _figure(row.overall), "conversation_ratio": _figure(row.conversation_ratio),
            }
            for row in found.action
        ],
        "language": [
            {
                **_named(row.agent), "n": row.n, "tasks": row.tasks, "left_out": row.left_out, "stand_in": row.stand_in,
                **{of: {metric: {mean: _figure(row.figures[of, metric, mean]) for mean in ("micro", "macro")} for metric in ("SR", "GCSR")}
                   for of in ("conversation", "summary")},
                "marks": {name: _figure(figure) for name, figure in row.marks.items()},
            }
            for row in found.language
        ],
        "gap": [
            {**_named(g.agent), "tasks": g.tasks, "said": _figure(g.said), "done": _figure(g.done), "gap": _figure(g.gap)} for g in found.gaps
        ],
        "judges": list(found.judges), "stand_ins": list(found.stand_ins), "resamples": found.resamples, "seed": found.seed,
    }  # fmt: skip


def _named(agent: tables.Agent) -> dict[str, str]:
    return {"player": agent.player, "architecture": agent.architecture}


def _figure(figure: Figure) -> dict[str, Any]:
    values: dict[str, Any] = {"value": figure.value, "ci": list(figure.ci) if figure.ci else None}
    return values | ({"reason": figure.reason} if figure.reason else {})


def _tables(found: tables.Tables) -> Iterator[Table]:
    if found.action:
        yield _table("STSS, action level", [*TITLES.values(), "Overall", "Conv. ratio", "n"], _action(found))
    if found.language:
        headings = [f"{of[:4]}. {metric} {mean}" for of, metric, mean in tables.COLUMNS]
        yield _table(
            "STSS, language level", [*headings, "Natural", "Rational", "Quality", "n"], _language(found)
        )
    if found.gaps:
        yield _table("Words and deeds", ["SR, conversation", "Action score", "Gap", "tasks"], _gaps(found))


def _action(found: tables.Tables) -> Iterator[tuple[tables.Agent, list[Figure | int]]]:
    for row in found.action:
        yield row.agent, [*(row.kinds[kind] for kind in TITLES), row.overall, row.conversation_ratio, row.n]


def _language(found: tables.Tables) -> Iterator[tuple[tables.Agent, list[Figure | int]]]:
    for row in found.language:
        yield row.agent, [*(row.figures[column] for column in tables.COLUMNS), *row.marks.values(), row.n]


def _gaps(found: tables.Tables) -> Iterator[tuple[tables.Agent, list[Figure | int]]]:
    for g in found.gaps:
        yield g.agent, [g.said, g.done, g.gap, g.tasks]


def _table(
    title: str, headings: Sequence[str], rows: Iterator[tuple[tables.Agent, list[Figure | int]]]
) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for heading in ("model", "agent"):
        table.add_column(heading)
    for heading in headings:
        table.add_column(heading, justify="right")
    for agent, cells in rows:
        table.add_row(agent.player, agent.architecture, *map(_cell, cells))
    return table


def _cell(cell: Figure | int) -> str:
    if isinstance(cell, int):
        return str(cell)
    if cell.value is None:
        return "–"
    half = cell.half_width
    return f"{cell.value:.3f}" + (f"\n± {half:.3f}" if half is not None else "")


def as_csv(found: tables.Tables) -> str:
    """One figure a row: table, model, agent, figure, value, interval, n."""
    out = io.StringIO()
    columns = ["table", "player", "architecture", "figure", "value", "ci_low", "ci_high", "n"]
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for row in found.action:
        for kind, figure in row.kinds.items():
            _write(writer, "action", row.agent, {kind: figure}, row.tasks[kind])
        figures = {"overall": row.overall, "conversation_ratio": row.conversation_ratio}
        _write(writer, "action", row.agent, figures, row.n)
    for said in found.language:
        figures = {" ".join(column): figure for column, figure in said.figures.items()}
        _write(writer, "language", said.agent, {**figures, **said.marks}, said.n)
    for g in found.gaps:
        _write(writer, "gap", g.agent, {"said": g.said, "done": g.done, "gap": g.gap}, g.tasks)
    return out.getvalue()


def _write(
    writer: csv.DictWriter[str], table: str, agent: tables.Agent, figures: Mapping[str, Figure], n: int
) -> None:
    for name, figure in figures.items():
        low, high = figure.ci or (None, None)
        writer.writerow(
            {
                "table": table,
                **_named(agent),
                "figure": name,
                "value": figure.value,
                "ci_low": low,
                "ci_high": high,
                "n": n,
            }
        )


def as_latex(found: tables.Tables) -> str:
    """The two tables of the paper. Wants booktabs."""
    lines: list[str] = []
    if found.action:
        lines += _tabular([*TITLES.values(), "Overall", "Conv. ratio", "$n$"], _action(found))
    if found.language:
        lines += _tabular(
            [" ".join(column) for column in tables.COLUMNS]
            + [q.capitalize() for q in found.language[0].marks]
            + ["$n$"],
            _language(found),
        )
    return "\n".join([*lines, *(f"% {escape(note)}" for note in notes(found))]) + "\n"


def _tabular(headings: Sequence[str], rows: Iterator[tuple[tables.Agent, list[Figure | int]]]) -> list[str]:
    def cell(value: Figure | int) -> str:
        if isinstance(value, int):
            return str(value)
        return "--" if value.value is None else f"{value.value:.3f}"

    body = [
        " & ".join([escape(a.player), escape(a.architecture), *map(cell, cells)]) + r" \\"
        for a, cells in rows
    ]
    return [
        r"\begin{tabular}{ll" + "r" * len(headings) + "}", r"\toprule", " & ".join(["LLM", "Agent", *headings]) + r" \\", r"\midrule",
        *body, r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip
