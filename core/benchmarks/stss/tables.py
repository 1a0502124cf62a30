"""STSS's tables: agents by action score, by success rate in conversations, and the gap between the two.

After Wang et al., tables 3 and 4. Intervals resample tasks: simulations of one task are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import fmean
from typing import Any

import pandas as pd
from sqlite_utils import Database

from concord.benchmarks.stss import STSS, STSS_LANGUAGE, goals, scoring
from concord.benchmarks.stss.tasks import TITLES, Kind, task_from
from concord.benchmarks.stss.trajectory import from_stored
from concord.conversation import Conversation
from concord.errors import ConcordError, NotFound, not_found
from concord.estimate import Estimate, undefined
from concord.llm.replies import UNANSWERED
from concord.reports import leaderboards
from concord.reports.leaderboards import MOCKS
from concord.reports.rated import Rated, gather
from concord.statistics.intervals import SHARE, Ends, described
from concord.statistics.resampling import mean_estimates
from concord.store import conversations, runs, tables, trajectories
from concord.store.filters import Where
from concord.table import Cell, Column, Table

AGENT = ("player", "architecture", "embeddings")
"""What is evaluated: a model in an architecture; `embeddings` is the model for relevance, if any."""
COLUMNS = tuple(product(("conversation", "summary"), ("SR", "GCSR"), ("micro", "macro")))
"""The language table's: all conditions met, or the share met; over conversations, or over tasks."""
FIGURE = partial(Column, digits=3, interval="half")


def leaderboard(
    db: Database, *, where: Where | None = None, judges: Sequence[str] = (), **drawn: int
) -> tuple[Table, ...]:
    """The action table, the language table and the gap; a table without rows is left out.

    Raises ConcordError where nothing was simulated or talked, NotFound for a judge who has answered nothing
    and for a value in `where` that nothing has.
    """
    try:
        tables.check(db, STSS.name, where)
    except NotFound:
        tables.check(db, STSS_LANGUAGE.name, where)
    played = simulated(db, where)
    rated, panel, talks = talked(db, where, judges)
    rated = rated and replace(rated, mixed={})
    if played.empty and talks.empty:
        raise ConcordError("Nothing has been simulated yet. Start with `concord run stss`.")
    drawn = {"resamples": 1000, "seed": 0, **drawn}
    failed = {name: _failed(db, name, where) for name in (STSS.name, STSS_LANGUAGE.name)}
    every_table = [
        action_table(played, failed[STSS.name], **drawn),
        language_table(talks, failed[STSS_LANGUAGE.name], **drawn),
        gap_table(played, talks, **drawn),
    ]
    first, *rest = (table for table in every_table if table.rows)
    mixed = {
        name: values
        for level in (STSS, STSS_LANGUAGE)
        for name, values in tables.conditions(db, level.name, (*level.items, *AGENT), where).items()
    }
    mocks = [name for name in panel if rated and rated.raters[name].simulated]
    method = described([SHARE], resamples=drawn["resamples"], seed=drawn["seed"], of="tasks")
    notes = [
        f"{method}. Several simulations of a task are averaged first.",
        *tables.mixed_notes(mixed),
        *(rated.notes(panel) if rated else []),
        *(
            note
            for name in failed
            for note in leaderboards.failure_notes(runs.failed_turns(db, name, UNANSWERED, where))
        ),
        *([MOCKS] if mocks or played.simulated.any() or talks.simulated.any() else []),
    ]
    meta = {
        "where": {name: list(values) for name, values in (where or {}).items()},
        "judges": list(panel),
        "simulated": mocks,
        **drawn,
    }
    if len(talks) and panel:
        notes.insert(1, f"What was said is rated by {', '.join(panel)}.")
    return (replace(first, notes=(*notes, *first.notes), meta=meta), *rest)


LEADERBOARDS = {STSS.name: leaderboard, STSS_LANGUAGE.name: leaderboard}


