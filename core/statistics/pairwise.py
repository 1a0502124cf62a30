"""Pairwise comparison: wins, position bias, strengths on one scale, and agreement of raters.

A comparison is +1 where the player named first (in alphabetical order) is preferred, −1 where the other is, 0
for a tie. Intervals resample scenarios, because the comparisons of one scenario are not independent.
"""

from collections.abc import Collection
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from concord.estimate import Estimate, undefined
from concord.statistics.alpha import alpha, point, value_counts, why_undefined
from concord.statistics.figures import PointEstimate, compute
from concord.statistics.intervals import CORRELATION, SHARE, bounded
from concord.statistics.ratings import Bools, Floats
from concord.statistics.resampling import Weights, cached_count, mean

EACH_OTHER = "each other"
PAIR = ["scenario", "one", "other"]
STEPS = 2000
NEAR = 1e-9
"""The iteration for strengths ends when none changes by more than this share, or after so many steps."""


Row = dict[str, Any]
"""A row of figures by name, for a table."""


def orders(table: pd.DataFrame) -> pd.DataFrame:
    """Both orders of every pair side by side.

    `table` has a row for each comparison as it was asked: scenario, a (shown first), b, rater, kind, repeat,
    verdict (A, B, C; None for a failure). Index: scenario, one, other, rater, kind, repeat; columns straight
    (`one` shown first) and swapped, in +1, 0, −1, nan where not asked or failed.
    """
    first = table.a < table.b
    sign = table.verdict.map({"A": 1.0, "B": -1.0, "C": 0.0}).astype(float)
    rows = pd.DataFrame(
        {
            "scenario": table.scenario,
            "one": table.a.where(first, table.b),
            "other": table.b.where(first, table.a),
            "rater": table.rater,
            "kind": table.kind,
            "repeat": table.repeat,
            "place": np.where(first, "straight", "swapped"),
            "verdict": sign.where(first, -sign),
        }
    )
    keys = [*PAIR, "rater", "kind", "repeat"]
    # Only what was asked becomes a row: a pivot would have one for every scenario of every rater.
    wide = rows.groupby([*keys, "place"]).verdict.last().unstack("place")
    return wide.dropna(how="all").reindex(columns=["straight", "swapped"])


def one_order(table: pd.DataFrame) -> frozenset[str]:
    """The judges who were asked about no pair in both orders; `table` is as in `orders`."""
    judged = table[table.kind == "judge"]
    swapped = judged.rename(columns={"a": "b", "b": "a"})
    in_both_orders = judged.merge(swapped, on=["scenario", "a", "b", "rater", "repeat"])
    return frozenset({*judged.rater} - {*in_both_orders.rater})


def outcomes(by_order: pd.DataFrame, single_order: Collection[str] = ()) -> pd.DataFrame:
    """One outcome for each pair and rater: scenario, one, other, rater, kind, outcome.

    A judge's counts where both orders were answered, and is a win only if it wins in both. A person is asked
    once, as are the judges named in `single_order`. Of repeats the majority counts.
    """
    rows = by_order.reset_index()
    agreed = rows.straight.where(rows.straight == rows.swapped, 0.0)
    judged = agreed.where(rows.straight.notna() & rows.swapped.notna())
    twice = (rows.kind == "judge") & ~rows.rater.isin(list(single_order))
    rows["outcome"] = judged.where(twice, rows[["straight", "swapped"]].mean(axis=1))
    rows = rows.dropna(subset="outcome")
    return vote(rows, [*PAIR, "rater", "kind"])


def vote(outcomes_: pd.DataFrame, keys: list[str] = PAIR) -> pd.DataFrame:
    """The outcome that more rows of each pair favour, 0 for a draw: the columns `keys`, and outcome."""
    sums: pd.DataFrame = outcomes_.groupby(keys, as_index=False)[["outcome"]].sum()
    return sums.assign(outcome=np.sign(sums.outcome).astype(int))


def bias(by_order: pd.DataFrame) -> list[Row]:
    """The position bias of each judge: of `n` pairs asked in both orders, `flips` changed with the order, and
    `first` and `second` of these favour the reply shown there.
    """
    complete = by_order.dropna().reset_index()
    complete = complete[complete.kind == "judge"]
    lean = (complete.straight - complete.swapped).groupby(complete.rater)
    return [
        {
            "rater": str(rater),
            "n": len(lean_of_rater),
            "flips": int((lean_of_rater != 0).sum()),
            "changed": float((lean_of_rater != 0).mean()),
        }
        | {"first": int((lean_of_rater > 0).sum()), "second": int((lean_of_rater < 0).sum())}
        for rater, lean_of_rater in lean
    ]


