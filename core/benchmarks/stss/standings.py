"""STSS's tables of agents as plain values for JSON, as CSV (one figure a row), as the LaTeX tables of the paper, and what to know of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.benchmarks.stss import tables
from core.benchmarks.stss.tasks import TITLES
from core.reports.leaderboards import Figure
from core.table import latex_text as escape

Rows = Iterator[tuple[tables.Agent, list[Figure | int]]]
"""A table's rows in the order of its columns: an agent, its figures and counts."""


def as_values(found: tables.Tables) -> dict[str, Any]:
    """Everything, ready for JSON. A figure is {"value", "ci"}; undefined is null with a "reason"."""
    return {
        "action": [
            {
                **_named(row.agent), "n": row.n, "simulated": row.simulated,
                "types": {kind: {**_figure(figure), "tasks": row.tasks[kind]} for kind, figure in row.kinds.items()},
                "overall": _figure(row.overall), "conversation_ratio": _figure(row.conversation_ratio),
            }
            for row in found.action
        ],
        "language": [
            {
                **_named(row.agent), "n": row.n, "tasks": row.tasks, "left_out": row.left_out, "simulated": row.simulated,
                **{of: {metric: {mean: _figure(row.figures[of, metric, mean]) for mean in ("micro", "macro")} for metric in ("SR", "GCSR")}
                   for of in ("conversation", "summary")},
                "marks": {name: _figure(figure) for name, figure in row.marks.items()},
            }
            for row in found.language
        ],
        "gap": [
            {**_named(g.agent), "tasks": g.tasks, "said": _figure(g.said), "done": _figure(g.done), "gap": _figure(g.gap)} for g in found.gaps
        ],
        "judges": list(found.judges), "simulated": list(found.simulated), "resamples": found.resamples, "seed": found.seed,
    }  # fmt: skip


def _named(agent: tables.Agent) -> dict[str, str]:
    return {"player": agent.player, "architecture": agent.architecture, "embeddings": agent.embeddings}


def _figure(figure: Figure) -> dict[str, Any]:
    values: dict[str, Any] = {"value": figure.value, "ci": list(figure.ci) if figure.ci else None}
    return values | ({"reason": figure.reason} if figure.reason else {})


def action(found: tables.Tables) -> Rows:
    """What each agent brought about, by type of task, overall, its conversation ratio, and the number of simulations."""
    for row in found.action:
        yield row.agent, [*(row.kinds[kind] for kind in TITLES), row.overall, row.conversation_ratio, row.n]


def language(found: tables.Tables) -> Rows:
    """What each agent said: success by SR and GCSR, the judges' marks, and the number of conversations."""
    for row in found.language:
        yield row.agent, [*(row.figures[column] for column in tables.COLUMNS), *row.marks.values(), row.n]


def gaps(found: tables.Tables) -> Rows:
    """Words less deeds: SR on conversations, action score, the gap, and the number of tasks."""
    for g in found.gaps:
        yield g.agent, [g.said, g.done, g.gap, g.tasks]


def as_csv(found: tables.Tables) -> str:
    """One figure a row: table, model, agent, figure, value, interval, n."""
    out = io.StringIO()
    columns = ["table", "player", "architecture", "embeddings", "figure", "value", "ci_low", "ci_high", "n"]
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
        lines += _tabular([*TITLES.values(), "Overall", "Conv. ratio", "$n$"], action(found))
    if found.language:
        lines += _tabular(
            [" ".join(column) for column in tables.COLUMNS]
            + [q.capitalize() for q in found.language[0].marks]
            + ["$n$"],
            language(found),
        )
    return "\n".join([*lines, *(f"% {escape(note)}" for note in notes(found))]) + "\n"


def _tabular(headings: Sequence[str], rows: Rows) -> list[str]:
    def cell(value: Figure | int) -> str:
        if isinstance(value, int):
            return str(value)
        return "--" if value.value is None else f"{value.value:.3f}"

    body = [" & ".join([escape(a.player), escape(a.called), *map(cell, cells)]) + r" \\" for a, cells in rows]
    return [
        r"\begin{tabular}{ll" + "r" * len(headings) + "}", r"\toprule", " & ".join(["LLM", "Agent", *headings]) + r" \\", r"\midrule",
        *body, r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip


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
    players = [row.simulated for row in found.action] + [row.simulated for row in found.language]
    if found.simulated or any(players):
        told.append("Mock models take part: these figures say nothing about language models.")
    return told
