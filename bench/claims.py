"""How often a report states what is false, and what is true, on simulated studies whose truth is known.

    nice -n 15 python -m bench.claims [--simulations 200] [--resamples 200] [--only WORD] [--jobs 2]

A study has three people, three judges and three criteria unless a design says otherwise. Each item has a
quality for every criterion, half of it shared; each rater sees it with a noise of their own, and answers on
the scale. In a null design people and judges are exchangeable, players alike, and what is missing is missing
at random: every claim of a page is false, but that the judges are as good as another annotator. In a
design with an effect one claim is true, or some are. The report is made of arrays, without a store, and its
sentences are counted by their kind (`concord.statistics.claims.CLAIMS`).

Printed for every kind: the largest share of studies of a null design in which a page states it, and the share
of studies with the named effect in which it does; for every null design how many pages hold any false claim;
and for every situation of `bench/situations.py` how many pages say what is wrong there, and what is right.
The simulation error of a share p of n studies is sqrt(p (1 − p) / n): 1.5 points at 5 % of 200.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.situations import SITUATIONS, codes
from concord.codes import Verdict
from concord.questions import YES_NO
from concord.rating import Criterion
from concord.reports.agreement_report import Options, report_of
from concord.reports.flags import flags_of, on_criterion
from concord.statistics.claims import CLAIMS
from concord.statistics.ratings import panel_name
from concord.statistics.systems import systems
from concord.store.known import Check, Pair
from concord.store.progress import Item
from concord.store.studies import Study
from concord.studies.studies import StudyRatings

Floats = npt.NDArray[np.float64]

EVEN, CEILING, RARE, HALF = (-1.5, -0.5, 0.5, 1.5), (-4.5, -3.5, -2.8, -1.6), (2.1,), (0.0,)
EVENLY, TABLE = (0.0,), {"people": 2, "judges": 1, "criteria": 1}
NOISE = 0.8
GOOD = ("verdict: as_good", "other_judges: as_good")
"""Slightly below counts as good: both say that a judge may be used."""
WORSE = ("verdict: worse", "other_judges: worse")
BY_KAPPA = ", by κ"
ANY = "any false claim"
PLAYERS = 6
LARGE = 400_000
"""Items of which a judge's distance from a person is found."""


@dataclass(frozen=True)
class Design:
    """A kind of study, and the claims that are true in it (`true`)."""

    items: int = 50
    people: int = 3
    judges: int = 3
    criteria: int = 3
    cuts: tuple[float, ...] = EVEN
    noise: float = NOISE
    """Of judges; people's is `NOISE`."""
    severity: float = 0.0
    missing: float = 0.05
    cluster: int = 0
    """Items of a scenario, which share half of their quality."""
    players: float = 0.0
    """How far apart the best and the worst player are."""
    shift: float = 0.0
    effect: str = ""
    true: tuple[str, ...] = GOOD
    careful: float = 0.9
    """The share of gold items that a person hits, and of repeated ones rated alike."""

    @property
    def by_kappa(self) -> bool:
        """Whether the verdict is on one yes/no question, and therefore on kappa."""
        return self.criteria == 1 and len(self.cuts) == 1


def boundary(design: Design, margin: float = 0.1) -> float:
    """The noise of a judge whose ρ (of one yes or no: κ) with others lies `margin` below a person's.

    Of 20,000 items it was so far off that the judge lay 0.094 below, where “as good” is true.
    """
    from scipy import stats

    def gap(noise: float) -> float:
        large = replace(design, items=LARGE, noise=noise, cluster=0)
        final = seen(large, np.random.default_rng(0))[0].mean(axis=1)
        people = final[: design.people]
        others = (people.sum(axis=0) - people) / (design.people - 1)
        rho = [
            [stats.spearmanr(of, target).statistic for of in (final[-1], own)]
            for own, target in zip(people, others, strict=True)
        ]
        if design.by_kappa:
            both = list(permutations(people, 2))
            rho = [[cohen(final[-1], b), cohen(a, b)] for a, b in both]
        judge, person = np.mean(rho, axis=0)
        return float(judge - person)

    low, high = NOISE, 6.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if gap(middle) > -margin else (low, middle)
    return high


def cohen(x: Floats, y: Floats) -> float:
    """Cohen's kappa of two raters who say 0 or 1."""
    chance = x.mean() * y.mean() + (1 - x.mean()) * (1 - y.mean())
    return float(((x == y).mean() - chance) / (1 - chance))


