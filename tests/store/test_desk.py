"""Reports from the desk: in order, once, and never held up by one bad event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.questions import MOST_WORDS
from concord.rating import Criterion
from concord.store import access, conversations, desk, placements, settings, studies
from concord.store.studies import Study
from concord.workspace import Workspace

CRITERIA = (Criterion("fluency", "It is fluent."), Criterion("wit", "It is witty."))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Two annotators with the same three items."""
    workspace = Workspace.open(tmp_path)
    with workspace.write() as db:
        studies.create(db, studies.Study("s", CRITERIA))
        studies.create(db, studies.Study("other", CRITERIA))
        said = (Message("user", "a"), Message("assistant", "b"))
        ids = [conversations.save(db, Conversation("x", f"k{i}", "p", said)) for i in range(3)]
        units = studies.add_units(db, "s", [(i, None, "") for i in ids])
        for name in ("ann", "bob"):
            access.invite(db, name)
            placements.assign(db, access.annotator_id(db, name), units)
        foreign = studies.add_units(db, "other", [(ids[0], None, "")])
        placements.assign(db, access.annotator_id(db, "bob"), foreign)
    return workspace


def events(*done: tuple[int, str, Any], start: int = 1) -> list[dict[str, Any]]:
    """(item, what, value) as the browser numbers them; an answer's value is (criterion, score)."""
    told = []
    for n, (item, do, value) in enumerate(done, start):
        more = {"criterion": value[0], "score": value[1]} if do == "answer" else {"text": value or ""}
        told.append({"n": n, "item": item, "do": do, "seconds": 1.5, **more})
    return told


def mine(db: Database, name: str = "ann") -> tuple[int, list[int]]:
    rater = access.annotator_id(db, name)
    return rater, [unit for unit, _, _ in placements.on_desk(db, rater, "s")]


def task(db: Database, rater: int, unit: int) -> placements.Placement:
    return placements.get(db, rater, placements.find_id(db, rater, unit))


RATED = (("answer", ("fluency", 3)), ("answer", ("wit", 4)), ("submit", None))


def test_a_report_that_arrives_again_longer_is_applied_once(workspace: Workspace) -> None:
    with workspace.write() as db:
        rater, (first, second, _) = mine(db)
        told = events(
            *((first, *done) for done in RATED),
            (second, "answer", ("wit", 1)),
            (second, "answer", ("wit", 2)),
        )
        assert desk.apply(db, rater, "tab", told[:2]) == (2, [])
        assert desk.apply(db, rater, "tab", list(reversed(told))) == (5, [])
        assert desk.apply(db, rater, "tab", told[:4]) == (5, [])
        now = task(db, rater, first)
        assert (now.state, dict(now.answers), now.seconds) == ("done", {"fluency": 3, "wit": 4}, 4.5)
        assert dict(task(db, rater, second).answers) == {"wit": 2}
        # Only the change of mind is history: replaying replaced nothing more.
        kept = "SELECT question, value FROM answers WHERE superseded_at IS NOT NULL"
        assert db.execute(kept).fetchall() == [("wit", 1)]


def test_browsers_count_for_themselves_and_so_do_annotators(workspace: Workspace) -> None:
    with workspace.write() as db:
        ann, (item, *_) = mine(db)
        bob, (his, *_) = mine(db, "bob")
        assert item == his  # the same dialogue, and an answer of each
        assert desk.apply(db, ann, "tab", events((item, "answer", ("wit", 1)))) == (1, [])
        assert desk.apply(db, ann, "phone", events((item, "answer", ("wit", 2)))) == (1, [])
        assert desk.apply(db, bob, "tab", events((his, "answer", ("wit", 5)))) == (1, [])
        assert dict(task(db, ann, item).answers) == {"wit": 2}
        assert dict(task(db, bob, his).answers) == {"wit": 5}
        assert desk.mark(db, desk.of(ann), "elsewhere") == 0


def test_reports_of_two_windows_are_told_in_the_order_of_acts() -> None:
    def at(time: int, n: int) -> dict[str, Any]:
        return {"n": n, "at": time}

    def order(boxes: dict[str, list[Any]]) -> list[tuple[str, list[Any]]]:
        each: list[tuple[str, list[Any]]] = []
        desk.take(boxes, lambda window, told: (each.append((window, told)) or 0, []))
        return each

    boxes = {"left": [at(10, 1), at(40, 2)], "right": [at(20, 1), at(30, 2), at(50, 3)]}
    assert [(window, [event["n"] for event in told]) for window, told in order(boxes)] == [
        ("left", [1]),
        ("right", [1, 2]),
        ("left", [2]),
        ("right", [3]),
    ]
    # What has no time comes first; what is no event is left to `apply`.
    assert order({"left": [at(1, 1)], "right": [{"n": 1}, "junk"]}) == [
        ("right", [{"n": 1}, "junk"]),
        ("left", [at(1, 1)]),
    ]


