"""Second answers: when a judge's or others' answers are shown, what is locked then, what they count in."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.errors import NotAllowed, NotFound, StudyError
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.reports.agreement_report import agreement_report
from concord.store import access, answers, conversations, desk, exclusions, frames, placements, ratings
from concord.store import studies as stored
from concord.studies import annotation_flow, dealing, studies
from concord.studies.purposes import Look, ShownAnswer, second
from concord.workspace import Workspace
from pages.desk.shown_answers import ShownAnswersDesk

SAID = (Message("user", "a"), Message("assistant", "b"))
BLIND = {"ann": [1, 2, 3, 4, 5, 3, 2, 4], "bob": [2, 2, 3, 5, 4, 3, 1, 4], "zoe": [3, 1, 2, 4, 4, 3, 2, 5]}
JUDGE = [3, 2, 5, 2, 4, 3, 4, 1]
LOCKED = [
    "You have seen the other annotators' answers, so your answers are locked. Your change was not stored."
]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Eight items that a judge rated, dealt to three annotators."""
    workspace = Workspace.open(tmp_path / "workspace")
    with workspace.write() as opened:
        asked = Criterion("fluency", "It is fluent.", reason="optional")
        stored.create(opened, stored.Study("s", (asked,)))
        ids = [conversations.save(opened, Conversation("x", f"k{i}", "p", SAID)) for i in range(8)]
        stored.add_units(opened, "s", [(i, None, "") for i in ids])
        studies.invite(opened, [*BLIND])
        dealing.deal_study(opened, "s", [*BLIND])
        for i, score in enumerate(JUDGE):
            given = (Rating(Unit(f"k{i}"), "fluency", score, f"because {i}"),)
            ratings.save_judgement(opened, Judgement(f"j{i}", f"k{i}", Rater("j", "judge", "v1"), given))
    return workspace


@pytest.fixture
def db(workspace: Workspace):
    with workspace.write() as opened:
        yield opened


def units(db: Database) -> list[int]:
    return [unit["id"] for unit in stored.units(db, "s")]


def do(db: Database, person: str, item: int, what: str, **more: object) -> list[str]:
    """What an event at a desk is refused with."""
    rater = access.annotator_id(db, person)
    event = {"n": desk.mark(db, desk.of(rater), "tab") + 1, "item": item, "do": what, **more}
    return [refusal.message for refusal in desk.apply(db, rater, "tab", [event])[1]]


def rate(db: Database, person: str, count: int = 8) -> int:
    rater = access.annotator_id(db, person)
    for unit, score in [*zip(units(db), BLIND[person], strict=True)][:count]:
        item = placements.find_id(db, rater, unit)
        placements.answer(db, rater, item, "fluency", score, f"says {person}")
        placements.submit(db, rater, item)
    return rater


def shown(db: Database, purpose: str, rater: int) -> Look:
    state = annotation_flow.look(db, purpose, "s", rater)
    assert state is not None
    return state


def test_a_judge_is_shown_only_when_everything_is_answered(db):
    second.show_judge(db, "s", "j")
    rater = rate(db, "ann", 7)
    assert annotation_flow.look(db, "revise", "s", rater) is None
    with pytest.raises(NotAllowed, match="Answers are shown when all annotators"):
        annotation_flow.begin(db, "revise", "s", rater)
    with pytest.raises(NotAllowed, match="You no longer have this item"):
        annotation_flow.answer(db, "revise", "s", rater, units(db)[0], "fluency", 3)
    assert ShownAnswersDesk("revise", "s", "ann").moving(db, None).items == []
    do(db, "ann", units(db)[7], "skip", text="broken")
    assert not shown(db, "revise", rater).is_open
    with pytest.raises(NotAllowed, match="You no longer have this item"):
        annotation_flow.answer(db, "revise", "s", rater, units(db)[0], "fluency", 3)
    annotation_flow.begin(db, "revise", "s", rater)
    state = shown(db, "revise", rater)
    assert [*state.items] == units(db)[:7]
    [first] = state.items[units(db)[0]]
    assert (first.own_score, first.shown_answers) == (1, [ShownAnswer("the judge", 3, "because 0")])


