"""A cheap judge first: learned on develop, measured on select; test is not read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from concord.errors import StudyError
from concord.lab import cascade, measuring
from concord.lab.measuring import Bench, Candidate
from concord.questions import Scale
from concord.rubrics import shelf
from concord.statistics.ratings import Floats
from concord.workspace import Workspace
from tests.mock import lab as mock

CHEAP, DEAR, NOISE = (Candidate(name, "shop v1") for name in ("cheap", "dear", "noise"))


@pytest.fixture
def shop(fresh: Workspace) -> Workspace:
    """60 items in three parts; the cheap judge half takes length for merit, the third knows length alone."""
    mock.made(fresh)
    of = mock.divided(fresh)
    base = shelf.find(fresh, mock.RUBRIC)
    with fresh.write() as db:
        base.publish(db)
        for judge, flaw, cost in ((CHEAP, 0.5, 0.0001), (DEAR, 0.0, 0.002), (NOISE, 1.0, 0.001)):
            mock.answer(db, base, of.keys(""), judge.model, flaw=flaw, cost=cost)
    return fresh


@pytest.fixture
def bench(shop: Workspace) -> Bench:
    with shop.read() as db:
        return measuring.read(db, mock.STUDY, resamples=300)


def answering(bench: Bench, **answers: Floats) -> Bench:
    """The bench with one question and these judges' answers in place of its own."""
    name = bench.criteria[0].name
    given = {Candidate(model, "shop v1"): {name: answer} for model, answer in answers.items()}
    return replace(bench, criteria=bench.criteria[:1], answers=given)


def planted(bench: Bench) -> Bench:
    """A cheap judge that is right where it answers 1 or 2, and answers 4 or 5 at random elsewhere."""
    truth = bench.people[bench.criteria[0].name].target
    chance = np.random.default_rng(1).choice([4.0, 5.0], len(truth))
    return answering(bench, cheap=np.where(truth <= 2, truth.round(), chance), dear=truth)


def test_a_judge_is_unsure_as_at_the_same_answers_on_develop(bench):
    """By hand: the disagreement at each answer and 2 items of the usual one, over their number and 2."""
    of = planted(bench)
    off, answer = 1 - of.agreement(CHEAP), of.answers[CHEAP][of.criteria[0].name]
    develop = of.marked("develop")
    unsure = cascade.unsure(of, CHEAP)
    for level in np.unique(answer[develop]):
        there = off[develop & (answer == level)]
        by_hand = (there.sum() + 2 * off[develop].mean()) / (len(there) + 2)
        np.testing.assert_allclose(unsure[answer == level], by_hand, atol=1e-8)


def test_answers_between_levels_are_read_in_bins(bench):
    truth = bench.people[bench.criteria[0].name].target
    of = answering(bench, cheap=truth + np.linspace(0, 1, len(truth)), dear=truth)
    assert len(np.unique(cascade.unsure(of, CHEAP))) <= cascade.BINS


def test_what_the_cheap_judge_answers_at_random_is_sent_on(bench):
    of = planted(bench)
    answer, select = of.answers[CHEAP][of.criteria[0].name], of.marked("select")
    unsure = cascade.unsure(of, CHEAP)
    assert unsure[answer >= 4].min() > unsure[answer <= 2].max()
    first, *rows, last = cascade.cascade(of, CHEAP, DEAR).rows
    high = (answer >= 4)[select].mean()
    row = next(row for row in rows if row["cheap"] == pytest.approx(1 - high))
    assert row["dear"] + row["people"] == pytest.approx(high)
    assert first["agreement"].value == pytest.approx(of.agreement(CHEAP)[select].mean())
    assert row["agreement"].low > first["agreement"].high
    assert (first["cheap"], last["dear"], last["agreement"].value) == (1, 1, 1)
    assert row["cost"] == pytest.approx(0.1 + 2 * high), "all are asked of the cheap judge, these of both"
    assert (first["cost"], last["cost"]) == (pytest.approx(0.1), pytest.approx(2))


