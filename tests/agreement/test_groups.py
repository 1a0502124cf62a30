"""Levels kept apart: a judge can order groups and misorder what is in them."""

import numpy as np
import pytest
from scipy import stats

from concord.statistics.items import FACETS, PLAYERS, levels, within
from concord.statistics.ratings import read_ratings
from concord.statistics.resampling import draws

from .frames import ends, fed, fed_systems, flat, study

# Six groups of four: the judge follows people from group to group, and runs against them inside each.
PEOPLE = [10 * group + place for group in range(6) for place in range(4)]
JUDGE = [10 * group + 3 - place for group in range(6) for place in range(4)]
GROUPS = {unit: f"model {unit // 4}" for unit in range(24)}


def test_simpson():
    rows = flat(
        levels(read_ratings(study({"ann": PEOPLE}, {"j": JUDGE})), "quality", GROUPS, resamples=100)
    ).set_index("level")
    assert rows["spearman"]["overall"] == pytest.approx(stats.spearmanr(PEOPLE, JUDGE).statistic)
    assert rows["spearman"]["overall"] > 0.9
    assert (rows["spearman"]["within"], rows["spearman"]["between"]) == (-1, 1)
    assert (rows["groups"]["within"], rows["skipped"]["within"]) == (6, 0)
    assert rows[["groups", "skipped"]].loc["overall"].isna().all(), "not 0: it is over items, not players"


def test_groups_without_order_are_counted():
    groups = GROUPS | {0: "model 9", 1: "model 9"}  # two groups of two
    judge = JUDGE[:20] + [7] * 4  # the last group constant
    figures = levels(read_ratings(study({"ann": PEOPLE}, {"j": judge})), "quality", groups, resamples=50)
    rows = flat(figures).set_index("level")
    assert (rows["groups"]["within"], rows["skipped"]["within"]) == (4, 3)
    few = {unit: group for unit, group in GROUPS.items() if unit < 20}
    figures = levels(read_ratings(study({"ann": PEOPLE}, {"j": JUDGE})), "quality", few, resamples=50)
    between = flat(figures).set_index("level").loc["between"]
    assert np.isnan(between["spearman"])
    assert between["reason"] == "5 groups are too few, at least 6 are needed"


def test_inside_each_group():
    rng = np.random.default_rng(0)
    person, judge = rng.integers(1, 6, 60), rng.integers(1, 6, 60)
    groups = {unit: "ab"[unit % 2] for unit in range(50)}
    figures = within(
        PLAYERS,
        read_ratings(study({"ann": person.tolist()}, {"j": judge.tolist()})),
        "quality",
        {"player": groups},
        resamples=40,
        seed=3,
    )
    rows = flat(figures).set_index("group")
    inside = np.arange(50) % 2 == 0
    x, y = judge[:50][inside], person[:50][inside]
    assert rows["n"]["a"] == 25
    assert rows["spearman"]["a"] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert rows["bias"]["a"] == pytest.approx((x - y).mean())
    assert "10 items belong to no group" in figures.notes[0]
    drawn = []
    for weights in np.concatenate(list(draws(60, 40, 3)), axis=1).T.astype(int):
        times = weights[:50][inside]
        drawn.append(stats.spearmanr(np.repeat(x, times), np.repeat(y, times)).statistic)
    found = rows["spearman_low"]["a"], rows["spearman_high"]["a"]
    assert found == ends(rows["spearman"]["a"], drawn, 25, "z")


def test_each_value_of_each_facet_has_its_own_items():
    """Facets divide the same items: item n has the character n // 4 and the situation n % 4."""
    found = read_ratings(
        study({"ann": PEOPLE[:8]}, {"j": [1.0 + score for score in PEOPLE[:4]] + PEOPLE[4:8]})
    )
    facets = {
        "character": {n: "ab"[n // 4] for n in range(8)},
        "situation": {n: "wxyz"[n % 4] for n in range(7)},
    }
    rows = flat(within(FACETS, found, "quality", facets, resamples=20)).set_index(["facet", "group"])
    assert rows.n.to_dict() == {
        ("character", "a"): 4,
        ("character", "b"): 4,
        ("situation", "w"): 2,
        ("situation", "x"): 2,
        ("situation", "y"): 2,
        ("situation", "z"): 1,  # item 7 has no situation
    }
    assert rows.bias["character"].tolist() == [1, 0]
    assert rows.mae["situation"].tolist() == [0.5, 0.5, 0.5, 1]


@pytest.mark.parametrize(("items", "said"), [(8, False), (24, True)])
def test_what_intervals_hold_for_is_said_where_a_row_has_one(items, said):
    found = read_ratings(study({"ann": PEOPLE[:items]}, {"j": [6 - score for score in PEOPLE[:items]]}))
    table = within(FACETS, found, "quality", {"half": {n: "ab"[n % 2] for n in range(items)}}, resamples=50)
    assert any(figure.interval for figure in table.estimates("bias")) == said
    assert ("one interval leaves out 0 by chance" in table.caption) == said


def test_between_groups_the_interval_is_for_groups_like_these():
    """z ± t₆ · √((1 + ρ²/2) / 5) of the eight groups' means, however many items each has."""
    rng = np.random.default_rng(1)
    person, judge = rng.integers(1, 6, 48), rng.integers(1, 6, 48)
    groups = np.arange(48) // 6

    def between(times):
        rows = study({"ann": person.tolist() * times}, {"j": judge.tolist() * times})
        of = dict(enumerate(np.tile(groups, times).tolist()))
        return flat(levels(read_ratings(rows), "quality", of, resamples=30)).set_index("level").loc["between"]

    means = [[scores[groups == g].mean() for g in range(8)] for scores in (judge, person)]
    rho = stats.spearmanr(*means).statistic
    half = stats.t.ppf(0.975, 6) * np.sqrt((1 + rho**2 / 2) / 5)
    found = between(1)
    assert found["spearman"] == pytest.approx(rho)
    expected = pytest.approx((np.tanh(np.arctanh(rho) - half), np.tanh(np.arctanh(rho) + half)))
    assert (found["spearman_low"], found["spearman_high"]) == expected
    assert (between(50)["spearman_low"], between(50)["spearman_high"]) == expected


def test_six_groups_have_an_order_and_no_interval():
    rows = study({"ann": list(range(12))}, {"j": [*range(11), 3]})
    table = levels(read_ratings(rows), "quality", {unit: unit // 2 for unit in range(12)}, resamples=30)
    rho = table.rows[2]["spearman"]
    assert rho.defined
    assert rho.reason == "no interval: 6 are too few, at least 8 are needed"


def test_fed_hangs_on_its_systems():
    table, systems = read_ratings(fed(), anonymous_people=True, counted=[]), fed_systems()
    found = flat(levels(table, "Coherent", systems, panels=[table.judges], resamples=20))
    found = found[found["rater"].str.startswith("Avg(")].set_index("level")["spearman"]
    assert (round(found["overall"], 2), round(found["within"], 2)) == (0.72, 0.45)