def _agent(c: Conversation) -> dict[str, Any]:
    of = (c.player, c.facets["architecture"], c.facets.get("embeddings", ""))
    return dict(zip(AGENT, of, strict=True))


def simulated(db: Database, where: Where | None = None) -> pd.DataFrame:
    """Every stored simulation, scored from its trajectory: agent, task, kind, score, ratio, simulated."""
    known = tables.conversations(db, STSS.name, where)
    rows = []
    for number, c in conversations.each(db, STSS.name):
        if number in known.index:
            task = task_from(c.context["_task"])
            found = scoring.score(task, from_stored(trajectories.load(db, number)))
            scored = (task.id, task.kind, found.value, found.conversation_ratio, known.simulated[number])
            rows.append((*_agent(c).values(), *scored, _repairs(c)))
    columns = [*AGENT, "task", "kind", "score", "ratio", "simulated", "repairs"]
    return pd.DataFrame(rows, columns=columns)


def _repairs(c: Conversation) -> int:
    """How often something that a model replied could not be done as it was said."""
    kept = c.meta.get("repairs", 0)
    return len(kept) if isinstance(kept, list) else int(kept)


def _failed(db: Database, benchmark: str, where: Where | None) -> dict[tuple[str, ...], int]:
    """What could not be made because of the player's own unusable replies, by agent."""
    counts: dict[tuple[str, ...], int] = {}
    for row in runs.failed_plays(db, benchmark, UNANSWERED, where):
        if row["model"] == row["player"]:
            of = row["facets"]
            agent = (row["player"], of.get("architecture", ""), of.get("embeddings", ""))
            counts[agent] = counts.get(agent, 0) + 1
    return counts


def talked(
    db: Database, where: Where | None = None, judges: Sequence[str] = ()
) -> tuple[Rated | None, tuple[str, ...], pd.DataFrame]:
    """What judges answered (None if nothing), the panel, and every conversation of the language level.

    Of a conversation: agent, task, simulated, SR and GCSR on it and on the summary, as `success` gives them,
    and the mean marks.
    """
    names = [c.name for c in STSS_LANGUAGE.criteria]
    answered = tables.scores(db, STSS_LANGUAGE.name, names, where)
    if answered.empty and judges:
        raise not_found("judge", judges[0], [])
    rated = None if answered.empty else gather(db, STSS_LANGUAGE.name, where)
    panel = rated.panel(judges) if rated else ()
    given = {
        (row["conversation"], row["judge"]): {name: row[name] for name in names if row[name] == row[name]}
        for row in answered.to_dict("records")
    }
    known = tables.conversations(db, STSS_LANGUAGE.name, where)
    marks = [q.name for q in goals.QUALITIES]
    rows = []
    for number, c in conversations.each(db, STSS_LANGUAGE.name):
        if number in known.index:
            kind, silent = task_from(c.context["_task"]).kind, len(c.messages) < 2
            each = [given.get((number, judge)) for judge in panel]
            row = _agent(c) | {"task": c.facets["task"], "simulated": known.simulated[number]}
            row["repairs"] = _repairs(c)
            for of in ("conversation", "summary"):
                row |= success(of, [_met(scores, kind, silent, of == "summary") for scores in each])
            for name in marks:
                each_mark = [scores[name] for scores in each if scores and name in scores]
                row[name] = fmean(each_mark) if each_mark else None
            rows.append(row)
    figures = dict.fromkeys(f"{of} {metric}" for of, metric, _ in COLUMNS)
    return (
        rated,
        panel,
        pd.DataFrame(rows, columns=[*AGENT, "task", "simulated", "repairs", *figures, *marks]),
    )


def success(of: str, met: Sequence[Sequence[float] | None]) -> dict[str, float | None]:
    """Mean over judges of: all conditions met (SR), the share met (GCSR); None if a judge's are missing."""
    given = [answers for answers in met if answers is not None]
    if not given or len(given) < len(met):
        return {f"{of} SR": None, f"{of} GCSR": None}
    return {
        f"{of} SR": fmean(float(all(answers)) for answers in given),
        f"{of} GCSR": fmean(map(fmean, given)),
    }


