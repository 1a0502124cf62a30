"""Judges against people: level by hand, a held-out annotator, intervals against drawn items."""

import krippendorff
import numpy as np
import pytest
from scipy import stats

from concord.statistics.held_out import held_out
from concord.statistics.items import group_agreement
from concord.statistics.judges import judge_figures
from concord.statistics.ratings import read_ratings
from concord.statistics.reliability import reliability
from concord.statistics.resampling import draws
from tests.statistics.frames import ends, flat, matrix, people, study


def noisy(seed=0, items=60):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=items)
    likert = lambda: np.clip(np.round(3 + quality + rng.normal(size=items)), 1, 5).tolist()  # noqa: E731
    return study({name: likert() for name in ("ann", "bob", "cy")}, {name: likert() for name in ("j", "k")})


def test_level_by_hand():
    # People's means 1, 2, 3, 4; the judge 2, 2, 5, 5: gaps 1, 0, 2, 1.
    rows = study({"ann": [1, 2, 3, 4]}, {"j": [2, 2, 5, 5]})
    row = flat(judge_figures(read_ratings(rows), "quality", resamples=50)).iloc[0]
    assert (row["bias"], row["mae"]) == (1, 1)
    assert (row["commonest"], row["commonest_share"]) == (2, 0.5)


def test_error_and_bias_are_told_apart():
    # Ranks can be perfect while every answer is two too high; gaps of both signs make error without bias.
    row = flat(
        judge_figures(
            read_ratings(study({"ann": [1, 2, 3, 2]}, {"j": [3, 4, 5, 4]})), "quality", resamples=50
        )
    ).iloc[0]
    assert (row["spearman"], row["bias"], row["mae"]) == (1, 2, 2)
    row = flat(
        judge_figures(
            read_ratings(study({"ann": [1, 2, 3, 4]}, {"j": [2, 1, 4, 3]})), "quality", resamples=50
        )
    ).iloc[0]
    assert (row["bias"], row["mae"]) == (0, 1)


def test_intervals_are_those_of_the_drawn_items():
    rows = noisy()
    row = flat(judge_figures(read_ratings(rows), "quality", resamples=40, seed=9)).iloc[1]
    judge, target = matrix(rows, "judge").loc["k"].to_numpy(), matrix(rows).mean(axis=0).to_numpy()
    found = []
    for weights in np.concatenate(list(draws(60, 40, 9)), axis=1).T.astype(int):
        x, y = np.repeat(judge, weights), np.repeat(target, weights)
        gap, tau = x - y, stats.kendalltau(x, y).statistic
        found.append([tau, stats.pearsonr(x, y).statistic, gap.mean(), np.abs(gap).mean()])
    scales = {"kendall": "z", "pearson": "z", "bias": "plain", "mae": "plain"}
    for (name, scale), drawn in zip(scales.items(), np.array(found).T, strict=True):
        assert (row[f"{name}_low"], row[f"{name}_high"]) == ends(row[name], drawn, 60, scale)


def test_other_scales_have_no_level():
    other = dict.fromkeys("jk", "judges answer on different scales")
    table = read_ratings(noisy(), other_scale={"quality": other})
    figures = judge_figures(table, "quality", resamples=20)
    assert flat(figures)[["bias", "bias_low", "mae"]].isna().all(axis=None)
    assert flat(figures)["spearman"].notna().all()
    assert "different scales" in figures.notes[0]


def test_the_share_of_a_near_constant_judges_answer():
    rows = study({"ann": list(range(20))}, {"j": [4] * 19 + [5], "k": [4] * 20})
    j, k, _ = flat(judge_figures(read_ratings(rows), "quality", resamples=50)).itertuples()
    assert (j.commonest, j.commonest_share) == (4, 0.95)
    assert np.isnan(k.spearman)
    assert "k is constant on the items in common" in k.reason
    assert k.bias == pytest.approx(4 - 9.5)


