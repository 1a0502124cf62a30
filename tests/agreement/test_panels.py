"""The price of choosing the best judge or panel, and test–retest."""

import numpy as np
import pytest
from scipy import stats

from concord.statistics.judges import judge_figures
from concord.statistics.panels import best_panel
from concord.statistics.ratings import read_ratings
from concord.statistics.reliability import retest

from .frames import fed, flat, study

SHROUT_FLEISS = np.array(  # Shrout and Fleiss (1979), table 2: six targets, four judges
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)


def test_the_best_of_ten_pairs_on_fed():
    # Measured independently: the best of ten pairs on Overall shows .709 and is worth about .668.
    search = best_panel(read_ratings(fed(), anonymous_people=True, counted=[]), "Overall")
    assert search.meta["candidates"] == len(search.rows) == 10
    best = search.rows[0]
    assert round(best["spearman"].value, 3) == 0.709
    assert best["worth"].value == pytest.approx(0.668, abs=0.004)
    assert best["lead"].low < 0 < best["lead"].value < best["lead"].high
    assert sum(row["chosen"] for row in search.rows) == pytest.approx(1)
    assert best["rater"] == "Avg(gpt-4 run 3, gpt-4 run 4)"


def test_a_search_among_equals_is_worth_no_more_than_any():
    # Twenty judges of pure noise: the best looks like something and is nothing.
    rng = np.random.default_rng(0)
    rows = study(
        {"ann": rng.normal(size=60).tolist()}, {f"j{i}": rng.normal(size=60).tolist() for i in range(20)}
    )
    best = best_panel(read_ratings(rows), "quality", [[f"j{i}"] for i in range(20)], resamples=200).rows[0]
    assert best["spearman"].value > 0.2
    assert abs(best["worth"].value) < 0.1


def test_nothing_to_search():
    def why(rows, *candidates):
        return best_panel(read_ratings(rows), "quality", *candidates).rows[0]["worth"].reason

    rows = study({"ann": list(range(12))}, {"j": list(range(12)), "k": [1] * 12})
    assert why(rows) == "fewer than two candidates"
    assert "all equal" in why(rows, [["j"], ["k"]])
    few = study({"ann": [1, 2, 3]}, {"j": [1, 2, 3], "k": [3, 2, 1]})
    assert why(few, [["j"], ["k"]]) == "3 items rated by all of them and a person are too few"


def test_retest_of_the_published_example():
    # Shrout and Fleiss (1979): ICC(1,1) of the six targets and four judges is .17.
    runs = {f"run {i}": column.tolist() for i, column in enumerate(SHROUT_FLEISS.T)}
    row = flat(retest(read_ratings(study({}, runs)), "quality", {"j": list(runs)}, resamples=50)).iloc[0]
    assert round(row["icc"], 2) == 0.17
    # Of the six targets' 36 pairs of answers only the third target's two eights are equal.
    assert row["exact"] == pytest.approx(1 / 36)


def test_retest_undefined():
    row = retest(read_ratings(study({}, {"a": [1, 2]})), "quality", {"j": ["a"]}).rows[0]
    assert row["icc"].reason == row["exact"].reason == "fewer than two runs"
    rows = study({}, {"a": [3] * 5, "b": [3] * 5})
    constant = retest(read_ratings(rows), "quality", {"j": ["a", "b"]}, resamples=20).rows[0]
    assert (constant["exact"].value, constant["icc"].reason) == (1, "all answers are equal")


def test_the_best_of_twelve_equal_judges_is_not_claimed_to_be_better_than_it_is():
    """Forty studies in which twelve judges are people's quality and as much noise: every ρ is the same.

    The true ρ is that of 200,000 items. An interval of the best judge by itself misses it in six studies or
    more; those that hold together miss at most three, as do the worth and the lead.
    """
    rng = np.random.default_rng(12)

    def drawn(items):
        quality = rng.normal(size=items)
        return quality + rng.normal(0, 0.8, items), quality + rng.normal(0, 0.8, (12, items))

    person, [judge, *_] = drawn(200_000)
    truth = np.corrcoef(stats.rankdata(person), stats.rankdata(judge))[0, 1]
    held = np.zeros(4)
    for seed in range(40):
        person, judges = drawn(50)
        names = [f"j{number}" for number in range(12)]
        rows = study({"ann": person.tolist()}, dict(zip(names, judges.tolist(), strict=True)))
        table = read_ratings(rows, counted=())
        search = best_panel(table, "quality", [[name] for name in names], resamples=200, seed=seed)
        best = search.rows[0]
        alone = judge_figures(table, "quality", panels=(), resamples=200, seed=seed).rows
        alone = next(row["spearman"] for row in alone if row["rater"] == best["rater"])
        figures = (alone, best["spearman"], best["worth"], best["lead"])
        truths = (truth, truth, truth, 0)
        held += [figure.low <= true <= figure.high for figure, true in zip(figures, truths, strict=True)]
    assert search.name == "best_judge"
    assert "12 candidates searched" in search.notes[0]
    assert held[0] <= 34
    assert (held[1:] >= 37).all()


def test_the_search_for_annotators_like_these_leaves_each_of_them_out():
    """Five people who differ: with them as a draw each interval is wider than for these alone, and one that
    holds for all candidates together is no narrower than that of a single judge.
    """
    rng = np.random.default_rng(3)
    quality = rng.normal(size=60)
    people = {f"p{i}": (quality + rng.normal(0, 1.5, 60)).tolist() for i in range(5)}
    judges = {f"j{i}": (quality + rng.normal(0, 1, 60)).tolist() for i in range(3)}
    table = read_ratings(study(people, judges))
    single = [[name] for name in judges]
    these, like = (
        best_panel(table, "quality", single, resamples=300, people=people)
        for people in ("these", "like-these")
    )
    alone = judge_figures(table, "quality", panels=(), resamples=300, people="like-these").rows
    width = {row["rater"]: row["spearman"].high - row["spearman"].low for row in alone}
    for here, there in zip(these.rows, like.rows, strict=True):
        assert here["spearman"].value == there["spearman"].value
        assert there["spearman"].low < here["spearman"].low
        assert there["spearman"].high - there["spearman"].low >= width[there["rater"]] - 1e-9
    assert "left out one at a time" not in these.notes[0]
    assert "left out one at a time" in like.notes[0]
    assert like.rows[0]["lead"].low < these.rows[0]["lead"].low
