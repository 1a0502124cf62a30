"""STSS's tables: agents (a model in an architecture) by what they bring about and by what they say, and the gap between the two.

After Wang et al., tables 3 and 4. Tasks are resampled for every interval, since simulations of one task hang together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.agreement.resampling import draws, interval
from core.benchmarks.stss import STSS, STSS_LANGUAGE, goals, scoring
from core.benchmarks.stss.tasks import TITLES, Kind, task_from
from core.benchmarks.stss.trajectory import from_stored
from core.conversation import Conversation
from core.errors import ConcordError, not_found
from core.reports.leaderboards import DIGITS, Figure
from core.store import conversations, tables, trajectories

Of = Literal["conversation", "summary"]
Metric = Literal["SR", "GCSR"]
Mean = Literal["micro", "macro"]

COLUMNS: tuple[tuple[Of, Metric, Mean], ...] = tuple(
    product(("conversation", "summary"), ("SR", "GCSR"), ("micro", "macro"))
)
"""The language table's: all conditions met, or the share met; over conversations, or over tasks."""


class Agent(NamedTuple):
    """What is evaluated: a model in an architecture, and the model that tells which of its memories are relevant (“”: their words do)."""

    player: str
    architecture: str
    embeddings: str = ""

    @property
    def called(self) -> str:
        """The architecture as a reader sees it."""
        return f"{self.architecture}, memories by {self.embeddings}" if self.embeddings else self.architecture


@dataclass(frozen=True)
class Simulated:
    """One simulation and its score; `conversation` is its id in the store."""

    agent: Agent
    task: str
    kind: Kind
    score: scoring.Score
    conversation: int
    simulated: bool


@dataclass(frozen=True)
class Talked:
    """One conversation of the language level: conditions met on it and on the summary, by each judge; None for a judge without an answer.

    A conversation of one message or none meets nothing, whatever a judge said.
    """

    agent: Agent
    task: str
    conversation: int
    met: Mapping[str, Sequence[float] | None]
    met_in_summary: Mapping[str, Sequence[float] | None]
    marks: Mapping[str, Mapping[str, float]]
    simulated: bool


@dataclass(frozen=True)
class ActionRow:
    """One agent: means over tasks for each type and over all, and of the conversation ratio (errands apart). `n` are simulations."""

    agent: Agent
    kinds: Mapping[Kind, Figure]
    tasks: Mapping[Kind, int]
    overall: Figure
    conversation_ratio: Figure
    n: int
    simulated: bool


@dataclass(frozen=True)
class LanguageRow:
    """One agent: a figure for each of COLUMNS, and the means of the judge's marks. `left_out` lack a usable answer of some judge."""

    agent: Agent
    figures: Mapping[tuple[Of, Metric, Mean], Figure]
    marks: Mapping[str, Figure]
    n: int
    tasks: int
    left_out: int
    simulated: bool


@dataclass(frozen=True)
class Gap:
    """Saying less doing, over the tasks an agent has both for: success rate on conversations, action score, their mean difference."""

    agent: Agent
    said: Figure
    done: Figure
    gap: Figure
    tasks: int


@dataclass(frozen=True)
class Tables:
    """All that is known of the agents of a workspace."""

    action: tuple[ActionRow, ...]
    language: tuple[LanguageRow, ...]
    gaps: tuple[Gap, ...]
    judges: tuple[str, ...]
    simulated: tuple[str, ...]
    resamples: int
    seed: int


def leaderboard(db: Database, *, judges: Sequence[str] = (), resamples: int = 1000, seed: int = 0) -> Tables:
    """Every table. Raises ConcordError where nothing was simulated or talked, NotFound for a judge who has answered nothing."""
    played = list(simulated(db))
    panel, talks, mocks = talked(db, judges)
    if not played and not talks:
        raise ConcordError("Nothing has been simulated yet. Start with `concord run stss`.")
    return Tables(
        action_table(played, resamples=resamples, seed=seed),
        language_table(talks, resamples=resamples, seed=seed),
        gap_table(played, talks, resamples=resamples, seed=seed),
        panel,
        mocks,
        resamples,
        seed,
    )