def test_others_are_shown_when_all_are_done(db):
    ann = rate(db, "ann")
    assert annotation_flow.look(db, "discuss", "s", ann) is None
    second.show_others(db, "s", True)
    rate(db, "bob")
    zoe = rate(db, "zoe", 7)
    with pytest.raises(NotAllowed, match="Answers are shown when all annotators"):
        annotation_flow.begin(db, "discuss", "s", ann)
    with pytest.raises(NotAllowed, match="Answers are shown when all annotators"):
        annotation_flow.begin(db, "discuss", "s", zoe)
    work = ShownAnswersDesk("discuss", "s", "ann")
    rate(db, "zoe")
    assert work.moving(db, None).items == [], "nothing is sent before one's own answers are locked"
    annotation_flow.begin(db, "discuss", "s", ann)
    moving = work.moving(db, None)
    assert [state for _, state, _ in moving.strip] == ["open"] * 8
    about = {"do": "answer", "criterion": "fluency", "text": " Is 3 not too much? "}
    work.apply(db, desk.Event(item=moving.items[0]["id"], score=1, **about))
    work.apply(db, desk.Event(item=moving.items[0]["id"], do="time", seconds=2.5))
    assert [state for _, state, _ in work.moving(db, None).strip] == ["done", *["open"] * 7]
    kept = "SELECT state, seconds FROM placements WHERE purpose = 'discuss' ORDER BY item_id LIMIT 1"
    assert db.execute(kept).fetchall() == [("done", 2.5)]
    [seen] = work.moving(db, [moving.items[0]["id"]]).items
    assert (seen["answers"], seen["reasons"]) == ({"fluency": 1}, {"fluency": "Is 3 not too much?"})


@pytest.mark.parametrize("purpose", ["revise", "discuss"])
def test_first_answers_are_locked_and_second_ones_count_nowhere(db, purpose):
    second.show_judge(db, "s", "j")
    second.show_others(db, "s", True)
    rater, *_ = (rate(db, person) for person in BLIND)
    before = frames.frame(db, "s")
    annotation_flow.begin(db, purpose, "s", rater)
    annotation_flow.answer(db, purpose, "s", rater, units(db)[0], "fluency", 3, "convinced")
    for what in ("answer", "submit", "skip", "reopen"):
        assert do(db, "ann", units(db)[0], what, criterion="fluency", score=5) == LOCKED
    assert do(db, "ann", units(db)[0], "flag", text="odd") == []
    assert do(db, "bob", units(db)[0], "reopen") == []
    assert do(db, "bob", units(db)[0], "submit") == []
    assert before.equals(frames.frame(db, "s"))
    [given] = answers.answers(db, "s", purpose)
    judge = 3 if purpose == "revise" else None
    assert (given.score, given.reason, given.person, given.shown) == (3, "convinced", "ann", judge)
    assert shown(db, purpose, rater).answered_items == {units(db)[0]}
    with pytest.raises(StudyError, match="new answers would not be blind"):
        dealing.deal_study(db, "s", ["ann"])
    [row] = answers.apart(db, "s")
    kind = {"revise": "revised", "discuss": "discussed"}[purpose]
    assert (row["kind"], row["blind"], row["score"], row["shown"]) == (kind, 1, 3, judge)
    annotation_flow.answer(db, purpose, "s", rater, units(db)[0], "fluency", None)
    assert answers.answers(db, "s", purpose) == []


