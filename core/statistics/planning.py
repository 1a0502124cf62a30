"""How many items to label: how wide intervals will be, from a judge's answers and what agreement is expected.

People's and the judge's answers are crossed in a matrix of chances. Errors of figures of it are by the delta
method: of a random draw of items, and of one in strata, which are the judge's answers (Cochran 1977, chapters
5 and 5A; of kappa in a random draw it is that of Fleiss, Cohen and Everitt 1969).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from concord.codes import LabelDraw, PlanFigure
from concord.statistics.held_out import held_out
from concord.statistics.intervals import FEWEST_RARER, Ends, bounded_mean, of_kappa, student
from concord.statistics.ratings import Floats, Ints, read_ratings

POWER = 0.8
"""How often a plan for a decision leads to it, if what is expected holds."""
LEAST_SHARE = 0.1
"""Of the labels, those that every stratum has at least: no answer of the judge is taken on trust."""
FEWEST = 8
"""Labels below which nothing is planned."""
STEP = 1e-6


@dataclass(frozen=True, eq=False)
class CrossedAnswers:
    """The chances of people's answer (rows) and the judge's (columns) to an item; they sum to 1.

    `items` is how many the judge answered. For two answers the second is the higher one.
    """

    joint: Floats
    items: int

    @property
    def shares(self) -> Floats:
        """The share of each answer of the judge."""
        return np.asarray(self.joint.sum(axis=0))

    @property
    def conditional(self) -> Floats:
        """The chances of people's answers where the judge gives each of its answers."""
        shares = self.shares
        return np.asarray(self.joint / np.where(shares > 0, shares, 1))

    def value(self, figure: PlanFigure) -> float:
        """The figure, as expected."""
        return FIGURES[figure](self.joint)

    def slopes(self, figure: PlanFigure) -> Floats:
        """How the figure changes with each chance."""
        slopes = np.zeros_like(self.joint)
        for cell in np.ndindex(self.joint.shape):
            raised = self.joint.copy()
            down = self.joint.copy()
            raised[cell] += STEP
            down[cell] -= STEP
            slopes[cell] = (FIGURES[figure](raised) - FIGURES[figure](down)) / (2 * STEP)
        return slopes

    def spread(self, figure: PlanFigure) -> Floats:
        """The variance that one label of an item has within each of the judge's answers."""
        slopes = self.slopes(figure)
        conditional = self.conditional
        means = (slopes * conditional).sum(axis=0)
        spread = (slopes**2 * conditional).sum(axis=0) - means**2
        return np.asarray(np.maximum(spread, 0) * (self.shares > 0))

    def error(self, figure: PlanFigure, labels: int, draw: LabelDraw = LabelDraw.RANDOM) -> float:
        """The standard error of a figure with so many labels.

        Where the judge's answers to all items are used, by the correction of a rate and by strata, the error
        within its answers falls with the labels, that between them with all items.
        """
        shares = self.shares
        spread = self.spread(figure)
        slopes = self.slopes(figure)
        variance = float((slopes**2 * self.joint).sum() - (slopes * self.joint).sum() ** 2)
        between = max(variance - float((shares * spread).sum()), 0.0) / max(self.items, labels)
        if draw == LabelDraw.BY_ANSWER:
            of_answer = self.allocated(figure, labels)
            sampled = of_answer > 0
            return math.sqrt(
                float((shares[sampled] ** 2 * spread[sampled] / of_answer[sampled]).sum()) + between
            )
        if figure == PlanFigure.RATE:
            return math.sqrt(float((shares * spread).sum()) / labels + between)
        return math.sqrt(variance / labels)

    def allocated(self, figure: PlanFigure, labels: int) -> Ints:
        """How many labels each answer of the judge gets: as a figure needs (Neyman 1934).

        Every answer has at least `LEAST_SHARE` of the labels, shared by all, and no more than its items.
        """
        shares = self.shares
        capacity = np.floor(shares * self.items + 1e-9)
        need = shares * np.sqrt(self.spread(figure))
        need = need / need.sum() if need.sum() > 0 else shares
        strata = np.maximum((shares > 0).sum(), 1)
        desired = ((1 - LEAST_SHARE) * need + LEAST_SHARE * (shares > 0) / strata) * labels
        allocation = np.minimum(np.floor(desired), capacity)
        for _ in range(int(labels - allocation.sum())):
            room = np.where(allocation < capacity, desired - allocation, -np.inf)
            if not np.isfinite(room).any():
                break
            allocation[int(room.argmax())] += 1
        return np.asarray(allocation, dtype=np.int64)

    def freedom(self, labels: int, draw: LabelDraw = LabelDraw.RANDOM) -> float:
        """The degrees of freedom of kappa's interval: half of the rarer answers, where answers pile up."""
        of_answer = self.allocated(PlanFigure.AGREEMENT, labels) / labels
        sampled_joint = self.conditional * (of_answer if draw == LabelDraw.BY_ANSWER else self.shares)
        rarer = labels * (1 - float((sampled_joint.sum(axis=0) + sampled_joint.sum(axis=1)).max()) / 2)
        kind = of_kappa(round(rarer), labels)
        return max(min(kind.freedom, labels - 2.0), 1.0)

    def half_width(self, figure: PlanFigure, labels: int, draw: LabelDraw = LabelDraw.RANDOM) -> float:
        """Half of the width of the 95% interval that a figure is expected to have."""
        value = self.value(figure)
        error = self.error(figure, labels, draw)
        if figure == PlanFigure.AGREEMENT:
            return _half_of_correlation(value, error, self.freedom(labels, draw))
        if error <= 0:
            return 0.0
        # As many items of a plain share would have this error.
        n = labels if figure == PlanFigure.RATE else max(int(value * (1 - value) / error**2) + 1, 2)
        low, high = bounded_mean(min(max(value, 0.0), 1.0), error, n, (0.0, 1.0), weight=1.0)
        return (high - low) / 2


