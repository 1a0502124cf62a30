"""People of a crowd platform: who is let in, what each gets, what becomes of it, and what is owed."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from concord import messages
from concord.codes import AuditAct, CrowdOutcome
from concord.conversation import Conversation, Message
from concord.errors import StudyError
from concord.rating import Criterion
from concord.store import (
    access,
    acts,
    conversations,
    crowds,
    desk,
    frames,
    known,
    placements,
    progress,
    sessions,
)
from concord.store import studies as stored
from concord.store.crowds import Crowd, Visitor
from concord.store.sessions import LinkRefused
from concord.studies import crowd, dealing, running, studies
from concord.studies.purposes import training
from concord.workspace import Workspace
from pages.desk import sent

SAID = (Message("user", "a"), Message("assistant", "b"))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Twelve items, each for two people; the link is for four people with four items each."""
    made = Workspace.open(tmp_path / "workspace")
    with made.write() as db:
        stored.create(db, stored.Study("s", (Criterion("fluency", "It is fluent."),), overlap=2))
        ids = [conversations.save(db, Conversation("x", f"k{i}", "p", SAID)) for i in range(12)]
        stored.add_units(db, "s", [(i, None, "") for i in ids])
        crowd.open_link(db, Crowd("s", "prolific", 4, 4, 60, "C0DE"), "https://example.org/")
    return made


def test_nobody_is_promised_more_items_than_there_are(workspace):
    with workspace.write() as db:
        crowd.open_link(db, Crowd("s", "mturk", 4, 40, 60), "https://example.org/")
        assert crowds.of_study(db, "s").items == 12


def came(number: int, submission: str = "") -> Visitor:
    return Visitor(f"p{number}", submission or f"s{number}", "t1")


def enter(db, number: int, submission: str = "") -> crowds.Worker:
    link = crowds.of_study(db, "s")
    assert link is not None
    return crowd.enter(db, link, came(number, submission))


def rate(db, rater: int, count: int = 99, *, submit: bool = True) -> None:
    for unit, state, _ in [*placements.on_desk(db, rater, "s")][:count]:
        if state == "open":
            n = desk.mark(db, desk.of(rater), "tab") + 1
            told = [{"n": n, "item": unit, "do": "answer", "criterion": "fluency", "score": 4}]
            told += [{"n": n + 1, "item": unit, "do": "submit", "seconds": 30}] if submit else []
            assert not desk.apply(db, rater, "tab", told)[1]


def refused(db, number: int, submission: str = "") -> str:
    with pytest.raises(LinkRefused) as error:
        enter(db, number, submission)
    return error.value.reason


def over(db, number: int) -> None:
    """Let somebody's time be over."""
    db.execute("UPDATE crowd_workers SET expires = '2000' WHERE worker = ?", [f"p{number}"])


def dealt(db) -> Counter[int]:
    return Counter(unit for unit, *_ in placements.queues(db, "s"))


def test_each_gets_a_share_and_finds_it_again(workspace):
    with workspace.write() as db:
        first = enter(db, 1)
        assert (first.name, first.open) == ("prolific p1", 0)  # as it was before the share was dealt
        mine = [unit for unit, _, _ in placements.on_desk(db, first.rater, "s")]
        assert len(mine) == 4
        rate(db, first.rater, 1)
        assert enter(db, 1).rater == first.rater
        assert [unit for unit, _, _ in placements.on_desk(db, first.rater, "s")] == mine
        for number in (2, 3):
            enter(db, number)
        assert set(dealt(db).values()) == {1}  # 3 × 4 of 12 items: nobody has what another one has
        assert len(dealt(db)) == 12
        enter(db, 4)
        assert sorted(dealt(db).values()) == [1] * 8 + [2] * 4


def test_two_visits_at_once_make_one_annotator_with_one_share(workspace):
    found, barrier = [], threading.Barrier(8)

    def visit(number: int) -> None:
        barrier.wait()
        with workspace.write() as db:
            found.append(enter(db, number).rater)

    visits = [threading.Thread(target=visit, args=(number % 2,)) for number in range(8)]
    for one in visits:
        one.start()
    for one in visits:
        one.join()
    assert len(found) == 8
    assert len(set(found)) == 2
    with workspace.read() as db:
        assert [one.open for one in crowds.workers(db, "s")] == [4, 4]