def seen(design: Design, rng: np.random.Generator) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Answers (raters × criteria × items, people first), the quality behind them, and each item's
    scenario."""
    items, raters = design.items, design.people + design.judges
    by_player = np.linspace(-design.players / 2, design.players / 2, PLAYERS)[np.arange(items) % PLAYERS]
    scenario = np.arange(items) // design.cluster if design.cluster else np.arange(items)
    shared = rng.normal(size=items)
    if design.cluster:
        shared = np.sqrt(0.5) * (shared + rng.normal(size=items)[scenario])
    quality = np.sqrt(0.5) * (shared + rng.normal(size=(design.criteria, items))) + by_player
    noise = np.full(raters, NOISE)
    noise[design.people :] = design.noise
    lenient = rng.normal(0, design.severity, raters) if design.severity else np.zeros(raters)
    lenient[design.people :] += design.shift
    shown = (
        quality + lenient[:, None, None] + noise[:, None, None] * rng.normal(size=(raters, *quality.shape))
    )
    return np.searchsorted(design.cuts, shown).astype(np.float64) + (len(design.cuts) > 1), quality, scenario


NULLS = {
    "even 1–5, 8 items": Design(8),
    "even 1–5, 20 items": Design(20),
    "even 1–5, 50 items": Design(50),
    "even 1–5, 200 items": Design(200),
    "ceiling 1–5, 50 items": Design(50, cuts=CEILING),
    "ceiling 1–5, 200 items": Design(200, cuts=CEILING),
    "rare yes/no, 50 items": Design(50, cuts=RARE),
    "rare yes/no, 200 items": Design(200, cuts=RARE),
    "yes/no, one criterion, 20 items": Design(20, criteria=1, cuts=HALF),
    "yes/no, one criterion, 100 items": Design(100, criteria=1, cuts=HALF),
    "rare yes/no, one criterion, 100 items": Design(100, criteria=1, cuts=RARE),
    "6 judges, 4 criteria, 50 items": Design(50, judges=6, criteria=4),
    "6 people, 50 items": Design(50, people=6),
    "scenarios of 6, 60 items": Design(60, cluster=6),
    "15 % missing, 60 items": Design(60, missing=0.15),
    "a uniform shift, 60 items": Design(60, shift=0.7, true=(*GOOD, "level")),
    "severe and lenient raters, 60 items": Design(60, severity=0.4, true=(*GOOD, "level")),
    "a table, yes/no, 2 people, 1 judge, 40 items": Design(40, **TABLE, cuts=EVENLY),
    "a table, yes/no, 2 people, 1 judge, 150 items": Design(150, **TABLE, cuts=EVENLY),
    "a table, 1–5, 3 people, 2 judges, 150 items": Design(150, judges=2, criteria=1),
    "a table, yes/no, the judge below by the margin, 150 items": Design(
        150, **TABLE, cuts=EVENLY, noise=-1.0, true=WORSE
    ),
    "one judge below by the margin, 60 items": Design(60, judges=1, noise=-1.0, true=WORSE),
    "one judge below by the margin in κ, yes/no, 100 items": Design(
        100, judges=1, criteria=1, cuts=HALF, noise=-1.0, true=WORSE
    ),
    "one judge below by the margin in κ, rare yes/no, 400 items": Design(
        400, judges=1, criteria=1, cuts=RARE, noise=-1.0, true=(*WORSE, "level")
    ),
    **{
        f"one judge below by the margin at the ceiling, {items} items": Design(
            items, judges=1, criteria=1, cuts=CEILING, noise=-1.0, true=(*WORSE, "level")
        )
        for items in (30, 60, 100, 150)
    },
    "three judges below by the margin, 100 items": Design(
        100, noise=-1.0, true=("other_judges: worse", GOOD[0])
    ),
}
"""Designs in which a claim is false unless it is named; a negative noise is that of `boundary`."""

EFFECTS = {
    "verdict: as_good": ("judges with half of a person's noise, 50 items", Design(noise=0.4)),
    "verdict: worse": ("judges with five times a person's noise, 50 items", Design(noise=4.0)),
    "verdict: as_good, by κ": (
        "yes/no, judges with a quarter of a person's noise, 100 items",
        Design(100, criteria=1, cuts=HALF, noise=0.2),
    ),
    "verdict: worse, by κ": (
        "yes/no, judges with five times a person's noise, 100 items",
        Design(100, criteria=1, cuts=HALF, noise=4.0),
    ),
    "other_judges: as_good": (
        "judges with half of a person's noise, 100 items",
        Design(100, noise=0.4),
    ),
    "other_judges: worse": ("judges with five times a person's noise, 100 items", Design(100, noise=4.0)),
    "told_apart": ("players up to 1.5 SD apart, 120 items", Design(120, players=1.5)),
    "turned_round": ("one judge turned round, 50 items", Design(effect="turned_round")),
    "copy": ("one judge with a person's answers, 50 items", Design(effect="copy")),
    "one_answer": ("one judge gives 4 to 95 %, 50 items", Design(effect="one_answer")),
    "careless": ("one person gives 4 to 95 %, 50 items", Design(effect="careless")),
    "gold": ("one person hits 20 % of 20 gold items", Design(effect="gold")),
    "repeats": ("one person answers 20 % of 20 repeats alike", Design(effect="repeats")),
    "lacks_ratings": ("one judge lacks most of the worst 15 %, 60 items", Design(60, effect="lacks_ratings")),
    "group": ("one judge gives one player 0.8 points more, 120 items", Design(120, effect="player")),
    "length": ("one judge gives 0.5 points for an SD of length, 120 items", Design(120, effect="length")),
    "level": ("judges score 0.5 points higher, 50 items", Design(shift=0.5)),
}
"""For each claim a study in which it is true."""


def study(design: Design, rng: np.random.Generator) -> StudyRatings:
    """The ratings of one study of a design, as arrays."""
    items, raters = design.items, design.people + design.judges
    scores, quality, scenario = seen(design, rng)
    lost = rng.random((raters, items)) < design.missing
    lost[: design.people] = False
    _apply(design, scores, quality, lost, rng)
    kept = np.broadcast_to(~lost[:, None], scores.shape)
    rater, criterion, item = np.nonzero(kept)
    names = np.array(
        [*(f"person {n}" for n in range(design.people)), *(f"judge {n}" for n in range(design.judges))]
    )
    scale = {"scale": YES_NO} if len(design.cuts) == 1 else {}
    criteria = tuple(Criterion(f"c{n}", "It is so.", **scale) for n in range(design.criteria))  # type: ignore[arg-type]
    rows = {
        "unit": item,
        "conversation_id": item,
        "turn": np.full(len(item), np.nan),
        "player": np.array([f"player {n}" for n in range(PLAYERS)])[item % PLAYERS],
        "criterion": np.array([c.name for c in criteria])[criterion],
        "rater": names[rater],
        "kind": np.where(rater < design.people, "human", "judge"),
        "simulated": np.zeros(len(item)),
        "score": scores[kept],
    }
    known = tuple(c.name for c in criteria)
    clusters = {n: int(scenario[n]) for n in range(items)} if design.cluster else None
    of = StudyRatings(
        Study("s", criteria),
        rows,
        known,
        known,
        {},
        clusters=clusters,
        cluster_by=("scenario",) * bool(clusters),
    )
    return _hidden(of, design, rng)


def _apply(design: Design, scores: Floats, quality: Floats, lost: Floats, rng: np.random.Generator) -> None:
    """Put the effect of a design into scores (raters × criteria × items) and into what is missing."""
    judge, items = design.people, design.items
    mostly = np.where(rng.random(items) < 0.95, 4.0, scores[judge])
    if design.effect == "turned_round":
        scores[judge] = 6 - scores[judge]
    elif design.effect == "copy":
        scores[judge] = scores[0]
    elif design.effect == "one_answer":
        scores[judge] = mostly
    elif design.effect == "careless":
        scores[0] = mostly
    elif design.effect == "lacks_ratings":
        worst = quality.mean(axis=0) <= np.quantile(quality.mean(axis=0), 0.15)
        lost[judge] = worst & (rng.random(items) < 0.8)
    elif design.effect == "player":
        first = np.arange(items) % PLAYERS == 0
        scores[judge] = np.where(first, np.clip(scores[judge] + 0.8, 1, 5), scores[judge])
    elif design.effect == "length":
        scores[judge] = np.clip(scores[judge] + 0.5 * lengths(items), 1, 5)


def lengths(items: int) -> Floats:
    """Lengths of replies, in standard deviations, that have nothing to do with quality."""
    return np.random.default_rng(11).normal(size=items)


def _hidden(of: StudyRatings, design: Design, rng: np.random.Generator) -> StudyRatings:
    """With gold items and repeats, 20 a person, and everybody's times: slow enough to have read."""
    checks, pairs, dealt = [], [], []
    for person in range(design.people):
        name = f"person {person}"
        for n in range(20):
            gold = 0.2 if design.effect == "gold" and not person else design.careful
            same = 0.2 if design.effect == "repeats" and not person else design.careful
            checks.append(Check(name, n, "c0", rng.random() < gold, False))
            pairs.append(Pair(name, n, "c0", 4.0, 4.0 if rng.random() < same else 1.0))
        dealt += [
            Item(name, n, n, f"k{n}", None, "", "done", "", "", 20 + 60 * rng.random(), 600, "2026-01-01")
            for n in range(design.items)
        ]
    return replace(
        of, checks=tuple(checks), repeated_answers={"repeat": tuple(pairs)}, assigned_items=tuple(dealt)
    )


