"""What `concord check` advises on simulated tables in which the right advice is known."""

from __future__ import annotations

import numpy as np
import pandas as pd

import concord
from concord.codes import GOOD, Advice, UseCondition

ROWS = 300


def wrong(rng: np.random.Generator, truth: np.ndarray, share: float | np.ndarray) -> np.ndarray:
    """Yes or no answers of which this share is wrong."""
    return np.where(rng.random(len(truth)) < share, 1 - truth, truth)


def table(seed: int, **raters: float | np.ndarray) -> pd.DataFrame:
    """A table of raters, each with the share of its answers that are wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, ROWS)
    answers = {name: wrong(rng, truth, share) for name, share in raters.items()}
    words = {name: np.where(given == 1, "yes", "no") for name, given in answers.items()}
    return pd.DataFrame({"id": [f"row-{n}" for n in range(ROWS)], **words})


PEOPLE = {"human_1": 0.09, "human_2": 0.09, "human_3": 0.09}


def test_a_judge_that_guesses_is_excluded_before_more_is_labelled():
    """A coin among three judges: its κ is sure to lie below .2, and the panel is not as good with it."""
    found = concord.check(table(5, **PEOPLE, judge_a=0.16, judge_b=0.16, judge_c=0.5)).report.verdict()
    assert found.verdict not in GOOD
    assert found.advice == Advice.EXCLUDE_JUDGE
    assert found.exclude == ("judge_c",)
    assert "Exclude judge_c from the panel" in found.action


def test_judges_that_all_guess_are_not_excluded_one_by_one():
    found = concord.check(table(2, **PEOPLE, judge_a=0.5, judge_b=0.5)).report.verdict()
    assert found.exclude == ()
    assert found.advice == Advice.DO_NOT_USE


def test_a_judge_that_guesses_is_no_part_of_the_panel_to_use():
    found = concord.check(table(3, **PEOPLE, judge_a=0.01, judge_b=0.01, judge_c=0.5)).report.verdict()
    assert found.advice == Advice.USE
    assert "judge_c" in found.exclude or "judge_c" not in " ".join(found.use)


def test_the_use_of_a_judge_excepts_the_group_on_which_it_fails():
    """Wrong in 40% of 45 medical items and 3% of the others; annotators are wrong in 9% of all."""
    medical = np.arange(ROWS) < 45
    rows = table(4, human_1=0.09, human_2=0.09, judge=np.where(medical, 0.4, 0.03))
    found = concord.check(rows.assign(topic=np.where(medical, "medical", "other"))).report.verdict()
    assert found.advice == Advice.USE
    assert UseCondition.EXCEPT_GROUP in found.conditions
    assert "topic “medical”" in found.action


def test_a_judge_that_is_as_good_everywhere_has_no_exception():
    topic = np.where(np.arange(ROWS) < 45, "medical", "other")
    rows = table(6, human_1=0.09, human_2=0.09, judge=0.05).assign(topic=topic)
    assert concord.check(rows).report.verdict().conditions == ()
