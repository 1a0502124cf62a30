"""What a reader of one screen could take in two ways, in tables that bench/situations.py draws."""

import re

import numpy as np
import pytest

from bench import situations
from concord.codes import Advice, Claim, Unknown, Verdict
from concord.estimate import Estimate
from concord.reports import screen
from concord.reports.agreement_report import Options
from concord.reports.flags import on_criterion
from concord.statistics.claims import (
    Contrasts,
    adjusted,
    p_above,
    p_below,
    verdict_interval,
    verdicts,
)

FEW = Options(resamples=200)


def drawn(draw, seed=1, options=FEW):
    return situations.report(draw(np.random.default_rng(seed)), options)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6])
def test_one_screen_has_one_count_of_the_rarer_answer(seed):
    """The advice, the flag and the table count the items to which most annotators give it."""
    report = drawn(lambda rng: situations.rare(rng, 200, 3), seed)
    about = report.verdict()
    assert about.advice == Advice.LABEL_MORE, "a draw with too few of the rarer answer"
    counts = {int(n) for n in re.findall(r"(\d+) of 200", " ".join(about.sentences))}
    rare = [one for one in on_criterion(report, about.criterion, about.members) if one.claim == Claim.RARE]
    assert len(counts) == len(rare) == 1
    assert f"(n {counts.pop()})" in screen.screen(report)


def test_the_number_of_labels_follows_from_the_count_on_the_screen():
    """Of 200 items n are yes, so that (20 - n) · 200 / n more hold the rest, rounded up to two digits."""
    report = drawn(lambda rng: situations.rare(rng, 200, 3), 5)
    n = int(re.search(r"(\d+) of 200 are", report.verdict().action)[1])
    more = int(re.search(r"about ([\d,]+) more", report.verdict().action)[1].replace(",", ""))
    exact = (20 - n) * 200 / n
    assert exact <= more < exact + 10 ** (len(str(int(exact))) - 1)


def test_an_annotator_who_decides_is_the_reason_of_the_verdict():
    report = drawn(situations.careless_two)
    about = report.verdict()
    assert (about.verdict, about.advice) == (Verdict.INCONCLUSIVE, Advice.CHECK_ANNOTATOR)
    assert about.decided_by in about.reason.split(".")[0]
    assert "or worse" not in about.reason
    assert Unknown.ONE_DECIDES in about.unknowns


def test_a_panel_that_is_to_lose_a_judge_needs_no_further_labels():
    about = drawn(situations.one_bad).verdict()
    assert about.exclude == ("j2",)
    assert "more items" not in about.action


def test_a_group_on_which_a_judge_fails_bounds_what_is_said_of_the_rest():
    about = drawn(situations.failing_group).verdict()
    assert about.advice == Advice.KEEP_ANNOTATORS
    [flag] = [one for one in about.flags if one.claim == Claim.GROUP]
    assert flag.group == ("topic", "medical")
    assert "before you check these apart" in about.action


def test_the_interval_of_a_look_is_that_by_which_the_verdict_goes():
    """Its ends are where the one-sided p of the verdict is the look's share."""
    figure = Estimate(-0.06, -0.16, 0.04, 230)
    low, high = verdict_interval(figure, 0.0055, freedom_part=1 / 3)
    assert low < -0.16 < 0.04 < high
    assert p_above(figure, low, freedom_part=1 / 3) == pytest.approx(0.0055)
    assert p_below(figure, high, freedom_part=1 / 3) == pytest.approx(0.0055)


def test_verdicts_that_the_number_of_judges_changes_are_named():
    """An interval of -0.07 to -0.01 alone is slightly below; one of several has 0.005 / 6, and is as good."""

    def contrasts(low, high):
        middle = (low + high) / 2
        half = Estimate(middle + 0.28, low + 0.28, high + 0.28, 2551)
        return Contrasts(Estimate(0.5, 0.48, 0.52, 2551), Estimate(middle, low, high, 2551), half, 2551)

    every = [contrasts(-0.30, -0.26), *(contrasts(-0.07, -0.01),) * 2, contrasts(-0.02, 0.02)]
    codes = verdicts(every, 0, margin=0.1)
    assert codes[1] == Verdict.AS_GOOD
    places, level = adjusted(every, codes, margin=0.1)
    assert places == [1, 2]
    assert level == pytest.approx(1 - 2 * 0.005 / 3)
    assert adjusted(every[:1], codes[:1], margin=0.1)[0] == []