def _agent(c: Conversation) -> Agent:
    return Agent(c.player, c.facets["architecture"], c.facets.get("embeddings", ""))


def simulated(db: Database) -> Iterator[Simulated]:
    """Every stored simulation with its score, computed from its trajectory."""
    known = tables.conversations(db, STSS.name)
    for number, c in conversations.each(db, STSS.name):
        task = task_from(c.context["_task"])
        lived = from_stored(trajectories.load(db, number))
        yield Simulated(
            _agent(c), task.id, task.kind, scoring.score(task, lived), number,
            bool(known.simulated[number]),
        )  # fmt: skip


def talked(db: Database, judges: Sequence[str] = ()) -> tuple[tuple[str, ...], list[Talked], tuple[str, ...]]:
    """The panel (all who answered, unless named), the conversations with its answers, and which of the panel are mock models."""
    names = [c.name for c in STSS_LANGUAGE.criteria]
    scores = tables.scores(db, STSS_LANGUAGE.name, names)
    answered = sorted(scores.judge.unique())
    for name in judges:
        if name not in answered:
            raise not_found("judge", name, answered)
    panel = tuple(dict.fromkeys(judges)) or tuple(answered)
    simulated = {name for name, simulated in tables.judges(db, STSS_LANGUAGE.name).values() if simulated}
    given: dict[int, dict[str, dict[str, float]]] = {}
    for row in scores[scores.judge.isin(panel)].to_dict("records"):
        said = {name: float(row[name]) for name in names if row[name] == row[name]}
        given.setdefault(int(row["conversation"]), {})[str(row["judge"])] = said
    known = tables.conversations(db, STSS_LANGUAGE.name)
    found = []
    for number, c in conversations.each(db, STSS_LANGUAGE.name):
        kind = task_from(c.context["_task"]).kind
        silent = len(c.messages) < 2
        each = given.get(number, {})
        found.append(
            Talked(
                _agent(c), c.facets["task"], number,
                {j: _met(each.get(j), kind, silent, False) for j in panel},
                {j: _met(each.get(j), kind, silent, True) for j in panel},
                {j: {q.name: each[j][q.name] for q in goals.QUALITIES if q.name in each[j]} for j in panel if j in each},
                bool(known.simulated[number]),
            )
        )  # fmt: skip
    return panel, found, tuple(name for name in panel if name in simulated)


def _met(
    scores: Mapping[str, float] | None, kind: Kind, silent: bool, summary: bool
) -> Sequence[float] | None:
    if silent:
        return [0.0] * len(goals.CONDITIONS[kind])
    answers = None if scores is None else goals.met(scores, kind, summary=summary)
    # Of repeated runs of one judge the majority counts: a condition is met or it is not.
    return None if answers is None else [float(score > 0.5) for score in answers]


def action_table(
    played: Iterable[Simulated], *, resamples: int = 1000, seed: int = 0
) -> tuple[ActionRow, ...]:
    """One row an agent, best overall first. Several simulations of a task are averaged before tasks are."""
    rows = []
    for agent, theirs in _by_agent(played).items():
        by_task = _tasks(theirs, lambda s: s.score.value)
        kinds = {
            kind: _tasks([s for s in theirs if s.kind == kind], lambda s: s.score.value) for kind in TITLES
        }
        rows.append(
            ActionRow(
                agent,
                {kind: _macro(values, resamples, seed) for kind, values in kinds.items()},
                {kind: len(values) for kind, values in kinds.items()},
                _macro(by_task, resamples, seed),
                _macro(_tasks(theirs, lambda s: s.score.conversation_ratio), resamples, seed),
                len(theirs),
                any(s.simulated for s in theirs),
            )
        )
    return tuple(sorted(rows, key=lambda r: (-(r.overall.value or 0.0), r.agent)))


