"""The alternative annotator test, computed the long way, and what a constant scores on it."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from concord.statistics.alt_test import alt_test, rejected
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import flat, study


def noisy(judge_noise, items=80, seed=0):
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, items)
    likert = lambda noise: np.clip(np.round(quality + rng.normal(0, noise, items)), 1, 5).tolist()  # noqa: E731
    return {name: likert(0.8) for name in ("ann", "bob", "cy", "dee")}, {"j": likert(judge_noise)}


def test_against_the_long_way():
    persons, judges = noisy(0.8)
    judges["j"] = [score + 0.3 for score in judges["j"]]  # rounded back to people's answers
    figures = alt_test(read_ratings(study(persons, judges)), "quality", epsilons=[0.15])
    table, judge = np.array(list(persons.values())), np.round(np.array(judges["j"]) - 0.3)
    rhos, ps = [], []
    for person in range(4):
        rest = np.delete(table, person, axis=0)
        judge_score = -np.sqrt(((judge - rest) ** 2).mean(axis=0))
        own_score = -np.sqrt(((table[person] - rest) ** 2).mean(axis=0))
        judge_won, own_won = judge_score >= own_score, own_score >= judge_score
        rhos.append(judge_won.mean())
        difference = own_won.astype(float) - judge_won.astype(float)
        ps.append(stats.ttest_1samp(difference, 0.15, alternative="less").pvalue)
    row = flat(figures).iloc[0]
    assert row["rho"] == pytest.approx(np.mean(rhos))
    assert row["omega"] == (stats.false_discovery_control(ps, method="by") <= 0.05).mean()
    assert row["passed"] == (row["omega"] >= 0.5)


def test_equal_means_of_three_criteria_are_ties():
    rng = np.random.default_rng(3)
    thirds = {name: rng.integers(3, 16, 40) for name in ("ann", "bob", "cy")}  # sums of three criteria
    persons = {name: (whole / 3).tolist() for name, whole in thirds.items()}
    figures = alt_test(read_ratings(study(persons, {"j": persons["ann"]})), "quality", epsilons=[0.0])
    # The judge is ann: beside her each item is a tie; beside bob and cy the whole numbers decide.
    expected = []
    for name, own in thirds.items():
        rest = [other for one, other in thirds.items() if one != name]
        of_judge, of_own = (sum((score - other) ** 2 for other in rest) for score in (thirds["ann"], own))
        expected.append((of_judge <= of_own).mean())
    assert expected[0] == 1
    assert figures.rows[0]["rho"].value == pytest.approx(np.mean(expected))


def test_equal_distances_of_rounded_means_are_ties():
    """Means of 27 answers. By hand, in 27ths, where the others gave 1, 1 and 13: an answer x lies 3x² − 30x
    from them, less what all have alike: 10 and 0 are equally near (300 − 300 = 0), 9 is nearer (243 − 270).
    """
    rng = np.random.default_rng(5)
    parts = {name: rng.integers(0, 28, 400) for name in ("ann", "bob", "cy", "dee")}
    judge = rng.integers(0, 55, 400)  # halves of the parts: many lie just between two answers
    persons = {name: np.round(of / 27, 9).tolist() for name, of in parts.items()}
    figures = alt_test(read_ratings(study(persons, {"j": (judge / 54).tolist()})), "quality", epsilons=[0.0])
    expected = []
    for name, own in parts.items():
        rest = [of for one, of in parts.items() if one != name]
        off = [
            [sum((int(x) - int(other[i])) ** 2 for other in rest) for x in (judge[i] // 2, own[i])]
            for i in range(400)  # j // 2: the lower of two answers equally near
        ]
        expected.append(np.mean([of_judge <= of_own for of_judge, of_own in off]))
    assert figures.rows[0]["rho"].value == pytest.approx(np.mean(expected))


def test_benjamini_yekutieli():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(8) ** 3
        expected = stats.false_discovery_control(p, method="by") <= 0.05
        assert (rejected(p) == expected).all()


def test_a_good_judge_passes_and_a_random_one_does_not():
    good = flat(alt_test(read_ratings(study(*noisy(0.2))), "quality", epsilons=[0.1])).iloc[0]
    assert good["passed"]
    rng = np.random.default_rng(1)
    bad = flat(
        alt_test(
            read_ratings(study(noisy(0.2)[0], {"j": rng.integers(1, 6, 80).tolist()})),
            "quality",
            epsilons=[0.1],
        )
    ).iloc[0]
    assert not bad["passed"]
    assert bad["rho"] < good["rho"]


def test_a_constant_can_pass():
    # Nearly everything is a 4: the answer that is always 4 is as near to the others as any person.
    rng = np.random.default_rng(0)
    persons = {f"p{i}": np.where(rng.random(80) < 0.9, 4, 3).tolist() for i in range(4)}
    row = flat(alt_test(read_ratings(study(persons, {"j": [4] * 80})), "quality", epsilons=[0.1])).iloc[0]
    assert row["passed"]
    assert (row["constant"], row["constant_omega"]) == (4, 1)


def half_won(items=30):
    """Four people of whom the judge beats two. Quality t is 3 or 4; cy and dee give t, ann t + 2, bob t − 2,
    the judge t + 1.

    Mean square distance to the others, the judge's before the person's: ann (9 + 1 + 1)/3 and (16 + 4 + 4)/3,
    bob (1 + 1 + 1)/3 and (16 + 4 + 4)/3, cy and dee (1 + 9 + 1)/3 and (4 + 4 + 0)/3.
    """
    quality = [3, 4] * (items // 2)
    away = {"ann": 2, "bob": -2, "cy": 0, "dee": 0}
    persons = {name: [t + by for t in quality] for name, by in away.items()}
    return study(persons, {"j": [t + 1 for t in quality]})


def test_half_of_the_annotators_and_thirty_items_are_enough():
    table = alt_test(read_ratings(half_won()), "quality", epsilons=[0.1])
    row = table.rows[0]
    assert (row["rater"], row["epsilon"], row["people"], row["passed"]) == ("j", 0.1, 4, True)
    assert (row["omega"].value, row["omega"].n, row["rho"].value, row["rho"].n) == (0.5, 4, 0.5, 4)
    # Always 4, or always 3, is as near as cy and dee where they give it and farther elsewhere: rho (1 + 1 + ½
    # + ½)/4.
    constant = (row["constant"], row["constant_omega"].value, row["constant_rho"].value)
    assert constant == (4, 0.5, 0.75)
    assert (table.name, [column.name for column in table.columns]) == ("alt_test", list(row))
    assert table.meta["basis"]["target"] == "compared with the other annotators, one held out at a time"


def test_three_annotators_are_enough_and_the_undefined_does_not_pass():
    rows = half_won()
    three = alt_test(read_ratings(rows[rows.rater != "dee"]), "quality", epsilons=[0.1]).rows[0]
    assert (three["people"], three["omega"].reason) == (3, "")
    two = alt_test(read_ratings(rows[~rows.rater.isin(["cy", "dee"])]), "quality", epsilons=[0.1]).rows[0]
    assert (two["people"], two["omega"].value, two["passed"], two["constant"]) == (2, None, False, None)
    assert two["constant_rho"].reason == "2 annotators have 30 items to compare, at least 3 are needed"


def test_people_without_names_are_no_persons_to_be_held_out():
    anonymous = read_ratings(half_won(), anonymous_people=True)
    row = alt_test(anonymous, "quality", epsilons=[0.1]).rows[0]
    assert (row["people"], row["omega"].value) == (0, None)
    assert row["omega"].reason == "annotators have no names"


def test_the_panels_asked_for_are_tested():
    rows = pd.concat([half_won(), half_won().query("kind == 'judge'").assign(rater="k")])
    asked = alt_test(read_ratings(rows), "quality", panels=[["j", "k"]], epsilons=[0.1])
    assert [row["rater"] for row in asked.rows] == ["j", "k", "Avg(j, k)"]
    assert [
        row["rater"] for row in alt_test(read_ratings(rows), "quality", panels=[], epsilons=[0.1]).rows
    ] == ["j", "k"]


def test_too_few_people_or_items():
    persons, judges = noisy(0.5, items=29)
    row = flat(alt_test(read_ratings(study(persons, judges)), "quality")).iloc[0]
    assert row["reason"] == "0 annotators have 30 items to compare, at least 3 are needed"
    assert np.isnan(row["omega"])
    other = {"quality": {"j": "j answers on different scales"}}
    table = read_ratings(study(*noisy(0.5)), other_scale=other)
    assert "different scales" in flat(alt_test(table, "quality"))["reason"][0]


def by_agreement(table, judge):
    """Each person's rho by counting equal answers of the others, the long way."""
    rhos = []
    for person in range(len(table)):
        rest = np.delete(table, person, axis=0)
        ours, theirs = ((rest == answers).sum(axis=0) for answers in (judge, table[person]))
        rhos.append((ours >= theirs).mean())
    return rhos


