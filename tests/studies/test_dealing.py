"""The deal of a study: its balance before it is made, and extra raters where the first ones differ."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Thread

import krippendorff
import numpy as np
import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.errors import NotFound, StudyError
from concord.rating import Criterion
from concord.reports.agreement_report import Options, agreement_report
from concord.store import (
    access,
    answers,
    conversations,
    desk,
    exclusions,
    frames,
    known,
    placements,
    ratings,
)
from concord.store import studies as stored
from concord.studies import dealing, running, studies
from concord.studies.purposes import extra as extra_raters
from concord.studies.purposes import training
from concord.studies.purposes.adjudicate import Rule
from concord.workspace import Workspace

SAID = (Message("user", "a"), Message("assistant", "b"))
CRITERIA = (Criterion("fluency", "It is fluent."), Criterion("wit", "It is witty."))
TWO_APART = Rule(2)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Six items of two players; ann, bob, cy and dee are invited."""
    workspace = Workspace.open(tmp_path / "workspace")
    with workspace.write() as db:
        stored.create(db, stored.Study("s", CRITERIA))
        for i in range(6):
            conversations.save(db, Conversation("x", f"k{i}", f"p{i % 2}", SAID))
        stored.add_units(db, "s", [(i, None, "") for i in range(1, 7)])
        studies.invite(db, ["ann", "bob", "cy", "dee"])
    return workspace


@pytest.fixture
def db(workspace: Workspace):
    """The workspace, open for writing."""
    with workspace.write() as opened:
        yield opened


def rate(db: Database, person: str, scores: dict[str, float] | float, wit: float = 3) -> list[desk.Refusal]:
    """Rate the open items of a desk by a score of each key, or one score of all; wit is the same for all."""
    rater = access.annotator_id(db, person)
    told: list[dict[str, object]] = []
    n = desk.mark(db, desk.of(rater), "tab")
    for item, state, _ in placements.on_desk(db, rater, "s"):
        key = conversations.load(db, placements.numbered(db, rater, item).conversation_id).key
        score = scores.get(key) if isinstance(scores, dict) else scores
        if state == "open" and score is not None:
            for what in (
                {"do": "answer", "criterion": "fluency", "score": score},
                {"do": "answer", "criterion": "wit", "score": wit},
                {"do": "submit"},
            ):
                told.append({"n": (n := n + 1), "item": item, **what})
    return dealing.reported(db, "s", rater, "tab", told)[1]


def have(db: Database) -> dict[str, list[str]]:
    """Who has which extra items, by key."""
    keys = {unit["id"]: unit["key"] for unit in stored.units(db, "s")}
    found: dict[str, list[str]] = {}
    for one in extra_raters.extra_entries(db, "s"):
        found.setdefault(keys[one.item], []).append(one.person)
    return found


ANN = {"k0": 1, "k1": 1, "k2": 1, "k3": 3, "k4": 3, "k5": 3}
BOB = {"k0": 3, "k1": 2, "k2": 1, "k3": 3, "k4": 4, "k5": 5}


def all_to_two(db: Database) -> None:
    """Deal every item to ann and bob, and none to cy, who is there for extra items."""
    studies.deal_study(db, "s", ["ann", "bob"], overlap=2)
    rater = access.annotator_id(db, "cy")
    [other] = stored.add_units(
        db, "s", [(conversations.save(db, Conversation("x", "own", "p0", SAID)), None, "")]
    )
    placements.assign(db, rater, [other])
    stored.set_rule(db, "s", "extra", stored.StudyRule(2.0))


def to_train(db: Database) -> None:
    """Put a training of one item before the study, which ann and bob are admitted to."""
    taught = conversations.save(db, Conversation("x", "taught", "p0", SAID))
    unit = known.UnitKey(taught, None)
    gold = [known.Gold(unit, "fluency", 3, explanation="because")]
    running.set_training(db, "s", gold, training.PassRule())
    for person in ("ann", "bob"):
        running.admit(db, "s", person, "trained elsewhere")


