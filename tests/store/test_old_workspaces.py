"""Databases of earlier versions, made by the code of their time, are brought up to date and lose nothing.

`old/NUMBER.sql` is the dump of a small workspace that has the steps up to that number. A new step is applied
to all of them. Before a release the dump of a workspace with its steps is added.
"""

import os
import re
import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from concord.benchmarks.plans import from_dict
from concord.errors import WorkspaceError
from concord.store import conversations, ratings, runs, studies
from concord.store.migrations import migrations
from concord.workspace import Workspace

OLD = sorted((Path(__file__).parent / "old").glob("*.sql"))
RAN = [file for file in OLD if file.stem not in ("001", "003", "004")]
"""Those whose conversations were made by a run; the first were made with the store alone."""
MODELS = {
    "player": "vivid",
    "other": "refuser",
    "user": "user",
    "strict": "judge-strict",
    "lenient": "judge-lenient",
    "steady": "sim-steady",
    "hasty": "sim-hasty",
    "gone": "no-such-model",
}
KEPT = (
    "conversations",
    "judgements",
    "ratings",
    "studies",
    "study_units",
    "assignments",
    "raters",
    "runs",
    "failures",
    "journal",
    "scenarios",
    "comparisons",
    "audits",
    "audit_items",
    "pairings",
)
"""The tables that no step may take rows from."""


@pytest.fixture(params=OLD, ids=lambda file: file.stem)
def dump(request) -> str:
    return request.param.read_text(encoding="utf-8")


@pytest.fixture
def workspace(dump, tmp_path) -> Workspace:
    """The workspace, not opened yet."""
    made = Workspace(tmp_path)
    with sqlite3.connect(made.db_path) as connection:
        connection.executescript(dump)
    mocks = "mock" if "mock-" in dump else "standin"
    entry = '[models.{}]\nbase_url = "http://127.0.0.1:8752/v1"\nmodel = "{}-{}"\n'
    made.models_path.write_text("".join(entry.format(name, mocks, of) for name, of in MODELS.items()))
    return made


def opened(workspace: Workspace) -> Workspace:
    return Workspace.open(workspace.path, create=False)


def form(path: Path) -> dict[str, object]:
    """The columns, indexes and references of each table."""
    db = Database(path)
    found: dict[str, object] = {}
    for table in db.tables:
        if not table.name.startswith(("sqlite", "_sqlite")):
            columns = {(c.name, c.type, c.notnull, c.default_value, c.is_pk) for c in table.columns}
            found[table.name] = columns, set(table.foreign_keys), {str(i.columns) for i in table.indexes}
    db.close()
    return found


def counts(db: Database) -> dict[str, int]:
    return {name: db[name].count for name in KEPT if db[name].exists() and db[name].count}


def sums(db: Database) -> list[tuple[object, ...]]:
    """What each rater said on the whole."""
    return db.execute(
        "SELECT name, variant, criterion, sum(score), count(*) FROM ratings "
        "JOIN raters ON raters.id = rater_id GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    ).fetchall()


def test_every_step_is_applied_to_a_stored_database():
    steps = [step.name for step in migrations.pending(Database(memory=True))]
    applied = [set(re.findall(r"'(\d{3}_\w+)'", file.read_text(encoding="utf-8"))) for file in OLD]
    first, last = applied[0], applied[-1]
    assert first == set(steps[:1])
    assert last <= set(steps)
    assert len(last) >= 18


def test_a_database_gets_the_form_of_a_new_one(workspace, tmp_path):
    new = Workspace.open(tmp_path / "new")
    assert form(workspace.db_path) != form(new.db_path) or not migrations.pending(Database(workspace.db_path))
    assert form(opened(workspace).db_path) == form(new.db_path)


def test_nothing_is_lost(workspace):
    before = Database(workspace.db_path)
    counted, summed = counts(before), sums(before)
    before.close()
    assert {"conversations", "judgements", "ratings", "studies", "runs", "failures"} <= set(counted)
    with opened(workspace).read() as db:
        assert counts(db) == counted
        assert sums(db) == summed
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_what_it_holds_can_be_read_and_measured(workspace, run):
    with opened(workspace).read() as db:
        for found in conversations.search(db):
            assert conversations.load(db, found.id).key == found.key
        for name in studies.names(db):
            assert studies.get(db, name).criteria
        for progress in runs.recent(db):
            assert from_dict(progress.plan).benchmark == progress.benchmark
        assert ratings.judges(db)
        (study, *_) = (name for name in studies.names(db) if studies.rated(db, name))
    for words in (
        ("agreement", "--study", study, "--resamples", "20"),
        ("leaderboard", "pingpong", "--resamples", "20"),
        ("export", "ratings"),
        ("check",),
    ):
        done = run(workspace, *words)
        assert done.exit_code == 0, (words, done.output)


@pytest.mark.parametrize("dump", RAN, ids=lambda file: file.stem, indirect=True)
def test_a_finished_run_pays_nothing_again(workspace, run):
    done = run(workspace, "run", "resume", "1", "--estimate")
    assert "6 pieces planned, 6 stored, 0 left to make." in done.output


def test_a_database_of_before_the_first_step_is_told_so(tmp_path):
    with sqlite3.connect(tmp_path / "concord.db") as connection:
        connection.execute("CREATE TABLE conversations (id INTEGER PRIMARY KEY, body TEXT)")
    with pytest.raises(WorkspaceError, match="before the first release"):
        Workspace.open(tmp_path)


@pytest.mark.parametrize(
    "plan", [{"benchmark": "pingpong"}, {"kind": "hunt"}, {"kind": "judge", "who": 1}, []]
)
def test_a_run_whose_plan_cannot_be_read_is_told_so(fresh, run, plan):
    with fresh.write() as db:
        runs.start(db, "pingpong", plan, os.getpid())
    done = run(fresh, "run", "resume", "1")
    assert done.exit_code == 1
    assert "Error: This plan of a run cannot be read" in done.output
    assert "Start the run again." in done.output
