"""Comparisons against hand arithmetic and published worked examples."""

import math

import numpy as np
import pandas as pd
import pytest

from concord.statistics import pairwise


def asked(*rows, kind="judge"):
    """Rows of (scenario, shown first, shown second, rater, verdict)."""
    return pd.DataFrame(
        [(s, a, b, r, kind, 0, v) for s, a, b, r, v in rows],
        columns=["scenario", "a", "b", "rater", "kind", "repeat", "verdict"],
    )


def decided(*rows):
    return pd.DataFrame(rows, columns=["scenario", "one", "other", "outcome"])


def test_a_win_counts_only_if_it_wins_in_both_orders():
    table = asked(
        ("s1", "x", "y", "j", "A"),
        ("s1", "y", "x", "j", "B"),  # x twice: a win for x
        ("s2", "x", "y", "j", "A"),
        ("s2", "y", "x", "j", "A"),  # the first place twice: a tie
        ("s3", "x", "y", "j", "B"),
        ("s3", "y", "x", "j", "A"),  # y twice: a loss for x
        ("s4", "x", "y", "j", "A"),
        ("s4", "y", "x", "j", "C"),  # x once, a tie once: a tie
        ("s5", "x", "y", "j", "A"),
        ("s5", "y", "x", "j", None),  # one order failed: no outcome
    )
    placed = pairwise.orders(table)
    given = pairwise.outcomes(placed)
    assert dict(zip(given.scenario, given.outcome, strict=True)) == {"s1": 1, "s2": 0, "s3": -1, "s4": 0}
    [duel] = pairwise.duels(given, ["y", "x"], placed.reset_index(), resamples=200)
    # Named from y's side: one win (s3), two ties, one loss (s1), s5 incomplete; delta = (1 − 1) / 4.
    assert (duel["one"], duel["won"], duel["tied"], duel["lost"]) == ("y", 1, 2, 1)
    assert (duel["incomplete"], duel["delta"].value) == (1, 0.0)
    assert (duel["n"], duel["win"], duel["tie"], duel["lose"]) == (4, 0.25, 0.5, 0.25)


def test_position_bias_counts_flips_by_side():
    table = asked(
        ("s1", "x", "y", "j", "A"),
        ("s1", "y", "x", "j", "B"),  # the same player: no flip
        ("s2", "x", "y", "j", "A"),
        ("s2", "y", "x", "j", "A"),  # to the first
        ("s3", "x", "y", "j", "B"),
        ("s3", "y", "x", "j", "B"),  # to the second
        ("s4", "x", "y", "j", "C"),
        ("s4", "y", "x", "j", "A"),  # tie, then the first: to the first
        ("s5", "x", "y", "j", "C"),
        ("s5", "y", "x", "j", "C"),  # no flip
        ("s6", "x", "y", "j", "A"),  # one order only: left out
    )
    counts = {"rater": "j", "n": 5, "flips": 3, "changed": 3 / 5, "first": 2, "second": 1}
    assert pairwise.bias(pairwise.orders(table)) == [counts]


def test_a_person_is_asked_once_and_a_vote_takes_the_majority():
    table = asked(
        ("s1", "y", "x", "p", "A"), ("s1", "x", "y", "q", "B"), ("s1", "x", "y", "r", "A"), kind="human"
    )
    given = pairwise.outcomes(pairwise.orders(table))
    assert dict(zip(given.rater, given.outcome, strict=True)) == {"p": -1, "q": -1, "r": 1}
    assert pairwise.vote(given).outcome.tolist() == [-1]


def test_two_players_strengths_are_the_log_of_their_odds():
    # 6 wins, 2 losses, 2 ties: 7 points to 3, log(7/3) apart.
    given = decided(*((f"s{i}", "x", "y", o) for i, o in enumerate([1] * 6 + [-1] * 2 + [0] * 2)))
    x, y = pairwise.strengths(given, ["x", "y"], resamples=0)
    assert x["strength"].value - y["strength"].value == pytest.approx(math.log(7 / 3))
    assert x["strength"].value + y["strength"].value == pytest.approx(0)
    assert x["strength"].reason == "no interval: no resamples were drawn"