def test_categories_are_scored_by_equal_answers():
    # The numbers of categories mean nothing: 1 and 5 are as far apart as 1 and 2.
    rng = np.random.default_rng(2)
    truth = rng.integers(1, 6, 60)
    said = lambda: np.where(rng.random(60) < 0.6, truth, rng.integers(1, 6, 60)).astype(float)  # noqa: E731
    persons, judge = {name: said().tolist() for name in ("ann", "bob", "cy")}, said()
    rows = study(persons, {"j": judge.tolist()})
    found = alt_test(read_ratings(rows), "quality", epsilons=[0.1], score="agreement")
    expected = by_agreement(np.array(list(persons.values())), judge)
    assert found.rows[0]["rho"].value == pytest.approx(np.mean(expected))
    assert "scored by equal answers" in found.notes[0]
    # Renumbered categories change nothing.
    renumbered = rows.assign(score=rows.score.map({1: 4, 2: 1, 3: 5, 4: 2, 5: 3}))
    again = alt_test(read_ratings(renumbered), "quality", epsilons=[0.1], score="agreement")
    assert again.rows[0]["rho"] == found.rows[0]["rho"]
    assert again.rows[0]["omega"] == found.rows[0]["omega"]


@pytest.mark.parametrize(("kinds", "score"), [(2, "distance"), (3, "agreement")])
def test_a_split_panel_wins_half_of_what_each_of_its_answers_does(kinds, score):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, kinds, 60)
    said = lambda: np.where(rng.random(60) < 0.7, truth, rng.integers(0, kinds, 60)).tolist()  # noqa: E731
    persons = {name: said() for name in ("ann", "bob", "cy")}
    one, other = np.array(said()), np.array(said())
    assert 10 < (one != other).sum() < 40
    options = {"epsilons": [0.1], "score": score, "majority": True}
    panel = alt_test(
        read_ratings(study(persons, {"j": one.tolist(), "k": other.tolist()})), "quality", **options
    )
    # A fair draw among two answers is the one judge's in half of the cases, else the other's.
    alone = [row["rho"].value for row in panel.rows[:2]]
    assert panel.rows[2]["rho"].value == pytest.approx(np.mean(alone))
    assert panel.rows[2]["rater"] == "Avg(j, k)"


def test_equal_answers_make_no_sense_of_many_different_ones():
    rng = np.random.default_rng(0)
    slider = lambda: rng.random(40).tolist()  # noqa: E731
    table = read_ratings(study({name: slider() for name in ("ann", "bob", "cy")}, {"j": slider()}))
    (row,) = alt_test(table, "quality", epsilons=[0.1], score="agreement").rows
    assert "120 different answers" in row["omega"].reason
    assert "cannot be scored" in row["omega"].reason


def test_a_category_that_nobody_gives_equals_nobody():
    """People answer 1 or 3 and are of one mind; the judge answers 2 throughout, which lies nearest to both.

    By equal answers each person has 2 of 2 on every item and the judge 0 of 2: ρ = 0.
    Rounded to a neighbour, the judge would have had ρ = 1 on the half of the items.
    """
    same = [1.0, 3.0] * 20
    persons = dict.fromkeys(("ann", "bob", "cy"), same)
    figures = alt_test(
        read_ratings(study(persons, {"j": [2.0] * 40})), "quality", epsilons=[0.1], score="agreement"
    )
    row = flat(figures).iloc[0]
    assert (row["rho"], row["omega"]) == (0, 0)
