"""SimulBench's tables: target models by kind of script and type of task, simplest and hardest tasks, scripts on which models part.

A score is the mean over the panel of judges of what a reply got, 1 to 10. After Jia et al., tables 2 and 4: the types are compared
within FirstChan, so that kinds of script do not mix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlite_utils import Database

from core.agreement.resampling import draws, interval
from core.benchmarks.simulbench.scripts import HARD, SCRIPT
from core.benchmarks.simulbench.targets import SIMULBENCH
from core.benchmarks.simulbench.tasks import STORED, TASK, TYPES
from core.errors import NotFound
from core.reports import leaderboards
from core.reports.leaderboards import DIGITS, FINAL, Figure
from core.store import scenarios, tables

SUBSETS: Mapping[str, Callable[[pd.DataFrame], pd.Series[bool]]] = {
    "LastOnly": lambda t: t.kind == "LastOnly",
    "FirstChan": lambda t: t.kind == "FirstChan",
    "SubseqChan": lambda t: t.kind == "SubseqChan",
    "stateless": lambda t: (t.kind == "FirstChan") & (t.type == "stateless"),
    "stateful": lambda t: (t.kind == "FirstChan") & (t.type == "stateful"),
    "Hard": lambda t: t.kind.isin(HARD),
    "All": lambda t: t.kind.notna(),
}
"""The columns, and which scripts each of them takes."""


GOOD = 7.0
"""From where on the scale calls a reply good (“7–8 good”); below it, a model failed."""


@dataclass(frozen=True)
class Cell:
    """A mean over `n` scripts with its interval; `left_out` scripts lack a usable score of some judge of the panel."""

    mean: Figure
    n: int
    left_out: int


@dataclass(frozen=True)
class Row:
    """One target model: a cell for each column of SUBSETS."""

    player: str
    cells: Mapping[str, Cell]
    simulated: bool


@dataclass(frozen=True)
class Subsets:
    """The table, best on All first. `discarded` scripts were set aside and do not count; `unaccepted` scripts of the table are of tasks that
    nobody accepts any more: they are asked no more, and what was answered counts."""

    judges: tuple[str, ...]
    rows: tuple[Row, ...]
    discarded: int
    simulated: tuple[str, ...]
    resamples: int
    seed: int
    unaccepted: int = 0


@dataclass(frozen=True)
class TaskScore:
    """A task: the mean over models of their means over its scripts, and how many scripts and models that rests on."""

    task: str
    act: str
    type: str
    mean: float
    scripts: int
    models: int


@dataclass(frozen=True)
class Parting:
    """A script and what each model's reply to it got; `conversations` maps a model to the conversation's id in the store."""

    script: str
    act: str
    kind: str
    type: str
    scores: Mapping[str, float]
    conversations: Mapping[str, int]

    @property
    def spread(self) -> float:
        """The best score less the worst."""
        return max(self.scores.values()) - min(self.scores.values())


def scored(
    db: Database, *, judges: Sequence[str] = (), sources: Sequence[str] = ()
) -> tuple[leaderboards.Leaderboard, pd.DataFrame, int]:
    """The plain leaderboard, its conversations with task, kind, type and script beside their panel score, and how many scripts were set aside.

    `sources` narrows to scripts from there. Raises ConcordError where nothing was scored, NotFound for a judge who scored nothing.
    """
    board = leaderboards.leaderboard(leaderboards.gather(db, SIMULBENCH.name), judges=judges, resamples=0)
    facets = tables.facets(db, SIMULBENCH.name, ["task", "kind", "type", "script"])
    table = board.scored.join(facets, how="inner")
    away = scenarios.keys(db, STORED, SCRIPT, "discarded")
    table = table[~table.script.isin(away)]
    if sources:
        kept = [
            s.key for source in sources for s in scenarios.page(db, STORED, SCRIPT, source=source, limit=-1)
        ]
        table = table[table.script.isin(kept)]
    return board, table, len(away)


def subsets(
    db: Database, *, judges: Sequence[str] = (), sources: Sequence[str] = (), resamples: int = 1000, seed: int = 0
) -> Subsets:  # fmt: skip
    """The table of target models by kind of script and type of task. Raises as `scored` does."""
    board, table, discarded = scored(db, judges=judges, sources=sources)
    rows = []
    for player, theirs in table.groupby("player", sort=True):
        cells = {name: _cell(theirs[of(theirs)], resamples, seed) for name, of in SUBSETS.items()}
        rows.append(Row(str(player), cells, bool(theirs.simulated.any())))
    rows.sort(key=lambda row: (-(row.cells["All"].mean.value or 0.0), row.player))
    unaccepted = len(set(table.script) & set(scenarios.waiting_for(db, STORED, SCRIPT)))
    return Subsets(board.judges, tuple(rows), discarded, board.simulated, resamples, seed, unaccepted)


def task_scores(
    db: Database, *, judges: Sequence[str] = (), sources: Sequence[str] = (), hard: bool = True
) -> dict[str, list[TaskScore]]:  # fmt: skip
    """The tasks of each type, simplest first: the mean over models of each one's mean over the task's scripts (of the hard subset only,
    as in the paper, unless `hard` is False). A task that some model has no score on is left out: its mean would compare others."""
    _, table, _ = scored(db, judges=judges, sources=sources)
    table = table[table.complete & (table.kind.isin(HARD) | (not hard))]
    models = table.player.nunique()
    acts = _acts(db)
    found: dict[str, list[TaskScore]] = {type: [] for type in TYPES}
    for (task, type), rows in table.groupby(["task", "type"]):
        by_model = rows.groupby("player")[FINAL].mean()
        if len(by_model) == models:
            mean = round(float(by_model.mean()), DIGITS)
            found[str(type)].append(
                TaskScore(
                    str(task), acts.get(str(task), str(task)), str(type), mean, rows.script.nunique(), models
                )
            )
    return {type: sorted(tasks, key=lambda t: (-t.mean, t.task)) for type, tasks in found.items()}


def ends(tasks: Sequence[TaskScore], most: int = 10) -> tuple[Sequence[TaskScore], Sequence[TaskScore]]:
    """The simplest of the tasks, simplest first, and the hardest, hardest first: as many as in the paper, and none at both ends (one
    alone counts as simplest)."""
    few = min(most, len(tasks) // 2)
    return tasks[: max(1, few)], tasks[::-1][:few]


def partings(
    db: Database, *, judges: Sequence[str] = (), sources: Sequence[str] = (), limit: int = 20
) -> list[Parting]:
    """The scripts on which models differ most, widest spread first; scripts that fewer than two models have a score on are left out."""
    found = [p for p in _partings(db, judges, sources) if len(p.scores) > 1]
    return sorted(found, key=lambda p: (-p.spread, p.script))[:limit]


def surprises(
    db: Database, model: str = "", *, judges: Sequence[str] = (), sources: Sequence[str] = (), limit: int = 20
) -> list[Parting]:  # fmt: skip
    """The scripts on which a strong model fails, its lowest score first: the best of the table unless another is named. It fails where
    its reply scored below `GOOD`, however well it does elsewhere; a model may fail nowhere.

    Raises NotFound for a model without scores.
    """
    found = list(_partings(db, judges, sources))
    means: dict[str, list[float]] = {}
    for parting in found:
        for name, score in parting.scores.items():
            means.setdefault(name, []).append(score)
    if model and model not in means:
        raise NotFound(f"There is no model “{model}” with scores. Known: {', '.join(sorted(means))}.")
    strongest = model or max(means, key=lambda name: float(np.mean(means[name])), default="")
    theirs = [p for p in found if p.scores.get(strongest, GOOD) < GOOD]
    return sorted(theirs, key=lambda p: (p.scores[strongest], -p.spread, p.script))[:limit]


def _partings(db: Database, judges: Sequence[str], sources: Sequence[str]) -> list[Parting]:
    _, table, _ = scored(db, judges=judges, sources=sources)
    acts = _acts(db)
    found = []
    for script, rows in table[table.complete].groupby("script"):
        first = rows.iloc[0]
        found.append(
            Parting(
                str(script),
                acts.get(str(first.task), str(first.task)),
                str(first.kind),
                str(first.type),
                dict(zip(rows.player, rows[FINAL].astype(float), strict=True)),
                dict(zip(rows.player, map(int, rows.index), strict=True)),
            )
        )
    return found


def _acts(db: Database) -> dict[str, str]:
    """The names of tasks by id, as scripts tell them."""
    return {
        str(s.body.get("task", "")): str(s.body.get("act", ""))
        for s in scenarios.page(db, STORED, SCRIPT, limit=-1)
    } | {s.key: str(s.body.get("act", s.key)) for s in scenarios.page(db, STORED, TASK, limit=-1)}


def _cell(rows: pd.DataFrame, resamples: int, seed: int) -> Cell:
    values = rows[FINAL][rows.complete].to_numpy(float)
    n, left_out = len(values), int((~rows.complete).sum())
    if n == 0:
        return Cell(Figure(None, None, "no script to average"), 0, left_out)
    mean = round(float(values.sum()) / n, DIGITS)
    if n == 1:
        return Cell(Figure(mean, None, "one script has no spread"), 1, left_out)
    parts = [weights.T @ values / n for weights in draws(n, resamples, seed)]
    low, high, reason = interval(np.concatenate(parts) if parts else np.empty(0))
    ends = None if low is None or high is None else (round(low, DIGITS), round(high, DIGITS))
    return Cell(Figure(mean, ends, reason), n, left_out)
