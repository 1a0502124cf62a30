"""What a claim needs to be stated: shares of an error of 5 %, p-values of intervals, and items still
needed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from concord.codes import Claim
from concord.estimate import Estimate, undefined
from concord.statistics.claims import CLAIMS, more_items, p_above, p_below, statable, sure_of
from concord.statistics.group_differences import group_differences
from concord.statistics.oddities import chance_of_hits, exchanged, one_answer
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study

DOCS = Path(__file__).parents[2] / "docs" / "agreement.md"


def test_all_claims_of_a_page_are_false_in_five_of_a_hundred_at_most():
    assert sum(kind.share for kind in CLAIMS.values() if kind.share) <= 0.05 + 1e-12


def test_every_claim_has_its_rates_in_the_docs():
    """A new sentence needs a row, which `python -m bench.claims` prints."""
    table = DOCS.read_text(encoding="utf-8").split("## How often a page is wrong", 1)[1].split("\n## ")[0]
    rows = {
        cells[0].strip(): cells[1:]
        for cells in (line.strip("|").split("|") for line in table.split("\n") if "|" in line)
    }
    for name, kind in CLAIMS.items():
        both = name in (Claim.VERDICT, Claim.OTHER_JUDGES)
        names = [f"{name}: as_good", f"{name}: worse"] if both else [name]
        for row in names:
            assert row in rows, row
            if kind.share is not None:
                false, _, true, _ = (cell.strip() for cell in rows[row][:4])
                assert float(false) <= 0.05, row
                assert float(true) > 0, row
    rates = [float(rate) for rate in re.findall(r"(?m)^\| [^|]* items \| (0\.\d+) \|$", table)]
    assert len(rates) >= 10
    assert max(rates) <= 0.05


def test_p_values_are_those_of_the_interval():
    # 0.3 ± 0.2 with 19 degrees of freedom: t = 0.3 / (0.2 / 2.093) = 3.14.
    figure = Estimate(0.3, 0.1, 0.5, 20, freedom=19)
    assert p_above(figure, 0.0) == pytest.approx(stats.t.sf(0.3 / (0.2 / stats.t.ppf(0.975, 19)), 19))
    assert p_below(figure, 0.0) == pytest.approx(1 - p_above(figure, 0.0))
    assert p_above(figure, 0.1) == pytest.approx(0.025)
    assert p_above(undefined("none"), 0.0) == p_below(Estimate(0.3), 0.0) == 1
    z = np.arctanh([-0.5, -0.2])
    figure = Estimate(-0.5, -0.72, -0.2, 30, freedom=28)
    expected = stats.t.sf(-z[0] / ((z[1] - z[0]) / stats.t.ppf(0.975, 28)), 28)
    assert p_below(figure, 0.0, fisher=True) == pytest.approx(expected)


def test_claims_of_a_kind_are_adjusted_for_all_that_were_looked_at():
    share = CLAIMS[Claim.LEVEL].share
    assert statable(Claim.LEVEL, [share, 0.5]).tolist() == [False, False]
    assert statable(Claim.LEVEL, [share / 2, 0.5]).tolist() == [True, False]
    assert sure_of(Claim.LEVEL, [share / 2], tests=1) == [True]
    assert sure_of(Claim.LEVEL, [share / 2], tests=3) == [False]
    assert sure_of(Claim.LEVEL, [], tests=3) == []


def test_items_needed_fall_with_the_distance_from_the_nearer_bound():
    """0 ± 0.14 on 50 items: a standard error of 0.0714 has to fall to 0.1 / 2.8 = 0.0357, with 4 times the
    items."""
    assert more_items(Estimate(0.0, -0.1399, 0.1399, 50), 0.1) == 150
    assert more_items(Estimate(0.1, -0.04, 0.24, 50), 0.1) == 1
    assert more_items(undefined("none"), 0.1) is None
    assert more_items(Estimate(0.0, -0.1, 0.1, 50), 0.0) > 1e9


def test_the_chance_of_hits_is_poissons_binomial():
    chances = np.array([0.2, 0.5, 0.9])
    # At least two: all three 0.09, and 0.2·0.5·0.1 + 0.2·0.5·0.9 + 0.8·0.5·0.9 = 0.46.
    assert chance_of_hits(2, chances) == pytest.approx(
        0.2 * 0.5 * 0.9 + 0.2 * 0.5 * 0.1 + 0.2 * 0.5 * 0.9 + 0.8 * 0.5 * 0.9
    )
    assert chance_of_hits(3, np.append(chances, [1.0, 0.0])) == chance_of_hits(2, chances)
    assert chance_of_hits(0, chances) == 1
    assert chance_of_hits(4, chances) == 0
    assert chance_of_hits(30, np.full(40, 0.5)) == pytest.approx(stats.binom.sf(29, 40, 0.5))
    assert chance_of_hits(560, np.full(1000, 0.5)) == pytest.approx(stats.binom.sf(559, 1000, 0.5), rel=0.05)


def test_a_rater_is_compared_with_who_rated_the_same_items():
    hits = np.array([[1, 1, 1, np.nan], [0, 1, 0, 1], [0, 1, np.nan, 0]], dtype=float)
    # Items 1 to 3: chances 1/3, 1 and 1/2; both open ones hit: 1/6.
    assert exchanged(hits, 0) == pytest.approx(1 / 6)


def test_one_answer_is_compared_with_what_others_gave_to_the_same_items():
    mostly = np.array([0.0] * 49 + [1.0])
    assert [row.p for row in one_answer({"a": mostly, "b": mostly, "c": mostly})] == [1.0] * 3
    (row,) = one_answer({"a": mostly}, {"b": np.tile([0.0, 1.0], 25)})
    assert (row.name, row.answer, row.share, row.typical_share, row.n) == ("a", 0.0, 0.98, 0.5, 50)
    assert row.p < 1e-6
    assert one_answer({"a": mostly}) == []


@pytest.mark.parametrize("clustered", [False, True])
def test_a_player_treated_otherwise_is_found_and_a_shift_is_none(clustered):
    rng = np.random.default_rng(5)
    quality = rng.normal(3, 1, 96)
    players = {item: "abcdef"[item % 6] for item in range(96)}
    clusters = {item: item // 6 for item in range(96)} if clustered else None
    people = {name: (quality + rng.normal(0, 0.5, 96)).tolist() for name in ("ann", "bob")}
    fair = quality + 0.8 + rng.normal(0, 0.5, 96)
    for extra, sure in ((0.0, False), (1.0, True)):
        judge = fair + extra * (np.arange(96) % 6 == 2)
        table = read_ratings(study(people, {"j": judge.tolist(), "k": fair.tolist()}))
        about = {"nominal": False, "clusters": clusters}
        found = group_differences(table, "quality", {"player": players}, ["j", "k"], **about)[0]
        assert (found.p <= 0.001) == sure
        assert found.compared == 24, "2 judges, 6 players, the score and the distance"
        if sure:
            assert (found.judge, found.facet, found.group, found.n) == ("j", "player", "c", 16)
    one = dict.fromkeys(range(96), "a")
    assert group_differences(table, "quality", {"": one}, ["j"], nominal=False) == []


def test_a_judge_of_one_player_alone_is_compared_with_nothing():
    quality = [1.0, 2, 3, 4, 5, 4, 3, 2, 1, 2, 3, 4]
    rows = study({"ann": quality, "bob": quality[::-1]}, {"j": [*quality[6:], *[None] * 6]})
    table = read_ratings(rows)
    players = {unit: "a" if unit < 6 else "b" for unit in range(12)}
    assert group_differences(table, "quality", {"player": players}, ["j"], nominal=False) == []
