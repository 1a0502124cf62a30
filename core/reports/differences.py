"""Whether two sides of a leaderboard differ: players, runs, values of a condition, versions of the prompt.

Both are scored by the judges that rated both, and paired on common scenarios.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from sqlite_utils import Database

from concord.errors import ConcordError, NotFound, check_known
from concord.estimate import Estimate
from concord.rating import Rater
from concord.reports.leaderboards import MOCKS, Leaderboard, leaderboard, weightings
from concord.reports.rated import Rated, gather
from concord.runs import judged, planning
from concord.runs.plans import JudgePlan, PlayPlan, from_dict
from concord.scores import DIGITS, FINAL
from concord.statistics.intervals import DIFFERENCE, described
from concord.statistics.resampling import mean_estimates
from concord.store import runs, tables
from concord.store.filters import COLUMNS
from concord.store.runs import Progress
from concord.store.tables import ID, PROMPT
from concord.table import Cell, Column, Table
from concord.workspace import Workspace

PLAYER, RUN = "player", "run"
SCORE = "score"


@dataclass(frozen=True)
class ComparedSide:
    """One of the two: `rows` are its conversations that count, as `Leaderboard.usable` has them."""

    name: str
    board: Leaderboard
    rows: pd.DataFrame = field(repr=False, compare=False)


TwoSides = tuple[ComparedSide, ComparedSide]


def comparable(db: Database, benchmark: str = "", limit: int = 200) -> list[Progress]:
    """The latest runs (of a benchmark) that played or judged, newest first: others have no scores."""
    known = (run for run in runs.recent(db, limit) if run.plan.get("kind", "play") in ("play", "judge"))
    return [run for run in known if benchmark in ("", run.benchmark)]


def before(known: Sequence[Progress], run: Progress) -> Progress | None:
    """The run to compare one with: the latest earlier one of its benchmark and language with another plan."""
    earlier = (r for r in known if r.id < run.id and r.benchmark == run.benchmark and r.plan != run.plan)
    return next((r for r in earlier if _language(r) == _language(run)), None)


def _language(run: Progress) -> object:
    return run.plan.get("options", {}).get("language")


def conditions(board: Leaderboard) -> dict[str, list[str]]:
    """What two sides of a leaderboard can be, with the values: players, the best first, or a condition."""
    rated = board.rated
    players = [standing.player for standing in board.standings if standing.n]
    prompts = sorted({rated.raters[judge].variant for judge in rated.judges} - {""})
    every = {PLAYER: players, **rated.mixed, PROMPT: prompts}
    return {name: list(values) for name, values in every.items() if len(values) > 1}


def of_board(board: Leaderboard, of: str, one: str, other: str) -> TwoSides:
    """Two values of one of a leaderboard's `conditions`. Raises NotFound, ConcordError."""
    _check_two(one, other)
    offered = conditions(board)
    check_known("condition in which its conversations differ", of, offered)
    check_known(of, (one, other), offered[of])
    if of == PROMPT:
        raters = board.rated.raters
        panels = [[j for j in board.rated.judges if raters[j].variant == name] for name in (one, other)]
        return _sides((one, other), [board.rated] * 2, panels, board)
    if of == PLAYER:
        return of_players(board, one, other)
    rows = board.usable
    values = rows[of] if of in COLUMNS else board.rated.facets[of].reindex(rows.index)
    return ComparedSide(one, board, rows[values == one]), ComparedSide(other, board, rows[values == other])


def of_players(board: Leaderboard, one: str, other: str) -> TwoSides:
    """Two players of a leaderboard, with their score: final with the penalty for length."""
    factors = {standing.player: standing.length_factor or 1.0 for standing in board.standings}
    rows = board.usable.assign(**{SCORE: board.usable[FINAL] * board.usable.player.map(factors)})
    return ComparedSide(one, board, rows[rows.player == one]), ComparedSide(
        other, board, rows[rows.player == other]
    )


def of_runs(workspace: Workspace, one: str, other: str) -> TwoSides:
    """Two runs by their numbers: the conversations that their plans name, by the judges that they name.

    Raises NotFound for what there is not, ConcordError for runs of different benchmarks or without scores.
    """
    _check_two(one, other)
    plans = [_plan(workspace, number) for number in (one, other)]
    if plans[0].benchmark != plans[1].benchmark:
        raise ConcordError(
            f"Run {one} is of {plans[0].benchmark}, run {other} of {plans[1].benchmark}: they have no "
            "scenario in common. Choose two of one benchmark."
        )
    keys = [dict(planning.named(workspace, plan)) for plan in plans]
    with workspace.read() as db:
        sides = [tables.of_keys(db, named, [key for of in named.values() for key in of]) for named in keys]
        for number, (_, raters) in zip((one, other), sides, strict=True):
            if not raters:
                raise ConcordError(f"No judge has rated a conversation of run {number}, so it has no scores.")
        rated = [
            gather(db, plan.benchmark, {ID: [*map(str, sorted(ids))]}, _rubric(db, plan.benchmark, raters))
            for plan, (ids, raters) in zip(plans, sides, strict=True)
        ]
    panels = [
        [j for j in of.judges if of.raters[j] in raters] for of, (_, raters) in zip(rated, sides, strict=True)
    ]
    return _sides((f"Run {one}", f"Run {other}"), rated, panels)


def _rubric(db: Database, benchmark: str, raters: Collection[Rater]) -> str:
    """The version of a rubric by which these judges rated; “” for the benchmark's own questions."""
    variants = {rater.variant for rater in raters}
    return next((version for version in judged.versions(db, benchmark) if version in variants), "")


def _check_two(one: str, other: str) -> None:
    if one == other:
        raise ConcordError(f"{one} cannot be compared with itself. Choose another one.")


