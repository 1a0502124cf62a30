"""Items: the farthest, the those of high disagreement, and score bands that do not fake a bias."""

import numpy as np
import pytest

from concord.statistics.items import bands, high_disagreement, largest_differences
from concord.statistics.judges import judge_figures
from concord.statistics.panels import best_panel
from concord.statistics.ratings import read_ratings

from .frames import flat, study


def test_largest_differences():
    rows = study({"ann": [1, 5, 3, 2], "bob": [1, 4, 3, None]}, {"j": [2, 1, 3, None], "k": [2, 4, None, 5]})
    gaps = largest_differences(read_ratings(rows), "quality", ["j"])
    assert gaps["unit"].tolist() == [1, 0, 2]
    assert gaps["difference"].tolist() == [1 - 4.5, 2 - 1, 0]
    assert gaps["spread"].tolist() == [pytest.approx(np.sqrt(0.5)), 0, 0]
    panel = largest_differences(read_ratings(rows), "quality", ["j", "k"])
    assert panel["unit"].tolist() == [1, 0]
    assert panel["score"].tolist() == [2.5, 2]


def test_gaps_across_scales_are_of_places():
    rows = study({"ann": [1, 2, 3, 4]}, {"j": [10, 40, 30, 20]})
    gaps = largest_differences(
        read_ratings(rows, other_scale={"quality": {"j": "another scale"}}), "quality", ["j"]
    )
    # Unit 1 stands second with people and fourth with the judge: (4 − 2)/4.
    assert gaps.set_index("unit")["difference"].to_dict() == {0: 0, 1: 0.5, 2: 0, 3: -0.5}


def test_items_that_lack_a_score_are_left_out():
    rows = study({"ann": [1, 5], "bob": [3, None]}, {"j": [2, None]})
    [row] = largest_differences(read_ratings(rows), "quality", ["j"]).to_dict("records")
    assert (row["unit"], row["people"], row["mean"], row["difference"]) == (0, 2, 2, 0)


def test_contested_items():
    # People agree on units 0 to 3 and differ by 4 on units 4 to 7; the judge is right where they agree.
    persons = {"ann": [1, 2, 3, 4, 1, 1, 2, 1], "bob": [1, 2, 3, 4, 5, 5, 4, 5], "cy": [None] * 7 + [4]}
    rows = flat(
        high_disagreement(
            read_ratings(study(persons, {"j": [1, 2, 3, 4, 5, 4, 1, 2]})), "quality", resamples=50
        )
    )
    agree, differ = rows.to_dict("records")
    assert (agree["people"], agree["n"], agree["spearman"], agree["mae"]) == ("agree", 4, 1, 0)
    assert (differ["people"], differ["n"]) == ("differ", 4)
    assert differ["mae"] == pytest.approx((2 + 1 + 2 + (10 / 3 - 2)) / 4)


def test_bands_do_not_take_regression_to_the_mean_for_bias():
    # All items are alike and people merely noisy: an honest judge says 3 throughout. Cut by the very mean
    # it is measured against, it would seem a whole point too high on “low” items.
    rng = np.random.default_rng(0)
    noise = rng.integers(1, 6, (2, 600))
    rows = study({"ann": noise[0].tolist(), "bob": noise[1].tolist()}, {"j": [3] * 600})
    found = flat(bands(read_ratings(rows), "quality", resamples=200)).set_index("band")
    naive = 3 - noise.mean(axis=0)[noise.mean(axis=0) <= 2].mean()
    assert naive > 1
    assert abs(found["bias"]["low"]) < 0.25
    assert found["bias_low"]["low"] < 0 < found["bias_high"]["low"]
    assert found["n"].sum() == 1200


def test_bands_by_hand():
    # Six ratings 1 1 3 3 5 5, so bands end at 1.67 and 3.67 (thirds); whoever is drawn first, both
    # choose once.
    rows = study({"ann": [1, 3, 5], "bob": [3, 5, 1]}, {"j": [2, 4, 4]})
    found = flat(bands(read_ratings(rows), "quality", resamples=20)).set_index("band")
    # A 1 puts unit 0 (against 3) and unit 2 (against 5) into the low band: gaps 2 − 3 and 4 − 5.
    assert found["bias"]["low"] == pytest.approx((-1 - 1) / 2)
    # A 3: unit 0 against 1 and unit 1 against 5: 2 − 1 and 4 − 5. A 5: unit 1 against 3 and unit 2 against 1.
    assert found["bias"]["middle"] == pytest.approx((1 - 1) / 2)
    assert found["bias"]["high"] == pytest.approx((1 + 3) / 2)
    assert found["n"].tolist() == [2, 2, 2]


def test_bands_find_a_real_bias():
    # People agree exactly; the judge adds one to everything that is low.
    scores = [1, 2, 3, 4, 5] * 40
    judge = [score + (score <= 2) for score in scores]
    found = flat(
        bands(read_ratings(study({"ann": scores, "bob": scores}, {"j": judge})), "quality", resamples=50)
    )
    assert found.set_index("band")["bias"].to_dict() == {"low": 1, "middle": 0, "high": 0}


def test_bands_need_two_people():
    rows = flat(bands(read_ratings(study({"ann": [1, 2, 3]}, {"j": [1, 2, 3]})), "quality", resamples=20))
    assert rows["bias"].isna().all()
    assert set(rows["reason"]) == {"no item with two people falls here"}


def test_intervals_of_these_annotators_alone_are_said_above_the_table():
    rng = np.random.default_rng(1)
    place = rng.integers(1, 6, 30)
    answers = {
        name: [int(score) for score in np.clip(place + rng.integers(-1, 2, 30), 1, 5)] for name in "abcjk"
    }
    judge = {name: answers.pop(name) for name in "jk"}
    table = read_ratings(study(answers, judge))
    for people, said in (("like-these", True), ("these", False)):
        found = high_disagreement(table, "quality", resamples=50, people=people)
        assert (found.caption.endswith("Intervals here are for these 3 annotators alone.")) == said
        searched = best_panel(table, "quality", [("j",), ("k",)], resamples=50, people=people)
        assert ("for these 3 annotators alone" in searched.caption) == said
        # Intervals for annotators like these need no such sentence.
        assert "Intervals here" not in judge_figures(table, "quality", resamples=50, people=people).caption