@dataclass(frozen=True)
class ScorePair:
    """People's and a judge's scores: the correlation expected, people's mean and deviation, the scale.

    `items` is how many the judge scored.
    """

    correlation: float
    mean: float
    deviation: float
    ends: Ends
    items: int

    def value(self, figure: PlanFigure) -> float:
        """The figure, as expected."""
        return self.correlation if figure == PlanFigure.AGREEMENT else self.mean

    def error(self, figure: PlanFigure, labels: int, _draw: LabelDraw = LabelDraw.RANDOM) -> float:
        """The standard error with so many labels: of Spearman's ρ as Bonett and Wright (2000), of the mean
        corrected by the judge.
        """
        square = self.correlation**2
        if figure == PlanFigure.AGREEMENT:
            return math.sqrt((1 + square / 2) / max(labels - 3, 1)) * (1 - square)
        variance = self.deviation**2
        return math.sqrt(variance * (1 - square) / labels + variance * square / max(self.items, labels))

    def half_width(self, figure: PlanFigure, labels: int, _draw: LabelDraw = LabelDraw.RANDOM) -> float:
        """Half of the width of the 95% interval that a figure is expected to have."""
        error = self.error(figure, labels)
        if figure == PlanFigure.AGREEMENT:
            return _half_of_correlation(self.correlation, error, labels - 2)
        low, high = bounded_mean(min(max(self.mean, self.ends[0]), self.ends[1]), error, labels, self.ends)
        return (high - low) / 2


Design = CrossedAnswers | ScorePair


def _half_of_correlation(value: float, error: float, freedom: float) -> float:
    """Half of an interval on Fisher's z scale."""
    value = min(max(value, -1 + 1e-6), 1 - 1e-6)
    half = student(max(freedom, 1)) * error / (1 - value**2)
    return float(np.tanh(np.arctanh(value) + half) - np.tanh(np.arctanh(value) - half)) / 2


def kappa_of(joint: Floats) -> float:
    """Cohen's kappa of crossed answers; 1 where one answer is the only one."""
    joint = joint / joint.sum()
    by_chance = float(joint.sum(axis=1) @ joint.sum(axis=0))
    return (float(np.trace(joint)) - by_chance) / (1 - by_chance) if by_chance < 1 - 1e-12 else 1.0