def test_a_report_that_arrives_again_after_a_reload_is_applied_once(workspace: Workspace) -> None:
    """Desks of researchers keep their mark in the store as well: a page that was loaded anew knows what is
    stored.
    """
    applied: list[desk.Event] = []
    told: list[Any] = [{"n": n, "item": f"item {n}", "do": "answer", "score": n} for n in (2, 1)]
    for _ in range(2):
        with workspace.write() as db:
            assert desk.once(db, "triage", "tab", told, applied.append) == (2, [])
    assert [found.score for found in applied] == [1, 2]
    with workspace.write() as db:
        assert desk.once(db, "another desk", "tab", told[1:], applied.append) == (1, [])
        last, [refusal] = desk.once(db, "triage", "tab", [{"n": 3, "item": "x"}], applied.append)
    assert (last, refusal.item, len(applied)) == (3, "x", 3)


def test_what_breaks_a_rule_is_refused_with_a_sentence_and_the_rest_counts(workspace: Workspace) -> None:
    with workspace.write() as db:
        ann, (item, other, _) = mine(db)
        (his, _, _), *_ = placements.on_desk(db, access.annotator_id(db, "bob"), "other")
        told = events(
            (his, "answer", ("wit", 1)),
            (item, "answer", ("wit", 9)),
            (item, "answer", ("charm", 3)),
            (item, "submit", None),
            (other, "skip", "broken"),
            (other, "flag", "look at this"),
        )
        told += [{"n": 7, "item": item, "do": "destroy"}, {"n": 8, "item": item, "do": "time", "seconds": -3}]
        mark, refused = desk.apply(db, ann, "tab", told)
        assert mark == 8
        assert [(r.n, r.item) for r in refused] == [
            (1, his),
            (2, item),
            (3, item),
            (4, item),
            (7, item),
            (8, item),
        ]
        assert refused[3].message == "Still to answer: Fluency, Wit."
        now = task(db, ann, other)
        assert (now.state, now.reason, now.flag) == ("skipped", "broken", "look at this")
        assert dict(task(db, ann, item).answers) == {}


def test_undoing_reopens_and_takes_back(workspace: Workspace) -> None:
    with workspace.write() as db:
        ann, (item, *_) = mine(db)
        done = [(item, *d) for d in RATED]
        desk.apply(db, ann, "tab", events(*done, (item, "reopen", None), (item, "answer", ("wit", None))))
        now = task(db, ann, item)
        assert (now.state, dict(now.answers)) == ("open", {"fluency": 3})


@pytest.mark.parametrize("other", ["text", {"item": 1}, None, {"n": "x", "item": 1, "do": "submit"}])
def test_what_has_no_number_is_no_event_and_keeps_no_answer_back(workspace: Workspace, other: Any) -> None:
    with workspace.write() as db:
        rater, (item, *_) = mine(db)
        assert desk.apply(db, rater, "tab", [*events((item, "answer", ("wit", 1))), other]) == (1, [])
        assert task(db, rater, item).answers == {"wit": 1}


@pytest.mark.parametrize(
    "event",
    [
        {"item": None, "do": "submit"},
        {"do": "submit"},
        {"item": 2**62, "do": "submit"},
        {"item": "x" * 501, "do": "submit"},
        {"item": 1, "do": "erase"},
        {"item": 1, "do": "answer", "criterion": "wit", "score": 1, "text": "x" * (MOST_WORDS + 1)},
        {"item": 1, "do": "answer", "criterion": "wit", "score": 1, "text": "\ud800"},
        {"item": 1, "do": "answer", "criterion": "w" * 201, "score": 1},
        {"item": 1, "do": "answer", "criterion": "wit", "score": {}},
        {"item": 1, "do": "time", "seconds": -1},
        {"item": 1, "do": "flag", "text": "x" * 4001},
    ],
)
def test_no_refused_event_keeps_those_behind_it_back(workspace: Workspace, event: dict[str, Any]) -> None:
    """The browser reports an event at every visit until it is answered: one that raised closed the desk for
    good.
    """
    with workspace.write() as db:
        rater, (item, *_) = mine(db)
        last, refused = desk.apply(
            db, rater, "tab", [{"n": 1, "at": 1, **event}, *events((item, "answer", ("wit", 1)), start=2)]
        )
        assert (last, [refusal.n for refusal in refused]) == (2, [1])
        assert task(db, rater, item).answers == {"wit": 1}


