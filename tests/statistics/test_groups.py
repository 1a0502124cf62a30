"""Judges within groups of items: those of a player, and those of each value of a facet."""

import numpy as np
import pytest
from scipy import stats

from concord.statistics.items import group_agreement
from concord.statistics.ratings import read_ratings
from concord.statistics.resampling import draws
from tests.statistics.frames import ends, flat, study

# Six groups of four: the judge follows people from group to group, and runs against them inside each.
PEOPLE = [10 * group + place for group in range(6) for place in range(4)]
JUDGE = [10 * group + 3 - place for group in range(6) for place in range(4)]


def test_inside_each_group():
    rng = np.random.default_rng(0)
    person, judge = rng.integers(1, 6, 60), rng.integers(1, 6, 60)
    groups = {unit: "ab"[unit % 2] for unit in range(50)}
    figures = group_agreement(
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
    rows = flat(group_agreement(found, "quality", facets, resamples=20)).set_index(["facet", "group"])
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
    table = group_agreement(found, "quality", {"half": {n: "ab"[n % 2] for n in range(items)}}, resamples=50)
    assert any(figure.interval for figure in table.estimates("bias")) == said
    assert ("one excludes 0 by chance" in table.caption) == said
