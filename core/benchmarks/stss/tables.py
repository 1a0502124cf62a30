"""STSS's tables: agents by action score, and by success rate in conversations.

After Wang et al., tables 3 and 4. Intervals resample tasks: simulations of one task are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd
from sqlite_utils import Database

from concord.benchmarks.stss import STSS, STSS_LANGUAGE, goals, scoring
from concord.benchmarks.stss.tasks import TITLES, Kind, task_from
from concord.benchmarks.stss.trajectory import from_stored
from concord.conversation import Conversation
from concord.errors import ConcordError, NotFound, check_known, not_found
from concord.estimate import Estimate
from concord.reports import leaderboards
from concord.reports.leaderboards import MOCKS
from concord.reports.rated import Rated, gather
from concord.scores import DIGITS
from concord.statistics.intervals import SHARE, Ends, described
from concord.statistics.resampling import mean_estimates
from concord.store import conversations, runs, tables
from concord.store.filters import FacetValues
from concord.table import Cell, Column, Table

AGENT = ("player", *STSS.evaluated)
"""What is evaluated: a model in an architecture; `embeddings` is the model for relevance, if any."""
COLUMNS = tuple(product(("conversation", "summary"), ("SR", "GCSR"), ("micro", "macro")))
"""The language table's: all conditions met, or the share met; over conversations, or over tasks."""


def leaderboard(
    db: Database,
    *,
    filters: FacetValues | None = None,
    judges: Sequence[str] = (),
    beside: str = "",
    **sampling: Any,
) -> tuple[Table, ...]:
    """The action table and those of the language level; a table without rows is excluded.

    `beside` names an agent, as “MODEL ARCHITECTURE”: the action table then says how far each other one's
    overall score lies above its, on the tasks that both have.

    Raises ConcordError where nothing was simulated or talked, NotFound for an agent without a score, for a
    judge who has answered nothing, and for a value in `filters` that nothing has.
    """
    try:
        tables.check(db, STSS.name, filters)
    except NotFound:
        tables.check(db, STSS_LANGUAGE.name, filters)
    simulations = simulated(db, filters)
    rated, panel, talks = talked(db, filters, judges)
    rated = rated and replace(rated, mixed={})
    if simulations.empty and talks.empty:
        raise ConcordError("Nothing has been simulated yet. Start with `concord run stss`.")
    sampling = {"resamples": 1000, "seed": 0, **sampling}
    failed = {name: _failed(db, name, filters) for name in (STSS.name, STSS_LANGUAGE.name)}
    every_table = [
        with_differences(
            action_table(simulations, failed[STSS.name], **sampling), simulations, beside, **sampling
        ),
        *_by_text(language_table(talks, failed[STSS_LANGUAGE.name], **sampling)),
    ]
    first, *rest = (table for table in every_table if table.rows)
    mixed = {
        name: values
        for level in (STSS, STSS_LANGUAGE)
        for name, values in tables.conditions(db, level.name, (*level.items, *AGENT), filters).items()
    }
    mocks = [name for name in panel if rated and rated.raters[name].simulated]
    method = described([SHARE], resamples=sampling["resamples"], seed=sampling["seed"], units="tasks")
    notes = [
        f"{method}. Several simulations of a task are averaged first.",
        *tables.mixed_notes(mixed),
        *(rated.notes(panel) if rated else []),
        *(
            note
            for name in failed
            for note in leaderboards.failure_notes(runs.failed_turns(db, name, filters))
        ),
        *([MOCKS] if mocks or simulations.simulated.any() or talks.simulated.any() else []),
    ]
    meta = {
        "where": {name: list(values) for name, values in (filters or {}).items()},
        "judges": list(panel),
        "simulated": mocks,
        **sampling,
        **first.meta,
    }
    if len(talks) and panel:
        notes.insert(1, f"What was said is rated by {', '.join(panel)}.")
    return (replace(first, notes=(*notes, *first.notes), meta=meta), *rest)


LEADERBOARDS = {STSS.name: leaderboard, STSS_LANGUAGE.name: leaderboard}


def _agent(c: Conversation) -> dict[str, Any]:
    values = (c.player, c.facets["architecture"], c.facets.get("embeddings", ""))
    return dict(zip(AGENT, values, strict=True))