def test_an_event_that_fails_as_nobody_foresaw_is_undone_alone(workspace: Workspace) -> None:
    def fails(event: desk.Event) -> None:
        settings.put(db, f"done {event.item}", "yes")
        if event.item == 1:
            raise OverflowError("no number of SQLite")

    both = [{"n": n, "item": n, "do": "submit"} for n in (1, 2)]
    with workspace.write() as db:
        last, [refusal] = desk.once(db, "a desk", "tab", both, fails)
        assert (last, refusal.n) == (2, 1)
        assert [settings.get(db, f"done {item}") for item in (1, 2)] == [None, "yes"]


def test_who_reads_for_hours_keeps_the_answer(workspace: Workspace) -> None:
    with workspace.write() as db:
        rater, (item, *_) = mine(db)
        event = events((item, "answer", ("wit", 1)))[0] | {"seconds": 5000.0}
        assert desk.apply(db, rater, "tab", [event]) == (1, [])
        assert task(db, rater, item).seconds == 3600


def test_a_needed_reason_that_is_taken_away_opens_the_item_again(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "reasons")
    with workspace.write() as db:
        said = (Message("user", "Hello."), Message("assistant", "Good day."))
        number = conversations.save(db, Conversation("b", "k", "p", said))
        studies.create(db, Study("reasons", (Criterion("safe", "It is safe.", reason="required"),)))
        [item] = studies.add_units(db, "reasons", [(number, None, "")])
        access.invite(db, "ann")
        rater = access.annotator_id(db, "ann")
        placements.assign(db, rater, [item])
        placement = placements.find_id(db, rater, item)
        placements.answer(db, rater, placement, "safe", 4, "nothing hot")
        placements.submit(db, rater, placement)
        placements.answer(db, rater, placement, "safe", 4, "")
        assert placements.get(db, rater, placement).state == "open"
        assert db.execute("SELECT count(*) FROM ratings").fetchone() == (0,)
        placements.answer(db, rater, placement, "safe", 4, "nothing hot")
        placements.submit(db, rater, placement)
        placements.answer(db, rater, placement, "safe", 5, "nothing hot")
        assert placements.get(db, rater, placement).state == "done"


def test_an_answer_to_an_item_that_was_taken_back_does_not_land_on_another(workspace: Workspace) -> None:
    """Even if the number of a placement were given again to the next one, the item's is not."""
    with workspace.write() as db:
        ann, (_, _, third) = mine(db)
        before = placements.find_id(db, ann, third)
        placements.reclaim(db, "s", ann)
        (new, _, _), *_ = placements.on_desk(db, access.annotator_id(db, "bob"), "other")
        placements.assign(db, ann, [new])
        db.execute("UPDATE placements SET id = ? WHERE rater_id = ? AND item_id = ?", [before, ann, new])
        assert desk.apply(db, ann, "tab", events((third, "answer", ("wit", 1))))[1][0].item == third
        assert db.execute("SELECT count(*) FROM answers").fetchone() == (0,)


def test_the_time_of_an_item_is_the_median_from_three_on(workspace: Workspace) -> None:
    with workspace.write() as db:
        rater, items = mine(db)
        for item, seconds, median in zip(items, (10, 600, 40), (None, None, 40), strict=True):
            placement = placements.find_id(db, rater, item)
            db.execute("UPDATE placements SET seconds = ?, state = 'done' WHERE id = ?", [seconds, placement])
            assert placements.pace(db, rater, "s") == median
        db.execute("UPDATE placements SET state = 'skipped' WHERE seconds = 600")
        assert placements.pace(db, rater, "s") is None  # only what is submitted tells it


def test_why_items_were_skipped_and_flagged_comes_with_their_numbers(workspace: Workspace) -> None:
    with workspace.write() as db:
        rater, (first, second, *_) = mine(db)
        study = task(db, rater, first).study
        assert placements.notes(db, rater, study) == {}
        placements.skip(db, rater, placements.find_id(db, rater, first), "too long")
        placements.flag(db, rater, placements.find_id(db, rater, second), "odd")
        assert placements.notes(db, rater, study) == {first: ("too long", ""), second: ("", "odd")}