class TestExtra:
    def test_it_is_dealt_when_the_last_of_the_first_raters_has_answered(self, db):
        all_to_two(db)
        rate(db, "ann", ANN)
        assert have(db) == {}
        rate(db, "bob", BOB)
        assert have(db) == {"k0": ["cy"], "k5": ["cy"]}
        rater = access.annotator_id(db, "cy")
        assert len(placements.on_desk(db, rater, "s")) == 3

    def test_a_report_that_comes_again_gives_nothing_twice(self, db):
        all_to_two(db)
        placements.assign(db, access.annotator_id(db, "dee"), [stored.units(db, "s")[-1]["id"]])
        rate(db, "ann", ANN)
        rater = access.annotator_id(db, "bob")
        item = next(i for i, *_ in placements.on_desk(db, rater, "s"))
        told = [
            {"n": 1, "item": item, "do": "answer", "criterion": "fluency", "score": 5},
            {"n": 2, "item": item, "do": "answer", "criterion": "wit", "score": 1},
            {"n": 3, "item": item, "do": "submit"},
        ]
        for _ in range(3):
            dealing.reported(db, "s", rater, "tab", told)
        assert len(extra_raters.extra_entries(db, "s")) == 1

    def test_deal_again_gives_what_was_imported_or_answered_before_the_rule(self, db):
        studies.deal_study(db, "s", ["ann", "bob", "cy"], overlap=2)
        for person in ("ann", "bob", "cy"):
            rate(db, person, {"ann": 1, "bob": 3, "cy": 5}[person])
        assert have(db) == {}
        # Every two differ by two or more: six extra items, two for each of three people.
        before = len(placements.queues(db, "s"))
        studies.deal_study(db, "s", extra=TWO_APART)
        assert sorted(person for people in have(db).values() for person in people) == [
            *["ann"] * 2,
            *["bob"] * 2,
            *["cy"] * 2,
        ]
        assert len(placements.queues(db, "s")) == before + 6
        plan = dealing.plan(db, "s")
        assert (len(plan.disputed), plan.lacking) == (6, 0)
        held = "6 items have answers at least 2 apart on a criterion; each gets one extra rater"
        assert held in plan.balance, "all six have theirs already"
        given = have(db)
        studies.deal_study(db, "s")
        assert have(db) == given, "a deal that changes nothing moves nothing"
        # Nobody rates an item twice.
        assert len({(unit, person) for unit, person, *_ in placements.queues(db, "s")}) == 18

    def test_taking_the_rule_back_takes_what_nobody_has_begun(self, db):
        all_to_two(db)
        rate(db, "ann", ANN)
        rate(db, "bob", BOB)
        rate(db, "cy", {"k0": 2})
        studies.deal_study(db, "s", extra=Rule(0))
        assert have(db) == {"k0": ["cy"]}
        assert extra_raters.rule_of(stored.get(db, "s")) is None

    def test_who_leaves_hands_on_what_they_have_not_begun(self, db):
        studies.deal_study(db, "s", ["ann", "bob", "cy", "dee"], overlap=2, extra=TWO_APART)
        for person, score in (("ann", 1), ("bob", 3), ("cy", 5), ("dee", 3)):
            rate(db, person, score)
        before = extra_raters.extra_entries(db, "s")
        leaver = next(one.person for one in before if not one.begun)
        running.reassign(db, "s", leaver, "moved")
        after = extra_raters.extra_entries(db, "s")
        assert [one.item for one in after] == [one.item for one in before]
        assert not any(one.person == leaver and not one.begun for one in after)
        assert {one for one in before if one.begun} <= {*after}

    def test_nobody_left_is_said(self, db):
        all_to_two(db)
        rate(db, "ann", ANN)
        running.reassign(db, "s", "cy", "moved")
        rate(db, "bob", BOB)
        assert have(db) == {}
        assert dealing.plan(db, "s").waiting == 2

    def test_who_is_left_out_does_not_make_a_difference(self, db):
        all_to_two(db)
        rate(db, "ann", ANN)
        exclusions.exclude(db, "s", "ann", "asleep")
        rate(db, "bob", BOB)
        assert have(db) == {}

    def test_who_is_in_training_gets_it_once_admitted(self, db):
        all_to_two(db)
        to_train(db)
        rate(db, "ann", ANN)
        rate(db, "bob", BOB)
        assert (have(db), dealing.plan(db, "s").waiting) == ({}, 2)
        # A deal gives it to nobody in training either.
        studies.deal_study(db, "s")
        assert have(db) == {}
        running.admit(db, "s", "cy", "trained elsewhere")
        assert have(db) == {"k0": ["cy"], "k5": ["cy"]}
        assert dealing.plan(db, "s").waiting == 0

    def test_who_is_in_training_gets_it_once_passed(self, db):
        all_to_two(db)
        to_train(db)
        rate(db, "ann", ANN)
        rate(db, "bob", BOB)
        rate(db, "cy", {"taught": 3})
        assert have(db) == {"k0": ["cy"], "k5": ["cy"]}

    def test_it_is_given_when_somebody_is_admitted_or_the_study_opened_again(self, db):
        all_to_two(db)
        to_train(db)
        rate(db, "ann", ANN)
        rate(db, "bob", BOB)
        running.close(db, "s", "a pause")
        running.admit(db, "s", "cy", "trained in the pilot")
        assert have(db) == {}
        running.reopen(db, "s", "go on")
        assert have(db) == {"k0": ["cy"], "k5": ["cy"]}

    def test_who_is_left_out_gets_none_until_taken_in_again(self, db):
        all_to_two(db)
        exclusions.exclude(db, "s", "cy", "asleep")
        rate(db, "ann", ANN)
        rate(db, "bob", BOB)
        assert have(db) == {}
        studies.deal_study(db, "s")
        assert have(db) == {}
        running.include(db, "s", "cy", "awake")
        assert have(db) == {"k0": ["cy"], "k5": ["cy"]}

    def test_reassigning_says_who_has_more(self, db):
        all_to_two(db)
        rate(db, "ann", ANN)
        stored.set_rule(db, "s", "extra", None)
        rate(db, "bob", BOB)
        stored.set_rule(db, "s", "extra", stored.StudyRule(2.0))
        moved = running.reassign(db, "s", "bob", "moved")
        assert moved.startswith("0 items of “s” that bob had not begun went to the others")
        assert moved.endswith("who now have: ann +1, cy +2.")
        assert have(db) == {"k0": ["cy"], "k5": ["cy"]}

    def test_a_newcomer_without_items_gets_what_waits(self, db):
        studies.deal_study(db, "s", ["ann", "bob"], overlap=2)
        stored.set_rule(db, "s", "extra", stored.StudyRule(2.0))
        rate(db, "ann", ANN)
        rate(db, "bob", BOB)
        assert (have(db), dealing.plan(db, "s").waiting) == ({}, 2)
        studies.deal_study(db, "s", ["cy"])
        assert have(db) == {"k0": ["cy"], "k5": ["cy"]}

    def test_what_a_deal_takes_back_comes_again(self, db):
        all_to_two(db)
        rate(db, "ann", ANN)
        rate(db, "bob", BOB)
        exclusions.exclude(db, "s", "ann", "asleep")
        studies.deal_study(db, "s")
        assert have(db) == {}
        running.include(db, "s", "ann", "awake")
        assert have(db) == {"k0": ["cy"], "k5": ["cy"]}

    def test_on_one_criterion_only(self, db):
        all_to_two(db)
        stored.set_rule(db, "s", "extra", stored.StudyRule(2.0, "wit"))
        rate(db, "ann", ANN, wit=1)
        rate(db, "bob", BOB, wit=2)
        assert have(db) == {}

    def test_a_greater_overlap_makes_them_ratings_like_others(self, db):
        studies.deal_study(db, "s", ["ann", "bob", "cy"], overlap=2, extra=TWO_APART)
        for person, score in (("ann", 1), ("bob", 3), ("cy", 5)):
            rate(db, person, score)
        studies.deal_study(db, "s", overlap=3, extra=Rule(0))
        assert have(db) == {}
        assert {len([u for u, *_ in placements.queues(db, "s") if u == unit]) for unit in range(1, 7)} == {3}

    def test_two_who_answer_at_once_get_one_extra_rater(self, workspace):
        with workspace.write() as db:
            all_to_two(db)
        start = Barrier(2)

        def work(person: str, scores: dict[str, float]) -> None:
            start.wait()
            workspace.change(lambda db: rate(db, person, scores))

        threads = [Thread(target=work, args=of) for of in (("ann", ANN), ("bob", BOB))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with workspace.read() as db:
            assert have(db) == {"k0": ["cy"], "k5": ["cy"]}


class TestFigures:
    def test_extra_ratings_are_in_no_frame_of_agreement(self, db):
        all_to_two(db)
        rate(db, "ann", ANN)
        rate(db, "bob", BOB)
        before = frames.frame(db, "s")
        rate(db, "cy", 1)
        after = frames.frame(db, "s")
        # cy's own item is an ordinary one.
        assert len(after) == len(before) + 2
        assert set(after[after.rater == "cy"].conversation_id) == {7}
        every = frames.rows(db, "s", with_extra=True)
        assert every["extra"].sum() == 4
        assert "cy" not in {row["rater"] for row in ratings.exported(db, "s") if row["item_id"] != "own"}
        rows = [row for row in answers.apart(db, "s") if row["kind"] == "extra"]
        assert {(row["item_id"], row["rater"], row["criterion"], row["score"]) for row in rows} == {
            (key, "cy", criterion, score)
            for key in ("k0", "k5")
            for criterion, score in (("fluency", 1), ("wit", 3))
        }

    def test_alpha_rests_on_first_ratings(self, db):
        all_to_two(db)
        rate(db, "ann", ANN)
        rate(db, "bob", BOB)
        before = agreement_report(db, "s", Options(resamples=20))
        rate(db, "cy", {"k0": 5, "k5": 4})
        after = agreement_report(db, "s", Options(resamples=20))
        assert after.agreement.criteria["fluency"].alpha == before.agreement.criteria["fluency"].alpha
        first = np.array([[ANN[key] for key in ANN], [BOB[key] for key in ANN]], dtype=float)
        cy = np.array([[5, *[np.nan] * 4, 4]])
        alone, biased = (
            krippendorff.alpha(reliability_data=of, level_of_measurement="ordinal")
            for of in (first, np.vstack([first, cy]))
        )
        assert after.agreement.criteria["fluency"].alpha["ordinal"].value == pytest.approx(alone)
        assert biased < alone
        assert any(note.startswith("2 items have an extra rating") for note in after.notes)


class TestPlan:
    def test_it_is_what_the_deal_then_is_and_stores_nothing(self, workspace):
        with workspace.read() as db:
            plan = dealing.plan(db, "s", ["ann", "bob", "cy"], overlap=2)
        with workspace.write() as db:
            assert placements.queues(db, "s") == []
            dealt = studies.deal_study(db, "s", ["ann", "bob", "cy"], overlap=2)
            assert (
                dealt == {person: len(keys) for person, keys in plan.first.items()} == dict.fromkeys(dealt, 4)
            )
            again = dealing.plan(db, "s")
        assert again.first == plan.first
        # 6 items of two people each make 6 meetings of 3 pairs.
        assert plan.shared == {("ann", "bob"): 2, ("ann", "cy"): 2, ("bob", "cy"): 2}
        assert plan.balance == (
            "Items of an annotator: 4. Items that two annotators share: 2 (as even as possible)."
        )
        assert {person: len(keys) for person, keys in plan.new.items()} == dict.fromkeys(dealt, 4)
        with workspace.read() as db:
            player = {unit["key"]: unit["player"] for unit in stored.units(db, "s")}
        assert [sorted(player[key] for key in keys) for keys in plan.first.values()] == [
            ["p0", "p0", "p1", "p1"]
        ] * 3

    def test_after_somebody_leaves(self, db):
        studies.deal_study(db, "s", ["ann", "bob", "cy"], overlap=2)
        plan = dealing.plan(db, "s", unavailable=["cy"])
        assert (
            plan.balance
            == "Items of an annotator: 6. Items that two annotators share: 6 (as even as possible)."
        )
        assert len(plan.back["cy"]) == 4


class TestImpossible:
    @pytest.mark.parametrize(
        ("people", "asked", "sentence"),
        [
            (3, {"overlap": 4}, r"use --overlap 3"),
            (3, {"overlap": 3, "extra": TWO_APART}, "Use --overlap 2"),
            (3, {"overlap": 0, "extra": TWO_APART}, "Use --overlap 2"),
            (3, {"overlap": 1, "extra": TWO_APART}, "Use --overlap 2"),
            (2, {"overlap": 2, "extra": TWO_APART}, "--overlap 2 without extra raters"),
            (3, {"overlap": 2, "extra": Rule(-1)}, "must be 0 or more"),
            (3, {"overlap": 2, "extra": Rule(9)}, "largest possible difference is 4"),
        ],
    )
    def test_it_is_refused_with_the_nearest_possible_deal(self, db, people, asked, sentence):
        with pytest.raises(StudyError, match=sentence):
            studies.deal_study(db, "s", ["ann", "bob", "cy", "dee"][:people], **asked)
        assert placements.queues(db, "s") == []

    def test_an_unknown_criterion(self, db):
        with pytest.raises(NotFound, match="“wit”"):
            studies.deal_study(db, "s", ["ann", "bob", "cy"], overlap=2, extra=Rule(2, "wti"))


@pytest.mark.parametrize("overlap", [0, 1])
def test_a_conversation_goes_only_to_annotators_with_its_language_or_skill(
    workspace: Workspace, overlap: int
) -> None:
    with workspace.write() as db:
        stored.create(db, stored.Study("mixed", CRITERIA))
        ids = {}
        for n in range(6):
            language, field = ("de", "law") if n % 2 else ("fr", "tax")
            made = Conversation("x", f"m{n}", "p", SAID, language=language, facets={"field": field})
            ids[conversations.save(db, made)] = language
        stored.add_units(db, "mixed", [(number, None, "") for number in ids])
        access.set_labels(db, "ann", ["DE"])
        access.set_labels(db, "bob", ["fr", "law"])
        access.set_labels(db, "cy", ["de", "fr"])
        studies.deal_study(db, "mixed", ["ann", "bob", "cy", "dee"], overlap=overlap, match="language")
        have: dict[str, set[str]] = {}
        for one in placements.queues(db, "mixed"):
            place = answers.places(db, "mixed")[one.item]
            have.setdefault(one.person, set()).add(ids[place.conversation_id])
        assert have["ann"] == {"de"}
        assert have["bob"] == {"fr"}
        assert "dee" not in have
        assert {"de", "fr"} <= set().union(*have.values())


def test_a_facet_tells_skills_and_an_unknown_one_is_refused(workspace: Workspace) -> None:
    with workspace.write() as db:
        stored.create(db, stored.Study("mixed", CRITERIA))
        for n, field in enumerate(("law", "tax")):
            made = conversations.save(db, Conversation("x", f"m{n}", "p", SAID, facets={"field": field}))
            stored.add_units(db, "mixed", [(made, None, "")])
        access.set_labels(db, "bob", ["law"])
        with pytest.raises(NotFound):
            studies.deal_study(db, "mixed", ["ann", "bob"], match="colour")
        assert studies.deal_study(db, "mixed", ["ann", "bob"], match="field") == {"bob": 1}
        # What was chosen holds for later deals, until all are to get everything again.
        assert studies.deal_study(db, "mixed", ["cy"]) == {"bob": 1}
        assert studies.deal_study(db, "mixed", ["ann", "cy"], match="") == {"ann": 2, "bob": 2, "cy": 2}
