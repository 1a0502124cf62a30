"""Calibration: others' answers are shown without names once one's own are locked, and count nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.errors import NotAllowed, StudyError
from concord.rating import Criterion
from concord.store import access, conversations, desk, exclusions, frames, informed, placements
from concord.store import studies as stored
from concord.studies import dealing, studies
from concord.studies.purposes import discuss
from concord.workspace import Workspace
from pages.desk.form import DeskEvent
from pages.desk.informed import RoundDesk

SAID = (Message("user", "a"), Message("assistant", "b"))
GIVEN = {"ann": [1, 2, 3], "bob": [5, 4, 3], "zoe": [2, 2, 2]}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Three items dealt to three annotators."""
    workspace = Workspace.open(tmp_path / "workspace")
    with workspace.write() as db:
        asked = Criterion("fluency", "It is fluent.", reason="optional")
        stored.create(db, stored.Study("s", (asked,)))
        ids = [conversations.save(db, Conversation("x", f"k{i}", "p", SAID)) for i in range(3)]
        stored.add_units(db, "s", [(i, None, "") for i in ids])
        studies.invite(db, [*GIVEN])
        dealing.deal_study(db, "s", [*GIVEN])
    return workspace


@pytest.fixture
def db(workspace: Workspace):
    with workspace.write() as opened:
        yield opened


def units(db: Database) -> list[int]:
    return [unit["id"] for unit in stored.units(db, "s")]


def rate(db: Database, person: str, count: int = 3) -> int:
    rater = access.annotator_id(db, person)
    for unit, score in [*zip(units(db), GIVEN[person], strict=True)][:count]:
        item = placements.find_id(db, rater, unit)
        placements.answer(db, rater, item, "fluency", score, f"says {person}")
        placements.submit(db, rater, item)
    return rater


def test_it_opens_when_all_are_done_and_locks_ones_own(db):
    ann = rate(db, "ann")
    assert discuss.discussion(db, "s", ann) is None
    discuss.set_round(db, "s", "all")
    rate(db, "bob")
    rate(db, "zoe", 2)
    with pytest.raises(NotAllowed, match="1 others have items to rate"):
        discuss.begin(db, "s", ann)
    with pytest.raises(NotAllowed, match="your other 1 items first"):
        discuss.begin(db, "s", access.annotator_id(db, "zoe"))
    work = RoundDesk("discuss", "s", ann)
    assert work.moving(db, None).items == []
    rate(db, "zoe")
    assert work.moving(db, None).items == [], "nothing is sent before one's own answers are locked"
    before = frames.frame(db, "s")
    discuss.begin(db, "s", ann)
    event = {"n": 1, "item": units(db)[0], "do": "answer", "criterion": "fluency", "score": 5}
    [refused] = desk.apply(db, ann, "tab", [event])[1]
    assert "your answers are locked" in refused.message
    moving = work.moving(db, None)
    assert [len(moving.items), [state for _, state, _ in moving.strip]] == [3, ["open"] * 3]
    about = {"do": "answer", "criterion": "comment", "score": 1}
    work.apply(db, DeskEvent(item=moving.items[0]["id"], text=" Is 5 not too much? ", **about))
    work.apply(db, DeskEvent(item=moving.items[1]["id"], text="", **about))
    assert [state for _, state, _ in work.moving(db, None).strip] == ["done", "done", "open"]
    work.apply(db, DeskEvent(item=moving.items[1]["id"], do="time", seconds=2.5))
    stored = "SELECT state, seconds FROM placements WHERE purpose = 'discuss' ORDER BY item_id"
    assert db.execute(stored).fetchall() == [("done", 0), ("done", 2.5), ("open", 0)]
    [seen] = work.moving(db, [moving.items[0]["id"]]).items
    assert (seen["answers"], seen["reasons"]) == ({"comment": 1}, {"comment": "Is 5 not too much?"})
    assert before.equals(frames.frame(db, "s"))
    with pytest.raises(StudyError, match="seen others' answers"):
        dealing.deal_study(db, "s", ["ann"])


def test_answers_and_comments_have_letters_and_no_names(db):
    discuss.set_round(db, "s", "now")
    ann, bob, zoe = (rate(db, person) for person in GIVEN)
    for rater in (ann, bob):
        discuss.begin(db, "s", rater)
    first = units(db)[0]
    discuss.comment(db, "s", ann, first, "Is 5 not too much?")
    found = discuss.discussion(db, "s", bob)
    assert found is not None
    letters = found.letters(first)
    assert sorted(letters.values()) == ["A", "B", "C"]
    [answers] = found.answers(first)
    assert answers.own == 5
    assert {letter: one.score for letter, one in answers.others} == {letters[ann]: 1, letters[zoe]: 2}
    assert found.said(first) == [(letters[ann], "Is 5 not too much?")]
    shown = RoundDesk("discuss", "s", bob).moving(db, None).items[0]
    (label, scores), *_, comment = shown["beside"]["comment"]["said"]
    assert (label, comment) == ("Fluency", (letters[ann], "Is 5 not too much?"))
    assert scores.endswith("you 5")
    assert f"{letters[ann]} 1" in scores
    # Reasons are the annotators' own words; beside them nobody is named.
    told = json.dumps(shown).replace("says ann", "").replace("says zoe", "")
    assert not [person for person in GIVEN if person in told]
    by_unit = {tuple(sorted(found.letters(unit).items())) for unit in units(db)}
    assert len(by_unit) > 1, "a letter does not follow somebody over items"
    [row] = discuss.comments_table(db, "s").rows
    assert (row["item"], row["annotator"], row["comment"]) == ("k0", "ann", "Is 5 not too much?")
    discuss.comment(db, "s", ann, first, None)
    assert informed.answers(db, "s", "discuss") == []


def test_who_has_not_begun_or_is_left_out(db):
    discuss.set_round(db, "s", "now")
    ann, bob = rate(db, "ann"), rate(db, "bob")
    with pytest.raises(NotAllowed, match="not shown to you"):
        discuss.comment(db, "s", ann, units(db)[0], "x")
    exclusions.exclude(db, "s", "bob", "Rates at random")
    found = discuss.discussion(db, "s", ann)
    assert found is not None
    assert found.items == [], "nobody else's answers count"
    exclusions.include(db, "s", "bob", "After all")
    discuss.begin(db, "s", bob)
    discuss.set_round(db, "s", "")
    with pytest.raises(NotAllowed, match="nobody sees"):
        discuss.begin(db, "s", ann)
    assert RoundDesk("discuss", "s", bob).moving(db, None).items == []


def test_the_command(workspace, run):
    assert "once all have rated everything" in run(workspace, "study", "discuss", "s", "--after-all").output
    with workspace.write() as db:
        ann, *_ = (rate(db, person) for person in GIVEN)
        discuss.begin(db, "s", ann)
        discuss.comment(db, "s", ann, units(db)[0], "Too high?")
    assert "Too high?" in run(workspace, "study", "discuss", "s").output
    assert run(workspace, "study", "discuss", "s", "--now", "--off").exit_code == 1
    assert "are not shown any more" in run(workspace, "study", "discuss", "s", "--off").output