def test_others_have_letters_and_no_names(db):
    second.show_others(db, "s", True)
    ann, bob, zoe = (rate(db, person) for person in BLIND)
    for rater in (ann, bob):
        annotation_flow.begin(db, "discuss", "s", rater)
    first = units(db)[0]
    annotation_flow.answer(db, "discuss", "s", ann, first, "fluency", 2, "Is 3 not too much?")
    [question] = shown(db, "discuss", bob).items[first]
    assert question.own_score == 2
    by_score = {one.score: one.source for one in question.shown_answers[:2]}
    assert set(by_score) == {BLIND["ann"][0], BLIND["zoe"][0]}
    assert set(by_score.values()) < {"A", "B", "C"}
    again = ShownAnswer(f"{by_score[BLIND['ann'][0]]}, again", 2, "Is 3 not too much?")
    assert question.shown_answers[2:] == [again], "others see what somebody says after that"
    sent = ShownAnswersDesk("discuss", "s", "bob").moving(db, None).items[0]
    assert sent["beside"]["fluency"]["score"].endswith("you 2")
    # Reasons are the annotators' own words; beside them nobody is named.
    text = json.dumps(sent).replace("says ann", "").replace("says zoe", "")
    assert not [person for person in BLIND if person in text]
    state = shown(db, "discuss", bob)
    by_unit = {
        tuple((one.source, one.score) for one in state.items[unit][0].shown_answers[:1]) for unit in units(db)
    }
    assert {who for ((who, _),) in by_unit} > {"A"}, "a letter does not follow somebody over items"
    assert {one.rater for one in answers.blind(db, "s")} == {ann, bob, zoe}


def test_who_is_left_out_is_not_shown(db):
    second.show_others(db, "s", True)
    ann, bob, _ = (rate(db, person) for person in BLIND)
    exclusions.exclude(db, "s", "bob", "Rates at random")
    assert {len(of[0].shown_answers) for of in shown(db, "discuss", ann).items.values()} == {1}
    exclusions.include(db, "s", "bob", "After all")
    annotation_flow.begin(db, "discuss", "s", bob)
    second.show_others(db, "s", False)
    with pytest.raises(NotAllowed, match="Answers are shown when all annotators"):
        annotation_flow.begin(db, "discuss", "s", ann)
    assert ShownAnswersDesk("discuss", "s", "bob").moving(db, None).items == []


def test_which_judge(db):
    assert second.judges_of(db, "s") == {"j": Rater("j", "judge", "v1")}
    with pytest.raises(NotFound, match="“k”"):
        second.show_judge(db, "s", "k")
    second.show_judge(db, "s", "j")
    assert second.judge_of(stored.get(db, "s")) == Rater("j", "judge", "v1")
    second.show_judge(db, "s", "")
    assert annotation_flow.look(db, "revise", "s", access.annotator_id(db, "ann")) is None


def test_the_command(workspace, run):
    assert "once all have rated" in run(workspace, "study", "reveal", "s", "--others").output
    assert "scores of j are shown" in run(workspace, "study", "reveal", "s", "--judge", "j").output
    with workspace.write() as db:
        ann, *_ = (rate(db, person) for person in BLIND)
        annotation_flow.begin(db, "discuss", "s", ann)
        annotation_flow.answer(db, "discuss", "s", ann, units(db)[0], "fluency", 2, "Too high?")
    assert run(workspace, "study", "reveal", "s").exit_code == 1
    assert "Too high?" in run(workspace, "export", "apart", "--study", "s").output
    assert "no longer" in run(workspace, "study", "reveal", "s", "--no-others").output
    with workspace.read() as db:
        assert annotation_flow.look(db, "discuss", "s", ann) is None