def _plan(workspace: Workspace, number: str) -> PlayPlan | JudgePlan:
    if not number.isdecimal() or len(number) > 15:
        raise NotFound(f"“{number[:40]}” is not the number of a run.")
    with workspace.read() as db:
        plan = from_dict(runs.get(db, int(number)).plan)
    if not isinstance(plan, PlayPlan | JudgePlan):
        raise ConcordError(f"Run {number} rated no conversations, so that it has no scores to compare.")
    return plan


def _sides(
    names: tuple[str, str],
    rated: Sequence[Rated],
    panels: Sequence[Sequence[str]],
    like: Leaderboard | None = None,
) -> TwoSides:
    """Two sides, each by the models that both panels have (under whichever version of the prompt).

    Where they have none in common, by all judges of each. Final is of the criteria that both were asked.
    """
    models = [{of.raters[j].name for j in panel} for of, panel in zip(rated, panels, strict=True)]
    both = set.intersection(*models)
    shared = [
        [j for j in panel if not both or of.raters[j].name in both]
        for of, panel in zip(rated, panels, strict=True)
    ]
    common = set.intersection(*({c.name for c in of.system.criteria if c.counted} for of in rated))
    if not common:
        raise ConcordError("They were asked no question in common, so their scores cannot be compared.")
    ways = weightings([c for c in rated[0].system.criteria if c.name in common])
    how: dict[str, Any] = {"weights": next(iter(ways.values()))}
    how |= {"weights": like.weights, "refusals": like.refusals} if like else {}
    left, right = (
        leaderboard(of, judges=panel, resamples=0, **how) for of, panel in zip(rated, shared, strict=True)
    )
    return ComparedSide(names[0], left, left.usable), ComparedSide(names[1], right, right.usable)


def difference(one: ComparedSide, other: ComparedSide, *, resamples: int = 1000, seed: int = 0) -> Table:
    """From `one` to `other` on common scenarios: score (of players), final and each criterion.

    Scenarios are matched player by player where a player is on both sides, and resampled. Where both hold the
    same conversations, these alone are compared.
    """
    labels = {c.name: c.label for board in (one.board, other.board) for c in board.rated.system.criteria}
    every = (SCORE, FINAL, *labels) if len(one.board.weights) > 1 else (SCORE, *labels)
    names = [name for name in every if name in one.rows and name in other.rows]
    before, after = _matched(one, other, names)
    gaps = (after - before).round(DIGITS)
    figures = mean_estimates(gaps.to_numpy(), resamples=resamples, seed=seed, of="common scenario")
    rows: list[dict[str, Cell]] = [
        {
            "criterion": labels.get(name, name.capitalize()),
            "one": float(before[name].mean()) if len(gaps) else None,
            "other": float(after[name].mean()) if len(gaps) else None,
            "difference": figure,
        }
        for name, figure in zip(names, figures, strict=True)
    ]
    columns = (
        Column("criterion"),
        Column("one", one.name),
        Column("other", other.name),
        Column("difference", signed=True, interval="ends"),
    )
    method = described([DIFFERENCE], resamples=resamples, seed=seed, of="scenarios")
    return Table(
        "differences",
        f"From {one.name} to {other.name}",
        columns,
        tuple(rows),
        sentence(one, other, figures[0]),
        (
            ". ".join(filter(None, [f"Means over {len(gaps)} common scenarios", method])) + ".",
            *_judges(one, other),
        ),
        {"one": one.name, "other": other.name, "benchmark": one.board.benchmark, "seed": seed},
    )


def sentence(one: ComparedSide, other: ComparedSide, figure: Estimate) -> str:
    """Whether the two differ, by the difference of their scores (or final scores)."""
    if figure.value is None or figure.interval is None:
        why = figure.reason if figure.n != 1 else "they share one scenario"
        return f"Whether {one.name} and {other.name} differ is not known: {why}."
    low, high = figure.interval
    points = f"{figure.value:+z.2f} points ({low:+z.2f} to {high:+z.2f})"
    on = f"paired on the {figure.n} scenarios that both have"
    if low <= 0 <= high:
        return f"{other.name} and {one.name} cannot be told apart by these conversations: {points}, {on}."
    better, worse = (other, one) if low > 0 else (one, other)
    return f"{better.name} scores higher than {worse.name} beyond chance: {points}, {on}."


def _matched(
    one: ComparedSide, other: ComparedSide, names: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The means of both sides in the scenarios that both have, by scenario."""
    talks = [side.rows for side in (one, other)]
    if shared := [*talks[0].index.intersection(talks[1].index)]:
        talks = [rows.loc[shared] for rows in talks]
    by = ["scenario", *(["player"] if {*talks[0].player} & {*talks[1].player} else [])]
    spoken = {*talks[0].language} & {*talks[1].language}  # else the language is what the two differ in
    means = []
    for side, rows in zip((one, other), talks, strict=True):
        about = rows.index.map(side.board.rated.scenarios.get).to_series(index=rows.index)
        about = about.fillna(rows.language + " · " + rows.key)
        scenario = about if spoken else about.str.split(" · ", n=1).str[-1]
        means.append(rows.assign(scenario=scenario).groupby(by)[list(names)].mean())
    both = means[0].index.intersection(means[1].index)
    before, after = (of.loc[both].groupby("scenario").mean() for of in means)
    return before, after


def _judges(one: ComparedSide, other: ComparedSide) -> list[str]:
    """Who judged; who is a mock model or took part."""
    panels = [", ".join(side.board.judges) for side in (one, other)]
    alike = panels[0] == panels[1]
    by = panels[0] if alike else f"{panels[0]} ({one.name}) and {panels[1]} ({other.name})"
    return [f"Judges: {by}.", *([MOCKS] if one.board.mocks or other.board.mocks else [])]
