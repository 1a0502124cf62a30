"""The form of the database: what a new one has, and what becomes of one of another form."""

import os
import re
import sqlite3

import pytest
from click.testing import CliRunner
from sqlite_utils import Database

from concord.cli import main
from concord.errors import WorkspaceError
from concord.store import database, runs, schema, summaries
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
        *schema.STEPS,
        "ALTER TABLE settings ADD COLUMN note TEXT;\nUPDATE settings SET note = 'kept'",
        "CREATE TABLE more (id)",
    )
    monkeypatch.setattr(schema, "STEPS", steps[:-1])
    Workspace.open(tmp_path)
    monkeypatch.setattr(schema, "STEPS", steps)
    for _ in range(2):
        with Workspace.open(tmp_path).read() as db:
            kept = db.execute("SELECT * FROM settings WHERE key = 'address'").fetchall()
            assert kept == [("address", "http://here", "kept")]
            assert db.execute("PRAGMA user_version").fetchone() == (1 + len(steps),)
            assert db.table("more").exists()
    assert len(refreshed) == 2


FORM_1 = """
DROP TABLE images;
CREATE VIEW registrations AS SELECT id FROM documents WHERE kind = 'registration';
CREATE INDEX registrations_of_study ON documents (scope) WHERE kind = 'registration';
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, ', ''gold'')', ')') WHERE name = 'raters';
UPDATE sqlite_schema SET sql = replace(sql, '''rubric'')', '''rubric'', ''registration'')')
WHERE name = 'documents';
PRAGMA writable_schema = RESET;
INSERT INTO documents (kind, hash, scope, version, body, created)
VALUES ('registration', 'h', 'trust', 0, '{}', '2026-11-24');
INSERT INTO raters (kind, name) VALUES ('human', 'Ann');
PRAGMA user_version = 1;
"""
"""What a database of form 1 had otherwise, with a registration and an annotator in it."""


def test_a_database_of_form_1_becomes_what_a_new_one_is(tmp_path):
    new = form(Workspace.open(tmp_path / "new"))
    workspace = Workspace.open(tmp_path / "old")
    with sqlite3.connect(workspace.db_path) as db:
        db.executescript(FORM_1)
        with pytest.raises(sqlite3.IntegrityError):
            db.execute("INSERT INTO raters (kind, name) VALUES ('gold', 'reference')")
    assert form(workspace) != new
    workspace = Workspace.open(tmp_path / "old")
    assert form(workspace) == new
    with workspace.write() as db:
        assert db.execute("SELECT kind, name FROM raters").fetchall() == [("human", "Ann")]
        assert not db.execute("SELECT 1 FROM documents").fetchall()
        db.execute("INSERT INTO raters (kind, name) VALUES ('gold', 'reference')")


def form(workspace):
    """The statement that made each table, view, index and trigger."""
    with sqlite3.connect(workspace.db_path) as db:
        return dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"))


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path, monkeypatch):
    Workspace.open(tmp_path)
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, "CREATE TABLE more (id);\nCREATE TABLE more (id)"))
    with pytest.raises(WorkspaceError, match="table more already exists"):
        Workspace.open(tmp_path)
    with sqlite3.connect(tmp_path / "concord.db") as db:
        assert db.execute("PRAGMA user_version").fetchone() == (schema.latest() - 1,)
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


def test_a_database_that_was_emptied_is_refused_and_a_new_one_is_never_empty(tmp_path, monkeypatch):
    """One of 0 bytes was taken for new, and everything was paid again."""
    path = tmp_path / "concord.db"
    path.touch()
    with pytest.raises(WorkspaceError, match=r"concord\.db is empty: its content is lost\. Restore a backup"):
        Workspace.open(tmp_path)
    assert path.stat().st_size == 0
    path.unlink()
    (tmp_path / "concord.db-wal").write_bytes(b"answers")
    with pytest.raises(WorkspaceError, match=r"is gone, and concord\.db-wal is left"):
        Workspace.open(tmp_path)
    (tmp_path / "concord.db-wal").unlink()

    def interrupted(*_args):
        assert not path.exists()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(schema, "apply", interrupted)
        patched.setattr(database, "connect", plain_connect)
        with pytest.raises(KeyboardInterrupt):
            Workspace.open(tmp_path)
    with Workspace.open(tmp_path).read() as db:
        assert db.table("conversations").exists()
    assert path.stat().st_mode & 0o777 == 0o600


def plain_connect(path, *, create=True):
    """`connect` without the tests' ready-made database."""
    return Database(sqlite3.connect(path, isolation_level=None))


def test_an_earlier_form_is_checked_as_what_it_becomes(tmp_path, monkeypatch):
    Workspace.open(tmp_path)
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, "CREATE TABLE more (id)"))
    done = CliRunner().invoke(main, ["--workspace", str(tmp_path), "verify"])
    assert (done.exit_code, "is whole" in done.output) == (0, True), done.output
    with sqlite3.connect(tmp_path / "concord.db") as db:
        db.execute("CREATE TABLE _sqlite_migrations (name)")
    done = CliRunner().invoke(main, ["--workspace", str(tmp_path), "verify"])
    assert "was made before Concord 0.1.0" in done.output