def test_anchoring_by_hand(db):
    """ann's distances to the judge are 2, 0, 2, −2, −1, 0, 2, −3, and changes 2, 1, 1, 0, −1, 0, 0, −1."""
    second.show_judge(db, "s", "j")
    nobody = "on Fluency has no figures: no annotator answered again after seeing only a judge's score."
    again = {"ann": [3, 3, 4, 4, 4, 3, 2, 3], "bob": BLIND["bob"]}
    raters = {person: rate(db, person) for person in again}
    assert agreement_report(db, "s").missing_sections(["anchoring"]) == [f"Section anchoring {nobody}"]
    for person, scores in again.items():
        annotation_flow.begin(db, "revise", "s", raters[person])
        for unit, score in zip(units(db), scores, strict=True):
            annotation_flow.answer(db, "revise", "s", raters[person], unit, "fluency", score)
    [table] = agreement_report(db, "s").tables_of(["anchoring"], "fluency")
    ann, bob = table.rows
    # Three answers of eight are kept; changes add up to 2.
    assert (ann["n"], ann["exact"].value, ann["difference"].value) == (8, 3 / 8, 2 / 8)
    # Σ change · distance = 4 + 0 + 2 + 0 + 1 + 0 + 0 + 3; Σ distance² = 4 + 0 + 4 + 4 + 1 + 0 + 4 + 9.
    assert ann["share"].value == pytest.approx(10 / 26)
    assert (bob["exact"].value, bob["share"].value) == (1, 0)
    assert agreement_report(db, "s").as_json()["sections"]["fluency"]["anchoring"]


def test_what_was_answered_in_sight_of_others_is_not_anchoring(db):
    second.show_judge(db, "s", "j")
    second.show_others(db, "s", True)
    ann, *_ = (rate(db, person) for person in BLIND)
    annotation_flow.begin(db, "revise", "s", ann)
    assert not shown(db, "discuss", ann).is_open, "others' answers are shown by an act of their own"
    for unit, score in zip(units(db), JUDGE, strict=True):
        annotation_flow.answer(db, "revise", "s", ann, unit, "fluency", score)
    time.sleep(0.005)
    annotation_flow.begin(db, "discuss", "s", ann)
    time.sleep(0.005)
    annotation_flow.answer(db, "revise", "s", ann, units(db)[0], "fluency", 2)
    [table] = agreement_report(db, "s").tables_of(["anchoring"], "fluency")
    [row] = table.rows
    assert (row["n"], row["share"].value) == (7, 1)
    assert "after the other annotators' answers were shown are excluded" in table.notes[0]
    assert len(answers.answers(db, "s", "revise")) == 8, "it is kept"


def test_an_item_is_done_with_its_last_answer(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "three")
    names = ("fluency", "wit", "depth")
    with workspace.write() as db:
        stored.create(db, stored.Study("s", tuple(Criterion(name, f"{name}.") for name in names)))
        number = conversations.save(db, Conversation("x", "k", "p", SAID))
        [item] = stored.add_units(db, "s", [(number, None, "")])
        studies.invite(db, ["ann"])
        dealing.deal_study(db, "s", ["ann"])
        given = tuple(Rating(Unit("k"), name, 3, "because") for name in names)
        ratings.save_judgement(db, Judgement("j", "k", Rater("j", "judge", "v1"), given))
        rater = access.annotator_id(db, "ann")
        for name in names:
            placements.answer(db, rater, placements.find_id(db, rater, item), name, 2)
        placements.submit(db, rater, placements.find_id(db, rater, item))
        second.show_judge(db, "s", "j")
        annotation_flow.begin(db, "revise", "s", rater)

        def state() -> list[str]:
            return [one.state for one in placements.placed(db, "s", ["revise"])]

        for n, name in enumerate(names):
            assert (state(), len(answers.answers(db, "s", "revise"))) == (["open"], 0)
            annotation_flow.answer(db, "revise", "s", rater, item, name, 3)
            held = [one for one in shown(db, "revise", rater).items[item] if one.answer]
            assert len(held) == n + 1, "what was answered is there at the next visit"
        assert (state(), len(answers.answers(db, "s", "revise"))) == (["done"], 3)
        annotation_flow.answer(db, "revise", "s", rater, item, "wit", None)
        assert state() == ["open"]