def _share(holds: Any, scenario: Any, resamples: int, seed: int, reason: str) -> Estimate:
    """The share of pairs for which something holds."""
    values = np.asarray(holds, dtype=np.float64)
    figure = PointEstimate(mean(values), len(values), reason=reason, kind=SHARE)
    return _of_pairs(figure, scenario, resamples, seed)


def _of_pairs(figure: PointEstimate, scenario: Any, resamples: int, seed: int) -> Estimate:
    """A figure of pairs of so many scenarios, which are drawn as a whole."""
    codes = pd.factorize(scenario)[0]
    [estimate] = compute([figure], len(codes), clusters=codes, resamples=resamples, seed=seed)
    return estimate if resamples or not estimate.defined else Estimate(estimate.value, n=estimate.n)


def duels(
    votes: pd.DataFrame, players: list[str], attempts: pd.DataFrame, *, resamples: int = 1000, seed: int = 0
) -> list[Row]:
    """Every two of the players, in the order named: the scenarios that `one` won, tied and lost of `n`, as
    counts and as shares (`win`, `tie`, `lose`), and `delta`, the share of wins less that of losses.

    `votes` has one outcome for each scenario and pair; `attempts` has all pairs that were asked (scenario,
    one, other), so that those without an outcome can be counted: they are `incomplete`.
    """
    tensor = _wins(votes, players)
    tried = attempts.drop_duplicates(PAIR).groupby(["one", "other"]).size()
    rows = list[Row]()
    figures = []
    for (i, a), (j, b) in combinations(enumerate(players), 2):
        won, tied, losses = (tensor[:, i, j] == points for points in (1, 0.5, 0))
        gap = np.where(won | tied | losses, won.astype(float) - losses, np.nan)
        n = int((~np.isnan(gap)).sum())
        counts = {"won": int(won.sum()), "tied": int(tied.sum()), "lost": int(losses.sum())}
        shares = zip(("win", "tie", "lose"), counts.values(), strict=True)
        rows.append(
            {"one": a, "other": b, "n": n, "incomplete": int(tried.get((min(a, b), max(a, b)), 0)) - n}
            | counts
            | {name: count / n if n else None for name, count in shares}
        )
        figures.append(PointEstimate(mean(gap), n, reason="no pair was compared", kind=bounded(-1, 1)))
    deltas = compute(figures, len(tensor), resamples=resamples, seed=seed)
    return [row | {"delta": delta} for row, delta in zip(rows, deltas, strict=True)]


def strengths(votes: pd.DataFrame, players: list[str], *, resamples: int = 1000, seed: int = 0) -> list[Row]:
    """Bradley–Terry strengths by maximum likelihood, strongest first: log scale, mean 0 over players; a tie
    is half a win for each. A player is preferred to another with probability 1 / (1 + exp(other − own)).

    The iteration is Hunter's (“MM algorithms for generalized Bradley–Terry models”, 2004). Undefined where
    some group of players never took half a point from the others: their distance would be infinite (Ford
    1957).
    """
    tensor = _wins(votes, players)
    wins = np.nan_to_num(tensor)
    compared = (~np.isnan(tensor)).sum(axis=(0, 2)).tolist()

    @cached_count
    def fitted(weights: Weights) -> Floats:
        return _log_strengths(np.einsum("sr,sij->rij", weights.astype(float), wins)).T

    def log_odds(place: int) -> PointEstimate:
        n = compared[place]
        reason = "some models never won or tied against the others" if n else "nothing was compared"
        return PointEstimate(lambda weights: fitted(weights)[place], n, reason=reason)

    computed = compute([*map(log_odds, range(len(players)))], len(tensor), resamples=resamples, seed=seed)
    rows = [
        {"player": player, "strength": strength} for player, strength in zip(players, computed, strict=True)
    ]
    return sorted(
        rows,
        key=lambda row: (not row["strength"].defined, -(row["strength"].value or 0.0), row["player"]),
    )


def match(
    a: str, b: str, one: pd.DataFrame, second: pd.DataFrame, *, resamples: int = 0, seed: int = 0
) -> Row:
    """Two raters' outcomes on the pairs that both compared: the figures of `mutual_agreement`."""
    pooled = pd.concat([one.assign(rater="a"), second.assign(rater="b")])
    return mutual_agreement(a, pooled, resamples=resamples, seed=seed) | {"b": b}


