"""The form of the database: what a new one has, and what becomes of one of another form."""

import os
import re
import sqlite3

import pytest

from concord.errors import WorkspaceError
from concord.store import runs, schema, summaries
from concord.workspace import Workspace


def test_schema_names_its_own_form():
    """What a new database gets must be what the steps lead to."""
    assert re.findall(r"user_version = (\d+)", schema.SCHEMA.read_text()) == [str(schema.latest())]


def test_every_table_has_a_comment():
    """A line above a table says what it holds; tables that belong together share one."""
    before = ""
    for line in schema.SCHEMA.read_text().splitlines():
        if line.startswith("CREATE TABLE"):
            assert before.startswith("--") or before.endswith(";"), line
        before = line or before if not line.startswith("-- ──") else ""


def test_an_earlier_form_is_brought_up_to_date_once_and_keeps_what_it_holds(tmp_path, monkeypatch):
    with Workspace.open(tmp_path).write() as db:
        db.execute("INSERT INTO settings VALUES ('address', 'http://here')")
    refreshed = []
    monkeypatch.setattr(summaries, "refresh", refreshed.append)
    steps = (
        "ALTER TABLE settings ADD COLUMN note TEXT;\nUPDATE settings SET note = 'kept'",
        "CREATE TABLE more (id)",
    )
    monkeypatch.setattr(schema, "STEPS", steps[:1])
    Workspace.open(tmp_path)
    monkeypatch.setattr(schema, "STEPS", steps)
    for _ in range(2):
        with Workspace.open(tmp_path).read() as db:
            kept = db.execute("SELECT * FROM settings WHERE key = 'address'").fetchall()
            assert kept == [("address", "http://here", "kept")]
            assert db.execute("PRAGMA user_version").fetchone() == (3,)
            assert db.table("more").exists()
    assert len(refreshed) == 2


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path, monkeypatch):
    Workspace.open(tmp_path)
    monkeypatch.setattr(schema, "STEPS", ("CREATE TABLE more (id);\nCREATE TABLE more (id)",))
    with pytest.raises(WorkspaceError, match="table more already exists"):
        Workspace.open(tmp_path)
    with sqlite3.connect(tmp_path / "concord.db") as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'more'").fetchall()


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        (
            "CREATE TABLE _sqlite_migrations (name); CREATE TABLE conversations (id)",
            r"made before Concord 0\.1\.0.*Export it with the Concord that made it.*new workspace",
        ),
        ("CREATE TABLE cards (id)", "was made by another program. Open another workspace"),
        ("CREATE TABLE cards (id); PRAGMA user_version = 1", "was made by another program"),
        (
            "CREATE TABLE conversations (id); PRAGMA user_version = 99",
            r"newer Concord \(its form is 99, this one knows up to \d+\)\. Update Concord",
        ),
    ],
)
def test_a_form_that_is_not_known_is_refused_and_left_as_it_is(tmp_path, sql, sentence):
    file = tmp_path / "concord.db"
    db = sqlite3.connect(file)
    db.executescript(sql)
    db.close()
    before = file.read_bytes()
    with pytest.raises(WorkspaceError, match=sentence):
        Workspace.open(tmp_path)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "plan", [{"benchmark": "pingpong"}, {"kind": "hunt"}, {"kind": "judge", "who": 1}, []]
)
def test_a_run_whose_plan_cannot_be_read_is_refused(fresh, run, plan):
    with fresh.write() as db:
        runs.start(db, "pingpong", plan, os.getpid())
    done = run(fresh, "run", "resume", "1")
    assert done.exit_code == 1
    assert "Error: This plan of a run cannot be read" in done.output
    assert "Start the run again." in done.output
