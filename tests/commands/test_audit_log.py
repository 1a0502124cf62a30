"""Decisions and exports by command stand in the audit log, with who decided and what was chosen."""

from __future__ import annotations

import pytest

from concord.codes import AuditAct
from concord.store import access, acts, audit
from concord.store.actor import acting
from concord.studies import running


def lines(filled):
    with filled.read() as db:
        return [(one.by, one.act, one.about, one.detail) for one in audit.lines(db, "s")]


def test_each_command_leaves_a_line(filled, run):
    def done(*words):
        result = run(filled, *words)
        assert result.exit_code == 0, result.output

    done("--by", "dana", "study", "draw", "s", "--n", "2", "--benchmark", "pingpong", "--seed", "3")
    done("--by", "dana", "people", "invite", "ann", "bob", "--study", "s")
    done("--by", "cy", "study", "deal", "s", "--overlap", "1", "--annotators", "ann,bob")
    done("study", "reveal", "s", "--others")
    done("--by", "eve", "export", "ratings", "--study", "s")
    assert sorted(lines(filled)) == [
        ("cy", "dealt", "ann", "overlap 1"),
        ("cy", "dealt", "bob", "overlap 1"),
        ("dana", "dealt", "ann", ""),
        ("dana", "dealt", "bob", ""),
        ("dana", "drawn", "", "benchmark pingpong; n 2; seed 3"),
        ("eve", AuditAct.EXPORTED, "", ""),
        ("researcher", AuditAct.DISCUSSION_SET, "", "yes"),
    ]


ACTS = {
    "drawn": ("study", "draw", "s", "--n", "2", "--benchmark", "pingpong"),
    "invited": ("people", "invite", "ann"),
    "withdrawn": ("people", "revoke", "Ada"),
    "forgotten": ("people", "forget", "Ada", "--reason", "asked"),
    "dealt": ("study", "deal", "first", "--overlap", "0"),
    "reveal": ("study", "reveal", "first", "--judge", "strict"),
    "discussion": ("study", "reveal", "first", "--others"),
    "closed": ("study", "close", "first", "--reason", "enough"),
    "let in": ("people", "invite", "Dana", "--role", "researcher"),
}


def rows_of(workspace):
    with workspace.read() as db:
        return {
            table.name: list(map(tuple, db.execute(f"SELECT * FROM [{table.name}]"))) for table in db.tables
        }


@pytest.mark.parametrize("act", ACTS)
def test_no_act_is_stored_without_its_line(filled, run, act):
    with filled.write() as db:
        access.invite(db, "Ada")
        db.execute("CREATE TRIGGER full BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'disk'); END")
    before = rows_of(filled)
    refused = run(filled, *ACTS[act])
    assert "disk" in str(refused.exception), refused.output
    assert rows_of(filled) == before
    with filled.write() as db:
        db.execute("DROP TRIGGER full")
    assert run(filled, *ACTS[act]).exit_code == 0
    after = rows_of(filled)
    assert len(after["audit_log"]) > len(before["audit_log"])
    changed = {name for name, rows in after.items() if rows != before[name]}
    assert changed > {"audit_log"} or act == "closed"  # a study is closed by its line


def test_a_change_in_the_writing_thread_is_recorded_under_who_asked(filled):
    with acting("dana"):
        filled.change(lambda db: running.close(db, "first", "enough"))
    filled.change(lambda db: running.reopen(db, "first", "go on"))
    with filled.read() as db:
        assert [(act.act, act.by) for act in acts.of_study(db, "first")] == [
            ("closed", "dana"),
            ("reopened", "researcher"),
        ]


def test_a_name_is_needed(filled, run):
    refused = run(filled, "--by", " ", "study", "close", "first", "--reason", "enough")
    assert refused.exit_code == 1
    assert "needs the name" in refused.output


@pytest.mark.parametrize("what", ["ratings", "site", "report"])
def test_no_file_appears_without_its_line(filled, run, tmp_path, what):
    with filled.write() as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'disk'); END")
    of = [] if what == "site" else ["--study", "first"]
    folder = tmp_path / "folder"
    folder.mkdir()
    refused = run(filled, "export", what, *of, "--out", folder / "out")
    assert "disk" in str(refused.exception), refused.output
    assert list(folder.iterdir()) == []


def test_an_export_takes_its_own_options_only(filled, run):
    refused = run(filled, "export", "ratings", "--with-names")
    assert refused.output.endswith(" export ratings` takes no --with-names.\n")
    assert "--study NAME" in run(filled, "export", "report").output
