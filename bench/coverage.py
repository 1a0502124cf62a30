"""How often the intervals that Concord prints hold the truth, on simulated studies whose truth is known.

    python -m bench.coverage [--quick] [--simulations 400] [--resamples 500] [--only WORD]

A study draws items of a population: each item has a quality and a player, each annotator a severity, each
rater a noise, and answers are cut to the scale. The truth of a figure is its value on `LARGE` items:

- for **these** annotators: the annotators of the study rate the large population;
- for annotators **like these**: the mean of the truth over many sets of annotators of the same number.

Printed for every study and figure: the share of intervals that hold the truth which they claim (aim: 93% or
more), the share of studies that have an interval, and the median width. Intervals of means and of players
are for these annotators only. The simulation error of a share p of n studies is sqrt(p (1 − p) / n): 1.1
points at 95% of 400, 2.2 points of 100.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Unpack

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from concord.estimate import Estimate
from concord.statistics.corrected import corrected_mean
from concord.statistics.feature_bias import feature_bias
from concord.statistics.figures import Drawing, People
from concord.statistics.held_out import held_out
from concord.statistics.intervals import Ends
from concord.statistics.items import group_agreement
from concord.statistics.judges import judge_figures
from concord.statistics.kinds import enough
from concord.statistics.ratings import Floats, Ratings, read_ratings
from concord.statistics.reliability import reliability
from concord.statistics.resampling import mean_estimates
from concord.statistics.study import study_agreement
from concord.statistics.systems import systems

LARGE = 8_000
"""Items of the population on which a truth is measured."""

MANY_ITEMS, LARGEST = 20_000, 1_000_000
"""Items of a large study, and of the population behind it."""

SETS = 20
"""Sets of annotators: studies take them in turn, and the truth for annotators like these is their mean."""


@dataclass(frozen=True)
class Design:
    """A kind of study: items, annotators who rate all of them, judges, and the scale's cuts.

    Qualities within a player, severities and noises are normal with standard deviations 0.9, `severity` and
    `noise`, and players differ by up to 1.2; an answer
    is the number of `cuts` below their sum.
    """

    items: int
    people: int = 3
    judges: int = 2
    cuts: tuple[float, ...] = (-1.5, -0.5, 0.5, 1.5)
    severity: float = 0.5
    noise: float = 0.8

    def annotators(self, seed: int) -> Floats:
        """The severities of one set of annotators."""
        return np.random.default_rng([seed, 1]).normal(0, self.severity, self.people)

    def draw(self, rng: np.random.Generator, severity: Floats, items: int) -> tuple[Floats, Floats]:
        """Answers of people (people × items) and of judges (judges × items)."""
        by_player = np.linspace(-0.6, 0.6, PLAYERS)
        quality = rng.normal(size=items) * 0.9 + by_player[np.arange(items) % PLAYERS]
        by_people = quality + severity[:, None] + rng.normal(0, self.noise, (len(severity), items))
        by_judges = quality + 0.3 + rng.normal(0, self.noise, (self.judges, items))
        return tuple(np.searchsorted(self.cuts, given).astype(float) + 1 for given in (by_people, by_judges))  # type: ignore[return-value]


EVEN, CEILING, RARE = (-1.5, -0.5, 0.5, 1.5), (-4.5, -3.5, -2.8, -1.6), (2.1,)
DESIGNS = {
    "even 1–5, 2 × 8": Design(8, 2),
    "even 1–5, 3 × 20": Design(20),
    "even 1–5, 3 × 50": Design(50),
    "even 1–5, 5 × 50": Design(50, 5),
    "even 1–5, 5 × 250": Design(250, 5),
    "ceiling 1–5, 2 × 20": Design(20, 2, cuts=CEILING),
    "ceiling 1–5, 2 × 50": Design(50, 2, cuts=CEILING),
    "ceiling 1–5, 3 × 50": Design(50, cuts=CEILING),
    "ceiling 1–5, 5 × 250": Design(250, 5, cuts=CEILING),
    "rare yes, 3 × 20": Design(20, cuts=RARE),
    "rare yes, 3 × 50": Design(50, cuts=RARE),
    "12 equal judges, 3 × 50": Design(50, judges=12),
}

QUICK = (
    "even 1–5, 3 × 20",
    "even 1–5, 5 × 50",
    "ceiling 1–5, 3 × 50",
    "rare yes, 3 × 50",
    "12 equal judges, 3 × 50",
)
"""The designs of `--quick`."""

Figures = Mapping[str, Estimate]
PLAYERS = 8


def frame(people: Floats, judges: Floats) -> pd.DataFrame:
    """The long frame of a study in which everybody rated everything on one criterion."""
    rows = [
        pd.DataFrame({"unit": range(len(row)), "rater": f"{kind} {number}", "kind": kind, "score": row})
        for kind, given in (("human", people), ("judge", judges))
        for number, row in enumerate(given)
    ]
    return pd.concat(rows, ignore_index=True).assign(criterion="quality")


def agreeing(people: Floats, judges: Floats, about: People, resamples: int, seed: int) -> Figures:
    """The figures that can be about annotators like these."""
    table = read_ratings(frame(people, judges), final_criteria=())
    how: Drawing = {"resamples": resamples, "seed": seed, "people": about}
    part = study_agreement(table, panels=(), **how).criteria["quality"]
    level = judge_figures(table, "quality", panels=(), **how).rows[0]
    held = held_out(table, "quality", panels=(), **how).rows[0]
    among = {row["coefficient"]: row["value"] for row in reliability(table, "quality", **how).rows}
    return {
        "alpha, ordinal": part.alpha["ordinal"],
        "alpha, interval": part.alpha["interval"],
        "exact agreement": among["exact"],
        "Spearman of a judge": part.judges[0].spearman,
        "Kendall of a judge": level["kendall"],
        "bias": level["bias"],
        "MAE": level["mae"],
        "held-out difference": held["difference"],
        "attainable correlation": among["attainable"],
    }


def others(people: Floats, judges: Floats, more: Floats, ends: Ends, resamples: int, seed: int) -> Figures:
    """The other figures; `more` are judge 0's scores of unrated items, `ends` those of the scale."""
    table = read_ratings(frame(people, judges), final_criteria=())
    how: Drawing = {"resamples": resamples, "seed": seed}
    players = {item: item % PLAYERS for item in range(people.shape[1])}
    found: dict[str, Estimate] = {
        "bias of a player": group_agreement(table, "quality", {"player": players}, panels=(), **how).rows[0][
            "bias"
        ],
        "mean of conversations": mean_estimates(
            judges[:1].T, resamples=resamples, seed=seed, noun="conversation", scales=[ends]
        )[0],
        "corrected mean (PPI++)": corrected_mean(people.mean(axis=0), judges[0], more, scale=ends).value,
    }
    if not resamples:
        return found
    length = np.random.default_rng([seed, 4]).normal(size=people.shape[1])
    biased = feature_bias(table, "quality", {"length": length}, panels=(), **how).rows[0]
    found["effect of a feature that has none"] = figure_of(biased["effect"])
    return found


