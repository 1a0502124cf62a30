"""SimulBench's tables: target models by kind and type, simplest and hardest tasks, single scripts.

A score is the mean over the panel of judges of what a reply got, 1 to 10. After Jia et al., tables 2 and 4:
types are compared within FirstChan, so that kinds of script do not mix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sqlite_utils import Database

from core.agreement.resampling import mean_estimates
from core.benchmarks.simulbench.scripts import HARD, SCRIPT
from core.benchmarks.simulbench.targets import SIMULBENCH
from core.benchmarks.simulbench.tasks import STORED, TASK, TYPES
from core.errors import NotFound, not_found
from core.estimate import Estimate
from core.reports import leaderboards
from core.reports.leaderboards import MOCKS, Leaderboard
from core.scores import DIGITS, FINAL
from core.store import scenarios, tables
from core.store.tables import Where
from core.table import Cell, Column, Table, record

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
class TaskScore:
    """A task: the mean over models of their means over its scripts, and the number of both."""

    task: str
    act: str
    type: str
    mean: float
    scripts: int
    models: int


@dataclass(frozen=True)
class Parting:
    """A script and what each model's reply to it got; `conversations` maps models to ids."""

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
    db: Database, *, where: Where | None = None, judges: Sequence[str] = ()
) -> tuple[Leaderboard, pd.DataFrame]:
    """The common leaderboard, and its conversations with task, kind, type and script beside their final.

    Scripts that were discarded are left out; `where` may name the `source` of scripts, too. Raises
    ConcordError where nothing was scored, NotFound for a judge who scored nothing or a source without
    scripts.
    """
    chosen = dict(where or {})
    wanted = chosen.pop("source", ())
    sources = list(scenarios.counts(db, STORED, SCRIPT))
    for source in wanted:
        if source not in sources:
            raise not_found("source", source, sources)
    rated = leaderboards.gather(db, SIMULBENCH.name, chosen)
    mixed = {"source": sources} if len(sources) > 1 and len(wanted) != 1 else {}
    rated = replace(rated, where=where or {}, mixed={**rated.mixed, **mixed})
    board = leaderboards.leaderboard(rated, judges=judges, resamples=0)
    facets = tables.facets(db, SIMULBENCH.name, ["task", "kind", "type", "script"])
    table = board.scored.join(facets, how="inner")
    if wanted:
        kept = [s.key for of in wanted for s in scenarios.page(db, STORED, SCRIPT, source=of, limit=-1)]
        table = table[table.script.isin(kept)]
    return board, table[~table.script.isin(scenarios.keys(db, STORED, SCRIPT, "discarded"))]


def subsets(
    db: Database,
    *,
    where: Where | None = None,
    judges: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
) -> Table:
    """Target models by kind of script and type of task, best on All first. Raises as `scored` does."""
    board, table = scored(db, where=where, judges=judges)
    rows = []
    for player, theirs in table.groupby("player", sort=True):
        cells: dict[str, Cell] = {"model": str(player)}
        for name, of in SUBSETS.items():
            mine = theirs[of(theirs)]
            values = mine[FINAL][mine.complete].to_numpy(float)[:, None]
            [cells[name]] = mean_estimates(values, resamples=resamples, seed=seed, of="script")
            cells[f"{name} left out"] = int((~mine.complete).sum())
        rows.append(cells | {"simulated": bool(theirs.simulated.any())})
    rows.sort(key=lambda row: (-(_all(row).value or 0.0), str(row["model"])))
    left_out = int((~table.complete).sum())
    unaccepted = len(set(table.script) & set(scenarios.waiting_for(db, STORED, SCRIPT)))
    discarded = len(scenarios.keys(db, STORED, SCRIPT, "discarded"))
    notes = [
        f"Means over scripts and the panel {', '.join(board.judges)}; stateless and stateful are within "
        "FirstChan; Hard is FirstChan and SubseqChan. 95% intervals: percentile bootstrap over scripts, "
        f"{resamples} resamples, seed {seed}.",
        *board.rated.notes([*board.judges, *board.passed_over]),
    ]
    sizes = {_all(row).n or 0 for row in rows}
    if len(sizes) > 1:
        notes.append(
            f"The models were not scored on equally many scripts ({min(sizes)} to {max(sizes)}): their "
            "means are of different scripts."
        )
    if left_out:
        notes.append(
            f"{left_out} replies are left out because a judge of the panel has not usably scored them."
        )
    if discarded:
        notes.append(f"{discarded} scripts were discarded and do not count.")
    if unaccepted:
        notes.append(
            f"{unaccepted} scripts are of tasks that were rejected or wait for a decision: they are not "
            "asked any more; what was answered before counts."
        )
    columns = (
        Column("model"),
        *(Column(name, name, interval="half", n=True) for name in SUBSETS),
        Column("simulated", file_only=not board.mocks),
        *(Column(f"{name} left out", file_only=True) for name in SUBSETS),
    )
    meta = board.basis | {
        "resamples": resamples,
        "seed": seed,
        "discarded": discarded,
        "unaccepted": unaccepted,
    }
    return Table(
        "leaderboard-simulbench",
        board.rated.title(),
        columns,
        tuple(rows),
        notes=(*notes, *([MOCKS] if board.mocks else [])),
        meta=meta,
    )