def test_few_items_have_no_figures():
    row = flat(
        judge_figures(read_ratings(study({"ann": [1, 2]}, {"j": [1, 2]})), "quality", resamples=20)
    ).iloc[0]
    assert row["reason"] == "2 items in common, at least 3 are needed"
    assert np.isnan(row["bias"])


def test_a_judge_beside_a_person_held_out():
    rows = noisy()
    figures = held_out(read_ratings(rows), "quality", panels=[["j", "k"]], resamples=40, seed=2)
    persons, machines = matrix(rows), matrix(rows, "judge")
    gaps = []
    for name in persons.index:
        others = persons.drop(name).mean(axis=0)
        gaps.append(
            [
                stats.spearmanr(scores, others).statistic
                for scores in (machines.mean(axis=0), persons.loc[name])
            ]
        )
    row = flat(figures).set_index("rater").loc["Avg(j, k)"]
    assert (row["judge"], row["person"]) == pytest.approx(tuple(np.mean(gaps, axis=0)))
    assert row["difference"] == pytest.approx(np.mean([judge - person for judge, person in gaps]))
    # Judge and ceiling have intervals of their own around their values, on the items that anybody rated.
    for name in ("judge", "person"):
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    assert row["n"] == 60
    assert row["par"] == f"{sum(judge >= person for judge, person in gaps)} of {len(gaps)}"
    # The paired interval: both correlations on the same drawn items.
    drawn = []
    for weights in np.concatenate(list(draws(60, 40, 2)), axis=1).T.astype(int):
        pick = np.repeat(np.arange(60), weights)
        differences = []
        for name in persons.index:
            others = persons.drop(name).mean(axis=0).to_numpy()[pick]
            rho = [
                stats.spearmanr(scores.to_numpy()[pick], others).statistic
                for scores in (machines.mean(axis=0), persons.loc[name])
            ]
            differences.append(rho[0] - rho[1])
        drawn.append(np.mean(differences))
    assert (row["difference_low"], row["difference_high"]) == ends(row["difference"], drawn, 60)


def test_yes_and_no_are_compared_by_kappa_with_each_of_the_others():
    """Schouten's kappa by hand, of eight items with answers of ann, bob, cy and the judge.

    Beside ann: bob and cy say yes in 4 and 3 of 8, on average 7/16. The judge equals them in 6 and 7 of 8, so
    p_o = 13/16; it says yes in 4 of 8, p_e = 1/2; kappa = (13/16 − 8/16) / (8/16) = 5/8. ann equals them in 7
    and 6 of 8: 13/16 too; she says yes in 5 of 8, p_e = 5/8·7/16 + 3/8·9/16 = 62/128, kappa = 42/66.

    Beside bob the judge has (12/16 − 8/16) / (8/16) = 1/2 and bob (14/16 − 8/16) / (8/16) = 3/4; beside cy
    the judge has (11/16 − 8/16) / (8/16) = 3/8, and cy 42/66 like ann.
    """
    persons = {
        "ann": [1, 1, 1, 1, 1, 0, 0, 0],
        "bob": [1, 1, 1, 1, 0, 0, 0, 0],
        "cy": [1, 1, 1, 0, 0, 0, 0, 0],
    }
    judge = [1, 1, 1, 0, 0, 0, 0, 1]
    table = read_ratings(study(persons, {"j": judge}))
    figures = held_out(table, "quality", measure="kappa", resamples=20)
    (row,) = figures.rows
    assert row["judge"].value == pytest.approx((5 / 8 + 1 / 2 + 3 / 8) / 3)
    assert row["person"].value == pytest.approx((42 / 66 + 3 / 4 + 42 / 66) / 3)
    # 12 of 24 answers are the rarer one: 4 of 8 items are too few for an interval.
    assert row["difference"].value == pytest.approx(row["judge"].value - row["person"].value)
    assert row["difference"].reason == "no interval: fewer than 20 items have a rarer answer"


