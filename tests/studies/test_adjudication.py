"""Adjudication: what a rule names, who may settle it, and that it counts in its section alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.errors import NotAllowed, NotFound, StudyError
from concord.questions import categories
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.reports.agreement_report import agreement_report
from concord.store import (
    access,
    answers,
    conversations,
    exclusions,
    frames,
    placements,
    progress,
    ratings,
)
from concord.store import studies as stored
from concord.studies import annotation_flow, studies
from concord.studies.purposes import Look
from concord.studies.purposes.adjudicate import Rule, queue_table, rule_of, set_rule, summary
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


def look(db: Database) -> Look:
    """What the rule names."""
    looked_at = annotation_flow.look(db, "adjudicate", "s", None)
    assert looked_at
    return looked_at


def settle(db: Database, item: int, criterion: str, score: float | None, reason: str, person: str) -> None:
    rater = ratings.rater_id(db, Rater(person, "human"))
    annotation_flow.answer(db, "adjudicate", "s", rater, item, criterion, score, reason)


def units(db: Database) -> list[int]:
    return [unit["id"] for unit in stored.units(db, "s")]


def keys(db: Database) -> list[tuple[str, tuple[str, ...]]]:
    """What the rule names, as (key, criteria)."""
    of = {unit["id"]: unit["key"] for unit in stored.units(db, "s")}
    return [(of[item], tuple(one.criterion.name for one in asked)) for item, asked in look(db).items.items()]


class TestRule:
    def test_a_range_names_items_by_how_far_people_are_apart(self, db):
        set_rule(db, "s", Rule(2))
        # Apart, as a share of the scale: k1 (0 + 1) / 2; k4 (1 + 0) / 2; k0 and k8 (½ + 0) / 2.
        assert keys(db) == [
            ("k1", ("kind",)),
            ("k4", ("fluency",)),
            ("k0", ("fluency",)),
            ("k8", ("fluency",)),
        ]
        assert summary(look(db)) == (
            "Study “s”, answers at least 2 apart, of categories different ones, on a criterion: "
            "4 items, 0 of them settled."
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
        set_rule(db, "s", Rule(2, criterion="fluency"))
        assert summary(look(db)) == (
            "Study “s”: no item with two annotators has answers at least 2 apart on “Fluency”."
        )
        assert queue_table(db, look(db)).rows == ()

    def test_without_those_left_out(self, db):
        set_rule(db, "s", Rule(2))
        exclusions.exclude(db, "s", "bob", "asleep")
        assert look(db).items == {}

    def test_what_cannot_be_a_rule(self, db):
        with pytest.raises(NotFound, match="wit"):
            set_rule(db, "s", Rule(2, criterion="wit"))
        with pytest.raises(StudyError, match="above 0"):
            set_rule(db, "s", Rule(0))
        set_rule(db, "s", Rule(4))
        with pytest.raises(StudyError, match="largest possible difference is 4"):
            set_rule(db, "s", Rule(9))
        assert rule_of(stored.get(db, "s")) == Rule(4)


class TestSettling:
    def test_two_adjudicators_cannot_both_settle_an_item(self, db):
        set_rule(db, "s", Rule(2))
        first = units(db)[0]
        settle(db, first, "fluency", 2, "halfway", "cy")
        with pytest.raises(StudyError, match="cy has decided this item"):
            settle(db, first, "fluency", 3, "no", "dee")
        settle(db, first, "fluency", 3, "on second thought", "cy")
        [held] = answers.answers(db, "s", "adjudicate")
        assert (held.score, held.reason, held.person) == (3, "on second thought", "cy")
        given = db.execute(
            "SELECT a.value FROM answers a JOIN placements p ON p.id = a.placement_id "
            "WHERE p.purpose = 'adjudicate'"
        )
        assert given.fetchall() == [(2,), (3,)]
        settle(db, first, "fluency", None, "", "cy")
        settle(db, first, "fluency", 4, "free again", "dee")
        assert [one.person for one in answers.answers(db, "s", "adjudicate")] == ["dee"]

    def test_what_cannot_be_settled(self, db):
        set_rule(db, "s", Rule(2))
        with pytest.raises(NotAllowed, match="You no longer have this item"):
            settle(db, units(db)[3], "fluency", 2, "why", "cy")
        with pytest.raises(NotAllowed, match="You no longer have this item"):
            settle(db, units(db)[0], "nope", 1, "why", "cy")
        with pytest.raises(NotAllowed, match="You no longer have this item"):
            settle(db, units(db)[0], "kind", 1, "why", "cy")
        with pytest.raises(StudyError, match="Give a reason why"):
            settle(db, units(db)[0], "fluency", 2, "  ", "cy")
        with pytest.raises(StudyError, match="not on the scale"):
            settle(db, units(db)[0], "fluency", 6, "why", "cy")

    def test_an_item_that_left_the_queue_is_refused_and_may_be_freed(self, db):
        set_rule(db, "s", Rule(2))
        settle(db, units(db)[0], "fluency", 2, "why", "cy")
        exclusions.exclude(db, "s", "bob", "asleep")
        with pytest.raises(NotAllowed, match="You no longer have this item"):
            settle(db, units(db)[0], "fluency", 3, "why", "cy")
        settle(db, units(db)[0], "fluency", None, "", "cy")
        assert answers.answers(db, "s", "adjudicate") == []
        before = db.execute("SELECT count(*) FROM placements").fetchone()
        settle(db, units(db)[5], "fluency", None, "", "cy")
        assert db.execute("SELECT count(*) FROM placements").fetchone() == before, "nothing to take back"

    def test_it_counts_nowhere_else(self, db):
        before = frames.frame(db, "s"), agreement_report(db, "s").as_json(), progress.mark(db, "s")
        set_rule(db, "s", Rule(2))
        settle(db, units(db)[0], "fluency", 2, "why", "cy")
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
        settle(db, units(db)[unit], "fluency", score, "why", "cy")
    report = agreement_report(db, "s")
    whole, items = report.tables_of(["adjudication"], "fluency")
    # On items 0, 4, 8 the judge gave 3, 2, 3; settled are 3, 1, 4. ann gave 1, 5, 4 and bob 3, 1, 2.
    far = {row["rater"]: row["mae"] for row in items.rows}
    assert {name: mae.value for name, mae in far.items()} == pytest.approx(
        {"j": (0 + 1 + 1) / 3, "ann": (2 + 4 + 0) / 3, "bob": (0 + 0 + 2) / 3}
    )
    assert items.notes[0].startswith("3 items with a settled score")
    from scipy.stats import spearmanr

    means = [(a + b) / 2 for a, b in zip(*PEOPLE.values(), strict=True)]
    settled = {0: 3, 4: 1, 8: 4}
    [before] = report.section("judges", "fluency")["judges"].rows
    [judge] = whole.rows
    assert before["spearman"].value == pytest.approx(spearmanr(JUDGE, means).statistic)
    after = [settled.get(i, mean) for i, mean in enumerate(means)]
    assert judge["spearman"].value == pytest.approx(spearmanr(JUDGE, after).statistic)
    assert (judge["n"], far["j"].n) == (10, 3)