def _all(row: Mapping[str, Cell]) -> Estimate:
    cell = row["All"]
    assert isinstance(cell, Estimate)
    return cell


def leaderboard(
    db: Database,
    *,
    where: Where | None = None,
    judges: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[Table, ...]:
    """Target models, the simplest and hardest tasks, and the scripts on which models differ most."""
    found = [subsets(db, where=where, judges=judges, resamples=resamples, seed=seed)]
    for type, of in task_scores(db, where=where, judges=judges).items():
        simplest, hardest = ends(of) if of else ((), ())
        found += [
            task_table(tasks, which, type)
            for which, tasks in (("simplest", simplest), ("hardest", hardest))
            if tasks
        ]
    return (*found, parting_table(partings(db, where=where, judges=judges)))


LEADERBOARDS = {SIMULBENCH.name: leaderboard}


def task_scores(
    db: Database, *, where: Where | None = None, judges: Sequence[str] = (), hard: bool = True
) -> dict[str, list[TaskScore]]:
    """The tasks of each type, simplest first: the mean over models of their means over the task's scripts.

    Only hard scripts count, as in the paper, unless `hard` is False. A task that some model has no score on
    is left out: its mean would be over other models.
    """
    _, table = scored(db, where=where, judges=judges)
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
    """The simplest tasks, simplest first, and the hardest, hardest first; no task is in both.

    One alone is simplest.
    """
    few = min(most, len(tasks) // 2)
    return tasks[: max(1, few)], tasks[::-1][:few]


def task_table(tasks: Sequence[TaskScore], which: str, type: str) -> Table:
    """The simplest or the hardest tasks of a type."""
    return Table(
        f"{which}-{type}",
        f"{which.capitalize()} tasks, {type}",
        (
            Column("act", "task"),
            Column("mean", help="Mean over models of their means over the task's scripts"),
            Column("scripts"),
            Column("task", file_only=True),
            Column("models", file_only=True),
        ),
        tuple(map(record, tasks)),
    )


def parting_table(found: Sequence[Parting]) -> Table:
    """The scripts on which models differ most, with what each model's reply got."""
    models = sorted({model for parting in found for model in parting.scores})
    columns = (
        *map(Column, ("act", "kind", "type")),
        Column("spread", help="The best score less the worst"),
        *(Column(f"score {model}", model) for model in models),
        Column("script", file_only=True),
    )
    rows = tuple(
        record(p) | {"spread": p.spread} | {f"score {model}": p.scores.get(model) for model in models}
        for p in found
    )
    return Table("partings", "Scripts on which models differ most", columns, rows)


def partings(
    db: Database, *, where: Where | None = None, judges: Sequence[str] = (), limit: int = 10
) -> list[Parting]:
    """The scripts on which two or more models differ most, widest spread first."""
    found = [p for p in _partings(db, where, judges) if len(p.scores) > 1]
    return sorted(found, key=lambda p: (-p.spread, p.script))[:limit]


def failures(
    db: Database, model: str = "", *, where: Where | None = None, judges: Sequence[str] = (), limit: int = 10
) -> list[Parting]:
    """The scripts on which a model fails, its lowest score first; the strongest model unless one is named.

    It fails where its reply scored below `GOOD`, however well it does elsewhere; a model may fail nowhere.
    Raises NotFound for a model without scores.
    """
    found = _partings(db, where, judges)
    means: dict[str, list[float]] = {}
    for parting in found:
        for name, score in parting.scores.items():
            means.setdefault(name, []).append(score)
    if model and model not in means:
        raise NotFound(f"There is no model “{model}” with scores. Known: {', '.join(sorted(means))}.")
    strongest = model or max(means, key=lambda name: float(np.mean(means[name])), default="")
    theirs = [p for p in found if p.scores.get(strongest, GOOD) < GOOD]
    return sorted(theirs, key=lambda p: (p.scores[strongest], -p.spread, p.script))[:limit]


def _partings(db: Database, where: Where | None, judges: Sequence[str]) -> list[Parting]:
    _, table = scored(db, where=where, judges=judges)
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
