"""Training and feedback: what opens when, what is locked, what a browser is sent, and who has passed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.errors import ImportRefused, StudyError
from concord.rating import Criterion
from concord.reports.agreement_report import agreement_report
from concord.store import access, acts, answers, conversations, desk, frames, known, placements
from concord.store import studies as stored
from concord.studies import dealing, running, studies
from concord.studies.purposes import gold, training
from concord.studies.purposes.training import PassRule
from concord.workspace import Workspace
from pages.desk import sent

SAID = (Message("user", "a"), Message("assistant", "b"))
OWN, TAUGHT = 10, 4
HEAD = "key,criterion,answer,tolerance,explanation\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Ten items dealt to two annotators; four conversations k10 to k13 beside them."""
    workspace = Workspace.open(tmp_path / "workspace")
    with workspace.write() as db:
        stored.create(db, stored.Study("s", (Criterion("fluency", "It is fluent."),)))
        ids = [conversations.save(db, Conversation("x", f"k{i}", "p", SAID)) for i in range(OWN + TAUGHT)]
        stored.add_units(db, "s", [(i, None, "") for i in ids[:OWN]])
        studies.invite(db, ["ann", "bob"])
        studies.deal_study(db, "s", ["ann", "bob"])
    return workspace


@pytest.fixture
def db(workspace: Workspace):
    with workspace.write() as opened:
        yield opened