def test_three_players_strengths_are_the_log_of_their_odds():
    """Strengths 4, 2, 1: x takes 4 of 6 points from y (4 / (4 + 2)), y 4 of 6 from z (2 / (2 + 1)), x 4 of 5
    from z (4 / (4 + 1)).

    Where everybody's points are what the strengths expect, these are the most likely ones; log 4, log 2, log
    1 have the mean log 2.
    """
    points = {("x", "y"): (4, 2), ("y", "z"): (4, 2), ("x", "z"): (4, 1)}
    games = [(*two, o) for two, (won, lost) in points.items() for o in [1] * won + [-1] * lost]
    given = decided(*((f"game {n}", *game) for n, game in enumerate(games)))
    of = {s["player"]: s["strength"].value for s in pairwise.strengths(given, ["x", "y", "z"], resamples=0)}
    assert of == pytest.approx({"x": math.log(2), "y": 0, "z": -math.log(2)}, abs=1e-7)


TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
WINS = [
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
]


def test_strengths_of_the_american_league_1987():
    """The seven teams of Agresti, Categorical Data Analysis (2002), section 10.6, home games and away games
    together.

    Games: data/baseball.csv of the R package BradleyTerry2. Abilities relative to Baltimore: the estimates
    that its tests/testthat/test-baseball.R holds against the book's table 10.11, with two digits.
    """
    games = [
        (*sorted((a, b)), 1 if a < b else -1)
        for i, a in enumerate(TEAMS)
        for j, b in enumerate(TEAMS)
        for _ in range(WINS[i][j])
    ]
    given = decided(*((f"game {n}", one, other, o) for n, (one, other, o) in enumerate(games)))
    of = {s["player"]: s["strength"].value for s in pairwise.strengths(given, TEAMS, resamples=0)}
    published = [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0]
    assert [round(of[team] - of["Baltimore"], 2) for team in TEAMS] == published
    # What the most likely strengths must satisfy, whatever anybody published: each team's wins are as many as
    # they expect.
    for i, team in enumerate(TEAMS):
        met = {other: WINS[i][j] + WINS[j][i] for j, other in enumerate(TEAMS) if j != i}
        expected = sum(n / (1 + math.exp(of[other] - of[team])) for other, n in met.items())
        assert expected == pytest.approx(sum(WINS[i]), abs=1e-5)


def test_a_player_that_never_scores_leaves_the_strengths_undefined():
    given = decided(("s1", "x", "y", 1), ("s2", "x", "y", 1))
    assert [s["strength"].value for s in pairwise.strengths(given, ["x", "y"], resamples=10)] == [None, None]
    assert "never won or tied" in pairwise.strengths(given, ["x", "y"], resamples=10)[0]["strength"].reason


def test_intervals_cover_the_value_and_narrow_with_more_scenarios():
    def width(n):
        given = decided(*((f"s{i}", "x", "y", [1, 1, 0, -1][i % 4]) for i in range(n)))
        [duel] = pairwise.duels(given, ["x", "y"], given)
        strongest = pairwise.strengths(given, ["x", "y"])[0]
        assert duel["delta"].value == 0.25
        assert duel["delta"].low < 0.25 < duel["delta"].high
        assert strongest["strength"].low < strongest["strength"].value < strongest["strength"].high
        return duel["delta"].high - duel["delta"].low

    assert width(400) < 0.6 * width(100)