def stated(of: StudyRatings, options: Options) -> set[str]:
    """The kinds of claims that the page of a study states, with the word of a verdict."""
    units = np.arange(len(set(of.column("unit").tolist())))
    features = {"unit": units, "reply_chars": 500 + 100 * lengths(len(units))}
    report = report_of(of, options, features)
    about = report.verdict()
    claims = {f"verdict: {_code(about.verdict)}"}
    claims |= {
        f"other_judges: {_code(row.get('verdict'))}"
        for row in about.rows.rows
        if row["name"] != report.names.get(panel_name(about.members), panel_name(about.members))
    }
    flags = [*flags_of(report), *on_criterion(report, about.criterion, about.members)]
    claims |= {str(flag.claim) for flag in flags}
    given = {"panels": (report.primary_panel,), "resamples": 0, "seed": options.seed}
    clusters = {"clusters": of.clusters} if of.clusters else {}
    for row in systems(report.ratings, report.main, report.players, **given, **clusters).rows:  # type: ignore[arg-type]
        claims |= {"told_apart"} if row.get("apart") else set()
    return claims


def _code(verdict: object) -> str:
    return str(Verdict.AS_GOOD if verdict == Verdict.SLIGHTLY_BELOW else verdict)


def of_one(design: Design, resamples: int, seed: int) -> set[str]:
    """The claims of the page of one study of a design."""
    return stated(study(design, np.random.default_rng([seed, 7])), Options(resamples=resamples, seed=seed))