def test_by_the_link_of_another_study_nobody_comes_to_a_desk(workspace):
    with workspace.write() as db:
        access.invite(db, "prolific p2")
        first = enter(db, 1)
        assert enter(db, 2).rater != access.annotator_id(db, "prolific p2")
        stored.create(db, stored.Study("other", stored.get(db, "s").criteria))
        stored.add_units(db, "other", [(u["conversation_id"], None, "") for u in stored.units(db, "s")])
        other = Crowd("other", "prolific", 4, 4, 60)
        crowd.open_link(db, other, "https://example.org/")
        second = crowd.enter(db, other, came(1))
        assert placements.on_desk(db, first.rater, "s")
        assert placements.on_desk(db, second.rater, "s") == []
        assert [one.worker for one in crowds.workers(db, "other")] == ["p1"]
        assert crowd.enter(db, other, came(1)).rater == second.rater


def test_no_more_than_the_quota(workspace):
    with workspace.write() as db:
        for number in range(4):
            enter(db, number)
        assert refused(db, 5) == "full"
        assert enter(db, 2).worker == "p2"


def test_no_item_has_more_raters_than_the_overlap(workspace):
    with workspace.write() as db:
        crowd.open_link(db, Crowd("s", "prolific", 50, 10, 60), "https://example.org/")
        sizes = []
        for number in range(3):
            sizes.append(len([*placements.on_desk(db, enter(db, number).rater, "s")]))
        assert sizes == [10, 10, 4]  # 24 places
        assert set(dealt(db).values()) == {2}
        assert refused(db, 4) == "full"


def test_a_link_that_would_let_nobody_in_is_refused(workspace):
    link = Crowd("s", "prolific", 4, 4, 60)
    with workspace.write() as db:
        studies.invite(db, ["ann", "bob"], "https://example.org")
        studies.deal_study(db, "s", ["ann", "bob"])
        with pytest.raises(StudyError, match="deal s --overlap 0"):
            crowd.open_link(db, link, "https://example.org/")
        studies.deal_study(db, "s", overlap=0)
        crowd.open_link(db, link, "https://example.org/")
        assert enter(db, 1).worker == "p1"


def test_a_link_is_made_anew_while_items_may_come_back(workspace):
    link = Crowd("s", "prolific", 9, 12, 60)
    with workspace.write() as db:
        crowd.open_link(db, link, "https://example.org/")
        people = [enter(db, number) for number in (1, 2)]
        assert refused(db, 3) == "full"
        crowd.open_link(db, link, "https://example.org/")
        for one in people:
            rate(db, one.rater)
        with pytest.raises(StudyError, match="can take another rater"):
            crowd.open_link(db, link, "https://example.org/")


def test_items_not_begun_in_time_go_to_others_and_answers_stay(workspace):
    with workspace.write() as db:
        late = enter(db, 1)
        rate(db, late.rater, 1)
        [_, second, *_] = placements.on_desk(db, late.rater, "s")
        placements.answer(db, late.rater, placements.find_id(db, late.rater, second[0]), "fluency", 2)
        over(db, 1)
        for number in (2, 3, 4, 5):  # the place is free again
            enter(db, number)
        assert [state for _, state, _ in placements.on_desk(db, late.rater, "s")] == ["done", "open"]
        assert len(frames.frame(db, "s")) == 1
        assert enter(db, 1).state == "timed out"  # to finish what was begun
        rate(db, late.rater)
        assert len(frames.frame(db, "s")) == 2
        assert refused(db, 1) == "over"
        end = crowd.ending(db, "s", late.rater)
        assert end is not None
        assert (end["code"], end["link"], end["dealt"]) == ("", "", 4)
        assert crowds.expire(db, "s") == []


def test_who_finished_in_time_is_not_timed_out(workspace):
    with workspace.write() as db:
        one = enter(db, 1)
        rate(db, one.rater)
        over(db, 1)
        assert crowds.expire(db, "s") == []
        assert enter(db, 1).state == "finished"


def test_the_code_comes_with_the_last_item(workspace):
    with workspace.write() as db:
        one, study = enter(db, 1), stored.get(db, "s")
        rate(db, one.rater, 3)
        assert sent.moving(db, one.rater, study, [], [])["finished"] is None
        rate(db, one.rater)
        told = sent.moving(db, one.rater, study, [], [])["finished"]
        link = "https://app.prolific.com/submissions/complete?cc=C0DE"
        assert told == {"code": "C0DE", "link": link, "dealt": 0}
        studies.invite(db, ["ann", "bob"], "https://example.org")
        studies.deal_study(db, "s", ["ann", "bob"])
        ann = access.annotator_id(db, "ann")
        rate(db, ann)
        assert sent.moving(db, ann, study, [], [])["finished"] is None


def test_without_a_code_everybody_has_one(workspace):
    with workspace.write() as db:
        crowd.open_link(db, Crowd("s", "mturk", 4, 4, 60), "https://example.org/")
        codes = {enter(db, number).code for number in range(4)}
    assert len(codes) == 4
    assert all(len(code) == 8 for code in codes)


