"""The ranks that scores leave open, beside Welch's t by scipy and by hand."""

import numpy as np
from scipy.stats import ttest_ind

from concord.statistics.rankings import open_places


def test_players_far_apart_have_their_own_rank_and_those_close_share_two():
    # Each player: variance 2/3 of 4 values. Welch's t of the first two is 0.5 / sqrt(1/6 + 1/6) = 0.87, of
    # the second and third 3.5 / 0.577 = 6.06, with 6 degrees of freedom. Bonferroni over two others:
    # t(1 − 0.025 / 2, 6) = 2.97.
    spread = np.array([-1.0, 0.0, 0.0, 1.0])
    assert open_places([5 + spread, 4.5 + spread, 1 + spread]) == ["1 or 2", "1 or 2", "3"]


def test_the_decision_is_welchs_test_at_a_shared_level():
    rng = np.random.default_rng(3)
    drawn = [rng.normal(mean, 1 + mean / 2, 30) for mean in (2.2, 1.0, 0.4, 0.0)]
    scores = sorted(drawn, key=lambda of: -of.mean())
    expected = []
    for mine in scores:
        others = [other for other in scores if other is not mine]
        apart = [other for other in others if ttest_ind(mine, other, equal_var=False).pvalue < 0.05 / 3]
        first = 1 + sum(other.mean() > mine.mean() for other in apart)
        last = 4 - sum(other.mean() < mine.mean() for other in apart)
        between = "or" if last == first + 1 else "to"
        expected.append(str(first) if first == last else f"{first} {between} {last}")
    assert len(set(expected)) > 1
    assert open_places(scores) == expected


def test_one_conversation_or_no_spread():
    one, many = np.array([5.0]), np.array([1.0, 1.5, 2.0])
    assert open_places([one, many]) == ["1 or 2", "1 or 2"], "one conversation has no spread"
    assert open_places([np.full(3, 5.0), np.full(3, 4.0)]) == ["1", "2"], "equal scores differ without error"
    assert open_places([np.full(3, 4.0), np.full(3, 4.0)]) == ["1 or 2", "1 or 2"]
    assert open_places([many]) == ["1"]
    assert open_places([]) == []


def test_the_true_ranks_lie_in_the_sets_in_95_of_100_samples():
    rng = np.random.default_rng(0)
    held = np.zeros(3)
    for _ in range(400):
        places = open_places([rng.normal(mean, 1, 12) for mean in (0.9, 0.5, 0.0)])
        held += [_holds(said, true) for said, true in zip(places, (1, 2, 3), strict=True)]
    assert (held / 400 > 0.93).all()


def _holds(said: str, true: int) -> bool:
    ranks = [int(word) for word in said.split() if word.isdecimal()]
    return ranks[0] <= true <= ranks[-1]
