"""What `concord check` advises on simulated tables in which the right advice is known."""

from __future__ import annotations

import numpy as np
import pandas as pd

import concord
from concord.codes import GOOD, Advice, UseCondition, Verdict

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


def claims(found) -> set[str]:
    return {str(flag.claim) for flag in [*found.flags]}


def test_the_verdict_of_a_copy_is_not_as_good():
    """The judge has 96% of one annotator's answers: no row of it says that it may be used."""
    rows = table(7, human_1=0.12, human_2=0.12)
    swapped = np.random.default_rng(7).random(ROWS) < 0.04
    other = np.where(rows["human_1"] == "yes", "no", "yes")
    found = concord.check(rows.assign(judge=np.where(swapped, other, rows["human_1"]))).report.verdict()
    assert found.advice == Advice.CHECK_COPY
    assert found.verdict not in GOOD
    assert [row["verdict"] for row in found.rows.rows if row.get("verdict") in GOOD] == []


def test_another_judge_that_is_as_good_is_named_beside_a_copy():
    rows = table(8, human_1=0.12, human_2=0.12, judge_good=0.02)
    found = concord.check(rows.assign(judge_copy=rows["human_1"])).report.verdict()
    assert found.advice == Advice.CHECK_COPY
    assert "Use judge_good in its place" in found.action


def lengths_and_scores(seed: int, judge) -> pd.DataFrame:
    """Two annotators who like longer replies, and a judge of quality and length, on 1 to 5."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, ROWS)
    length = 0.7 * (quality - 3) + np.sqrt(0.51) * rng.normal(size=ROWS)

    def likert(seen: np.ndarray, noise: float) -> np.ndarray:
        return np.clip(np.round(seen + noise * rng.normal(size=ROWS)), 1, 5).astype(int)

    return pd.DataFrame(
        {
            "id": [f"row-{n}" for n in range(ROWS)],
            "response": ["word " * max(1, int(100 + 40 * one)) for one in length],
            "human_1": likert(quality, 0.6),
            "human_2": likert(quality, 0.6),
            "judge": likert(judge(quality, length, rng), 0.4),
        }
    )


def test_judges_that_ignore_length_or_compress_are_named():
    ignores = lengths_and_scores(1, lambda quality, length, _: 3 + (quality - 3 - 0.7 * length) / 0.714)
    narrow = lengths_and_scores(2, lambda quality, _length, _: 3 + 0.5 * (quality - 3))
    anything = lengths_and_scores(3, lambda quality, _length, rng: rng.integers(1, 6, len(quality)))
    found = [claims(concord.check(rows).report.verdict()) for rows in (ignores, narrow, anything)]
    about = {"length", "ignores_length", "compresses"}
    assert found[0] & about == {"ignores_length"}
    assert found[1] & about == {"compresses"}
    assert "compresses" not in found[2], "a judge at random uses its whole range"


def test_forty_equal_rows_are_a_finding():
    """κ of 40 equal answers is at least .8, which shows that the judge beats chance."""
    truth = np.tile(["yes", "no"], 20)
    rows = pd.DataFrame({"id": range(40), "human_ann": truth, "judge_x": truth})
    found = concord.check(rows).report.verdict()
    assert found.advice == Advice.ADD_ANNOTATOR
    both = concord.check(pd.concat([rows.assign(human_ben=truth)] * 2).assign(id=range(80))).report.verdict()
    assert both.verdict == Verdict.AS_GOOD
    assert both.advice == Advice.USE