def of_situation(name: str, resamples: int, seed: int) -> tuple[bool, bool]:
    """Whether the page of one drawing of a situation says what is wrong, and what is right."""
    situation = SITUATIONS[name]
    options = Options(resamples=resamples, seed=seed)
    found = codes(situation, options, np.random.default_rng([seed, 11]))
    return bool(found & situation.wrong), bool(found & situation.right)


def rates(pool: Executor, design: Design, simulations: int, resamples: int) -> Counter[str]:
    """How many studies of a design state each claim; “any false claim” counts pages with one that is not
    true."""
    count: Counter[str] = Counter()
    for claims in pool.map(partial(of_one, design, resamples), range(simulations), chunksize=4):
        count.update(claims)
        count[ANY] += bool(false(claims, design))
    return count


def false(claims: set[str], design: Design) -> set[str]:
    """Those of the claims that are tested, and not true in a design."""
    tested = {str(name) for name, kind in CLAIMS.items() if kind.share is not None} | {*GOOD, *WORSE}
    return (claims & tested) - set(design.true)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args(arguments)
    started, pool = time.time(), ProcessPoolExecutor(given.jobs)
    print(f"From {given.simulations} studies of each design, {given.resamples} resamples each.\n")
    print("| studies without an effect | pages with a false claim |\n|---|--:|")
    nulls: dict[str, tuple[Design, Counter[str]]] = {}
    for name, design in NULLS.items():
        if given.only in name:
            if design.noise < 0:
                design = replace(design, noise=boundary(design))
            nulls[name] = design, rates(pool, design, given.simulations, given.resamples)
            print(f"| {name} | {nulls[name][1][ANY] / given.simulations:.3f} |", flush=True)
    print(
        "\n| claim | stated where false, at most | in | stated where true | effect |\n|---|--:|---|--:|---|"
    )
    fewer = max(given.simulations // 8, 20)
    for name, kind in CLAIMS.items():
        if kind.share is None:
            print(f"| {name} | a fact | | a fact | {kind.says} |")
            continue
        for row in [of for of in EFFECTS if of == name or of.startswith(f"{name}: ")]:
            claim, kappa = row.removesuffix(BY_KAPPA), row.endswith(BY_KAPPA)
            where = {
                of: count[claim]
                for of, (design, count) in nulls.items()
                if claim not in design.true and (name != "verdict" or design.by_kappa == kappa)
            }
            worst = max(where, key=lambda of: where[of], default="")
            effect, design = EFFECTS[row]
            power = "–" if given.only else f"{rates(pool, design, fewer, given.resamples)[claim] / fewer:.2f}"
            most = where.get(worst, 0) / given.simulations
            print(f"| {row} | {most:.3f} | {worst if most else ''} | {power} | {effect} |", flush=True)
    print("\n| situation | says what is wrong | says what is right |\n|---|--:|--:|")
    for name, situation in SITUATIONS.items():
        if given.only in name:
            share = pool.map(partial(of_situation, name, given.resamples), range(given.simulations))
            wrong, right = np.mean([*share], axis=0)
            shown = f"{right:.2f}" if situation.right else "–"
            print(f"| {name} | {wrong:.3f} | {shown} |", flush=True)
    print(f"\n{time.time() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
