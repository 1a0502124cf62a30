"""What a panel answers: one definition, by hand, in every figure that asks for it."""

import numpy as np
import pytest

from concord.codes import Exclusion
from concord.statistics.coefficients import coefficient
from concord.statistics.exclusions import exclusions
from concord.statistics.figures import estimates
from concord.statistics.held_out import held_out
from concord.statistics.majority import answer_of_people, panel_answers, ties_of_people
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study

PERSON = [1, 1, 1, 1, 0, 0, 0, 0]
JUDGES = {"j": [1, 1, 1, 0, 0, 0, 0, 1], "k": [1, 1, 0, 1, 0, 0, 1, 0]}
PANEL = ("j", "k")


def scores_of(judges, people=None, **options):
    return read_ratings(study(people or {"Ada": PERSON}, judges), **options)["quality"]


def found(name, people=None, judges=JUDGES, members=PANEL, metric="ordinal"):
    ratings = read_ratings(study(people or {"Ada": PERSON}, judges))
    return estimates([coefficient(ratings, "quality", members, name, metric)], ratings, resamples=50)[0]


def parts(panel):
    rows = zip(panel.item.tolist(), panel.answer.tolist(), panel.part.tolist(), strict=True)
    return [(item, answer, pytest.approx(part)) for item, answer, part in rows]


def test_a_split_panel_gives_a_part_of_each_answer():
    scores = scores_of({"a": [1, 0, 2, 1], "b": [1, 1, 1, None], "c": [0, 1, 0, 1]})
    assert parts(panel_answers(scores, ("a", "b", "c"))) == [
        (0, 1, 1),
        (1, 1, 1),
        (2, 0, 1 / 3),
        (2, 1, 1 / 3),
        (2, 2, 1 / 3),
    ]
    # Item 3 has no answer of b; four judges that split evenly are as two are.
    four = scores_of({"a": [1, 1], "b": [1, 0], "c": [0, 0], "d": [0, 1]})
    assert parts(panel_answers(four, tuple("abcd"))) == [(i, v, 0.5) for i in (0, 1) for v in (0, 1)]


def test_kappa_counts_the_items_on_which_a_panel_splits():
    # Both judges are right on 1, 2, 5, 6 and split on the others, which count half: p_o = (4 + 4/2) / 8.
    # Person and panel give 1 to half of the items: p_e = 1/2. Where only 1, 2, 5, 6 counted, kappa were 1.
    kappa = found("kappa")
    assert (kappa.value, kappa.n) == (pytest.approx((6 / 8 - 1 / 2) / (1 - 1 / 2)), 8)
    # So the panel is as good as each of its judges, who are right on 6 of 8 items.
    assert found("kappa", members=("j",)).value == pytest.approx(kappa.value)


def test_nominal_alpha_counts_them_too():
    # D_o = 2/8. Of 16 answers 8 are 1 and 8 are 0: D_e = 2 · 8 · 8 / (16 · 15).
    alpha = found("alpha", metric="nominal")
    assert (alpha.value, alpha.n) == (pytest.approx(1 - (2 / 8) / (2 * 8 * 8 / (16 * 15))), 8)


def test_a_held_out_annotator_stands_beside_the_same_answers():
    people = {"Ada": PERSON, "Ben": PERSON}
    row = held_out(read_ratings(study(people, JUDGES)), "quality", panels=[PANEL], measure="kappa").rows[-1]
    assert (row["judge"].value, row["n"]) == (pytest.approx(found("kappa").value), 8)


def test_two_judges_that_err_apart_are_no_better_together():
    """400 items, a person wrong on 2 %, two judges on 22 % each: without the split items κ would be 0.8."""
    rng = np.random.default_rng(40)
    truth = (rng.random(400) < 0.6).astype(int)

    def noisy(share):
        return np.where(rng.random(400) < share, 1 - truth, truth).tolist()

    people, judges = {"Ada": noisy(0.02)}, {"j": noisy(0.22), "k": noisy(0.22)}
    alone = [found("kappa", people, judges, (name,)).value for name in judges]
    together = found("kappa", people, judges)
    assert together.n == 400
    assert together.value == pytest.approx(np.mean(alone), abs=0.02)
    assert max(alone) < 0.6
    same = np.array(judges["j"]) == np.array(judges["k"])
    kept = {name: np.array(of)[same].tolist() for name, of in (judges | people).items()}
    agreed = found("kappa", {"Ada": kept["Ada"]}, {"j": kept["j"]}, ("j",)).value
    assert agreed > 0.75


def test_a_panel_of_sets_has_the_labels_that_more_than_half_gave():
    # Sets are sums of powers of 2: {a} = 1, {a, b} = 3, {b} = 2, {} = 0.
    scores = scores_of({"j": [1, 3, 1], "k": [3, 2, 2], "l": [3, 1, 0]}, sets=["quality"])
    assert parts(panel_answers(scores, ("j", "k", "l"))) == [(0, 3, 1), (1, 3, 1), (2, 0, 1)]
    assert parts(panel_answers(scores, ("j", "k"))) == [(0, 1, 1), (1, 2, 1), (2, 0, 1)]


def test_people_who_tie_have_no_answer_and_are_counted():
    scores = scores_of(JUDGES, {"Ada": PERSON, "Ben": [1, 1, 1, 1, 0, 0, 1, None]})
    assert ties_of_people(scores) == 1
    assert np.isnan(answer_of_people(scores)[6])


@pytest.mark.parametrize(
    ("held", "majority", "n", "counts"),
    [
        (True, False, 5, {Exclusion.NO_ANSWER: 1, Exclusion.ONE_ANNOTATOR: 1}),
        (False, True, 5, {Exclusion.NO_ANSWER: 1, Exclusion.ANNOTATORS_TIE: 1}),
        (False, False, 6, {Exclusion.NO_ANSWER: 1}),
        (True, False, 3, {Exclusion.NO_ANSWER: 1, Exclusion.ONE_ANNOTATOR: 1, Exclusion.FEW_IN_COMMON: 2}),
    ],
)
def test_every_excluded_item_is_counted_once(held, majority, n, counts):
    people = {"Ada": [1, 1, 0, 0, 1, 1, 0, None], "Ben": [1, 1, 0, 0, 1, 0, None, None]}
    ratings = read_ratings(study(people, {"j": [1] * 8, "k": [None, *[0] * 7]}))
    assert exclusions(ratings, "quality", PANEL, n, held_out=held, majority=majority) == counts
    assert n + sum(counts.values()) == 7