def _share(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0 else 0.0


FIGURES: dict[PlanFigure, Callable[[Floats], float]] = {
    PlanFigure.AGREEMENT: kappa_of,
    PlanFigure.RATE: lambda joint: float(joint[-1].sum() / joint.sum()),
    PlanFigure.SENSITIVITY: lambda joint: _share(float(joint[-1, -1]), float(joint[-1].sum())),
    PlanFigure.SPECIFICITY: lambda joint: _share(float(joint[0, 0]), float(joint[0].sum())),
}
"""Figures of crossed answers; all but agreement are of two answers."""


def expected_joint(shares: Floats, agreement: float) -> Floats:
    """Crossed answers of people who give each answer as often as a judge does, with this kappa.

    With the share κ both give one answer, else each gives its own at random: κ·diag(w) + (1 − κ)·w·wᵀ.
    """
    return np.asarray(agreement * np.diag(shares) + (1 - agreement) * np.outer(shares, shares))


def pilot_joint(people: Ints, judge: Ints, shares: Floats) -> Floats:
    """Crossed answers of a pilot, `people` and `judge` as places of answers, with the judge's shares of all.

    In each answer of the judge one item more is added, with the answers of people in the whole pilot, so that
    what a small pilot has not seen stays possible.
    """
    answers = len(shares)
    counts = np.zeros((answers, answers))
    np.add.at(counts, (people, judge), 1)
    prior = (counts.sum(axis=1) + 1 / answers) / (len(people) + 1)
    return np.asarray((counts + prior[:, None]) / (counts.sum(axis=0) + 1) * shares)


@dataclass(frozen=True, eq=False)
class LabelCount:
    """How many labels reach a goal: `labels` is None where all items do not."""

    labels: int | None
    half_width: float
    """Half of the interval with these labels, or with all items."""


def labels_for_width(
    design: Design, figure: PlanFigure, half_width: float, draw: LabelDraw = LabelDraw.RANDOM
) -> LabelCount:
    """The fewest labels with which the interval of a figure is expected to be at most ± `half_width`."""
    return _fewest(design, figure, draw, lambda n: design.half_width(figure, n, draw) <= half_width)


def labels_for_bar(
    design: Design, figure: PlanFigure, bar: float, draw: LabelDraw = LabelDraw.RANDOM
) -> LabelCount:
    """The fewest labels with which the interval excludes `bar` in `POWER` of studies, if the expected value
    is true.
    """

    def decides(labels: int) -> bool:
        value = design.value(figure)
        error = design.error(figure, labels, draw)
        quantile = student(math.inf)
        if isinstance(design, CrossedAnswers) and figure == PlanFigure.AGREEMENT:
            quantile = student(design.freedom(labels, draw))
        if figure == PlanFigure.AGREEMENT:
            value, error = math.atanh(min(value, 1 - 1e-6)), error / max(1 - value**2, 1e-6)
            distance = abs(value - math.atanh(max(min(bar, 1 - 1e-6), -1 + 1e-6)))
        else:
            distance = abs(value - bar)
        return distance >= (quantile + _power_quantile()) * error and distance > 0

    return _fewest(design, figure, draw, decides)


def _power_quantile() -> float:
    from scipy import special

    return float(special.ndtri(POWER))


def _fewest(
    design: Design, figure: PlanFigure, draw: LabelDraw, reached: Callable[[int], bool]
) -> LabelCount:
    low = FEWEST
    high = design.items
    if high < low or not reached(high):
        return LabelCount(None, design.half_width(figure, max(high, 2), draw))
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle + 1, high)
    return LabelCount(low, design.half_width(figure, low, draw))


@dataclass(frozen=True)
class Judging:
    """Judging a part of a log at random, and correcting it by labels: its `half_width` and its price."""

    judged: int
    half_width: float
    price: float