def file(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "known.csv"
    path.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return path


LINES = [f"k{OWN + i},fluency,{i + 1},0,because **{i}**" for i in range(TAUGHT)]
"""The known answers of k10 to k13 are 1 to 4."""


def train(db: Database, tmp_path: Path, rule: PassRule) -> None:
    running.set_training(db, "s", gold.read_gold(db, "s", file(tmp_path, *LINES), "training"), rule)


def do(db: Database, person: str, item: int, *whats: str, score: float = 3) -> list[str]:
    """What events at a desk are refused with."""
    rater = access.annotator_id(db, person)
    first = desk.mark(db, desk.of(rater), "tab") + 1
    events: list[dict[str, Any]] = [
        {"n": first + i, "item": item, "do": what, "criterion": "fluency", "score": score, "text": "x"}
        for i, what in enumerate(whats)
    ]
    return [refusal.message for refusal in dealing.reported(db, "s", rater, "tab", events)[1]]


def strip(db: Database, person: str) -> list[tuple[int, str]]:
    return [(item, state) for item, state, _ in placements.on_desk(db, access.annotator_id(db, person), "s")]


def attempt(db: Database, person: str, score_of) -> None:
    """Answer every open item of a desk; the known answer of conversation k10 + i is i + 1."""
    rater = access.annotator_id(db, person)
    for item, state in strip(db, person):
        if state == "open":
            known = placements.numbered(db, rater, item).conversation_id - OWN
            assert do(db, person, item, "answer", "submit", score=score_of(known)) == []


def payload(db: Database, person: str, items: list[int]) -> dict[str, Any]:
    rater, study = access.annotator_id(db, person), stored.get(db, "s")
    numbers = desk.Numbers(db, "s", rater)
    return sent.moving(db, rater, study, [numbers.shown(item) for item in items], [])


class TestTraining:
    def test_nothing_else_is_there_before_it_is_passed(self, db, tmp_path):
        own = [item for item, _ in strip(db, "ann")]
        train(db, tmp_path, PassRule(bound=0.75))
        items = [item for item, _ in strip(db, "ann")]
        assert (len(items), set(items) & set(own)) == (4, set())
        assert payload(db, "ann", own)["items"] == [], "an item of the study is not sent"
        for what in ("answer", "skip", "reopen", "submit"):
            [refused] = do(db, "ann", own[0], what)
            assert "opens after you pass" in refused
        attempt(db, "ann", lambda known: known)  # all four are hit
        assert [item for item, _ in strip(db, "ann")] == items + own
        assert payload(db, "ann", own[:1])["training"] is None
        assert do(db, "ann", own[0], "answer", "submit") == []
        assert [item for item, _ in strip(db, "bob")] != own, "bob has not passed"
        [act] = acts.of_study(db, "s")
        assert (act.act, act.about, act.detail) == (
            "passed",
            "ann",
            "attempt 1: 4 of 4 training items right",
        )

    def test_the_known_answer_is_sent_only_after_the_own_one_which_is_locked(self, db, tmp_path):
        train(db, tmp_path, PassRule())
        [first, second, *_] = [item for item, _ in strip(db, "ann")]
        before = payload(db, "ann", [first, second])
        assert "because" not in json.dumps(before)
        assert [item["told"] for item in before["items"]] == [{}, {}]
        assert do(db, "ann", first, "answer") == []
        assert payload(db, "ann", [first])["items"][0]["told"] == {}, "an answer is not a submission"
        assert do(db, "ann", first, "submit") == []
        [shown, other] = payload(db, "ann", [first, second])["items"]
        known = placements.numbered(db, access.annotator_id(db, "ann"), first).conversation_id - OWN
        assert shown["told"] == {
            "fluency": {"answer": known, "tolerance": 0.0, "explanation": f"because **{known - 1}**"}
        }
        assert other["told"] == {}
        assert "because" not in json.dumps(payload(db, "bob", [item for item, _ in strip(db, "bob")]))
        for what in ("answer", "skip", "reopen"):
            assert do(db, "ann", first, what, score=known) == [placements.LOCKED]
        assert do(db, "ann", first, "submit") == [], "twice is as good as once"
        assert do(db, "ann", first, "flag") == []
        assert placements.numbered(db, access.annotator_id(db, "ann"), first).answers == {"fluency": 3}

    def test_a_failed_attempt_is_followed_by_another_one_and_then_by_nothing(self, db, tmp_path):
        train(db, tmp_path, PassRule(bound=0.75, attempts=2))
        attempt(db, "ann", lambda known: 1)  # one of four
        assert [state for _, state in strip(db, "ann")] == ["done"] * 4 + ["open"] * 4
        attempt(db, "ann", lambda known: min(known, 2))  # two of four
        assert [state for _, state in strip(db, "ann")] == ["done"] * 8
        rater = access.annotator_id(db, "ann")
        assert training.standing(db, "s", rater) == {"attempt": 2, "left": 0, "over": True}
        [table] = training.tables(db, "s")
        rows = table.rows
        assert [(row["annotator"], row["attempt"], row["verdict"]) for row in rows] == [
            ("ann", 1, "not passed"),
            ("ann", 2, "not passed"),
            ("bob", 1, "0 of 4 done"),
        ]
        assert [row["hits"].value for row in rows[:2]] == [1 / 4, 2 / 4]
        studies.deal_study(db, "s")
        assert len(strip(db, "ann")) == 8
        running.set_training(db, "s", (), PassRule(bound=0.75, attempts=3))
        assert [state for _, state in strip(db, "ann")] == ["done"] * 8 + ["open"] * 4

    def test_who_is_admitted_by_hand_is_recorded(self, db, tmp_path):
        train(db, tmp_path, PassRule())
        with pytest.raises(StudyError, match="needs its reason"):
            running.admit(db, "s", "ann", " ")
        running.admit(db, "s", "ann", "trained in the pilot")
        assert len(strip(db, "ann")) == OWN
        [act] = acts.of_study(db, "s")
        assert (act.act, act.about, act.by, act.detail) == (
            "admitted",
            "ann",
            "researcher",
            "trained in the pilot",
        )
        with pytest.raises(StudyError, match="open to ann already"):
            running.admit(db, "s", "ann", "again")

    def test_its_answers_are_no_ratings_and_no_gold_hits(self, db, tmp_path):
        train(db, tmp_path, PassRule(bound=1))
        attempt(db, "ann", lambda known: known)
        attempt(db, "bob", lambda known: known)
        assert db.execute("SELECT count(*) FROM ratings").fetchone() == (0,)
        for person in ("ann", "bob"):
            for item, state in strip(db, person):
                if state == "open":
                    do(db, person, item, "answer", "submit", score=1 + item % 3)
        assert len(frames.frame(db, "s")) == 2 * OWN
        report = agreement_report(db, "s")
        assert report.data.checks == ()
        assert known.checks(db, "s") == []
        assert {row["kind"] for row in answers.apart(db, "s")} == {"training"}
        assert {row["gold"] for row in answers.apart(db, "s")} == {1, 2, 3, 4}

    def test_a_newcomer_is_trained_and_who_has_begun_is_not(self, db, tmp_path):
        train(db, tmp_path, PassRule())
        studies.invite(db, ["cy"])
        studies.deal_study(db, "s", ["cy"])
        assert len(strip(db, "cy")) == 4
        running.admit(db, "s", "cy", "trained in the pilot")
        assert len(strip(db, "cy")) == OWN
        do(db, "cy", strip(db, "cy")[0][0], "answer")
        with pytest.raises(StudyError, match="cy has begun “s” already"):
            train(db, tmp_path, PassRule())

    @pytest.mark.parametrize(
        ("rule", "sentence"),
        [
            (PassRule(bound=1.5), "a share from 0 to 1"),
            (PassRule(attempts=0), "at least one attempt"),
        ],
    )
    def test_a_rule_that_cannot_be(self, db, tmp_path, rule, sentence):
        with pytest.raises(StudyError, match=sentence):
            train(db, tmp_path, rule)

    def test_items_without_explanation_or_in_both_sets_are_refused(self, db, tmp_path):
        with pytest.raises(StudyError, match="no training items yet"):
            running.set_training(db, "s", (), PassRule())
        bare = gold.read_gold(db, "s", file(tmp_path, "k10,fluency,3,0,"), "training")
        with pytest.raises(StudyError, match="1 training items have no explanation"):
            running.set_training(db, "s", bare, PassRule())
        train(db, tmp_path, PassRule())
        with pytest.raises(ImportRefused, match="line 2: “k10” is one of the study's training items"):
            gold.read_gold(db, "s", file(tmp_path, "k10,fluency,3,0,why"))


def test_the_commands(workspace, run, tmp_path):
    known = str(file(tmp_path, *LINES))
    done = run(workspace, "study", "training", "s", known, "--pass", "0.75", "--attempts", "1")
    assert done.exit_code == 0, done.output
    assert "at least 75% of the items right, 1 attempt." in done.output
    with workspace.write() as db:
        attempt(db, "ann", lambda known: known)
        attempt(db, "bob", lambda known: 5)
    shown = run(workspace, "study", "show", "s").output.partition("Training")[2]
    assert [line.split()[0] for line in shown.splitlines() if "passed" in line][:2] == ["ann", "bob"]
    assert run(workspace, "study", "admit", "s", "bob", "--reason", "a slip").exit_code == 0
    assert "admitted bob by researcher: a slip" in run(workspace, "study", "show", "s").output
    assert "or a rule" in run(workspace, "study", "training", "s").output