def _met(
    scores: Mapping[str, float] | None, kind: Kind, silent: bool, summary: bool
) -> Sequence[float] | None:
    if silent:
        return [0.0] * len(goals.CONDITIONS[kind])
    answers = None if scores is None else goals.met(scores, kind, summary=summary)
    # Of a judge's repeated answers the majority counts.
    return None if answers is None else [float(score > 0.5) for score in answers]


def action_table(
    played: pd.DataFrame, failed: Mapping[tuple[str, ...], int] | None = None, **drawn: int
) -> Table:
    """One row an agent, best overall first. Simulations of a task are averaged, then tasks are.

    `drawn` holds `resamples` and `seed`, here and in the other tables.
    """
    rows: list[dict[str, Cell]] = []
    for agent, theirs in _by_agent(played):
        row: dict[str, Cell] = {**agent, "n": len(theirs), "simulated": bool(theirs.simulated.any())}
        row |= _beside(agent, theirs, failed)
        row |= {kind: _macro(theirs[theirs.kind == kind], "score", SHARE.ends, **drawn) for kind in TITLES}
        row["overall"] = _macro(theirs, "score", SHARE.ends, **drawn)
        row["conversation_ratio"] = _macro(theirs, "ratio", None, **drawn)
        rows.append(row)
    unequal = len({row["n"] for row in rows}) > 1
    notes = ("The agents were not simulated equally often.",) if unequal else ()
    columns = (
        *_agent_columns(rows),
        FIGURE("overall", "Overall"),
        *(FIGURE(kind, title) for kind, title in TITLES.items()),
        FIGURE(
            "conversation_ratio",
            "Conv. ratio",
            help="Conversation ratio: people talked to about it before the event ÷ people wanted",
        ),
        Column("n", help="Simulations"),
        *BESIDE,
        Column("simulated", file_only=True),
    )
    title = "STSS, action level: what was brought about"
    return Table("action", title, columns, _best_first(rows, "overall"), notes=notes)


def language_table(
    talks: pd.DataFrame, failed: Mapping[tuple[str, ...], int] | None = None, **drawn: int
) -> Table:
    """One row an agent, best success rate on conversations first. A figure is the mean over the panel."""
    rows: list[dict[str, Cell]] = []
    for agent, theirs in _by_agent(talks):
        usable = theirs.dropna(subset=["conversation SR", "summary SR"])
        row: dict[str, Cell] = {**agent, "n": len(usable), "tasks": usable.task.nunique()}
        for of, metric, mean in COLUMNS:
            average = _micro if mean == "micro" else _macro
            row[f"{of} {metric} {mean}"] = average(usable, f"{of} {metric}", SHARE.ends, **drawn)
        row |= {q.name: _macro(usable, q.name, (q.scale.low, q.scale.high), **drawn) for q in goals.QUALITIES}
        row |= {"left_out": len(theirs) - len(usable), "simulated": bool(theirs.simulated.any())}
        row |= _beside(agent, theirs, failed)
        rows.append(row)
    columns = (
        *_agent_columns(rows),
        *(FIGURE(f"{of} {metric} {mean}", f"{of[:4]}. {metric} {mean}") for of, metric, mean in COLUMNS),
        *(FIGURE(q.name, q.label) for q in goals.QUALITIES),
        Column("n", help="Conversations"),
        Column("tasks"),
        Column("left_out", help="Conversations that a judge of the panel has not usably answered"),
        *BESIDE,
        Column("simulated", file_only=True),
    )
    return Table(
        "language",
        "STSS, language level: what was said",
        columns,
        _best_first(rows, "conversation SR macro"),
        caption="SR: all conditions met; GCSR: share met; on the conversation and on the summary; micro over "
        "conversations, macro over tasks.",
    )