def mutual_agreement(name: str, votes: pd.DataFrame, *, resamples: int = 0, seed: int = 0) -> Row:
    """Agreement of several raters, called `name`, with each other. Intervals resample scenarios.

    The shares are of all pairs of answers to the same question (scenario, one, other), `equal_decided` of
    those where neither is a tie. Alpha is Krippendorff's (2011) for categories, of the pairs with at least
    two answers. Each pair counts in both orders of its players, with the answers turned round, because which
    of the two is named first means nothing: alpha does not depend on what players are called. Undefined where
    no pair has two answers, and where all answers are ties.
    """
    pairs = votes.merge(votes, on=PAIR)
    pairs = pairs[pairs.rater_x < pairs.rater_y]
    equal = pairs.outcome_x == pairs.outcome_y
    no_tie = (pairs.outcome_x != 0) & (pairs.outcome_y != 0)
    reason = "no pair was compared by two"
    draws = (resamples, seed)
    return {
        "a": name,
        "b": EACH_OTHER,
        "equal": _share(equal, pairs.scenario, *draws, reason),
        "equal_decided": _share(
            equal[no_tie], pairs.scenario[no_tie], *draws, "only ties" if len(pairs) else reason
        ),
        "alpha": _alpha(votes, *draws),
    }


def _alpha(votes: pd.DataFrame, resamples: int, seed: int) -> Estimate:
    """Alpha of outcomes (scenario, one, other, rater, outcome) that are counted in both orders."""
    several = votes[votes.groupby(PAIR).outcome.transform("size") > 1]
    pair = several.groupby(PAIR).ngroup().to_numpy()
    n = len(np.unique(pair))
    item = np.concatenate([pair, pair + n])
    outcome = several.outcome.to_numpy(float)
    counts, values = value_counts(item, np.concatenate([outcome, -outcome]), 2 * n)
    if reason := why_undefined(counts):
        return undefined(reason.replace("item was rated", "pair was compared"), n=n)
    scenario = np.empty(n, dtype=np.int64)
    scenario[pair] = pd.factorize(several.scenario)[0]
    value = point(counts, values, "nominal")
    figure = PointEstimate(alpha(counts, values, "nominal"), n, value, kind=CORRELATION)
    return _of_pairs(figure, np.concatenate([scenario, scenario]), resamples, seed)


def _wins(votes: pd.DataFrame, players: list[str]) -> Floats:
    """Scenarios × players × players: 1 for a win of the row's player, 0.5 a tie, 0 a loss, else nan."""
    rows = votes[votes.one.isin(players) & votes.other.isin(players)]
    scenario, scenarios = pd.factorize(rows.scenario)
    tensor = np.full((len(scenarios), len(players), len(players)), np.nan)
    i, j = (pd.Index(players).get_indexer(pd.Index(names)) for names in (rows.one, rows.other))
    points = (rows.outcome.to_numpy(float) + 1) / 2
    tensor[scenario, i, j] = points
    tensor[scenario, j, i] = 1 - points
    return tensor


def _log_strengths(points: Floats) -> Floats:
    """The log strengths (fits × players, mean 0) by maximum likelihood; nan without a maximum.

    `points` (fits × players × players) are those that the row's player took from the column's.
    """
    strength = np.ones(points.shape[:2])
    total = points.sum(axis=2)
    games = points + points.transpose(0, 2, 1)
    defined = _connected(points)
    for _ in range(STEPS if defined.any() else 0):
        with np.errstate(divide="ignore", invalid="ignore"):
            step = total / (games / (strength[:, :, None] + strength[:, None, :])).sum(axis=2)
            new = np.where(defined[:, None], step, 1)
        new /= np.exp(np.log(new).mean(axis=1, keepdims=True))
        moved = np.abs(new / strength - 1).max()
        strength = new
        if moved < NEAR:
            break
    return np.where(defined[:, None], np.log(strength), np.nan)


def _connected(points: Floats) -> Bools:
    """Whether every player took points, directly or through others, from every other."""
    reach = (points > 0) | np.eye(points.shape[1], dtype=bool)
    for _ in range(max(1, int(np.ceil(np.log2(points.shape[1]))))):
        reach = (reach.astype(np.uint8) @ reach.astype(np.uint8)) > 0
    return np.asarray(reach.all(axis=(1, 2)))
