"""Lock, then reveal: when the judge's scores are shown, what is locked then, and the figures of anchoring."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.errors import NotAllowed, NotFound, StudyError
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.reports.agreement_report import agreement_report
from concord.store import access, conversations, desk, frames, informed, ratings
from concord.store import studies as stored
from concord.studies import studies
from concord.studies.purposes import revise
from concord.workspace import Workspace

SAID = (Message("user", "a"), Message("assistant", "b"))
BLIND = {"ann": [1, 2, 3, 4, 5, 3, 2, 4], "bob": [2, 2, 3, 5, 4, 3, 1, 4]}
JUDGE = [3, 2, 5, 2, 4, 3, 4, 1]


@pytest.fixture
def db(tmp_path: Path):
    """Eight items that a judge rated, dealt to two annotators."""
    with Workspace.open(tmp_path / "workspace").write() as opened:
        stored.create(opened, stored.Study("s", (Criterion("fluency", "It is fluent."),)))
        ids = [conversations.save(opened, Conversation("x", f"k{i}", "p", SAID)) for i in range(8)]
        stored.add_units(opened, "s", [(i, None, "") for i in ids])
        studies.invite(opened, [*BLIND])
        studies.deal_study(opened, "s", [*BLIND])
        for i, score in enumerate(JUDGE):
            given = (Rating(Unit(f"k{i}"), "fluency", score, f"because {i}"),)
            ratings.save_judgement(opened, Judgement(f"j{i}", f"k{i}", Rater("j", "judge", "v1"), given))
        revise.set_judge(opened, "s", "j")
        yield opened


def units(db: Database) -> list[int]:
    return [unit["id"] for unit in stored.units(db, "s")]


def do(db: Database, person: str, item: int, what: str, **more: object) -> list[str]:
    """What an event at a desk is refused with."""
    rater = access.annotator_id(db, person)
    event = {"n": desk.mark(db, desk.of(rater), "tab") + 1, "item": item, "do": what, **more}
    return [refusal.message for refusal in desk.apply(db, rater, "tab", [event])[1]]


def rate(db: Database, person: str, count: int = 8) -> int:
    for unit, score in [*zip(units(db), BLIND[person], strict=True)][:count]:
        assert not do(db, person, unit, "answer", criterion="fluency", score=score)
        assert not do(db, person, unit, "submit")
    return access.annotator_id(db, person)


def test_it_is_shown_only_when_everything_is_answered(db):
    rater = rate(db, "ann", 7)
    found = revise.reveal(db, "s", rater)
    assert found is not None
    assert (found.left, found.opened) == (1, False)
    with pytest.raises(NotAllowed, match="other 1 items"):
        revise.begin(db, "s", rater)
    with pytest.raises(NotAllowed, match="not shown"):
        revise.revise(db, "s", rater, units(db)[0], "fluency", 3)
    do(db, "ann", units(db)[7], "skip", text="broken")
    revise.begin(db, "s", rater)
    found = revise.reveal(db, "s", rater)
    assert found is not None
    assert [*found.items] == units(db)[:7]
    [shown] = found.items[units(db)[0]]
    assert (shown.own, shown.judge, shown.reasons) == (1, 3, "because 0")


def test_first_answers_are_locked_and_second_ones_count_nowhere(db):
    rater = rate(db, "ann")
    rate(db, "bob")
    before = frames.frame(db, "s")
    revise.begin(db, "s", rater)
    revise.revise(db, "s", rater, units(db)[0], "fluency", 3, "convinced")
    locked = ["What others answered was shown, so your answers are locked: nothing was changed."]
    for what in ("answer", "submit", "skip", "reopen"):
        assert do(db, "ann", units(db)[0], what, criterion="fluency", score=5) == locked
    assert do(db, "ann", units(db)[0], "flag", text="odd") == []
    assert do(db, "bob", units(db)[0], "reopen") == []
    assert do(db, "bob", units(db)[0], "submit") == []
    assert before.equals(frames.frame(db, "s"))
    [second] = informed.answers(db, "s", "revise")
    assert (second.score, second.reason, second.person, second.shown) == (3, "convinced", "ann", 3)
    assert revise.reveal(db, "s", rater).done == [units(db)[0]]


def test_nothing_more_is_dealt_to_who_has_seen_it(db):
    rater = rate(db, "ann")
    revise.begin(db, "s", rater)
    with pytest.raises(StudyError, match="no answer would be blind"):
        studies.deal_study(db, "s", ["ann"])
    studies.deal_study(db, "s")
    assert revise.reveal(db, "s", rater).left == 0


def test_which_judge(db):
    assert revise.judges_of(db, "s") == {"j": Rater("j", "judge", "v1")}
    with pytest.raises(NotFound, match="“k”"):
        revise.set_judge(db, "s", "k")
    revise.set_judge(db, "s", "")
    assert revise.reveal(db, "s", access.annotator_id(db, "ann")) is None


def test_a_section_without_figures_says_why_and_on_what_there_are_some(tmp_path: Path):
    asked = (Criterion("fluency", "It is fluent."), Criterion("wit", "It is witty."))
    with Workspace.open(tmp_path / "two").write() as db:
        stored.create(db, stored.Study("s", asked))
        unit = [(conversations.save(db, Conversation("x", "k0", "p", SAID)), None, "")]
        stored.add_units(db, "s", unit)
        studies.invite(db, ["ann"])
        studies.deal_study(db, "s", ["ann"])
        given = tuple(Rating(Unit("k0"), criterion.name, 5, "so") for criterion in asked)
        ratings.save_judgement(db, Judgement("j0", "k0", Rater("j", "judge", "v1"), given))
        revise.set_judge(db, "s", "j")
        for criterion in ("fluency", "wit"):
            assert not do(db, "ann", units(db)[0], "answer", criterion=criterion, score=2)
        assert not do(db, "ann", units(db)[0], "submit")
        report = agreement_report(db, "s")
        nobody = (
            "No figures of section anchoring on Final: nobody answered again after seeing a judge's score."
        )
        assert report.without(["anchoring"]) == [nobody]
        rater = access.annotator_id(db, "ann")
        revise.begin(db, "s", rater)
        revise.revise(db, "s", rater, units(db)[0], "fluency", 3)
        report = agreement_report(db, "s")
        assert report.without(["anchoring"]) == [f"{nobody} There are some with --criterion fluency."]
        assert report.without(["anchoring"], "fluency") == report.without(["all"]) == []


def test_anchoring_by_hand(db):
    """ann's distances to the judge are 2, 0, 2, −2, −1, 0, 2, −3, and changes 2, 1, 1, 0, −1, 0, 0, −1."""
    second = {"ann": [3, 3, 4, 4, 4, 3, 2, 3], "bob": BLIND["bob"]}
    for person, answers in second.items():
        rater = rate(db, person)
        revise.begin(db, "s", rater)
        for unit, score in zip(units(db), answers, strict=True):
            revise.revise(db, "s", rater, unit, "fluency", score)
    [table] = agreement_report(db, "s").asked(["anchoring"], "fluency")
    both, ann, bob = table.rows
    # Five changes of eight. Towards the judge, where it differs: 2 + 1 + 0 + 1 + 0 + 1.
    assert ann["changed"].value == pytest.approx(5 / 8)
    assert ann["toward"].value == pytest.approx(5 / 6)
    # Σ change · distance = 4 + 0 + 2 + 0 + 1 + 0 + 0 + 3; Σ distance² = 4 + 0 + 4 + 4 + 1 + 0 + 4 + 9.
    assert ann["share"].value == pytest.approx(10 / 26)
    assert (ann["n"], ann["apart"], ann["changed"].n, ann["share"].n) == (8, 6, 8, 6)
    # bob's 2, 2, 3, 5, 4, 3, 1, 4 beside the judge's 3, 2, 5, 2, 4, 3, 4, 1: five differ.
    assert (both["n"], both["apart"]) == (16, 6 + 5)
    assert (bob["changed"].value, bob["toward"].value, bob["share"].value) == (0, 0, 0)
    # bob's distances are 1, 0, 2, −3, 0, 0, 3, −3.
    assert both["share"].value == pytest.approx(10 / (26 + 1 + 4 + 9 + 9 + 9))
    assert both["changed"].value == pytest.approx(5 / 16)
    assert both["changed"].interval is not None
    assert agreement_report(db, "s").as_json()["sections"]["fluency"]["anchoring"]