def simulated(db: Database, filters: FacetValues | None = None) -> pd.DataFrame:
    """Every stored simulation, scored from its trajectory: agent, task, kind, score, ratio, simulated."""
    rows_of_conversations = tables.conversations(db, STSS.name, filters)
    rows = []
    for number, c in conversations.of_benchmark(db, STSS.name):
        if number in rows_of_conversations.index:
            task = task_from(c.context["_task"])
            score = scoring.score(task, from_stored(conversations.required_trajectory(db, number)))
            scored = (
                task.id,
                task.kind,
                score.value,
                score.conversation_ratio,
                rows_of_conversations.simulated[number],
            )
            rows.append((*_agent(c).values(), *scored, c.meta.get("unusable", 0)))
    columns = [*AGENT, "task", "kind", "score", "ratio", "simulated", "unusable"]
    return pd.DataFrame(rows, columns=columns)


def _failed(db: Database, benchmark: str, filters: FacetValues | None) -> dict[tuple[str, ...], int]:
    """What could not be made because of the player's own unusable replies, by agent."""
    counts: dict[tuple[str, ...], int] = {}
    for row in runs.failed_plays(db, benchmark, filters):
        if row["model"] == row["player"]:
            facets = row["facets"]
            agent = (row["player"], facets.get("architecture", ""), facets.get("embeddings", ""))
            counts[agent] = counts.get(agent, 0) + 1
    return counts


def talked(
    db: Database, filters: FacetValues | None = None, judges: Sequence[str] = ()
) -> tuple[Rated | None, tuple[str, ...], pd.DataFrame]:
    """What judges answered (None if nothing), the panel, and every conversation of the language level.

    Of a conversation: agent, task, simulated, SR and GCSR on it and on the summary, as `success` gives them,
    and the mean marks.
    """
    names = [c.name for c in STSS_LANGUAGE.criteria]
    answers = tables.scores(db, STSS_LANGUAGE.name, names, filters)
    if answers.empty and judges:
        raise not_found("judge", judges[0], [])
    rated = None if answers.empty else gather(db, STSS_LANGUAGE.name, filters)
    panel = rated.panel(judges) if rated else ()
    scores_of = {
        (row["conversation"], row["judge"]): {name: row[name] for name in names if row[name] == row[name]}
        for row in answers.to_dict("records")
    }
    rows_of_conversations = tables.conversations(db, STSS_LANGUAGE.name, filters)
    marks = [q.name for q in goals.QUALITIES]
    rows = []
    for number, c in conversations.of_benchmark(db, STSS_LANGUAGE.name):
        if number in rows_of_conversations.index:
            kind = task_from(c.context["_task"]).kind
            silent = len(c.messages) < 2
            judge_scores = [scores_of.get((number, judge)) for judge in panel]
            row = _agent(c) | {"task": c.facets["task"], "simulated": rows_of_conversations.simulated[number]}
            for topic in ("conversation", "summary"):
                row |= success(
                    topic,
                    [_conditions_met(scores, kind, silent, topic == "summary") for scores in judge_scores],
                )
            is_complete = None not in row.values()
            for name in marks:
                each_mark = [scores[name] for scores in judge_scores if scores and name in scores]
                row[name] = fmean(each_mark) if each_mark and is_complete else None
            rows.append(row)
    figures = dict.fromkeys(f"{topic} {metric}" for topic, metric, _ in COLUMNS)
    return (
        rated,
        panel,
        pd.DataFrame(rows, columns=[*AGENT, "task", "simulated", *figures, *marks]),
    )


def success(topic: str, answers_of_judges: Sequence[Sequence[float] | None]) -> dict[str, float | None]:
    """Mean over judges of: all conditions met (SR), the share met (GCSR); None if a judge's are missing."""
    answered_judges = [answers for answers in answers_of_judges if answers is not None]
    if not answered_judges or len(answered_judges) < len(answers_of_judges):
        return {f"{topic} SR": None, f"{topic} GCSR": None}
    return {
        f"{topic} SR": fmean(float(all(answers)) for answers in answered_judges),
        f"{topic} GCSR": fmean(map(fmean, answered_judges)),
    }