def gap_table(played: pd.DataFrame, talks: pd.DataFrame, **drawn: int) -> Table:
    """SR on conversations less the action score, on the tasks that an agent has both for."""
    by = [*AGENT, "task"]
    said = talks["conversation SR"].astype(float).groupby([talks[name] for name in by]).mean()
    both = pd.concat({"said": said, "done": played.groupby(by).score.mean()}, axis=1).dropna().reset_index()
    both["gap"] = both.said - both.done
    rows: list[dict[str, Cell]] = []
    for agent, theirs in _by_agent(both):
        figures = {name: _macro(theirs, name, SHARE.ends, **drawn) for name in ("said", "done")}
        figures["gap"] = _macro(theirs, "gap", (-1.0, 1.0), **drawn)
        simulations = played[(played[list(AGENT)] == pd.Series(agent)).all(axis=1)]
        rows.append({**agent, **figures, "tasks": len(theirs), "repairs": _mean(simulations.repairs)})
    columns = (
        *_agent_columns(rows),
        FIGURE("said", "SR, conversation"),
        FIGURE("done", "Action score"),
        FIGURE("gap", "Gap"),
        Column("tasks"),
        BESIDE[0],
    )
    title = "STSS, gap between words and deeds"
    caption = "SR on conversations less the action score, on the tasks that an agent has both for."
    return Table("gap", title, columns, _best_first(rows, "gap"), caption)


BESIDE = (
    Column(
        "repairs", digits=1, help="Mean number of wishes and thoughts that could not be used as they were"
    ),
    Column("failed", help="Not made: too many thoughts of the player had no usable reply"),
)


def _beside(
    agent: Mapping[str, str], theirs: pd.DataFrame, failed: Mapping[tuple[str, ...], int] | None
) -> dict[str, Cell]:
    """What stands beside an agent's figures: the mean of its repairs, and what could not be made."""
    return {
        "repairs": _mean(theirs.repairs),
        "failed": (failed or {}).get(tuple(agent[name] for name in AGENT), 0),
    }


def _mean(counts: pd.Series[int]) -> Estimate:
    if counts.empty:
        return undefined("no simulation", n=0)
    return Estimate(float(counts.sum()) / len(counts), n=len(counts))


def _agent_columns(rows: Sequence[Mapping[str, Cell]]) -> tuple[Column, ...]:
    by_embeddings = any(row["embeddings"] for row in rows)
    return (
        Column("player", "model"),
        Column("architecture", "agent"),
        Column("embeddings", "memories by", file_only=not by_embeddings),
    )


def _best_first(rows: Iterable[dict[str, Cell]], name: str) -> tuple[dict[str, Cell], ...]:
    def order(row: dict[str, Cell]) -> tuple[float, list[str]]:
        return -(getattr(row[name], "value", None) or 0.0), [str(row[field]) for field in AGENT]

    return tuple(sorted(rows, key=order))


def _by_agent(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    for names, theirs in rows.groupby(list(AGENT)):
        yield dict(zip(AGENT, map(str, names), strict=True)), theirs


def _by_task(rows: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Sum and count of a figure in each task, without empty ones.

    Tasks are sorted by name: resamples draw them by position, so equal figures have equal intervals.
    """
    return rows[figure].astype(float).dropna().groupby(rows.task).agg(["sum", "count"])


def _macro(rows: pd.DataFrame, figure: str, scale: Ends | None, **drawn: int) -> Estimate:
    """The mean over tasks of each task's mean."""
    tasks = _by_task(rows, figure)
    means = (tasks["sum"] / tasks["count"]).to_numpy(float)[:, None]
    return mean_estimates(means, None, of="task", scales=[scale], **drawn)[0]


def _micro(rows: pd.DataFrame, figure: str, scale: Ends | None, **drawn: int) -> Estimate:
    """The mean over all values; whole tasks are resampled."""
    tasks = _by_task(rows, figure).to_numpy(float)
    return mean_estimates(tasks[:, :1], tasks[:, 1:], of="task", scales=[scale], **drawn)[0]
