"""The removal of an annotator's name, and the log of who did what."""

from __future__ import annotations

import json

import pytest

from concord.codes import AuditAct
from concord.errors import NotFound, StudyError
from concord.reports.agreement_report import Options, agreement_report
from concord.store import access, audit, exclusions, sessions
from concord.store import studies as stored
from concord.store.actor import acting
from concord.store.crowds import Crowd, Visitor
from concord.studies import crowd, running

FEW = Options(resamples=50)
RATED = "SELECT conversation_id, criterion, rater_id, score FROM ratings ORDER BY id"


def table_rows(db) -> dict[str, list[tuple[object, ...]]]:
    return {table.name: list(map(tuple, db.execute(f"SELECT * FROM [{table.name}]"))) for table in db.tables}


def test_a_name_is_removed_everywhere_and_ratings_and_figures_stay(filled):
    with filled.write() as db:
        token = access.invite(db, "Ada")
        stored.create(db, stored.Study("crowd", stored.get(db, "first").criteria))
        stored.add_units(db, "crowd", [(u["conversation_id"], None, "") for u in stored.units(db, "first")])
        made = Crowd("crowd", "prolific", 4, 4, 60)
        crowd.open_link(db, made, "https://example.org")
        worker = crowd.enter(db, made, Visitor("w0rker", "subm1t", "t4sk"))
        exclusions.exclude(db, "first", "Ben", "Ada told us that Ben was asleep")
        running.close(db, "first", "Ada is ill")
    with filled.write() as db:
        before = agreement_report(db, "first", FEW)
        scores = list(db.execute(RATED))
        new = access.forget(db, "Ada", "asked by e-mail")
        other = access.forget(db, worker.name, "asked by e-mail")
    with filled.read() as db:
        after = agreement_report(db, "first", FEW)
        assert list(db.execute(RATED)) == scores
        for name, part in before.agreement.criteria.items():
            assert after.agreement.criteria[name].alpha == part.alpha
        held = json.dumps(table_rows(db), ensure_ascii=False, default=str)
        for gone in ("Ada", "w0rker", "subm1t", "t4sk"):
            assert gone not in held, gone
        assert new != other
        assert new in access.items_of(db, "first")
        with pytest.raises(NotFound):
            access.annotator_id(db, "Ada")
        with pytest.raises(access.sessions.LinkRefused):
            access.of_token(db, token)
        [first, *_] = [
            line for line in audit.lines(db) if line.act == AuditAct.NAME_REMOVED and line.about == new
        ]
        assert (first.by, first.detail) == ("researcher", "asked by e-mail")


def used_everywhere(workspace, name: str) -> None:
    """Somebody who is an annotator and decides, and whom others name."""
    with workspace.write() as db:
        access.invite(db, name)
        for number in range(50):
            access.invite(db, f"somebody else {number}")
        sessions.begin(db, "annotator", name=name, rater=access.annotator_id(db, name))
        with acting(name):
            audit.record(db, AuditAct.INVITED, about=name, detail=f"told by {name}, twice")
            exclusions.exclude(db, "first", "Ben", f"{name} told us that Ben was asleep")
            running.close(db, "first", f"as {name}’s mail says")


def test_no_byte_of_the_workspace_has_a_name_that_was_removed(filled, run):
    name = "Wilhelmina Unmistakable"
    used_everywhere(filled, name)
    held = [file for file in filled.path.rglob("*") if file.is_file() and name.encode() in file.read_bytes()]
    assert held
    done = run(filled, "--by", "dana", "people", "forget", name, "--reason", "asked")
    assert done.exit_code == 0, done.output
    left = [file for file in filled.path.rglob("*") if file.is_file()]
    assert [file.name for file in left if name.encode() in file.read_bytes()] == []


@pytest.mark.parametrize("name", ["Ann", "e"])
def test_only_a_name_as_a_whole_is_replaced(filled, name):
    with filled.write() as db:
        access.invite(db, name)
        for by in (name, f"{name}abel", f"J{name}", f"{name}-Marie"):
            with acting(by):
                audit.record(db, AuditAct.INVITED, about=by, detail=f"here is {by}, {by} wrote an e-mail")
        new = access.forget(db, name, "asked")
        lines = {
            (line.by, line.about, line.detail) for line in audit.lines(db) if line.act == AuditAct.INVITED
        }
    kept = {new, f"{name}abel", f"J{name}", f"{name}-Marie"}
    assert lines == {(by, by, f"here is {by}, {by} wrote an e-mail") for by in kept}


def test_the_log_has_every_decision_and_export(filled, run, tmp_path):
    with filled.write() as db, acting("dana"):
        exclusions.exclude(db, "first", "Ben", "asleep")
    assert run(filled, "--by", "cy", "study", "close", "first", "--reason", "enough").exit_code == 0
    out = tmp_path / "ratings.csv"
    assert run(filled, "export", "ratings", "--study", "first", "--out", out).exit_code == 0
    assert run(filled, "export", "ratings", "--study", "nothing").exit_code == 1
    assert run(filled, "--by", "fay", "people", "forget", "Cleo", "--reason", "asked").exit_code == 0
    with filled.read() as db:
        lines = audit.lines(db)
        found = {(line.by, line.act, line.target, line.study) for line in lines}
        assert found == {
            ("dana", AuditAct.EXCLUDED, "", "first"),
            ("cy", AuditAct.CLOSED, "", "first"),
            ("researcher", AuditAct.EXPORTED, "ratings", "first"),
            ("fay", AuditAct.NAME_REMOVED, "", ""),
        }
        assert [line.done for line in lines] == sorted((line.done for line in lines), reverse=True)
        assert [line.detail for line in lines if line.act == AuditAct.EXPORTED] == ["to ratings.csv"]
        assert {line.act for line in audit.lines(db, "first")} == {
            AuditAct.EXCLUDED,
            AuditAct.CLOSED,
            AuditAct.EXPORTED,
        }
        with pytest.raises(NotFound):
            audit.lines(db, "nothing")
        said = str(audit.table(db, "first").rows)
        assert "asleep" in said
        assert "fay" not in said


def test_a_removal_needs_a_reason(filled):
    with filled.write() as db, pytest.raises(StudyError, match="reason"):
        access.forget(db, "Ada", " ")
