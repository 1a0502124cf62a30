"""Items: the farthest, and those of a group."""

import numpy as np

from concord.statistics.items import group_agreement, largest_differences
from concord.statistics.judges import judge_figures
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study


def test_largest_differences():
    rows = study({"ann": [1, 5, 3, 2], "bob": [1, 4, 3, None]}, {"j": [2, 1, 3, None], "k": [2, 4, None, 5]})
    gaps = largest_differences(read_ratings(rows), "quality", ["j"])
    assert gaps["unit"].tolist() == [1, 0, 2]
    assert gaps["difference"].tolist() == [1 - 4.5, 2 - 1, 0]
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


def test_intervals_of_these_annotators_alone_are_said_above_the_table():
    rng = np.random.default_rng(1)
    place = rng.integers(1, 6, 30)
    answers = {
        name: [int(score) for score in np.clip(place + rng.integers(-1, 2, 30), 1, 5)] for name in "abcjk"
    }
    judge = {name: answers.pop(name) for name in "jk"}
    table = read_ratings(study(answers, judge))
    for people, said in (("like-these", True), ("these", False)):
        groups = {"player": {unit: unit % 2 for unit in range(30)}}
        found = group_agreement(table, "quality", groups, resamples=50, people=people)
        assert (found.caption.endswith("Intervals here are for these 3 annotators alone.")) == said
        # Intervals for annotators like these need no such sentence.
        assert "Intervals here" not in judge_figures(table, "quality", resamples=50, people=people).caption


def test_answers_that_are_read_by_name_have_kappa_in_each_group():
    """Of four items judge and people are equal on three, 2 · 2 of each answer by people, 3 · 1 by the judge:
    p_e = (2 · 3 + 2 · 1) / 16 = 1/2, κ = (3/4 − 1/2) / (1/2) = 1/2. The other group has κ = 1.
    """
    people, judge = [1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 0, 1, 1, 1, 0, 0]
    table = read_ratings(study({"ann": people, "bob": people}, {"j": judge}))
    facets = {"topic": dict(enumerate("aaaabbbb"))}
    groups = group_agreement(table, "quality", facets, nominal=True, resamples=0)
    assert "spearman" not in [column.name for column in groups.columns]
    assert [(row["group"], row["n"], row["kappa"].value) for row in groups.rows] == [
        ("a", 4, 0.5),
        ("b", 4, 1),
    ]