def test_people_decide_where_both_judges_differ_by_more_than_people_do(bench):
    of = planted(bench)
    name, select, develop = of.criteria[0].name, of.marked("select"), of.marked("develop")
    usual = np.sort(1 - of.one_more_person()[develop])[int(np.ceil(0.75 * develop.sum())) - 1]
    apart = np.abs(of.answers[CHEAP][name] - of.answers[DEAR][name]) / 4
    rows = cascade.cascade(of, CHEAP, DEAR).rows
    high = (of.answers[CHEAP][name] >= 4)[select].mean()
    row = next(row for row in rows if row["cheap"] == pytest.approx(1 - high))
    differ = ((apart > usual + 1e-9) & (of.answers[CHEAP][name] >= 4))[select].mean()
    assert row["people"] == pytest.approx(differ) != 0
    assert row["agreement"].n == round((1 - differ) * 20)


def test_nothing_of_the_test_part_is_read(bench):
    test, chance = bench.marked("test"), np.random.default_rng(0)
    criteria = dict(bench.people.criteria)
    for name, of in criteria.items():
        other = np.where(test[of.item], chance.choice([1.0, 5.0], len(of.score)), of.score)
        criteria[name] = replace(of, score=other, target=np.where(test, 6 - of.target, of.target))
    answers = {
        judge: {name: np.where(test, 6 - score, score) for name, score in given.items()}
        for judge, given in bench.answers.items()
    }
    changed = replace(bench, people=replace(bench.people, criteria=criteria), answers=answers)
    assert cascade.cascade(changed, CHEAP, DEAR) == cascade.cascade(bench, CHEAP, DEAR)


def test_categories_have_a_cascade(bench):
    """Right where it answers 1 or 2, else always 4; another category is wholly another answer."""
    [asked] = bench.criteria[:1]
    truth = bench.people[asked.name].target.round()
    of = answering(bench, cheap=np.where(truth <= 2, truth, 4.0), dear=truth)
    kinds = Scale((1.0, 2.0, 3.0, 4.0, 5.0), tuple("abcde"), "categories")
    of = replace(of, criteria=(replace(asked, scale=kinds),))
    select = of.marked("select")
    rows = cascade.cascade(of, CHEAP, DEAR).rows
    row = next(row for row in rows if row["cheap"] == pytest.approx((truth <= 2)[select].mean()))
    assert row["dear"] == pytest.approx((truth == 4)[select].mean()), "only there do both say the same"


def test_what_cannot_be_learned_is_a_sentence(bench):
    with pytest.raises(StudyError, match="Two judges or more"):
        cascade.cascade(bench, CHEAP, CHEAP)
    truth = bench.people[bench.criteria[0].name].target
    few = np.where(np.cumsum(bench.marked("develop")) <= 5, truth, np.nan)
    with pytest.raises(StudyError, match="5 items of “develop”"):
        cascade.cascade(answering(bench, cheap=few, dear=truth), CHEAP, DEAR)
    with pytest.raises(StudyError, match="does not tell where cheap by shop v1 is unsure"):
        cascade.cascade(answering(bench, cheap=np.full(len(truth), 3.0), dear=truth), CHEAP, DEAR)


def test_a_missing_price_is_not_known(bench):
    select = dict(bench.asked["select"])
    select[DEAR] = select[DEAR]._replace(unpriced=1)
    rows = cascade.cascade(replace(bench, asked={**bench.asked, "select": select}), CHEAP, DEAR).rows
    assert rows[0]["cost"] == pytest.approx(0.1)
    assert {(row["cost"].value, row["cost"].reason) for row in rows[1:]} == {(None, "not known: no price")}


def test_without_two_people_nobody_else_is_asked(bench):
    name = bench.criteria[0].name
    of = planted(bench)
    alone = of.people[name].without(1).without(2)
    of = replace(of, people=replace(of.people, criteria={**of.people.criteria, name: alone}))
    table = cascade.cascade(of, CHEAP, DEAR)
    assert {row["people"] for row in table.rows} == {0}
    assert "when to ask people is not known" in " ".join(table.notes)


def test_compare_prints_it(shop, run):
    two = ("--judge", "cheap", "--from", 1, "--to", 1, "--to-judge", "dear", "--cascade", "--resamples", 100)
    outcome = run(shop, "lab", "compare", mock.STUDY, *two)
    assert outcome.exit_code == 0, outcome.output
    assert "cheap by shop v1 first, then dear by shop v1" in outcome.output