def test_another_submission_of_a_known_number_is_refused(workspace):
    with workspace.write() as db:
        enter(db, 1)
        assert refused(db, 1, "other") == "twice"
        assert len(crowds.workers(db, "s")) == 1


def test_a_deal_leaves_shares_as_they_are(workspace):
    with workspace.write() as db:
        one = enter(db, 1)
        mine = [unit for unit, _, _ in placements.on_desk(db, one.rater, "s")]
        studies.invite(db, ["ann", "bob"], "https://example.org")
        studies.deal_study(db, "s", ["ann", "bob"])
        assert [unit for unit, _, _ in placements.on_desk(db, one.rater, "s")] == mine
        assert set(dealt(db).values()) == {2}


def test_hidden_items_are_among_them_and_have_to_be_done(workspace):
    with workspace.write() as db:
        spare = conversations.save(db, Conversation("x", "gold", "p", SAID))
        known.set_gold(db, "s", [known.Gold(known.UnitKey(spare, None), "fluency", 4)])
        one = enter(db, 1)
        assert len([*placements.on_desk(db, one.rater, "s")]) == 5
        rate(db, one.rater)
        assert crowd.ending(db, "s", one.rater) is not None
        [worker] = crowds.workers(db, "s")
        assert worker.done == 5


def test_nobody_new_after_the_end_and_known_ones_go_on(workspace):
    with workspace.write() as db:
        enter(db, 1)
        running.close(db, "s", "enough")
        assert refused(db, 2) == "ended"
        assert enter(db, 1).worker == "p1"
        assert [act.act for act in acts.of_study(db, "s")] == [AuditAct.OPENED_TO_A_CROWD, AuditAct.CLOSED]


def test_the_address_has_the_placeholders_of_the_platform(workspace):
    with workspace.write() as db:
        address = crowd.open_link(db, Crowd("s", "prolific", 4, 4, 60), "https://example.org/")
        amazon = crowd.open_link(db, Crowd("s", "mturk", 4, 4, 60), "https://example.org/")
        token = dict(parse_qsl(urlsplit(address).query))["token"]
        assert crowds.of_token(db, token) is None, "The older link works on."
        other = crowds.of_token(db, dict(parse_qsl(urlsplit(amazon).query))["token"])
    assert address.endswith(
        "&PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID={{%SESSION_ID%}}&STUDY_ID={{%STUDY_ID%}}"
    )
    assert other is not None
    assert (other.study, other.platform) == ("s", "mturk")
    assert amazon.endswith("&workerId=${workerId}&assignmentId=${assignmentId}&hitId=${hitId}")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("PROLIFIC_PID=a", "number"),
        ("SESSION_ID=b", "number"),
        ("PROLIFIC_PID=&SESSION_ID=b", "number"),
        ("PROLIFIC_PID=a&SESSION_ID=", "number"),
        ("PROLIFIC_PID=a&PROLIFIC_PID=c&SESSION_ID=b", "number"),
        ("PROLIFIC_PID=a&SESSION_ID=b&STUDY_ID=1&STUDY_ID=2", "number"),
        ("PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID=b", "number"),
        (f"PROLIFIC_PID={'a' * 65}&SESSION_ID=b", "number"),
        ("PROLIFIC_PID=a,b&SESSION_ID=b", "number"),
        ("PROLIFIC_PID=<script>&SESSION_ID=b", "number"),
        ("PROLIFIC_PID=a%0A&SESSION_ID=b", "number"),
        ("PROLIFIC_PID=%D0%90&SESSION_ID=b", "number"),
        ("workerId=a&assignmentId=b", "number"),
    ],
)
def test_parameters_that_a_platform_would_not_send(query, reason):
    with pytest.raises(LinkRefused) as error:
        crowd.visitor("prolific", parse_qsl(query, keep_blank_values=True))
    assert error.value.reason == reason
    assert reason in sessions.REFUSED


def test_a_preview_on_mturk_is_no_visit():
    told = [("workerId", "A1"), ("assignmentId", "ASSIGNMENT_ID_NOT_AVAILABLE"), ("hitId", "h")]
    with pytest.raises(LinkRefused) as error:
        crowd.visitor("mturk", told)
    assert error.value.reason == "preview"
    told[1] = ("assignmentId", "B2")
    assert crowd.visitor("mturk", told) == Visitor("A1", "B2", "h")


