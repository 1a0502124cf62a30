"""Adjudication: what a rule names, who may settle it, and that it counts in its section alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.errors import NotFound, StudyError
from concord.questions import categories
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.reports.agreement_report import agreement_report
from concord.store import access, conversations, exclusions, frames, informed, placements, progress, ratings
from concord.store import studies as stored
from concord.studies import studies
from concord.studies.purposes.adjudicate import Rule, adjudication, queue_table, set_rule, settle
from concord.workspace import Workspace

CRITERIA = (
    Criterion("fluency", "It is fluent."),
    Criterion("kind", "What it is.", categories(["a", "b"]), counted=False),
)
SAID = (Message("user", "a"), Message("assistant", "b"))
PEOPLE = {"ann": [1, 2, 3, 4, 5, 5, 2, 3, 4, 1], "bob": [3, 2, 4, 4, 1, 5, 3, 3, 2, 1]}
KINDS = {"ann": [0] * 10, "bob": [0, 1] + [0] * 8}
JUDGE = [3, 2, 3, 4, 2, 5, 3, 3, 3, 1]


@pytest.fixture
def db(tmp_path: Path):
    """Ten items of two annotators and a judge; ann and bob differ by 2 or more on items 0, 4 and 8."""
    with Workspace.open(tmp_path / "workspace").write() as opened:
        stored.create(opened, stored.Study("s", CRITERIA))
        ids = [conversations.save(opened, Conversation("x", f"k{i}", "p", SAID)) for i in range(10)]
        units = stored.add_units(opened, "s", [(i, None, "") for i in ids])
        studies.invite(opened, list(PEOPLE))
        studies.deal_study(opened, "s", list(PEOPLE))
        place = {unit: i for i, unit in enumerate(units)}
        for person, scores in PEOPLE.items():
            rater = access.annotator_id(opened, person)
            rows = opened.execute("SELECT id, item_id FROM placements WHERE rater_id = ?", [rater]).fetchall()
            for assignment, unit in rows:
                placements.answer(opened, rater, assignment, "fluency", scores[place[unit]])
                placements.answer(opened, rater, assignment, "kind", KINDS[person][place[unit]])
                placements.submit(opened, rater, assignment)
        for i, score in enumerate(JUDGE):
            given = (Rating(Unit(f"k{i}"), "fluency", score),)
            ratings.save_judgement(opened, Judgement(f"j{i}", f"k{i}", Rater("j", "judge"), given))
        yield opened


def units(db: Database) -> list[int]:
    return [unit["id"] for unit in stored.units(db, "s")]


def keys(db: Database) -> list[tuple[str, tuple[str, ...]]]:
    """What the rule names, as (key, criteria)."""
    of = {unit["id"]: unit["key"] for unit in stored.units(db, "s")}
    return [(of[item.unit], item.criteria) for item in adjudication(db, "s").disputed]


class TestRule:
    def test_a_range_names_items_by_how_far_people_are_apart(self, db):
        said = set_rule(db, "s", Rule(2))
        # Apart, as a share of the scale: k1 (0 + 1) / 2; k4 (1 + 0) / 2; k0 and k8 (½ + 0) / 2.
        assert keys(db) == [
            ("k1", ("kind",)),
            ("k4", ("fluency",)),
            ("k0", ("fluency",)),
            ("k8", ("fluency",)),
        ]
        assert said == (
            "Study “s”, answers at least 2 apart, of categories different ones, on a criterion: "
            "4 of 10 items, 0 of them settled."
        )

    def test_of_one_criterion_only(self, db):
        set_rule(db, "s", Rule(4, criterion="fluency"))
        assert keys(db) == [("k4", ("fluency",))]

    def test_one_that_finds_nothing_says_so(self, db):
        for rater in PEOPLE:
            number = access.annotator_id(db, rater)
            for unit in (0, 4, 8):
                [(assignment,)] = db.execute(
                    "SELECT id FROM placements WHERE rater_id = ? AND item_id = ?", [number, units(db)[unit]]
                )
                placements.skip(db, number, assignment, "no")
        said = set_rule(db, "s", Rule(2, criterion="fluency"))
        assert (
            said
            == "Study “s”: the rule finds nothing; no item of 7 has answers at least 2 apart on “fluency”."
        )
        assert queue_table(db, adjudication(db, "s")).rows == ()

    def test_without_those_left_out(self, db):
        set_rule(db, "s", Rule(2))
        exclusions.exclude(db, "s", "bob", "asleep")
        assert adjudication(db, "s").summary.endswith(
            "rated by two people yet, so there is nothing to adjudicate."
        )

    def test_what_cannot_be_a_rule(self, db):
        with pytest.raises(NotFound, match="wit"):
            set_rule(db, "s", Rule(2, criterion="wit"))
        with pytest.raises(StudyError, match="above 0"):
            set_rule(db, "s", Rule(0))
        set_rule(db, "s", Rule(4))
        with pytest.raises(StudyError, match="largest possible difference is 4"):
            set_rule(db, "s", Rule(9))
        assert adjudication(db, "s").rule == Rule(4)


class TestSettling:
    def test_two_adjudicators_cannot_both_settle_an_item(self, db):
        set_rule(db, "s", Rule(2))
        first = units(db)[0]
        settle(db, "s", first, "fluency", 2, "halfway", "cy")
        with pytest.raises(StudyError, match="cy has settled this item"):
            settle(db, "s", first, "fluency", 3, "no", "dee")
        settle(db, "s", first, "fluency", 3, "on second thought", "cy")
        [held] = informed.answers(db, "s", "adjudicate")
        assert (held.score, held.reason, held.person) == (3, "on second thought", "cy")
        given = db.execute(
            "SELECT a.value FROM answers a JOIN placements p ON p.id = a.placement_id "
            "WHERE p.purpose = 'adjudicate'"
        )
        assert given.fetchall() == [(2,), (3,)]
        settle(db, "s", first, "fluency", None, "", "cy")
        settle(db, "s", first, "fluency", 4, "free again", "dee")
        assert [one.person for one in informed.answers(db, "s", "adjudicate")] == ["dee"]

    def test_what_cannot_be_settled(self, db):
        set_rule(db, "s", Rule(2))
        with pytest.raises(
            StudyError, match=r"“k3” is not in dispute .*: the rule, answers at least 2 apart"
        ):
            settle(db, "s", units(db)[3], "fluency", 2, "why", "cy")
        with pytest.raises(NotFound, match="nope"):
            settle(db, "s", units(db)[0], "nope", 1, "why", "cy")
        with pytest.raises(StudyError, match="not in dispute on “kind”, only on Fluency"):
            settle(db, "s", units(db)[0], "kind", 1, "why", "cy")
        with pytest.raises(StudyError, match="Say why"):
            settle(db, "s", units(db)[0], "fluency", 2, "  ", "cy")
        with pytest.raises(StudyError, match="not on the scale"):
            settle(db, "s", units(db)[0], "fluency", 6, "why", "cy")

    def test_an_item_that_left_the_queue_is_named_with_the_reason(self, db):
        set_rule(db, "s", Rule(2))
        exclusions.exclude(db, "s", "bob", "asleep")
        with pytest.raises(
            StudyError, match=r"“k0” is not in dispute .*: somebody who rated it was left out"
        ):
            settle(db, "s", units(db)[0], "fluency", 2, "why", "cy")

    def test_it_counts_nowhere_else(self, db):
        before = frames.frame(db, "s"), agreement_report(db, "s").as_json(), progress.mark(db, "s")
        set_rule(db, "s", Rule(2))
        settle(db, "s", units(db)[0], "fluency", 2, "why", "cy")
        after = frames.frame(db, "s"), agreement_report(db, "s").as_json(), progress.mark(db, "s")
        assert before[0].equals(after[0])
        assert before[2] != after[2]
        was, now = before[1]["sections"]["fluency"], after[1]["sections"]["fluency"]
        assert not was["adjudication"]
        assert now["adjudication"]
        assert {name for name in was if was[name] != now[name]} == {"adjudication"}


def test_judges_before_and_after(db):
    set_rule(db, "s", Rule(2))
    for unit, score in ((0, 3), (4, 1), (8, 4)):
        settle(db, "s", units(db)[unit], "fluency", score, "why", "cy")
    [table] = agreement_report(db, "s").tables_of(["adjudication"], "fluency")
    judge, one = table.rows
    # On items 0, 4, 8 people's means are 2, 3, 3; the judge gave 3, 2, 3; settled are 3, 1, 4.
    assert judge["mae_before"].value == pytest.approx((1 + 1 + 0) / 3)
    assert judge["mae_after"].value == pytest.approx((0 + 1 + 1) / 3)
    # ann gave 1, 5, 4 and bob 3, 1, 2: per item (2 + 0) / 2, (4 + 0) / 2, (0 + 2) / 2.
    assert one["mae_after"].value == pytest.approx((1 + 2 + 1) / 3)
    from scipy.stats import spearmanr

    means = [(a + b) / 2 for a, b in zip(*PEOPLE.values(), strict=True)]
    settled = {0: 3, 4: 1, 8: 4}
    assert judge["before"].value == pytest.approx(spearmanr(JUDGE, means).statistic)
    after = [settled.get(i, mean) for i, mean in enumerate(means)]
    assert judge["after"].value == pytest.approx(spearmanr(JUDGE, after).statistic)
    assert (judge["before"].n, judge["mae_after"].n) == (10, 3)
