"""Comparisons against hand arithmetic and published worked examples."""

import math

import krippendorff
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


def test_three_players_strengths_are_the_log_of_their_odds_where_points_follow_them_exactly():
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
    assert (
        "never took half a point" in pairwise.strengths(given, ["x", "y"], resamples=10)[0]["strength"].reason
    )


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


def test_agreement_with_and_without_ties_and_kappa():
    """Twenty pairs, rows the judge, columns the people (+1, 0, −1): 6 2 1 / 1 3 1 / 0 1 5."""
    cells = {(1, 1): 6, (1, 0): 2, (1, -1): 1, (0, 1): 1, (0, 0): 3, (0, -1): 1, (-1, 0): 1, (-1, -1): 5}
    pairs = [pair for pair, n in cells.items() for _ in range(n)]
    one = decided(*((f"s{i}", "x", "y", a) for i, (a, _) in enumerate(pairs)))
    other = decided(*((f"s{i}", "x", "y", b) for i, (_, b) in enumerate(pairs)))
    found = pairwise.match("judge", "people", one, other)
    assert (found["equal"].n, found["equal"].value) == (20, 14 / 20)
    # Neither saw a tie: 6 + 1 + 0 + 5 = 12 pairs, 11 of them alike.
    assert (found["equal_decided"].n, found["equal_decided"].value) == (12, 11 / 12)
    # In both orders the judge decides (9 + 6) / 40 either way, ties 5 / 20; people (7 + 7) / 40 and 6 / 20.
    # Chance = 2 · .375 · .35 + .25 · .3 = 0.3375; kappa = (0.7 − 0.3375) / 0.6625.
    assert found["kappa"].value == pytest.approx(0.3625 / 0.6625)


def test_kappa_does_not_depend_on_what_players_are_called():
    verdicts = [(1, 1), (1, 1), (1, -1), (1, 0), (-1, -1), (0, 1), (1, 1), (0, 0)]

    def kappa(turned):
        """With the players of some pairs renamed, so that the other one is named first."""
        sign = [-1 if n in turned else 1 for n in range(len(verdicts))]
        one, other = (
            decided(
                *((f"s{n}", "x", "y", s * v[k]) for n, (s, v) in enumerate(zip(sign, verdicts, strict=True)))
            )
            for k in (0, 1)
        )
        return pairwise.match("a", "b", one, other)["kappa"].value

    # Decided alike 4, ties alike 1: p_o = 5 / 8. In both orders a decides 6 of 8, and so does b: chance is
    # 2 · (3/8)² + (2/8)² = 22 / 64; kappa = (40 − 22) / (64 − 22).
    assert kappa(()) == pytest.approx(18 / 42)
    assert kappa((0, 1, 6)) == kappa(range(8)) == kappa(())


def test_kappa_is_undefined_where_nothing_varies_and_nothing_is_made_up_without_pairs():
    same = decided(("s1", "x", "y", 0), ("s2", "x", "y", 0))
    assert pairwise.match("a", "b", same, same)["kappa"].value is None
    assert pairwise.match("a", "b", same, same)["equal"].value == 1.0
    varied = decided(("s1", "x", "y", 1), ("s2", "x", "y", 0))
    # Whoever sees only ties agrees as often as chance: p_o = p_e = 1/2, and 0 would look like a finding.
    one = pairwise.match("a", "b", same, varied)
    assert (one["equal"].n, one["equal"].value, one["kappa"].value) == (2, 0.5, None)
    assert one["kappa"].reason == "a saw only ties, so that κ says nothing"
    single = pairwise.match("a", "b", same[:1], varied[1:].assign(scenario="s1"))
    assert (single["equal"].n, single["kappa"].value, single["kappa"].reason) == (
        1,
        None,
        "κ needs at least two pairs",
    )
    none = pairwise.match("a", "b", same, decided(("s9", "x", "y", 1)))
    assert (none["equal"].n, none["equal"].value, none["kappa"].value, none["kappa"].reason) == (
        0,
        None,
        None,
        "they have no pair in common",
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


def test_strength_is_the_interval_alpha_of_answers_as_numbers():
    rows = [
        # scenario, by person: the answer to x against y, and whether by far; the judge in both orders
        ("s1", ("A", True), ("A", True), ("A", True), ("B", True)),  # the judge: x by far twice
        ("s2", ("A", False), ("A", True), ("A", True), ("B", False)),  # once by far: x
        ("s3", ("C", False), ("B", False), ("A", True), ("A", True)),  # the first place twice: 0
        ("s4", ("B", True), ("B", False), ("B", False), ("A", True)),  # y, and by far once: y
    ]
    table = asked(
        *((s, "x", "y", "ann", ann[0]) for s, ann, *_ in rows),
        *((s, "y", "x", "bob", {"A": "B", "B": "A", "C": "C"}[bob[0]]) for s, _, bob, *_ in rows),
        kind="human",
    )
    judged = asked(
        *((s, "x", "y", "j", straight[0]) for s, _, _, straight, _ in rows),
        *((s, "y", "x", "j", swapped[0]) for s, *_, swapped in rows),
    )
    strong = [row[place][1] for place in (1, 2) for row in rows]
    strong += [row[place][1] for place in (3, 4) for row in rows]
    table = pd.concat([table, judged], ignore_index=True).assign(strong=strong)
    found = pairwise.grades(table)
    by = {rater: of.set_index("scenario").grade.to_dict() for rater, of in found.groupby("rater")}
    assert by == {
        "ann": {"s1": 2, "s2": 1, "s3": 0, "s4": -2},
        "bob": {"s1": 2, "s2": 2, "s3": -1, "s4": -1},
        "j": {"s1": 2, "s2": 1, "s3": 0, "s4": -1},
    }
    given = pairwise.outcomes(pairwise.orders(table)).merge(found, on=[*pairwise.PAIR, "rater", "kind"])
    people = given[given.kind == "human"]
    both = [[sign * by[rater][s] for sign in (1, -1) for s in ("s1", "s2", "s3", "s4")] for rater in by]
    alpha = krippendorff.alpha(both[:2], level_of_measurement="interval")
    assert pairwise.among("people", people)["strength"].value == pytest.approx(alpha)
    ann, judge = (given[given.rater == name] for name in ("ann", "j"))
    alpha = krippendorff.alpha([both[0], both[2]], level_of_measurement="interval")
    assert pairwise.match("j", "ann", judge, ann)["strength"].value == pytest.approx(alpha)
    assert pairwise.vote(people).grade.tolist() == [2, 1.5, -0.5, -1.5]
    assert (
        pairwise.match("j", "ann", judge.drop(columns="grade"), ann.drop(columns="grade"))["strength"] is None
    )