def test_agreement_with_and_without_ties_and_alpha():
    """Twenty pairs, rows the judge, columns the people (+1, 0, −1): 6 2 1 / 1 3 1 / 0 1 5."""
    cells = {(1, 1): 6, (1, 0): 2, (1, -1): 1, (0, 1): 1, (0, 0): 3, (0, -1): 1, (-1, 0): 1, (-1, -1): 5}
    pairs = [pair for pair, n in cells.items() for _ in range(n)]
    one = decided(*((f"s{i}", "x", "y", a) for i, (a, _) in enumerate(pairs)))
    other = decided(*((f"s{i}", "x", "y", b) for i, (_, b) in enumerate(pairs)))
    row = pairwise.match("judge", "people", one, other)
    assert (row["a"], row["b"], row["equal"].n, row["equal"].value) == ("judge", "people", 20, 14 / 20)
    # Neither saw a tie: 6 + 1 + 0 + 5 = 12 pairs, 11 of them alike.
    assert (row["equal_decided"].n, row["equal_decided"].value) == (12, 11 / 12)
    # In both orders 80 answers, 29 a win, 29 a loss, 22 a tie. Two drawn at random differ in
    # 2 · (29 · 29 + 2 · 29 · 22) / (80 · 79) = 4234 / 6320; 6 of 20 pairs do: alpha = 1 − 0.3 · 6320 / 4234.
    assert row["alpha"].value == pytest.approx(1 - 0.3 * 6320 / 4234)


def test_alpha_does_not_depend_on_what_players_are_called():
    verdicts = [(1, 1), (1, 1), (1, -1), (1, 0), (-1, -1), (0, 1), (1, 1), (0, 0)]

    def alpha(turned):
        """With the players of some pairs renamed, so that the other one is named first."""
        sign = [-1 if n in turned else 1 for n in range(len(verdicts))]
        one, other = (
            decided(
                *((f"s{n}", "x", "y", s * v[k]) for n, (s, v) in enumerate(zip(sign, verdicts, strict=True)))
            )
            for k in (0, 1)
        )
        return pairwise.match("a", "b", one, other)["alpha"].value

    # In both orders 32 answers: 12 wins, 12 losses, 8 ties. Two drawn at random differ in
    # 2 · (12 · 12 + 2 · 12 · 8) / (32 · 31) = 672 / 992; 3 of 8 pairs do: alpha = 1 − (3 / 8) · 992 / 672.
    assert alpha(()) == pytest.approx(1 - 3 / 8 * 992 / 672)
    assert alpha((0, 1, 6)) == alpha(range(8)) == alpha(())


def test_agreement_is_undefined_where_nothing_varies():
    same = decided(("s1", "x", "y", 0), ("s2", "x", "y", 0))
    row = pairwise.match("a", "b", same, same)
    assert (row["equal"].value, row["alpha"].value, row["equal_decided"].reason) == (1.0, None, "only ties")
    none = pairwise.match("a", "b", same, decided(("s9", "x", "y", 1)))
    assert (none["equal"].n, none["equal"].value, none["equal"].reason, none["alpha"].value) == (
        0,
        None,
        "no pair was compared by two",
        None,
    )
    empty = decided().astype({"outcome": float})
    assert [d["delta"].value for d in pairwise.duels(empty, ["x", "y"], empty)] == [None]
    assert [s["strength"].reason for s in pairwise.strengths(empty, ["x", "y"])] == [
        "nothing was compared"
    ] * 2
    assert np.isnan(pairwise.orders(asked()).to_numpy()).all()


def test_many_raters_of_many_scenarios_take_a_row_each():
    """One vote a scenario, as in an arena: the product of scenarios, players and raters has 10¹⁰ cells."""
    n = np.arange(4000)
    table = pd.DataFrame(
        {
            "scenario": n.astype(str),
            "a": (n % 30).astype(str),
            "b": ((n + 1) % 30).astype(str),
            "rater": n.astype(str),
            "kind": "human",
            "repeat": 0,
            "verdict": np.array(["A", "B", "C"])[n % 3],
        }
    )
    placed = pairwise.orders(table)
    assert len(placed) == 4000
    assert placed.notna().sum().sum() == 4000
    assert len(pairwise.outcomes(placed)) == 4000