def _conditions_met(
    scores: Mapping[str, float] | None, kind: Kind, silent: bool, summary: bool
) -> Sequence[float] | None:
    names = [(goals.SUMMARY if summary else "") + name for name in goals.CONDITIONS[kind]]
    if silent:
        return [0.0] * len(names)
    if scores is None or not all(name in scores for name in names):
        return None
    # Of a judge's repeated answers the majority counts.
    return [float(scores[name] > 0.5) for name in names]


class Figure(NamedTuple):
    """A column of means over tasks (over all values where it is `micro`), of one type of task if named."""

    name: str
    heading: str
    column: str
    ends: Ends | None = SHARE.ends
    micro: bool = False
    kind: str = ""
    help: str = ""


RATIO = "Conversation ratio: people talked to about it before the event ÷ people wanted"
ACTION = (
    Figure("overall", "Overall", "score"),
    *(Figure(kind, title, "score", kind=kind) for kind, title in TITLES.items()),
    Figure("conversation_ratio", "Conv. ratio", "ratio", None, help=RATIO),
)
LANGUAGE = (
    *(
        Figure(f"{topic} {metric} {mean}", f"{metric} {mean}", f"{topic} {metric}", micro=mean == "micro")
        for topic, metric, mean in COLUMNS
    ),
    *(Figure(q.name, q.label, q.name, (q.scale.low, q.scale.high)) for q in goals.QUALITIES),
)
RARE = ("unusable", "left_out", "failed")
EXTRA_COLUMNS = (
    Column("failed", help="Not made: too many thoughts of the player had no usable reply"),
    Column("simulated", file_only=True),
)


def action_table(
    simulations: pd.DataFrame, failed: Mapping[tuple[str, ...], int] | None = None, **sampling: Any
) -> Table:
    """One row an agent, best overall first. Simulations of a task are averaged, then tasks are.

    `sampling` holds `resamples` and `seed`, here and in the other tables.
    """
    table = _table(
        Table("action", "STSS, action level: what was brought about", (), ()),
        (simulations, ACTION, "overall"),
        lambda agent_rows: {
            "n": len(agent_rows),
            "unusable": int(agent_rows.unusable.sum()),
            **_extra_cells(agent_rows, failed),
        },
        (
            Column("n", help="Simulations"),
            Column("unusable", help="Thoughts of the player that had no usable reply"),
            *EXTRA_COLUMNS,
        ),
        **sampling,
    )
    unequal = len({row["n"] for row in table.rows}) > 1
    return replace(table, notes=("The agents were not simulated equally often.",) if unequal else ())


def differences(simulations: pd.DataFrame, second: str, **sampling: Any) -> dict[str, Estimate]:
    """How far each other agent's score lies above that of one, paired by task over the tasks of both.

    Simulations of a task are averaged first; tasks are resampled (no interval below 8). Raises NotFound
    for an agent without a score.
    """
    scores = simulations.dropna(subset=["score"])
    agents = scores[list(AGENT)].astype(str).to_numpy().tolist()
    names = pd.Series([agent_name(*agent) for agent in agents], scores.index, dtype=str)
    check_known("agent with a score", [second], sorted(set(names)))
    means = scores.score.astype(float).groupby([scores.task, names]).mean().unstack()
    gaps = means.drop(columns=second).sub(means[second], axis=0).round(DIGITS)
    return {
        str(name): mean_estimates(gap.dropna().to_numpy()[:, None], noun="common task", **sampling)[0]
        for name, gap in gaps.items()
    }


def agent_name(player: str, architecture: str, embeddings: str) -> str:
    """An agent in one line: model and architecture, and by whose vectors it remembers."""
    return " by ".join(filter(None, (f"{player} {architecture}", embeddings)))


def with_differences(table: Table, simulations: pd.DataFrame, second: str, **sampling: Any) -> Table:
    """The action table with the differences to an agent; as it is where none is named."""
    if not second:
        return table
    gaps = differences(simulations, second, **sampling)
    note = f"Difference: overall score less that of {second}, paired by task, over the tasks that both have."
    column = Column("difference", digits=3, signed=True, interval="ends", help=note)
    place = [c.name for c in table.columns].index("overall") + 1
    columns = (*table.columns[:place], column, *table.columns[place:])
    rows = tuple(
        {**row, "difference": gaps.get(agent_name(*(str(row[name]) for name in AGENT)))} for row in table.rows
    )
    return replace(table, columns=columns, rows=rows, notes=(*table.notes, note))


