"""Plans of labels: errors by hand and by simulation, goals that are reached, rows drawn by weight."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from concord.codes import LabelDraw, PlanFigure
from concord.statistics.confusion import two_answers
from concord.statistics.corrected import corrected_mean
from concord.statistics.planning import (
    CrossedAnswers,
    ScorePair,
    annotator_study,
    drawn_rows,
    expected_joint,
    judging,
    kappa_of,
    labels_for_bar,
    labels_for_width,
    pilot_joint,
)

RANDOM, BY_ANSWER = LabelDraw.RANDOM, LabelDraw.BY_ANSWER
# Rows are people's answers: of the judge's 600 “yes” in 1,000 people share 85%, and of its 400 “no”.
CROSSED = CrossedAnswers(np.array([[0.34, 0.09], [0.06, 0.51]]), 1000)
RARE = CrossedAnswers(expected_joint(np.array([0.95, 0.05]), 0.6), 10_000)


def drawn(design, n, rng):
    """People's and the judge's answers to so many items."""
    cells = rng.choice(4, n, p=design.joint.ravel())
    return (cells // 2).astype(float), (cells % 2).astype(float)


def test_figures_of_crossed_answers_by_hand():
    assert CROSSED.value(PlanFigure.RATE) == pytest.approx(0.57)
    assert CROSSED.value(PlanFigure.SENSITIVITY) == pytest.approx(0.51 / 0.57)
    assert CROSSED.value(PlanFigure.SPECIFICITY) == pytest.approx(0.34 / 0.43)
    by_chance = 0.57 * 0.6 + 0.43 * 0.4
    assert CROSSED.value(PlanFigure.AGREEMENT) == pytest.approx((0.85 - by_chance) / (1 - by_chance))


def test_errors_are_those_of_the_textbook():
    # Of the rate: √(Σ w·p·(1 − p) / n + what is left / N), p = .85 and .15 in both answers of the judge.
    inside, every = 0.85 * 0.15, 0.57 * 0.43
    error = math.sqrt(inside / 100 + (every - inside) / 1000)
    assert CROSSED.error(PlanFigure.RATE, 100) == pytest.approx(error, rel=1e-6)
    # Of a sensitivity: √(s·(1 − s) / (n·yes)).
    share = 0.51 / 0.57
    assert CROSSED.error(PlanFigure.SENSITIVITY, 100) == pytest.approx(
        math.sqrt(share * (1 - share) / 57), rel=1e-6
    )
    # Of kappa: Fleiss, Cohen and Everitt (1969), equation 9.
    joint, kappa = CROSSED.joint, CROSSED.value(PlanFigure.AGREEMENT)
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    by_chance = rows @ columns
    first = sum(joint[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in range(2))
    second = (1 - kappa) ** 2 * sum(
        joint[i, j] * (columns[i] + rows[j]) ** 2 for i in range(2) for j in range(2) if i != j
    )
    third = (kappa - by_chance * (1 - kappa)) ** 2
    error = math.sqrt((first + second - third) / 100) / (1 - by_chance)
    assert CROSSED.error(PlanFigure.AGREEMENT, 100) == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize("figure", [PlanFigure.AGREEMENT, PlanFigure.RATE, PlanFigure.SENSITIVITY])
@pytest.mark.parametrize("draw", LabelDraw)
def test_errors_are_those_of_simulated_studies(figure, draw):
    """1,500 studies of 200 labels among 10,000 rows, of a rare answer."""
    rng, labels, values = np.random.default_rng(1), 200, []
    of_answer = RARE.allocated(figure, labels)
    for _ in range(1500):
        judged = rng.multinomial(RARE.items, RARE.shares)
        number = of_answer if draw == BY_ANSWER else rng.multivariate_hypergeometric(judged, labels)
        counts = np.stack([rng.multinomial(n, RARE.conditional[:, h]) for h, n in enumerate(number)], axis=1)
        if draw == BY_ANSWER or figure == PlanFigure.RATE:
            joint = counts / np.maximum(number, 1) * judged / RARE.items
        else:
            joint = counts / labels
        if figure != PlanFigure.SENSITIVITY or joint[1].sum() > 0:
            values.append(CrossedAnswers(joint, RARE.items).value(figure))
    assert np.std(values) == pytest.approx(RARE.error(figure, labels, draw), rel=0.12)


def test_strata_need_fewer_labels_where_an_answer_is_rare():
    for figure, gain in ((PlanFigure.AGREEMENT, 0.6), (PlanFigure.RATE, 0.95)):
        random, stratified = (labels_for_width(RARE, figure, 0.05, draw).labels for draw in LabelDraw)
        assert stratified < gain * random
    assert RARE.allocated(PlanFigure.AGREEMENT, 100).sum() == 100
    assert RARE.allocated(PlanFigure.AGREEMENT, 100)[1] > 20
    assert RARE.allocated(PlanFigure.AGREEMENT, 9000).tolist() == [8500, 500]


def test_the_width_is_that_of_the_interval_that_check_prints():
    rng = np.random.default_rng(2)
    for figure, cell in (
        (PlanFigure.RATE, "corrected"),
        (PlanFigure.SENSITIVITY, "sensitivity"),
        (PlanFigure.SPECIFICITY, "specificity"),
    ):
        widths = []
        for _ in range(60):
            people, judge = drawn(CROSSED, 1000, rng)
            people[100:] = np.nan
            widths.append(two_answers(people, judge, ("no", "yes"))[cell].half_width)
        assert CROSSED.half_width(figure, 100) == pytest.approx(np.median(widths), rel=0.1)


@pytest.mark.parametrize("draw", LabelDraw)
def test_a_goal_is_reached_by_the_labels_that_it_needs_and_by_no_fewer(draw):
    needed = labels_for_width(CROSSED, PlanFigure.RATE, 0.05, draw)
    assert CROSSED.half_width(PlanFigure.RATE, needed.labels, draw) <= 0.05
    assert CROSSED.half_width(PlanFigure.RATE, needed.labels - 1, draw) > 0.05
    assert labels_for_width(CROSSED, PlanFigure.RATE, 0.001, draw).labels is None


def test_a_decision_needs_what_its_power_says():
    # (atanh κ − atanh .4) ≥ (t + .8416)·SE / (1 − κ²), t with n − 2 degrees of freedom.
    kappa = CROSSED.value(PlanFigure.AGREEMENT)
    distance = (math.atanh(kappa) - math.atanh(0.4)) * (1 - kappa**2)
    at_one = CROSSED.error(PlanFigure.AGREEMENT, 1)

    def reached(n):
        return (stats.t.ppf(0.975, n - 2) + 0.84162) * at_one / math.sqrt(n) <= distance

    labels = labels_for_bar(CROSSED, PlanFigure.AGREEMENT, 0.4).labels
    assert (reached(labels), reached(labels - 1)) == (True, False)
    # Of a rare answer t has half a degree of freedom for each of the rarer answers: 5% of 400, halved.
    assert RARE.freedom(400) == 10
    assert RARE.freedom(400, BY_ANSWER) > 40
    assert labels_for_bar(CROSSED, PlanFigure.AGREEMENT, kappa).labels is None


def test_scores_are_planned_by_their_correlation():
    design = ScorePair(0.7, 3.0, 1.2, (1.0, 5.0), 1000)
    # Bonett and Wright (2000): the error of z is √((1 + ρ²/2) / (n − 3)).
    error = math.sqrt((1 + 0.245) / 97)
    assert design.error(PlanFigure.AGREEMENT, 100) == pytest.approx(error * (1 - 0.49))
    mean = math.sqrt(1.44 * 0.51 / 100 + 1.44 * 0.49 / 1000)
    assert design.error(PlanFigure.RATE, 100) == pytest.approx(mean)
    assert labels_for_width(design, PlanFigure.RATE, 0.2).labels < 200


def test_what_is_expected_has_the_agreement_and_the_judges_shares():
    joint = expected_joint(np.array([0.5, 0.3, 0.2]), 0.55)
    assert kappa_of(joint) == pytest.approx(0.55)
    assert joint.sum(axis=0) == pytest.approx([0.5, 0.3, 0.2])
    assert kappa_of(np.diag([1.0, 0.0])) == 1.0


def test_a_pilot_sets_what_people_say_where_the_judge_answers():
    people, judge = np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1])
    joint = pilot_joint(people, judge, np.array([0.8, 0.2]))
    # Two of three and none of two are “no”; people's share of it, (2 + ½)/6, counts as one item more.
    assert joint[0] == pytest.approx([(2 + 2.5 / 6) / 4 * 0.8, (0 + 2.5 / 6) / 3 * 0.2])
    assert joint.sum(axis=0) == pytest.approx([0.8, 0.2])


def test_judging_a_part_costs_less_and_shows_almost_as_much():
    parts = judging(0.5, 0.7, 400, 10_000_000, [400, 20_000, 10_000_000], price=0.002)
    by_hand = 1.95996 * 0.5 * math.sqrt(0.51 / 400 + 0.49 * (1 / 20_000 - 1e-7))
    assert parts[1].half_width == pytest.approx(by_hand, rel=1e-4)
    assert [part.price for part in parts] == pytest.approx([0.8, 40, 20_000])
    assert parts[1].half_width < 1.02 * parts[2].half_width
    # With the labelled rows alone the judge adds nothing: it is people's own interval.
    assert parts[0].half_width == pytest.approx(1.95996 * 0.5 / 20, rel=1e-3)


def test_rows_are_drawn_once_by_their_weights():
    judge = np.array([0.0] * 900 + [1.0] * 90 + [np.nan] * 10)
    random = drawn_rows(judge, None, 100, 5)
    assert (len({*random.places.tolist()}), random.weights[0]) == (100, 9.9)
    assert random.places.max() < 990
    rows = drawn_rows(judge, {0.0: 60, 1.0: 40}, 100, 5)
    answers = judge[rows.places]
    assert ((answers == 1).sum(), len({*rows.places.tolist()})) == (40, 100)
    assert {*rows.weights[answers == 1]} == {90 / 40}
    assert rows.weights.sum() == pytest.approx(990)
    # Whenever one stops, the strata are mixed as they are planned.
    assert abs((answers[:50] == 1).sum() - 20) <= 1
    assert (drawn_rows(judge, None, 100, 5).places == random.places).all()


def test_more_items_are_needed_where_people_agree_less():
    shares = np.array([0.4, 0.6])
    needed = [annotator_study(shares, agreement, 2).labels for agreement in (0.4, 0.6, 0.8)]
    assert needed == sorted(needed, reverse=True)
    assert annotator_study(shares, 0.6, 3).labels < needed[1]
    # 20 rarer answers are needed, whatever the interval.
    assert annotator_study(np.array([0.99, 0.01]), 0.8, 2).labels >= 2000
    with pytest.raises(ValueError, match="another one"):
        annotator_study(shares, 0.6, 1)


def test_a_judged_part_of_a_log_has_the_planned_interval():
    """300 logs, 2,000 rows judged and 200 labelled: the interval holds people's rate in .93 or more."""
    rng, held, halves = np.random.default_rng(6), 0, []
    rate = CROSSED.value(PlanFigure.RATE)
    for _ in range(300):
        people, judge = drawn(CROSSED, 2000, rng)
        found = corrected_mean(people[:200], judge[:200], judge[200:], scale=(0.0, 1.0)).value
        held += found.low <= rate <= found.high
        halves.append(found.half_width)
    correlation = np.corrcoef(*drawn(CROSSED, 100_000, rng))[0, 1]
    (part,) = judging(math.sqrt(rate * (1 - rate)), correlation, 200, 10_000_000, [2000])
    assert part.half_width == pytest.approx(np.median(halves), rel=0.06)
    assert held / 300 >= 0.93