def judging(
    deviation: float,
    correlation: float,
    labels: int,
    rows: int,
    parts: Sequence[int],
    *,
    price: float = 0.0,
) -> list[Judging]:
    """What judging parts of a log of `rows` would cost, and how wide the corrected mean's interval would be.

    Half of a 95% interval is 1.96·σ·√((1 − r²)/n + r²·(1/m − 1/N)), for n labels among m judged of N rows, of
    people's deviation σ and their correlation r with the judge. `price` is that of judging a row.
    """
    z = student(math.inf)
    square = correlation**2
    rested = (max(labels, 1), rows)
    return [
        Judging(
            part,
            z * deviation * math.sqrt((1 - square) / rested[0] + square * max(1 / part - 1 / rested[1], 0)),
            part * price,
        )
        for part in parts
    ]


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows to label, in an order in which one may stop, and the inclusion weight of each."""

    places: Ints
    weights: Floats


def drawn_rows(judge: Floats, of_answer: dict[float, int] | None, labels: int, seed: int) -> DrawnRows:
    """Draw rows by a seed among those with an answer of the judge (nan: none): at random, or so many
    `of_answer`.

    The rows of strata are mixed evenly. A weight is how many rows of its stratum a row stands for.
    """
    rng = np.random.default_rng(seed)
    judged = np.flatnonzero(~np.isnan(judge))
    if of_answer is None:
        places = rng.permutation(judged)[:labels]
        weight = len(judged) / len(places) if len(places) else 1.0
        return DrawnRows(places, np.full(len(places), weight))
    taken_places: list[Ints] = []
    turns: list[Floats] = []
    weights: list[Floats] = []
    for answer, number in of_answer.items():
        places_of_answer = rng.permutation(np.flatnonzero(judge == answer))
        sample = places_of_answer[:number]
        taken_places.append(sample)
        turns.append((np.arange(len(sample)) + rng.random()) / max(len(sample), 1))
        weights.append(np.full(len(sample), len(places_of_answer) / max(len(sample), 1)))
    order = np.argsort(np.concatenate(turns), kind="stable")
    return DrawnRows(np.concatenate(taken_places)[order], np.concatenate(weights)[order])


@dataclass(frozen=True, eq=False)
class AnnotatorStudy:
    """A judge that is as good as another annotator: how the difference varies per item, for a plan.

    `deviation` is the standard error of the difference (judge less held-out annotator) times √n.
    """

    deviation: float
    annotators: int
    margin: float
    rarer: float
    """The share of items with another answer than the commonest."""

    @cached_property
    def labels(self) -> int:
        """The items with which such a judge is shown to lie within the margin in `POWER` of studies."""
        items = ((student(math.inf) + _power_quantile()) * self.deviation / self.margin) ** 2
        fewest = FEWEST_RARER / self.rarer if self.rarer > 0 else FEWEST
        return math.ceil(max(items, fewest, FEWEST))


SIMULATED = 300
STUDIES = 8
RARER = 60
MOST_SIMULATED = 6000
"""Items of a simulated study, or as many as hold so many of the rarer answers; how many are simulated."""


def annotator_study(shares: Floats, agreement: float, annotators: int, seed: int = 0) -> AnnotatorStudy:
    """Simulate studies of so many annotators and a judge as good as they are; `shares` are those of answers.

    With probability √κ a rater gives an item's own answer, else any answer by its share, so that every two
    raters have this kappa. Raises ValueError for fewer than two annotators.
    """
    if annotators < 2:
        raise ValueError("a held-out annotator needs another one")
    rng = np.random.default_rng(seed)
    answers = len(shares)
    halves = []
    rarer = 1 - float(shares.max())
    items = min(max(SIMULATED, math.ceil(RARER / max(rarer, 1e-9))), MOST_SIMULATED)
    for _ in range(STUDIES):
        truth = rng.choice(answers, items, p=shares)
        answers_of_raters = rng.choice(answers, (annotators + 1, items), p=shares)
        answers_of_raters = np.where(
            rng.random(answers_of_raters.shape) < math.sqrt(max(agreement, 0.0)), truth, answers_of_raters
        )
        rater = np.repeat([f"h{place}" for place in range(annotators)] + ["judge"], items)
        ratings = read_ratings(
            {
                "unit": np.tile(np.arange(items), annotators + 1),
                "criterion": np.full(rater.shape, "answer", dtype=object),
                "rater": rater.astype(object),
                "kind": np.where(rater == "judge", "judge", "human").astype(object),
                "score": answers_of_raters.ravel().astype(np.float64),
            },
            final_criteria=(),
            categories=("answer",),
        )
        figure = held_out(ratings, "answer", measure="kappa", resamples=200, seed=seed).rows[0]["difference"]
        half = getattr(figure, "half_width", None)
        halves += [half] if half is not None else []
    error = float(np.mean(halves)) / student(math.inf) if halves else 1.0
    margin = min(0.1, agreement / 2)
    return AnnotatorStudy(error * math.sqrt(items), annotators, margin, rarer)