def language_table(
    talks: pd.DataFrame, failed: Mapping[tuple[str, ...], int] | None = None, **sampling: Any
) -> Table:
    """One row an agent, best success rate on conversations first. A figure is the mean over the panel."""

    def counts(agent_rows: pd.DataFrame) -> dict[str, Cell]:
        usable = agent_rows.dropna(subset=["conversation SR", "summary SR"])
        sizes = {"n": len(usable), "tasks": usable.task.nunique(), "left_out": len(agent_rows) - len(usable)}
        return {**sizes, **_extra_cells(agent_rows, failed)}

    caption = "SR: all conditions met; GCSR: share met; micro over conversations, macro over tasks."
    return _table(
        Table("language", "STSS, language level: what was said", (), (), caption),
        (talks, LANGUAGE, "conversation SR macro"),
        counts,
        (
            Column("n", help="Conversations"),
            Column("tasks"),
            Column("left_out", help="Conversations that a judge of the panel has not usably answered"),
            *EXTRA_COLUMNS,
        ),
        **sampling,
    )


def _by_text(language: Table) -> tuple[Table, Table]:
    """The language table, and what is of summaries as another: one table of both is wider than a page."""
    of_summaries = [column for column in language.columns if column.name.startswith("summary ")]
    summary = replace(
        language,
        name="summary",
        title="STSS, language level: what partners kept of it",
        columns=tuple(c for c in language.columns if c.name in AGENT or c in of_summaries),
    )
    return replace(language, columns=tuple(c for c in language.columns if c not in of_summaries)), summary


def _table(
    empty: Table,
    layout: tuple[pd.DataFrame, Sequence[Figure], str],
    counts: Callable[[pd.DataFrame], dict[str, Cell]],
    columns: Sequence[Column],
    **sampling: Any,
) -> Table:
    """A row of figures and counts for each agent; the agent with the largest of the figure named first."""
    values, figures, first = layout
    rows: list[dict[str, Cell]] = []
    for names, agent_rows in values.groupby(list(AGENT)):
        row: dict[str, Cell] = dict(zip(AGENT, map(str, names), strict=True))
        for figure in figures:
            row[figure.name] = _mean(agent_rows, figure, **sampling)
        rows.append(row | counts(agent_rows))
    rows.sort(key=lambda row: [str(row[name]) for name in AGENT])
    rows.sort(key=lambda row: -(getattr(row[first], "value", None) or 0.0))
    agents = (
        Column("player", "model"),
        Column("architecture", "agent"),
        Column("embeddings", "memories by", file_only=not any(row["embeddings"] for row in rows)),
    )
    means = (Column(f.name, f.heading, digits=3, interval="cell", help=f.help) for f in figures)
    # In sight where they say something: a page has room for few columns.
    rare = {name for name in RARE if not any(row.get(name) for row in rows)}
    all_columns = (*agents, *means, *(replace(c, file_only=c.file_only or c.name in rare) for c in columns))
    return replace(empty, columns=all_columns, rows=tuple(rows), meta={"first by": first})


def _mean(rows: pd.DataFrame, figure: Figure, **sampling: Any) -> Estimate:
    """The mean over tasks of each task's mean, or over all values; whole tasks are resampled.

    Tasks are sorted by name: resamples draw them by position, so equal figures have equal intervals.
    """
    rows = rows[rows.kind == figure.kind] if figure.kind else rows
    tasks = (
        rows[figure.column].astype(float).dropna().groupby(rows.task).agg(["sum", "count"]).to_numpy(float)
    )
    sums, counts = (tasks[:, :1], tasks[:, 1:]) if figure.micro else (tasks[:, :1] / tasks[:, 1:], None)
    return mean_estimates(sums, counts, noun="task", scales=[figure.ends], **sampling)[0]


def _extra_cells(agent_rows: pd.DataFrame, failed: Mapping[tuple[str, ...], int] | None) -> dict[str, Cell]:
    """What stands beside an agent's figures: what could not be made, and whether mock models are in it."""
    agent = tuple(str(agent_rows[name].iloc[0]) for name in AGENT)
    return {
        "failed": (failed or {}).get(agent, 0),
        "simulated": bool(agent_rows.simulated.any()),
    }
