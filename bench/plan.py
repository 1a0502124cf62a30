"""Whether `concord plan` keeps what it promises: widths, decisions, and intervals of drawn rows, in simulated
studies that are measured as `concord check` measures them.
"""

import numpy as np
import pandas as pd

import concord
from concord.codes import LabelDraw, PlanFigure
from concord.estimate import Estimate
from concord.statistics.planning import (
    CrossedAnswers,
    annotator_study,
    drawn_rows,
    expected_joint,
    labels_for_bar,
)
from concord.statistics.ratings import Floats

ROWS = 3000
STUDIES = 60
RESAMPLES = 300
FIGURES = {
    PlanFigure.AGREEMENT: "kappa",
    PlanFigure.RATE: "corrected",
    PlanFigure.SENSITIVITY: "sensitivity",
    PlanFigure.SPECIFICITY: "specificity",
}


def answers(rng: np.random.Generator, design: CrossedAnswers) -> tuple[Floats, Floats]:
    """What people and the judge say of all rows."""
    cells = rng.choice(4, ROWS, p=design.joint.ravel())
    return (cells // 2).astype(float), (cells % 2).astype(float)


def checked(
    people: Floats, judge: Floats, labelled: Floats, draw: LabelDraw, seed: int
) -> dict[PlanFigure, Estimate]:
    """The figures that `concord check` prints of the labelled rows."""
    human = np.full(ROWS, None, dtype=object)
    human[labelled.astype(int)] = people[labelled.astype(int)]
    table = pd.DataFrame({"id": np.arange(ROWS), "human": human, "judge": judge})
    strata = "judge" if draw == LabelDraw.BY_ANSWER else ""
    report = concord.check(table, strata=strata, resamples=RESAMPLES, seed=seed)
    (row,) = report.report.section("glance", report.report.main)["decisions"].rows
    figures = {figure: row[name] for figure, name in FIGURES.items() if name in row}
    kappa = report.judges["judge"]["kappa"]
    return {**figures, PlanFigure.AGREEMENT: kappa}


def draw_rows(
    design: CrossedAnswers, judge: Floats, labels: int, draw: LabelDraw, figure: PlanFigure, seed: int
) -> Floats:
    """The places of rows to label."""
    of_answer = None
    if draw == LabelDraw.BY_ANSWER:
        of_answer = dict(zip((0.0, 1.0), design.allocated(figure, labels).tolist(), strict=True))
    return drawn_rows(judge, of_answer, labels, seed).places.astype(float)


def truths(people: Floats, judge: Floats) -> dict[PlanFigure, float]:
    """The figures of all rows."""
    counts = np.array([[((people == a) & (judge == b)).mean() for b in (0, 1)] for a in (0, 1)])
    every = CrossedAnswers(counts, ROWS)
    return {figure: every.value(figure) for figure in FIGURES}


def widths() -> None:
    """Print planned and measured half widths, and how often intervals hold."""
    for share, agreement, labels in ((0.6, 0.7, 100), (0.1, 0.6, 200), (0.1, 0.6, 400)):
        design = CrossedAnswers(expected_joint(np.array([1 - share, share]), agreement), ROWS)
        for draw in LabelDraw:
            rng = np.random.default_rng(1)
            halves: dict[PlanFigure, list[float]] = {figure: [] for figure in FIGURES}
            held: dict[PlanFigure, int] = dict.fromkeys(FIGURES, 0)
            for seed in range(STUDIES):
                people, judge = answers(rng, design)
                places = draw_rows(design, judge, labels, draw, PlanFigure.AGREEMENT, seed)
                true = truths(people, judge)
                for figure, found in checked(people, judge, places, draw, seed).items():
                    if found.interval is not None and found.half_width is not None:
                        halves[figure].append(found.half_width)
                        held[figure] += found.interval[0] <= true[figure] <= found.interval[1]
            parts = []
            for figure in FIGURES:
                planned, n = design.half_width(figure, labels, draw), len(halves[figure])
                measured = f"{np.median(halves[figure]):.3f}" if n else "none"
                parts.append(f"{figure} {planned:.3f} / {measured}, held {held[figure]}/{n}")
            print(f"{share:.0%} yes, κ {agreement}, {labels} labels, {draw}: {'; '.join(parts)}")


def decisions() -> None:
    """Print how often the planned number of labels decides."""
    for share, agreement, bar in ((0.6, 0.7, 0.5), (0.1, 0.6, 0.4)):
        design = CrossedAnswers(expected_joint(np.array([1 - share, share]), agreement), ROWS)
        for draw in LabelDraw:
            labels = labels_for_bar(design, PlanFigure.AGREEMENT, bar, draw).labels
            if labels is None:
                continue
            rng, decided = np.random.default_rng(2), 0
            for seed in range(STUDIES):
                people, judge = answers(rng, design)
                places = draw_rows(design, judge, labels, draw, PlanFigure.AGREEMENT, seed)
                kappa = checked(people, judge, places, draw, seed)[PlanFigure.AGREEMENT]
                decided += kappa.low is not None and kappa.low > bar
            print(
                f"{share:.0%} yes, κ {agreement} > {bar}, {draw}: {labels} labels decide {decided}/{STUDIES}"
            )


def annotators() -> None:
    """Print how often a judge as good as another annotator is shown to be, with the planned labels."""
    for share, agreement in ((0.6, 0.7), (0.3, 0.5)):
        shares = np.array([1 - share, share])
        labels = annotator_study(shares, agreement, 2).labels
        rng, shown = np.random.default_rng(3), 0
        for seed in range(STUDIES):
            own = rng.random(labels) < share
            said = [
                np.where(rng.random(labels) < agreement**0.5, own, rng.random(labels) < share) * 1
                for _ in range(3)
            ]
            table = pd.DataFrame(
                {"id": np.arange(labels), "human_1": said[0], "human_2": said[1], "judge": said[2]}
            )
            report = concord.check(table, resamples=RESAMPLES, seed=seed)
            (difference,) = [
                row["difference"]
                for row in report.report.section("judges", report.report.main)["held_out"].rows
                if row["rater"] == "judge"
            ]
            shown += difference.low is not None and difference.low > -min(0.1, agreement / 2)
        print(f"{share:.0%} yes, κ {agreement}: {labels} labels by 2 show it in {shown}/{STUDIES}")


if __name__ == "__main__":
    annotators()
    decisions()
    widths()
