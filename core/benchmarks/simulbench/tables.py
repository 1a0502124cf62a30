"""SimulBench's tables: target models by kind and type, simplest and hardest tasks.

A score is the mean over the panel of judges of what a reply got, 1 to 10. After Jia et al., tables 2 and 4:
types are compared within FirstChan, so that kinds of script do not mix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlite_utils import Database

from concord.benchmarks.simulbench.scripts import HARD, SCRIPT
from concord.benchmarks.simulbench.targets import QUALITY, SIMULBENCH
from concord.benchmarks.simulbench.tasks import BENCHMARK, TASK, TYPES
from concord.reports import leaderboards
from concord.reports.leaderboards import MOCKS, Leaderboard
from concord.reports.rated import gather
from concord.scores import DIGITS, FINAL
from concord.statistics.intervals import bounded, described
from concord.statistics.resampling import mean_estimates
from concord.store import runs, scenarios, tables
from concord.store.filters import FacetValues
from concord.table import Column, Table

ENDS = QUALITY.scale.low, QUALITY.scale.high
"""The least and the greatest score of a reply."""

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


@dataclass(frozen=True)
class Scored:
    """The common leaderboard, and its conversations with task, act, kind, type and script beside their final.

    Scripts that were discarded are excluded.
    """

    board: Leaderboard
    table: pd.DataFrame
    discarded: int
    unrated: int
    """How many replies no judge of the panel was asked about."""


def scored(db: Database, *, filters: FacetValues | None = None, judges: Sequence[str] = ()) -> Scored:
    """What the panel of judges gave.

    Raises ConcordError where nothing was scored, NotFound for a judge who scored nothing.
    """
    board = leaderboards.leaderboard(gather(db, SIMULBENCH.name, filters), judges=judges, resamples=0)
    facets = tables.facets(db, SIMULBENCH.name, ["task", "kind", "type", "script", "ending"])
    table = board.scored.join(facets, how="inner")
    discarded = scenarios.keys(db, BENCHMARK, SCRIPT, "discarded")
    table = table[~table.script.isin(discarded)]
    in_use = facets.loc[facets.index.isin(board.rated.conversations.index) & ~facets.script.isin(discarded)]
    script_scenarios = scenarios.page(db, BENCHMARK, SCRIPT)
    acts = {str(s.body.get("task", "")): s.body.get("act", "") for s in script_scenarios}
    acts |= {s.key: s.body.get("act", s.key) for s in scenarios.page(db, BENCHMARK, TASK)}
    table = table.assign(act=[acts.get(task, task) for task in table.task])
    return Scored(board, table, len(discarded), len(in_use) - len(table))


def subsets(scores: Scored, *, resamples: int = 1000, seed: int = 0) -> Table:
    """Target models by kind of script and type of task, best on All first."""
    board = scores.board
    failed = leaderboards.own_failures(board.rated.failed)
    rows = []
    for player, model_rows in scores.table.groupby("player", sort=True):
        row: dict[str, Any] = {"model": str(player), "simulated": bool(model_rows.simulated.any())}
        for name, in_subset in SUBSETS.items():
            subset_rows = model_rows[in_subset(model_rows)]
            values = subset_rows[FINAL][subset_rows.complete].to_numpy(float)[:, None]
            [row[name]] = mean_estimates(values, resamples=resamples, seed=seed, noun="script", scales=[ENDS])
        row |= {"incomplete": int((~model_rows.complete).sum()), "failed": failed.get(str(player), 0)}
        row |= {"cut": int((model_rows.ending == "cut").sum())}
        rows.append(row)
    rows.sort(key=lambda row: (-(row["All"].value or 0.0), row["model"]))
    notes = [
        f"Means over scripts and the panel {', '.join(board.judges)}; stateless and stateful are within "
        "FirstChan; Hard is FirstChan and SubseqChan. "
        + described([bounded(*ENDS)], resamples=resamples, seed=seed, units="scripts"),
        *board.rated.notes([*board.judges, *board.passed_over]),
    ]
    sizes = {row["All"].n for row in rows}
    if len(sizes) > 1:
        notes.append(
            f"The models were not scored on equally many scripts ({min(sizes)} to {max(sizes)}): their "
            "means are of different scripts."
        )
    if left_out := int((~scores.table.complete).sum()):
        notes.append(
            f"{left_out} replies are excluded, because a judge of the panel has no usable score of them."
        )
    notes += leaderboards.unrated_notes(scores.unrated)
    notes += leaderboards.failure_notes(board.rated.failed)
    if scores.discarded:
        notes.append(f"{scores.discarded} scripts were discarded and are excluded.")
    columns = (
        Column("model"),
        *(Column(name, name, interval="cell", n=True) for name in SUBSETS),
        Column(
            "incomplete",
            "excluded",
            help="Replies without a usable score of each judge; excluded from means",
            file_only=not any(row["incomplete"] for row in rows),
        ),
        Column("failed", help="Scripts without a usable reply; excluded from means"),
        Column("cut", help="Replies truncated at the length limit; they are included"),
        Column("simulated", file_only=not board.mocks),
    )
    sampling = {"resamples": resamples, "seed": seed, "discarded": scores.discarded}
    return Table(
        "leaderboard-simulbench",
        board.rated.title(),
        columns,
        tuple(rows),
        notes=(*notes, *([MOCKS] if board.mocks else [])),
        meta=board.basis | sampling | {"first by": "All"},
    )


def leaderboard(
    db: Database, *, filters: FacetValues | None = None, judges: Sequence[str] = (), **sampling: int
) -> tuple[Table, ...]:
    """Target models, what became of each script, the simplest and hardest tasks, and failing scripts.

    `sampling` may hold `resamples` and `seed`.
    """
    scores = scored(db, filters=filters, judges=judges)
    lists = [table for table in (failing(scores), failing_by_judge(scores)) if table.rows]
    return (subsets(scores, **sampling), counts(db, scores, filters), *task_tables(scores), *lists)


FAILING = (ENDS[0] + ENDS[1]) / 2
"""A reply that scores less than the middle of the scale fails its script."""
MOST_FAILING = 10
"""Failing scripts that are listed for a model, or a judge."""


def counts(db: Database, scores: Scored, filters: FacetValues | None = None) -> Table:
    """What became of the scripts that each model was asked; discarded scripts are excluded.

    Asked = failed + answered, and answered = scored + excluded + unrated. Refused are among the answered.
    """
    facets = tables.facets(db, SIMULBENCH.name, ["script", "ending"])
    discarded = set(scenarios.keys(db, BENCHMARK, SCRIPT, "discarded"))
    conversations_ = scores.board.rated.conversations.join(facets, how="inner")
    conversations_ = conversations_[~conversations_.script.isin(discarded)]
    failures = [
        row["player"]
        for row in runs.failed_plays(db, SIMULBENCH.name, filters)
        if row["facets"].get("script") not in discarded
    ]
    rows = []
    for model in sorted({*conversations_.player, *failures}):
        model_rows = conversations_[conversations_.player == model]
        rated = scores.table[scores.table.player == model]
        scored = int(rated.complete.sum())
        failed = failures.count(model)
        rows.append(
            {
                "model": model,
                "asked": len(model_rows) + failed,
                "failed": failed,
                "answered": len(model_rows),
                "scored": scored,
                "excluded": len(rated) - scored,
                "unrated": len(model_rows) - len(rated),
                "refused": int((model_rows.ending == "refusal").sum()),
            }
        )
    columns = (
        Column("model"),
        Column("asked", help="Scripts in use that the model was asked: failed + answered"),
        Column("failed", help="No usable reply"),
        Column("answered", help="scored + excluded + unrated"),
        Column("scored", help="By every judge of the panel"),
        Column("excluded", help="A judge of the panel has no usable score"),
        Column("unrated", help="No judge of the panel was asked yet"),
        Column("refused", help="Among the answered: replies that the endpoint marks as refusals"),
    )
    note = f"A further {len(discarded)} scripts were discarded." if discarded else ""
    return Table("counts", "What became of the scripts", columns, tuple(rows), notes=(note,) if note else ())


def failing(scores: Scored) -> Table:
    """The scripts on which each model scores less than the middle of the scale, lowest first."""
    low = scores.table[scores.table.complete & (scores.table[FINAL] < FAILING)]
    low = low.sort_values(["player", FINAL, "script"]).groupby("player").head(MOST_FAILING)
    low = low.rename_axis("conversation").reset_index()
    rows = tuple(
        {"model": row["player"], "score": row[FINAL], **{name: row[name] for name in SCRIPT_COLUMNS}}
        for row in low.to_dict("records")
    )
    columns = (Column("model"), *_script_columns(Column("score", help="Mean over the panel")))
    return Table("failing", "Failing scripts, by model", columns, rows, notes=(_failing_note("model"),))


def failing_by_judge(scores: Scored) -> Table:
    """The replies that each judge of the panel scores less than the middle of the scale, lowest first."""
    judge_scores = scores.board.rated.scores
    judge_scores = judge_scores[
        judge_scores.judge.isin(scores.board.judges) & (judge_scores[QUALITY.name] < FAILING)
    ]
    judge_scores = judge_scores[["conversation", "judge", QUALITY.name]]
    scripts = scores.table[["player", *(name for name in SCRIPT_COLUMNS if name != "conversation")]]
    low = judge_scores.merge(scripts, left_on="conversation", right_index=True)
    low = low.sort_values(["judge", QUALITY.name, "script", "player"]).groupby("judge").head(MOST_FAILING)
    rows = tuple(
        {
            "judge": row["judge"],
            "model": row["player"],
            "score": row[QUALITY.name],
            **{name: row[name] for name in SCRIPT_COLUMNS},
        }
        for row in low.to_dict("records")
    )
    columns = (Column("judge"), Column("model"), *_script_columns(Column("score")))
    title = "Failing scripts, by judge"
    return Table("failing-by-judge", title, columns, rows, notes=(_failing_note("judge"),))


SCRIPT_COLUMNS = ("act", "task", "kind", "type", "conversation", "script")


def _script_columns(score: Column) -> tuple[Column, ...]:
    """What a script is, with its score; its key, which is long, comes last."""
    columns = [
        Column(name, "task" if name == "act" else "", file_only=name in ("task", "conversation"))
        for name in SCRIPT_COLUMNS
    ]
    return (*columns[:-1], score, columns[-1])


def _failing_note(noun: str) -> str:
    return f"Scores below {FAILING:g}, at most the {MOST_FAILING} lowest of each {noun}."


LEADERBOARDS = {SIMULBENCH.name: leaderboard}


def task_tables(scores: Scored, limit: int = 10) -> list[Table]:
    """The simplest and the hardest tasks of each type by hard scripts, as in the paper; no task is in both.

    `mean` is the mean over models of their means over the task's scripts. A task that some model has no
    score on is excluded.
    """
    table = scores.table[scores.table.complete & scores.table.kind.isin(HARD)]
    group_columns = ["type", "task", "act"]
    by_model = table.groupby([*group_columns, "player"])[FINAL].mean()
    means = by_model.groupby(group_columns).agg(mean="mean", models="size")
    means["scripts"] = table.groupby(group_columns).script.nunique()
    means = means[means.models == table.player.nunique()].round({"mean": DIGITS}).reset_index()
    means = means.sort_values(["mean", "task"], ascending=[False, True])
    columns = (
        Column("act", "task"),
        Column("mean", help="Mean over models of their means over the task's scripts"),
        Column("scripts"),
        Column("task", file_only=True),
        Column("models", file_only=True),
    )
    ranked_tables = []
    for type in TYPES:
        tasks = means[means.type == type].to_dict("records")
        shown_count = min(limit, len(tasks) // 2)
        for extreme, rows in (
            ("simplest", tasks[: max(1, shown_count)]),
            ("hardest", tasks[::-1][:shown_count]),
        ):
            if rows:
                title = f"{extreme.capitalize()} tasks, {type}"
                cells = tuple({str(name): cell for name, cell in row.items()} for row in rows)
                ranked_tables.append(Table(f"{extreme}-{type}", title, columns, cells))
    return ranked_tables
