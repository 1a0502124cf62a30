from collections import Counter
from itertools import combinations, product

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord.errors import StudyError
from concord.studies import sampling


def grid(repeats=1, players="abcd", characters=8, situations=8):
    rows = product(players, range(characters), range(situations), range(repeats))
    return pd.DataFrame(
        [(f"{p}-{c}-{s}-{r}", p, f"c{c}", f"s{s}") for p, c, s, r in rows],
        columns=["unit", "player", "character", "situation"],
    )


BY = ("player", "character", "situation")


def spread(values):
    counts = Counter(values)
    return max(counts.values()) - min(counts.values())


class TestDraw:
    def test_even_gives_every_stratum_the_same(self):
        # 12 of 3 players, 4 each, however many each of them has.
        table = pd.DataFrame({"unit": range(100), "player": ["a"] * 80 + ["b"] * 15 + ["c"] * 5})
        assert Counter(sampling.draw(table, 12, strata=["player"]).player) == {"a": 4, "b": 4, "c": 4}

    def test_even_with_a_small_stratum_shares_the_rest(self):
        # c has 2 of the 4 it would give; the other 10 are shared by a and b.
        table = pd.DataFrame({"unit": range(52), "player": ["a"] * 40 + ["b"] * 10 + ["c"] * 2})
        assert Counter(sampling.draw(table, 12, strata=["player"]).player) == {"a": 5, "b": 5, "c": 2}

    @pytest.mark.parametrize("n", [8, 30, 64, 100, 250, 300])
    def test_more_strata_than_units_still_spread_over_every_margin(self, n):
        drawn = sampling.draw(grid(repeats=2), n, strata=BY)
        assert len(drawn) == n
        assert len(set(drawn.stratum)) == min(n, 256)
        for column in ("character", "situation"):
            assert spread(drawn[column]) <= 1
        assert spread(drawn.player) <= 2
        if n >= 32:
            assert spread(zip(drawn.player, drawn.character, strict=True)) <= 2

    def test_the_seed_decides_and_the_order_of_candidates_does_not(self):
        table = grid()
        first = sampling.draw(table, 40, seed=1, strata=BY)
        again = sampling.draw(table.sample(frac=1, random_state=5), 40, seed=1, strata=BY)
        assert list(again.unit) == list(first.unit)
        assert set(sampling.draw(table, 40, seed=2, strata=BY).unit) != set(first.unit)

    def test_a_missing_value_is_a_stratum(self):
        table = pd.DataFrame({"unit": list("abcd"), "tone": ["dry", None, "dry", None]})
        assert Counter(sampling.draw(table, 2, strata=["tone"]).stratum) == {"dry": 1, "": 1}

    def test_the_probability_of_each_is_kept(self):
        """Of strata of 30 and 10, 20 are drawn: 10 of each, with 1/3 and 1; without strata, each with 1/2."""
        table = pd.DataFrame({"unit": range(40), "player": ["a"] * 30 + ["b"] * 10})
        drawn = sampling.draw(table, 20, strata=["player"])
        assert drawn.groupby("player").chance.mean().to_dict() == pytest.approx({"a": 1 / 3, "b": 1})
        alike = sampling.draw(table, 20, strata=[])
        assert set(alike.chance) == {0.5}

    def test_without_strata_chance_alone_decides(self):
        assert len(set(sampling.draw(grid(), 10, strata=[]).unit)) == 10

    @pytest.mark.parametrize(
        ("n", "by", "sentence"),
        [
            (0, ["player"], "at least one"),
            (257, ["player"], "256 candidates for 257"),
            (5, ["mood"], "What varies here: player, character, situation"),
        ],
    )
    def test_what_cannot_be_drawn_says_why(self, n, by, sentence):
        with pytest.raises(StudyError, match=sentence):
            sampling.draw(grid(), n, strata=by)

    @given(
        sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8),
        data=st.data(),
    )
    @settings(max_examples=60, deadline=None)
    def test_n_distinct_units_and_no_stratum_is_passed_over(self, sizes, data):
        players = [str(i) for i, size in enumerate(sizes) for _ in range(size)]
        table = pd.DataFrame({"unit": range(len(players)), "player": players})
        n = data.draw(st.integers(1, len(players)))
        drawn = sampling.draw(table, n, strata=["player"])
        assert len(set(drawn.unit)) == n
        counts = Counter(drawn.player)
        for i, size in enumerate(sizes):
            # Nobody with candidates left has two fewer than somebody else.
            assert counts[str(i)] == size or counts[str(i)] >= max(counts.values()) - 1


