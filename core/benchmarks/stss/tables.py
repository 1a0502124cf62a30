"""STSS's tables: agents by action score, by success rate in conversations, and the gap between the two.

After Wang et al., tables 3 and 4. Intervals resample tasks: simulations of one task are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sqlite_utils import Database

from core.agreement.resampling import mean_estimates
from core.benchmarks.stss import STSS, STSS_LANGUAGE, goals, scoring
from core.benchmarks.stss.tasks import TITLES, Kind, task_from
from core.benchmarks.stss.trajectory import from_stored
from core.conversation import Conversation
from core.errors import ConcordError, NotFound, not_found
from core.estimate import Estimate
from core.reports import leaderboards
from core.reports.leaderboards import MOCKS, Rated
from core.store import conversations, tables, trajectories
from core.store.tables import Where
from core.table import Cell, Column, Table

COLUMNS = tuple(product(("conversation", "summary"), ("SR", "GCSR"), ("micro", "macro")))
"""The language table's: all conditions met, or the share met; over conversations, or over tasks."""
FIGURE = partial(Column, digits=3, interval="half")


class Agent(NamedTuple):
    """What is evaluated: a model in an architecture; `embeddings` is the model for relevance, if any."""

    player: str
    architecture: str
    embeddings: str = ""


@dataclass(frozen=True)
class Simulated:
    """One simulation and its score."""

    agent: Agent
    task: str
    kind: Kind
    score: scoring.Score
    simulated: bool


@dataclass(frozen=True)
class Talked:
    """One conversation of the language level: by judge, conditions met on it and on the summary, or None.

    A conversation of fewer than two messages meets nothing, whatever a judge said.
    """

    agent: Agent
    task: str
    met: Mapping[str, Sequence[float] | None]
    met_in_summary: Mapping[str, Sequence[float] | None]
    marks: Mapping[str, Mapping[str, float]]
    simulated: bool