def test_a_panel_of_two_has_half_of_either_answer_where_its_judges_differ():
    """With one other person kappa is Cohen's: of halves p_o is the mean of both judges' equal answers."""
    bob = [1, 1, 0, 0]
    one, other = [1, 1, 0, 1], [1, 0, 0, 0]
    table = read_ratings(study({"ann": bob, "bob": bob}, {"j": one, "k": other}))
    figures = held_out(table, "quality", measure="kappa", panels=[["j", "k"]], resamples=0)
    own = {row["rater"]: row["judge"].value for row in figures.rows}
    # One: p_o 3/4, p_e 1/2. Both: p_o (3 + 3) / 8 = 3/4, yes (3 + 1) / 8 = 1/2, p_e 1/2.
    assert own["j"] == own["Avg(j, k)"] == pytest.approx(1 / 2)
    assert {row["person"].value for row in figures.rows} == {1.0}
    # An answer that nobody else gives equals nobody's: 2 of 4 equal, expected 1/2 · 2/4.
    odd = read_ratings(study({"ann": bob, "bob": bob}, {"j": [1, 2, 2, 0]}))
    assert held_out(odd, "quality", measure="kappa", resamples=0).rows[0]["judge"].value == pytest.approx(
        1 / 3
    )


def test_judge_and_person_are_compared_on_the_same_items():
    # The judge skipped the last two units, so ann's agreement with bob counts on the first four only.
    rows = study({"ann": [1, 2, 3, 4, 9, 8], "bob": [1, 3, 2, 4, 0, 1]}, {"j": [1, 2, 4, 3, None, None]})
    [row] = held_out(read_ratings(rows), "quality", resamples=20).rows
    # 1 − 6·2/(4·15) = .8 for ann and bob; the judge against bob 1, 3, 2, 4: 1 − 6·6/60 = .4, against ann .8.
    assert (row["n"], row["person"].value, row["judge"].value) == (4, pytest.approx(0.8), pytest.approx(0.6))


def test_a_copy_of_a_person_gains_nothing_by_being_a_judge():
    # The judge repeats ann, so held out she is matched exactly; beside bob it reaches 1 with ann, and bob ρ.
    ann, bob = [1, 2, 3, 4, 9, 8], [1, 3, 2, 4, 0, 1]
    [row] = held_out(
        read_ratings(study({"ann": ann, "bob": bob}, {"copy": ann})), "quality", resamples=0
    ).rows
    assert row["difference"].value == pytest.approx((1 - stats.spearmanr(ann, bob).statistic) / 2)


def test_nobody_to_hold_out():
    alone = flat(
        held_out(read_ratings(study({"ann": [1, 2, 3, 4]}, {"j": [1, 2, 4, 3]})), "quality", resamples=20)
    ).iloc[0]
    assert (alone["people"], np.isnan(alone["difference"])) == (0, True)
    assert "no annotator has three varying items" in alone["reason"]
    unnamed = flat(held_out(read_ratings(noisy(), anonymous_people=True), "quality", resamples=20)).iloc[0]
    assert "annotators have no names" in unnamed["reason"]
    assert flat(held_out(read_ratings(people({"ann": [1, 2], "bob": [2, 1]})), "quality", resamples=20)).empty


def of_people(table, **drawing):
    return {row["coefficient"]: row["value"] for row in reliability(table, "quality", **drawing).rows}


def test_attainable_correlation_by_hand():
    # Units (1,1), (1,2), (2,3): alpha (interval) is 1/2, so the mean of two people has reliability
    # 2·½/(1 + ½) = 2/3.
    rows = of_people(read_ratings(people({"ann": [1, 1, 2], "bob": [1, 2, 3]})))
    assert rows["mean_of_people"].value == pytest.approx(2 / 3)
    assert rows["attainable"].value == pytest.approx(np.sqrt(2 / 3))
    opposite = of_people(read_ratings(people({"ann": [1, 2, 3], "bob": [3, 2, 1]})))["attainable"]
    assert (opposite.value, opposite.reason) == (None, "alpha is below 0")