@pytest.mark.parametrize("numbers", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_a_link_that_makes_no_sense(workspace, numbers):
    with workspace.write() as db:
        with pytest.raises(StudyError, match="at least 1"):
            crowd.open_link(db, Crowd("s", "prolific", *numbers), "https://example.org")
        with pytest.raises(StudyError, match="code"):
            crowd.open_link(db, Crowd("s", "prolific", 1, 1, 1, "a b"), "https://example.org")


def test_payments_rest_on_time_and_items(workspace):
    with workspace.write() as db:
        for number, count in ((1, 4), (2, 2)):
            rate(db, enter(db, number).rater, count)
        table = crowd.payments(db, "s")
    first, second = table.rows
    # 4 items of 30 s are 2 minutes.
    assert (first["minutes"], first["items"], first["state"], first["code"]) == (2, 4, "finished", "C0DE")
    assert (second["minutes"], second["items"], second["state"], second["left"]) == (1, 2, "at work", 2)
    assert table.notes == ("2 people.",)


def test_by_command(workspace, run):
    made = run(
        workspace, "crowd", "open", "s", "--platform", "mturk", "--people", 3, "--base-url", "https://e.org"
    )
    assert made.exit_code == 0, made.output
    assert made.stdout.startswith("https://e.org/rate?token=")
    with workspace.write() as db:
        rate(db, enter(db, 1).rater)
    paid = run(workspace, "crowd", "payments", "s", "--format", "csv")
    [heading, line] = paid.stdout.splitlines()[:2]
    assert dict(zip(heading.split(","), line.split(","), strict=True))["items"] == "12"
    assert "opened to a crowd by researcher" in run(workspace, "study", "show", "s").output
    with workspace.read() as db:
        assert len([i for i in progress.items(db, "s") if i.state == "done"]) == 12


def with_codes(db, **codes) -> None:
    link = Crowd("s", "prolific", 4, 4, 60, "C0DE", **codes)
    crowd.open_link(db, link, "https://example.org/")


def gold_of(db, key: str, *, attention: bool = False, explanation: str = "") -> known.Gold:
    number = conversations.save(db, Conversation("x", key, "p", SAID))
    return known.Gold(known.UnitKey(number, None), "fluency", 1, 0, explanation, attention)


@pytest.mark.parametrize(("misses", "code"), [(1, "MISSED"), (2, "MISSED"), (3, "C0DE")])
def test_who_misses_so_many_attention_checks_gets_the_code_for_that(workspace, misses, code):
    with workspace.write() as db:
        with_codes(db, failed_code="MISSED", misses=misses)
        running.set_gold(db, "s", [gold_of(db, "g1", attention=True), gold_of(db, "g2", attention=True)])
        one = enter(db, 1)
        rate(db, one.rater)  # always 4, where 1 is known: two checks missed
        assert crowd.ending(db, "s", one.rater)["code"] == code
        [row] = crowd.payments(db, "s").rows
        assert (row["missed"], row["code"]) == (2, code)


def test_missed_attention_without_a_code_ends_as_completion(workspace):
    with workspace.write() as db:
        with_codes(db, misses=1)
        running.set_gold(db, "s", [gold_of(db, "g1", attention=True)])
        one = enter(db, 1)
        rate(db, one.rater)
        assert crowd.ending(db, "s", one.rater)["code"] == "C0DE"


def test_who_fails_the_training_is_screened_out_and_the_place_is_free(workspace):
    with workspace.write() as db:
        with_codes(db, screen_out_code="OUT")
        running.set_training(db, "s", [gold_of(db, "t", explanation="why")], training.PassRule(attempts=1))
        one = enter(db, 1)
        events = [
            {"n": 1, "item": item, "do": do, **more}
            for item, *_ in placements.on_desk(db, one.rater, "s")
            for do, more in (("answer", {"criterion": "fluency", "score": 5}), ("submit", {}))
        ]
        for n, event in enumerate(events, 1):
            event["n"] = n
        assert dealing.reported(db, "s", one.rater, "tab", events)[1] == []
        assert crowd.ending(db, "s", one.rater) == {
            "code": "OUT",
            "link": "https://app.prolific.com/submissions/complete?cc=OUT",
            "dealt": 0,
        }
        assert crowd.free(db, "s") == ["prolific p1"]
        assert crowds.returned(db, "s") == {"prolific p1"}
        assert crowd.ending(db, "s", one.rater)["code"] == "OUT"
        [row] = crowd.payments(db, "s").rows
        assert row["outcome"] == messages.CROWD_OUTCOMES[CrowdOutcome.SCREENED_OUT]


@pytest.mark.parametrize("codes", [{"failed_code": "C0DE"}, {"failed_code": "two words"}, {"misses": 0}])
def test_codes_that_cannot_be_told_apart_or_sent_are_refused(workspace, codes):
    with workspace.write() as db, pytest.raises(StudyError):
        with_codes(db, **codes)