def leaderboard(
    db: Database,
    *,
    where: Where | None = None,
    judges: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[Table, ...]:
    """The action table, the language table and the gap; a table without rows is left out.

    Raises ConcordError where nothing was simulated or talked, NotFound for a judge who has answered nothing
    and for a value in `where` that nothing has.
    """
    try:
        tables.check(db, STSS.name, where)
    except NotFound:
        tables.check(db, STSS_LANGUAGE.name, where)
    played = list(simulated(db, where))
    rated, panel, talks = talked(db, where, judges)
    rated = rated and replace(rated, mixed={})
    if not played and not talks:
        raise ConcordError("Nothing has been simulated yet. Start with `concord run stss`.")
    drawn = {"resamples": resamples, "seed": seed}
    found = [action_table(played, **drawn), language_table(talks, **drawn), gap_table(played, talks, **drawn)]
    first, *rest = (table for table in found if table.rows)
    mixed = {
        name: values
        for level in (STSS, STSS_LANGUAGE)
        for name, values in tables.conditions(db, level.name, (*level.items, *Agent._fields), where).items()
    }
    mocks = [name for name in panel if rated and rated.raters[name].simulated]
    notes = [
        f"95% intervals: percentile bootstrap over tasks, {resamples} resamples, seed {seed}. Several "
        "simulations of a task are averaged first.",
        *tables.mixed_notes(mixed),
        *(rated.notes(panel) if rated else []),
        *([MOCKS] if mocks or any(s.simulated for s in played) or any(t.simulated for t in talks) else []),
    ]
    meta = {
        "where": {name: list(values) for name, values in (where or {}).items()},
        "judges": list(panel),
        "simulated": mocks,
        **drawn,
    }
    if talks and panel:
        notes.insert(1, f"What was said is rated by {', '.join(panel)}.")
    return (replace(first, notes=(*notes, *first.notes), meta=meta), *rest)


LEADERBOARDS = {STSS.name: leaderboard, STSS_LANGUAGE.name: leaderboard}


def _agent(c: Conversation) -> Agent:
    return Agent(c.player, c.facets["architecture"], c.facets.get("embeddings", ""))


def simulated(db: Database, where: Where | None = None) -> Iterator[Simulated]:
    """Every stored simulation with its score, computed from its trajectory."""
    known = tables.conversations(db, STSS.name, where)
    for number, c in conversations.each(db, STSS.name):
        if number in known.index:
            task = task_from(c.context["_task"])
            score = scoring.score(task, from_stored(trajectories.load(db, number)))
            yield Simulated(_agent(c), task.id, task.kind, score, bool(known.simulated[number]))


def talked(
    db: Database, where: Where | None = None, judges: Sequence[str] = ()
) -> tuple[Rated | None, tuple[str, ...], list[Talked]]:
    """What judges answered (None if nothing), the panel, and every conversation of the language level."""
    names = [c.name for c in STSS_LANGUAGE.criteria]
    answered = tables.scores(db, STSS_LANGUAGE.name, names, where)
    if answered.empty and judges:
        raise not_found("judge", judges[0], [])
    rated = None if answered.empty else leaderboards.gather(db, STSS_LANGUAGE.name, where)
    panel = rated.panel(judges) if rated else ()
    given: dict[int, dict[str, dict[str, float]]] = {}
    for row in answered[answered.judge.isin(panel)].to_dict("records"):
        said = {name: float(row[name]) for name in names if row[name] == row[name]}
        given.setdefault(int(row["conversation"]), {})[str(row["judge"])] = said
    known = tables.conversations(db, STSS_LANGUAGE.name, where)
    found = []
    for number, c in conversations.each(db, STSS_LANGUAGE.name):
        if number not in known.index:
            continue
        kind, silent = task_from(c.context["_task"]).kind, len(c.messages) < 2
        each = given.get(number, {})
        met, in_summary = ({j: _met(each.get(j), kind, silent, of) for j in panel} for of in (False, True))
        simulated = bool(known.simulated[number])
        found.append(Talked(_agent(c), c.facets["task"], met, in_summary, each, simulated))
    return rated, panel, found


def _met(
    scores: Mapping[str, float] | None, kind: Kind, silent: bool, summary: bool
) -> Sequence[float] | None:
    if silent:
        return [0.0] * len(goals.CONDITIONS[kind])
    answers = None if scores is None else goals.met(scores, kind, summary=summary)
    # Of a judge's repeated answers the majority counts.
    return None if answers is None else [float(score > 0.5) for score in answers]


def action_table(played: Iterable[Simulated], *, resamples: int = 1000, seed: int = 0) -> Table:
    """One row an agent, best overall first. Simulations of a task are averaged, then tasks are."""
    macro = partial(_macro, resamples=resamples, seed=seed)
    rows: list[dict[str, Cell]] = []
    for agent, theirs in _by_agent(played).items():
        of_kind = {kind: [s for s in theirs if s.kind == kind] for kind in TITLES}
        row: dict[str, Cell] = {
            **agent._asdict(),
            **{kind: macro(_tasks(some, lambda s: s.score.value)) for kind, some in of_kind.items()},
            "overall": macro(_tasks(theirs, lambda s: s.score.value)),
            "conversation_ratio": macro(_tasks(theirs, lambda s: s.score.conversation_ratio)),
            "n": len(theirs),
            "simulated": any(s.simulated for s in theirs),
        }
        rows.append(row)
    unequal = len({row["n"] for row in rows}) > 1
    notes = ("The agents were not simulated equally often.",) if unequal else ()
    columns = (
        *_agent_columns(rows),
        *(FIGURE(kind, title) for kind, title in TITLES.items()),
        FIGURE("overall", "Overall"),
        FIGURE(
            "conversation_ratio",
            "Conv. ratio",
            help="Conversation ratio: people talked to about it before the event ÷ people wanted",
        ),
        Column("n", help="Simulations"),
        Column("simulated", file_only=True),
    )
    title = "STSS, action level: what was brought about"
    return Table("action", title, columns, _best_first(rows, "overall"), notes=notes)


def language_table(talks: Iterable[Talked], *, resamples: int = 1000, seed: int = 0) -> Table:
    """One row an agent, best success rate on conversations first. A figure is the mean over the panel."""
    rows: list[dict[str, Cell]] = []
    for agent, theirs in _by_agent(talks).items():
        usable = [
            t for t in theirs if None not in (_success(t, "conversation", "SR"), _success(t, "summary", "SR"))
        ]
        row: dict[str, Cell] = agent._asdict()
        for of, metric, mean in COLUMNS:
            by_task = _tasks(usable, lambda t, of=of, metric=metric: _success(t, of, metric))
            average = _micro if mean == "micro" else _macro
            row[f"{of} {metric} {mean}"] = average(by_task, resamples=resamples, seed=seed)
        for q in goals.QUALITIES:
            by_task = _tasks(usable, lambda t, name=q.name: _mark(t, name))
            row[q.name] = _macro(by_task, resamples=resamples, seed=seed)
        row |= {"n": len(usable), "tasks": len({t.task for t in usable})}
        row |= {"left_out": len(theirs) - len(usable), "simulated": any(t.simulated for t in theirs)}
        rows.append(row)
    columns = (
        *_agent_columns(rows),
        *(FIGURE(f"{of} {metric} {mean}", f"{of[:4]}. {metric} {mean}") for of, metric, mean in COLUMNS),
        *(FIGURE(q.name, q.label) for q in goals.QUALITIES),
        Column("n", help="Conversations"),
        Column("tasks"),
        Column("left_out", help="Conversations that a judge of the panel has not usably answered"),
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


def gap_table(
    played: Iterable[Simulated], talks: Iterable[Talked], *, resamples: int = 1000, seed: int = 0
) -> Table:
    """SR on conversations less the action score, on the tasks that an agent has both for."""
    macro = partial(_macro, resamples=resamples, seed=seed)
    spoken = _by_agent(talks)
    rows: list[dict[str, Cell]] = []
    for agent, theirs in _by_agent(played).items():
        done = _tasks(theirs, lambda s: s.score.value)
        said = _tasks(spoken.get(agent, []), lambda t: _success(t, "conversation", "SR"))
        shared = [task for task in done if task in said]
        if shared:
            words = {task: [_mean(said[task])] for task in shared}
            deeds = {task: [_mean(done[task])] for task in shared}
            differences = {task: [words[task][0] - deeds[task][0]] for task in shared}
            figures = {"said": macro(words), "done": macro(deeds), "gap": macro(differences)}
            rows.append({**agent._asdict(), **figures, "tasks": len(shared)})
    columns = (
        *_agent_columns(rows),
        FIGURE("said", "SR, conversation"),
        FIGURE("done", "Action score"),
        FIGURE("gap", "Gap"),
        Column("tasks"),
    )
    title = "STSS, gap between words and deeds"
    caption = "SR on conversations less the action score, on the tasks that an agent has both for."
    return Table("gap", title, columns, _best_first(rows, "gap"), caption)


def _agent_columns(rows: Sequence[Mapping[str, Cell]]) -> tuple[Column, ...]:
    by_embeddings = any(row["embeddings"] for row in rows)
    return (
        Column("player", "model"),
        Column("architecture", "agent"),
        Column("embeddings", "memories by", file_only=not by_embeddings),
    )


def _best_first(rows: Iterable[dict[str, Cell]], name: str) -> tuple[dict[str, Cell], ...]:
    def order(row: dict[str, Cell]) -> tuple[float, list[str]]:
        return -(getattr(row[name], "value", None) or 0.0), [str(row[field]) for field in Agent._fields]

    return tuple(sorted(rows, key=order))


def _success(t: Talked, of: str, metric: str) -> float | None:
    """Mean over judges of: all conditions met (SR), or the share met (GCSR); None if a judge is missing."""
    answers = list((t.met if of == "conversation" else t.met_in_summary).values())
    given = [a for a in answers if a is not None]
    if not given or len(given) < len(answers):
        return None
    return _mean([float(all(a)) if metric == "SR" else _mean(a) for a in given])


def _mark(t: Talked, name: str) -> float | None:
    given = [marks[name] for marks in t.marks.values() if name in marks]
    return _mean(given) if given else None


def _by_agent(items: Iterable[Any]) -> dict[Agent, list[Any]]:
    found: dict[Agent, list[Any]] = {}
    for item in items:
        found.setdefault(item.agent, []).append(item)
    return found


def _tasks(items: Iterable[Any], value: Any) -> dict[str, list[float]]:
    """The values of each task, without None.

    Tasks are sorted by name: resamples draw them by position, so equal figures have equal intervals.
    """
    found: dict[str, list[float]] = {}
    for item in items:
        given = value(item)
        if given is not None:
            found.setdefault(item.task, []).append(given)
    return dict(sorted(found.items()))


def _macro(by_task: Mapping[str, Sequence[float]], *, resamples: int, seed: int) -> Estimate:
    """The mean over tasks of each task's mean."""
    means = np.array([_mean(values) for values in by_task.values()])[:, None]
    return mean_estimates(means, resamples=resamples, seed=seed, of="task")[0]


def _micro(by_task: Mapping[str, Sequence[float]], *, resamples: int, seed: int) -> Estimate:
    """The mean over all values; whole tasks are resampled."""
    sums = np.array([sum(values) for values in by_task.values()])[:, None]
    counts = np.array([float(len(values)) for values in by_task.values()])[:, None]
    return mean_estimates(sums, counts, resamples=resamples, seed=seed, of="task")[0]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