def test_attainable_correlation_has_an_interval_on_the_same_draws():
    """Forty items: of the resamples of the drawn items the spread of √(2α/(1 + α)) is the standard error."""
    rng = np.random.default_rng(1)
    quality = rng.normal(3, 1, 40)
    given = {name: (quality + rng.normal(0, 0.5, 40)).tolist() for name in ("ann", "bob")}
    row = of_people(read_ratings(people(given), final_criteria=()), resamples=60, seed=4)
    both = np.array(list(given.values()))
    drawn = []
    for weights in draws(40, 60, 4):
        for counts in weights.T:
            again = np.repeat(both, counts.astype(int), axis=1)
            alpha = krippendorff.alpha(again, level_of_measurement="interval")
            drawn.append(np.arctanh(np.sqrt(2 * alpha / (1 + alpha))))
    low, high = row["attainable"].interval
    error = np.std(drawn, ddof=1) * np.sqrt(40 / 39)
    half = stats.t.ppf(0.975, 38) * error
    centre = np.arctanh(row["attainable"].value)
    assert np.arctanh([low, high]) == pytest.approx([centre - half, centre + half])


def test_intervals_for_annotators_like_these_leave_one_out():
    rows = noisy()
    table = read_ratings(rows, final_criteria=())
    these, like = (
        flat(judge_figures(table, "quality", resamples=40, seed=9, people=people)).iloc[1]
        for people in ("these", "like-these")
    )
    persons, judge = matrix(rows), matrix(rows, "judge").loc["k"]
    without = [(judge - persons.drop(name).mean(axis=0)).mean() for name in persons.index]
    # The variance of items is what the interval for these has; t has 39 degrees of freedom, of 40 resamples.
    by_items = ((these["bias_high"] - these["bias"]) / stats.t.ppf(0.975, 39)) ** 2
    by_people = 2 / 3 * np.square(np.array(without) - np.mean(without)).sum()
    freedom = (by_items + by_people) ** 2 / (by_items**2 / 39 + by_people**2 / 2)
    half = stats.t.ppf(0.975, freedom) * np.sqrt(by_items + by_people)
    assert (these["bias"], these["spearman"]) == (like["bias"], like["spearman"])
    assert (like["bias_low"], like["bias_high"]) == pytest.approx((like["bias"] - half, like["bias"] + half))


def test_claims_about_annotators_in_general_hold():
    """Sixty studies of five annotators whose severities differ: a judge without bias against all annotators
    has one against these five. The interval for these five misses 0 in a third of the studies or more.
    """
    rng = np.random.default_rng(4)
    held = {"these": 0, "like-these": 0}
    for _ in range(60):
        quality, severity = rng.normal(3, 1, 60), rng.normal(0, 0.5, 5)
        given = {f"p{i}": (quality + of + rng.normal(0, 0.5, 60)).tolist() for i, of in enumerate(severity)}
        table = read_ratings(
            study(given, {"j": (quality + rng.normal(0, 0.5, 60)).tolist()}), final_criteria=()
        )
        for about in held:
            found = judge_figures(table, "quality", resamples=200, people=about).rows[0]["bias"]
            held[about] += found.low <= 0 <= found.high
    assert held["these"] < 40
    assert held["like-these"] >= 55


def test_a_table_says_whom_its_intervals_are_about():
    table = read_ratings(noisy(), final_criteria=())
    assert "for these 3 annotators" in judge_figures(table, "quality", resamples=20).notes[0]
    like = judge_figures(table, "quality", resamples=20, people="like-these")
    assert "one annotator held out at a time; for annotators like these 3" in like.notes[0]
    # A table whose figures are not made without each annotator keeps to these.
    groups = {"player": dict.fromkeys(table.units, "a")}
    others = group_agreement(table, "quality", groups, resamples=20, people="like-these")
    assert "for these 3 annotators" in others.notes[0]


def test_annotators_like_these_where_nobody_rated_have_no_figure():
    """No annotator can be left out of none."""
    table = read_ratings(study({}, {"j": [1, 2, 3]}), criteria=["quality"])
    [row] = judge_figures(table, "quality", people="like-these", resamples=20).rows
    assert row["spearman"].reason == "no annotator's rating to compare with"