def figure_of(cell: object) -> Estimate:
    """A cell that is known to be a figure."""
    assert isinstance(cell, Estimate)
    return cell


def truths(people: Floats, judges: Floats, ends: Ends) -> dict[str, float]:
    """The same figures of a large population, without intervals; all judges are equal."""
    found = {**agreeing(people, judges, "these", 0, 0), **others(people, judges, judges[0], ends, 0, 0)}
    known = {name: np.nan if figure.value is None else figure.value for name, figure in found.items()}
    target = people.mean(axis=0)
    known |= {"effect of a feature that has none": 0.0}
    known |= {"mean of conversations": float(judges[0].mean())}
    known |= {"corrected mean (PPI++)": float(target.mean())}
    return known


def simulated(design: Design, simulations: int, resamples: int) -> Iterator[dict[str, object]]:
    """One row per figure and claim: its coverage, how often it has an interval, the median width."""
    ends = 1.0, len(design.cuts) + 1.0
    known = [
        truths(*design.draw(np.random.default_rng([number, 2]), design.annotators(number), LARGE), ends)
        for number in range(SETS)
    ]
    defined = {name: [of[name] for of in known if not np.isnan(of[name])] for name in known[0]}
    alike = {name: float(np.mean(values)) if values else np.nan for name, values in defined.items()}
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for number in range(simulations):
        rng = np.random.default_rng([number, 3])
        lean = design.annotators(number % SETS)
        people, judges = design.draw(rng, lean, design.items)
        _, more = design.draw(rng, lean, 9 * design.items)
        own = known[number % SETS]
        made: list[tuple[str, Mapping[str, float], Figures]] = [
            ("these", own, agreeing(people, judges, "these", resamples, number)),
            ("these", own, others(people, judges, more[0], ends, resamples, number)),
        ]
        if design.people >= 3:
            made.append(("like these", alike, agreeing(people, judges, "like-these", resamples, number)))
        for claim, truth, figures in made:
            for name, figure in figures.items():
                low, high = figure.interval or (np.nan, np.nan)
                found.setdefault((name, claim), []).append((low, high, truth[name]))
    for (name, claim), rows in found.items():
        yield {"figure": name, "claim": claim, **held(rows)}


