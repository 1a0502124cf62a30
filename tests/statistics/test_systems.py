"""Players in people's order and in a judge's, by hand."""

from itertools import combinations, permutations

import numpy as np
import pytest

from concord.codes import Claim
from concord.statistics.claims import CLAIMS
from concord.statistics.ratings import read_ratings
from concord.statistics.systems import systems
from tests.statistics.frames import fed, fed_systems, flat, study


def table(people, judge):
    return read_ratings(study({"ann": people}, {"j": judge}), criteria=["quality"], final_criteria=())


def of(means, offsets=(-0.5, 0.5)):
    """Items of three players or more, each with the same offsets from the player's mean."""
    return [mean + offset for mean in means for offset in offsets]


def players(number, items=2):
    return {unit: "abcdefghij"[unit // items] for unit in range(number * items)}


def test_pairwise_accuracy_by_hand():
    """People put a < b < c < d; the judge swaps b and c: 5 of 6 pairs."""
    [row] = systems(table(of([1, 2, 3, 4]), of([1, 3, 2, 4])), "quality", players(4), resamples=50).rows
    assert (row["n"], row["players"], row["pairs"]) == (8, 4, 6)
    assert row["accuracy"].value == pytest.approx(5 / 6)


def apart(people, player, rng, number=4000):
    """Each pair's p: how often the largest |t| of all pairs is as large where players are dealt to items
    anew."""

    def t(given):
        parts = [people[given == one] for one in np.unique(player)]
        return [
            abs(a.mean() - b.mean()) / np.sqrt(np.concatenate([a, b]).var(ddof=1) * (1 / len(a) + 1 / len(b)))
            for a, b in combinations(parts, 2)
        ]

    largest = [max(t(rng.permutation(player))) for _ in range(number)]
    return [np.mean(np.array(largest) >= own) for own in t(player)]


def test_pairs_that_people_tell_apart_are_counted_by_themselves():
    """With permutations drawn here for each pair of players."""
    rng = np.random.default_rng(6)
    people = np.concatenate([rng.normal(mean, 1, 40) for mean in (0, 0.3, 0.9, 1.0)])
    judge = people + rng.normal(0, 1, 160) + np.repeat([0, 0.3, -0.2, 0], 40)
    [row] = systems(table(people.tolist(), judge.tolist()), "quality", players(4, 40), resamples=50).rows
    gaps = [
        [a.mean() - b.mean() for a, b in combinations(score.reshape(4, 40), 2)] for score in (people, judge)
    ]
    told = [p <= CLAIMS[Claim.TOLD_APART].share for p in apart(people, np.repeat(range(4), 40), rng)]
    assert 0 < sum(told) < 6
    assert row["apart"] == sum(told)
    assert row["kept"].value == pytest.approx(
        np.mean([one * other > 0 for one, other, sure in zip(*gaps, told, strict=True) if sure])
    )


def test_chance_is_the_share_of_all_ways_to_deal_players_to_items():
    """Six items of three players: of the 90 ways to deal them, those after which as many pairs stand
    alike."""
    people, judge = np.array([1.0, 4, 2, 6, 3, 5]), np.array([2.0, 3, 1, 6, 5, 4])

    def alike(order):
        means = [of[list(order)].reshape(3, 2).mean(axis=1) for of in (people, judge)]
        return sum(np.sign(means[0][a] - means[0][b]) == np.sign(means[1][a] - means[1][b]) for a, b in pairs)

    pairs = list(combinations(range(3), 2))
    own = alike(range(6))
    expected = np.mean([alike(order) >= own for order in permutations(range(6))])
    [row] = systems(table(people.tolist(), judge.tolist()), "quality", players(3), resamples=20).rows
    assert row["p"].value == pytest.approx(expected, abs=0.04)
    assert row["p"].method == "999 permutations of models among items"


def test_players_who_are_alike_are_rarely_told_apart():
    """Of 60 studies of six equal players the p lies below .05 in some 3, and a pair is told apart in hardly
    any."""
    low = told = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        quality = rng.normal(size=48)
        people, judge = (np.round(quality + 0.5 * rng.normal(size=48), 1).tolist() for _ in range(2))
        [row] = systems(table(people, judge), "quality", players(6, 8), resamples=0, seed=seed).rows
        low += row["p"].value < 0.05
        told += row["apart"] > 0
    assert low <= 8
    assert told <= 2


def test_the_question_is_answered():
    people = [*[1, 1.2] * 10, *[3, 3.2] * 10, *[3, 3.21] * 10]
    judge = [*[1, 1.2] * 10, *[4, 4.2] * 10, *[3, 3.2] * 10]
    found = systems(table(people, judge), "quality", players(3, 20), members=("j",), resamples=20)
    assert found.notes[0] == (
        "By the judge, 2 of 3 pairs of models are in annotators' order; of the 2 significantly different "
        "pairs, 2 are. Annotators put c first, the judge puts b first; for annotators, c and b do not "
        "differ significantly."
    )


@pytest.mark.parametrize(
    ("people", "judge", "by", "why"),
    [
        (of([1, 2, 3]), of([1, 2, 3]), dict.fromkeys(range(6), "a"), "1 models"),
        (of([1, 2, 3]), [None] * 6 + [1], players(3), "0 models"),
        (of([1, 2, 3]), of([1, 2, 3]), {}, "0 models"),
        ([1, 2], [1, 2], {0: "a", 1: "b"}, "0 models"),
    ],
    ids=["one player", "no item in common", "no two models differ", "two items"],
)
def test_what_cannot_be_ordered_has_a_reason(people, judge, by, why):
    [row] = systems(table(people, judge), "quality", by, resamples=20).rows
    assert all(why in row[name].reason for name in ("accuracy", "p", "kept"))


def test_a_constant_judge_orders_nothing():
    [row] = systems(table(of([1, 2, 3]), [3] * 6), "quality", players(3), resamples=20).rows
    assert (row["accuracy"].value, row["p"].value) == (0, 1)


def test_fed():
    """GPT-4 orders Meena, Mitsuku and people as people do: Human first by both."""
    ratings = read_ratings(fed(), criteria=["Overall"], anonymous_people=True)
    found = flat(systems(ratings, "Overall", fed_systems(), panels=[ratings.judges], resamples=50))
    assert (found.players == 3).all()
    assert found.pairs.tolist() == [3] * len(found)
    assert (found.accuracy == 1).all()