def shared(dealt):
    return [len(set(dealt[a]) & set(dealt[b])) for a, b in combinations(dealt, 2)]


class TestDeal:
    @given(units=st.integers(1, 60), people=st.integers(1, 9), seed=st.integers(0, 5), data=st.data())
    @settings(max_examples=60, deadline=None)
    def test_every_unit_k_times_and_equal_loads(self, units, people, seed, data):
        k = data.draw(st.integers(1, people))
        dealt = sampling.deal(range(units), [f"p{i}" for i in range(people)], k, seed=seed)
        assert Counter(unit for mine in dealt.values() for unit in mine) == dict.fromkeys(range(units), k)
        assert all(len(set(mine)) == len(mine) for mine in dealt.values())
        loads = [len(mine) for mine in dealt.values()]
        assert max(loads) - min(loads) <= 1

    @pytest.mark.parametrize(("people", "k"), [(5, 2), (6, 2), (7, 2), (8, 3), (9, 4)])
    def test_an_equal_load_comes_before_equal_meetings(self, people, k):
        # If units went first to those who have met least, a few of these deals would have a spread of 2.
        for units, seed in product(range(1, 40), range(2)):
            loads = [
                len(mine)
                for mine in sampling.deal(
                    range(units), [f"p{i}" for i in range(people)], k, seed=seed
                ).values()
            ]
            assert max(loads) - min(loads) <= 1, f"{units} units, seed {seed}: {loads}"

    @pytest.mark.parametrize(("people", "k"), [(3, 2), (4, 2), (5, 2), (5, 3), (6, 3), (8, 3), (10, 4)])
    def test_pairs_share_about_equally_many(self, people, k):
        # 240 units make 240·k·(k−1)/2 meetings for people·(people−1)/2 pairs.
        dealt = sampling.deal(range(240), [f"p{i}" for i in range(people)], k)
        counts = shared(dealt)
        assert sum(counts) == 240 * k * (k - 1) // 2
        assert max(counts) - min(counts) <= 4

    @pytest.mark.parametrize(("units", "people", "k"), [(7, 7, 3), (20, 6, 3), (250, 20, 2), (40, 9, 4)])
    def test_shares_of_pairs_differ_by_three_at_most(self, units, people, k):
        for seed in range(3):
            dealt = sampling.deal(range(units), [f"p{i}" for i in range(people)], k, seed=seed)
            assert max(shared(dealt)) - min(shared(dealt)) <= 3

    def test_everybody_has_as_many_of_each_kind_in_each_part(self):
        # 80 units of 4 players in 5 scenes, each four times, for 2 of 5 people: 32 items, about 8 of each
        # player and about 6.4 of each scene. Of each quarter of the order, 8 items, about 2 are of a player.
        kinds = {unit: (f"p{unit % 4}", f"s{unit // 4 % 5}") for unit in range(80)}
        dealt = sampling.deal(range(80), list("abcde"), 2, kinds=kinds)
        assert set(shared(dealt)) == {8}
        for mine in dealt.values():
            assert spread(kinds[unit][0] for unit in mine) <= 3
            assert spread(kinds[unit][1] for unit in mine) <= 3
            for part in range(0, 32, 8):
                counts = Counter(kinds[unit][0] for unit in mine[part : part + 8])
                assert (len(counts), max(counts.values()) <= 3) == (4, True)

    def test_who_is_barred_from_a_unit_does_not_get_it(self):
        dealt = sampling.deal(range(12), ["ann", "bob", "cy"], 2, barred={unit: {"ann"} for unit in range(8)})
        assert set(dealt["ann"]) <= {8, 9, 10, 11}
        assert set(range(8)) <= set(dealt["bob"]) & set(dealt["cy"])

    def test_orders_differ_and_are_stable(self):
        dealt = sampling.deal(range(30), ["ann", "bob"], 0)
        assert dealt["ann"] != dealt["bob"]
        assert sampling.deal(range(30), ["bob", "ann"], 0) == {"bob": dealt["bob"], "ann": dealt["ann"]}
        # Further units come in between; those there were keep their order among themselves.
        more = sampling.deal(range(40), ["ann", "bob"], 0)["ann"]
        assert [unit for unit in more if unit < 30] == dealt["ann"]
        assert sampling.deal(range(30), ["ann", "bob"], 0, seed=1)["ann"] != dealt["ann"]

    def test_what_is_done_stays_and_a_newcomer_gets_the_rest(self):
        # Of 12 units for two raters each, ann and bob have done 6; the other 6 need two raters, cy is least
        # loaded.
        done = {unit: {"ann", "bob"} for unit in range(6)}
        dealt = sampling.deal(range(12), ["ann", "bob", "cy"], 2, answered_by=done)
        given_out = Counter(unit for mine in dealt.values() for unit in mine)
        assert given_out == dict.fromkeys(range(6, 12), 2)
        assert len(dealt["cy"]) == 6
        assert len(dealt["ann"]) == len(dealt["bob"]) == 3

    def test_somebody_who_left_fills_the_places_they_filled(self):
        dealt = sampling.deal(range(4), ["ann"], 1, answered_by={0: {"gone"}, 1: {"gone"}})
        assert sorted(dealt["ann"]) == [2, 3]

    def test_reclaimed_units_go_to_others_than_before(self):
        before = sampling.deal(range(20), ["ann", "bob", "cy"], 2)
        kept = {unit: {p for p in ("ann", "bob") if unit in before[p]} for unit in range(20)}
        after = sampling.deal(range(20), ["ann", "bob"], 2, answered_by=kept)
        assert sorted([*after["ann"], *after["bob"]]) == sorted(before["cy"])

    @pytest.mark.parametrize(
        ("people", "k", "sentence"), [([], 1, "Invite"), (["ann"], 2, "Invite more annotators")]
    )
    def test_what_cannot_be_dealt_says_why(self, people, k, sentence):
        with pytest.raises(StudyError, match=sentence):
            sampling.deal([1], people, k)

    def test_work_done_counts_as_much_as_work_dealt(self):
        # ann has done 3 of 8; with 5 more for two people the loads are 4 and 4.
        dealt = sampling.deal(range(8), ["ann", "bob"], 1, answered_by={unit: {"ann"} for unit in range(3)})
        assert [len(dealt["ann"]), len(dealt["bob"])] == [1, 4]

    def test_those_who_have_met_often_are_not_paired_again(self):
        # ann and bob have done four units together, cy and di four others. All have 4: of four more for two
        # each, none goes to a pair that has met.
        done = {unit: ("ann", "bob") if unit < 4 else ("cy", "di") for unit in range(8)}
        dealt = sampling.deal(range(12), ["ann", "bob", "cy", "di"], 2, answered_by=done)
        assert not set(dealt["ann"]) & set(dealt["bob"])
        assert not set(dealt["cy"]) & set(dealt["di"])
        assert [len(mine) for mine in dealt.values()] == [2, 2, 2, 2]


class TestTheSameSeedGivesTheSame:
    """On every machine, with every version: recorded once. A study that is drawn again must not change."""

    def test_sample(self):
        table = grid(players="ab", characters=2, situations=2)
        drawn = sampling.draw(table, 5, strata=BY)
        assert list(drawn.unit) == ["a-1-0-0", "a-0-0-0", "b-1-1-0", "b-0-0-0", "a-1-1-0"]
        assert drawn.stratum[0] == "a / c1 / s0"
        assert list(sampling.draw(table, 5, seed=7, strata=BY).unit) == [
            "a-1-0-0",
            "a-0-1-0",
            "b-1-1-0",
            "b-0-1-0",
            "b-1-0-0",
        ]

    def test_deal(self):
        assert sampling.deal("uvwxyz", ["ann", "bob", "cy"], 2) == {
            "ann": ["v", "y", "u", "w"],
            "bob": ["v", "w", "z", "x"],
            "cy": ["y", "x", "z", "u"],
        }
        assert sampling.deal("uvwxyz", ["ann", "bob", "cy"], 2, seed=7) == {
            "ann": ["u", "v", "y", "x"],
            "bob": ["z", "x", "u", "w"],
            "cy": ["z", "w", "y", "v"],
        }