def ordered(simulations: int, resamples: int) -> Iterator[dict[str, object]]:
    """The rows of figures of the order of 8 players, 20 items each: players are as they are, items drawn.

    Players differ, and each judge likes some of them better than people do, so that no order is perfect. The
    truth is the figure of `LARGE` items.
    """

    def drawn(number: int, rng: np.random.Generator, each: int) -> Ratings:
        chance = np.random.default_rng([number, 5])
        quality, liked = chance.normal(0, 0.4, PLAYERS), chance.normal(0, 0.3, (2, PLAYERS))
        items = np.repeat(quality, each) + rng.normal(0, 0.9, each * PLAYERS)
        people, judges = items + rng.normal(0, 0.8, (2, 2, len(items)))
        judges += np.repeat(liked, each, axis=1)
        return read_ratings(
            frame(*(np.searchsorted(EVEN, of) + 1.0 for of in (people, judges))), final_criteria=()
        )

    def figures(table: Ratings, each: int, **how: Unpack[Drawing]) -> Figures:
        players = {item: item // each for item in range(each * PLAYERS)}
        by_player = systems(table, "quality", players, panels=(), **how).rows[0]
        return {"pairwise accuracy": by_player["accuracy"]}

    sets = range(SETS)
    known = [
        figures(
            drawn(number, np.random.default_rng([number, 6]), LARGE // PLAYERS), LARGE // PLAYERS, resamples=0
        )
        for number in sets
    ]
    found: dict[str, list[tuple[int, Estimate]]] = {}
    for number in range(simulations):
        table = drawn(number % SETS, np.random.default_rng([number, 7]), 20)
        for name, figure in figures(table, 20, resamples=resamples, seed=number).items():
            found.setdefault(name, []).append((number % SETS, figure))
    for name, rows in found.items():
        truth = [of[name].value for of in known]
        ends = [(*(figure.interval or (np.nan, np.nan)), truth[of]) for of, figure in rows]
        yield {"figure": name, "claim": "these", **held(ends)}


def many_items(simulations: int, resamples: int) -> Iterator[tuple[str, dict[str, object]]]:
    """The rows of figures of 20,000 items, whose kinds are few, or many: then a fifth of resamples is drawn.

    Two people and two judges; the truth is that of `LARGEST` items.
    """
    design = Design(MANY_ITEMS, 2)
    lean = np.array([-0.3, 0.4])

    def table(rng: np.random.Generator, items: int, fine: bool) -> Ratings:
        people, judges = design.draw(rng, lean, items)
        if fine:
            judges = judges + rng.random(judges.shape)
        return read_ratings(frame(people, judges), final_criteria=())

    def figures(table: Ratings, **how: Unpack[Drawing]) -> Figures:
        part = study_agreement(table, panels=(), **how).criteria["quality"]
        level = judge_figures(table, "quality", panels=(), **how).rows[0]
        held_out_ = held_out(table, "quality", panels=(), **how).rows[0]
        return {
            "alpha, interval": part.alpha["interval"],
            "Spearman of a judge": part.judges[0].spearman,
            "bias": level["bias"],
            "MAE": level["mae"],
            "held-out difference": held_out_["difference"],
        }

    for fine in (False, True):
        study = "even 1–5, 2 × 20,000" + (", judges with decimals" if fine else "")
        true = figures(table(np.random.default_rng([fine, 8]), LARGEST, fine), resamples=0)
        rows: dict[str, list[tuple[float, float, float]]] = {}
        for number in range(simulations):
            of = table(np.random.default_rng([number, fine, 9]), MANY_ITEMS, fine)
            for name, figure in figures(of, resamples=enough(of, resamples), seed=number).items():
                known = true[name].value
                ends = figure.interval or (np.nan, np.nan)
                rows.setdefault(name, []).append((*ends, np.nan if known is None else known))
        for name, ends_of in rows.items():
            yield study, {"figure": name, "claim": "these", **held(ends_of)}


def held(rows: Sequence[tuple[float, float, float]]) -> dict[str, object]:
    """Of intervals with the truth behind them: how many hold it, how many there are, their median width."""
    low, high, true = np.array(rows, dtype=np.float64).T
    there = ~np.isnan(low) & ~np.isnan(true)
    low, high, true = low[there], high[there], true[there]
    return {
        "holds": np.mean((low <= true) & (true <= high)) if len(low) else np.nan,
        "with interval": there.mean(),
        "width": np.median(high - low) if len(low) else np.nan,
    }


def by_player(only: str, simulations: int, resamples: int) -> Iterator[tuple[str, dict[str, object]]]:
    """The rows of figures of players, and of many items, each with the name of its design; those with `only`
    in their name.
    """
    if only in "even 1–5, 2 × 20,000":
        yield from many_items(simulations, 5 * resamples)
    if only in "even 1–5, 2 × 160, 8 players":
        for row in ordered(simulations, resamples):
            yield "even 1–5, 2 × 160, 8 players", row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--simulations", type=int, default=400, metavar="N", help="studies of each design")
    parser.add_argument("--resamples", type=int, default=500, metavar="N", help="resamples of each study")
    parser.add_argument("--only", default="", metavar="WORD", help="designs whose name has this word")
    parser.add_argument("--quick", action="store_true", help="100 studies, 200 resamples, fewer designs")
    asked = parser.parse_args()
    warnings.simplefilter("error")
    simulations, resamples = (100, 200) if asked.quick else (asked.simulations, asked.resamples)
    print(f"{simulations} simulated studies of each design, {resamples} resamples each\n")
    print("| study | figure | annotators | holds the truth | has an interval | median width |")
    print("|---|---|---|--:|--:|--:|")
    chosen = [name for name in (QUICK if asked.quick else DESIGNS) if asked.only in name]
    rows = ((name, row) for name in chosen for row in simulated(DESIGNS[name], simulations, resamples))
    for name, row in chain(by_player(asked.only, simulations, resamples), rows):
        shares = (f"{row[key]:.3f}" for key in ("holds", "with interval", "width"))
        print(f"| {name} | {row['figure']} | {row['claim']} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