def language_table(
    talks: Iterable[Talked], *, resamples: int = 1000, seed: int = 0
) -> tuple[LanguageRow, ...]:
    """One row an agent, best success rate on conversations first. A figure is the mean of the panel's judges."""
    rows = []
    for agent, theirs in _by_agent(talks).items():
        usable = [
            t
            for t in theirs
            if _success(t, "conversation", "SR") is not None and _success(t, "summary", "SR") is not None
        ]
        figures = {}
        for of, metric, mean in COLUMNS:
            by_task = _tasks(usable, lambda t, of=of, metric=metric: _success(t, of, metric))
            figures[of, metric, mean] = (_micro if mean == "micro" else _macro)(by_task, resamples, seed)
        marks = {
            q.name: _macro(_tasks(usable, lambda t, name=q.name: _mark(t, name)), resamples, seed)
            for q in goals.QUALITIES
        }
        rows.append(
            LanguageRow(
                agent, figures, marks, len(usable), len({t.task for t in usable}), len(theirs) - len(usable),
                any(t.simulated for t in theirs),
            )
        )  # fmt: skip
    return tuple(
        sorted(rows, key=lambda r: (-(r.figures["conversation", "SR", "macro"].value or 0.0), r.agent))
    )


def gap_table(
    played: Iterable[Simulated], talks: Iterable[Talked], *, resamples: int = 1000, seed: int = 0
) -> tuple[Gap, ...]:
    """What an agent achieves in words (SR on conversations, macro) less what it achieves in deeds, on the tasks it has both for."""
    spoken = _by_agent(talks)
    rows = []
    for agent, theirs in _by_agent(played).items():
        done = _tasks(theirs, lambda s: s.score.value)
        said = _tasks(spoken.get(agent, []), lambda t: _success(t, "conversation", "SR"))
        shared = [task for task in done if task in said]
        if not shared:
            continue
        words = {task: [_mean(said[task])] for task in shared}
        deeds = {task: [_mean(done[task])] for task in shared}
        differences = {task: [words[task][0] - deeds[task][0]] for task in shared}
        rows.append(
            Gap(
                agent, _macro(words, resamples, seed), _macro(deeds, resamples, seed), _macro(differences, resamples, seed),
                len(shared),
            )
        )  # fmt: skip
    return tuple(sorted(rows, key=lambda g: (-(g.gap.value or 0.0), g.agent)))


def _success(t: Talked, of: Of, metric: Metric) -> float | None:
    """Mean over judges of: all conditions met (SR), or the share met (GCSR). None unless every judge of the panel has answered."""
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
    """The values of each task, by its name; those that are None are left out.

    By name, because resamples draw tasks by their place: equal figures on equal tasks have equal intervals in every table.
    """
    found: dict[str, list[float]] = {}
    for item in items:
        given = value(item)
        if given is not None:
            found.setdefault(item.task, []).append(given)
    return dict(sorted(found.items()))


def _macro(by_task: Mapping[str, Sequence[float]], resamples: int, seed: int) -> Figure:
    """The mean over tasks of each task's mean."""
    return _figure([_mean(values) for values in by_task.values()], [1.0] * len(by_task), resamples, seed)


def _micro(by_task: Mapping[str, Sequence[float]], resamples: int, seed: int) -> Figure:
    """The mean over all values; whole tasks are resampled."""
    return _figure(
        [sum(v) for v in by_task.values()], [float(len(v)) for v in by_task.values()], resamples, seed
    )


def _figure(sums: Sequence[float], counts: Sequence[float], resamples: int, seed: int) -> Figure:
    """Sum over tasks ÷ count over tasks, with a percentile interval over resampled tasks."""
    if not sums:
        return Figure(None, None, "no task")
    value = round(sum(sums) / sum(counts), DIGITS)
    if len(sums) == 1:
        return Figure(value, None, "one task has no spread")
    parts: tuple[npt.NDArray[np.float64], ...] = (np.array(sums), np.array(counts))
    resampled = [(w.T @ parts[0]) / (w.T @ parts[1]) for w in draws(len(sums), resamples, seed)]
    if not resampled:
        return Figure(value, None, "no resamples")
    low, high, reason = interval(np.concatenate(resampled))
    ends = None if low is None or high is None else (round(low, DIGITS), round(high, DIGITS))
    return Figure(value, ends, reason)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
