"""The form of the database: what a new one has, and what becomes of one of another form."""

import json
import os
import re
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlite_utils import Database

from concord import messages
from concord.cli import main
from concord.codes import AuditAct
from concord.errors import WorkspaceError
from concord.exchange import study_settings
from concord.rating import Rater
from concord.store import (
    audit,
    closings,
    crowds,
    database,
    departures,
    exclusions,
    lab,
    runs,
    schema,
    spotchecks,
    studies,
    summaries,
    training,
)
from concord.workspace import Workspace


def test_schema_names_its_own_form():
    """What a new database gets must be what the steps lead to."""
    assert re.findall(r"user_version = (\d+)", schema.SCHEMA.read_text()) == [str(schema.latest())]


def test_no_step_but_the_first_writes_the_schema_of_sqlite():
    steps = [step if isinstance(step, str) else step.read_text() for step in schema.STEPS]
    assert [number for number, step in enumerate(steps, 1) if "writable_schema" in step] == [1]


def test_every_table_has_a_comment():
    """A line above a table says what it holds; tables that belong together share one."""
    before = ""
    for line in schema.SCHEMA.read_text().splitlines():
        if line.startswith("CREATE TABLE"):
            assert before.startswith("--") or before.endswith(";"), line
        before = line or before if not line.startswith("-- ──") else ""


def test_an_earlier_form_is_updated_once_and_keeps_its_content(tmp_path, monkeypatch):
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


FORM_4 = Path(__file__).with_name("form_4.sql").read_text(encoding="utf-8")
FORM_2 = Path(__file__).with_name("form_2.sql").read_text(encoding="utf-8")

FILLED_2 = """
INSERT INTO settings VALUES ('part 000000001', '[["items", 3, 3]]'),
    ('one-time link abc', '{"kind": "local", "name": "", "expires": "2026-11-25", "used": null}'),
    ('desk annotator 7 window-1', '12 2026-11-24T10:00:00+00:00');
INSERT INTO raters (id, kind, name) VALUES (7, 'human', 'Ann'), (8, 'human', 'Ben'), (9, 'human', 'Cleo');
INSERT INTO studies (id, name, title, source, created)
    VALUES (1, 's', 's', 'drawn', '2026'), (2, 't', 't', 'drawn', '2026');
INSERT INTO conversations (id, key, benchmark, language, player, messages, turns, reply_chars, created)
    VALUES (1, 'c', 'pingpong', 'en', 'p', '[]', 0, 0, '2026');
INSERT INTO items (id, study_id, conversation_id, known, answers)
    VALUES (1, 1, 1, '', '[]'), (3, 2, 1, '', '[]'),
    (2, 1, 1, 'gold', '[["fluency", 4, 1, "clear", 1], ["humor", 2, 0, "", 0]]');
INSERT INTO audit_log (id, done, by, what, study, about, detail) VALUES
    (1, 'd1', 'me', 'left out', 's', 'Ann', 'asleep'), (2, 'd2', 'me', 'taken in again', 's', 'Ann', 'awake'),
    (3, 'd3', 'you', 'left out', 's', 'Ann', 'asleep again'),
    (4, 'd4', 'me', 'left out', 't', 'Ann', 'here too'),
    (5, 'd5', 'me', 'closed', 's', '', 'enough'), (6, 'd6', 'me', 'reopened', 's', '', 'more'),
    (7, 'd7', 'me', 'closed', 't', '', 'done'), (8, 'd8', 'me', 'reassigned', 's', 'Ben', 'ill'),
    (9, 'd9', 'training', 'failed', 's', 'Cleo', 'attempt 1: 2 of 5 training items right'),
    (10, 'd10', 'training', 'passed', 's', 'Cleo', 'attempt 2: 5 of 5 training items right'),
    (11, 'd11', 'me', 'admitted', 's', 'Ben', 'knows it');
INSERT INTO documents (kind, hash, scope, name, version, body, created) VALUES
    ('prompt', 'h1', 'pingpong', 'judge', 'v1', 'Judge.', NULL),
    ('rubric', 'h2', 'support', 'support v1', 1, '{}', '2026-11-24');
"""
"""Rows of form 2 whose nouns have tables in form 3."""


def opened(tmp_path, script):
    """The workspace whose database a script makes, and what its form is after it was opened."""
    tmp_path.mkdir(exist_ok=True)
    with sqlite3.connect(tmp_path / "concord.db") as db:
        db.executescript(script)
    workspace = Workspace.open(tmp_path)
    return workspace, form(workspace)


def test_a_database_of_form_1_becomes_what_a_new_one_is(tmp_path):
    new = form(Workspace.open(tmp_path / "new"))
    workspace, brought_up = opened(tmp_path / "old", FORM_2 + FORM_1)
    assert brought_up == new
    with workspace.write() as db:
        assert db.execute("SELECT kind, name FROM raters").fetchall() == [("human", "Ann")]
        assert not db.execute("SELECT 1 FROM rubrics UNION ALL SELECT 1 FROM prompts").fetchall()
        db.execute("INSERT INTO raters (kind, name) VALUES ('gold', 'reference')")


def test_a_filled_database_of_form_2_keeps_what_it_holds(tmp_path):
    workspace, brought_up = opened(tmp_path / "old", FORM_2 + FILLED_2)
    assert brought_up == form(Workspace.open(tmp_path / "new"))
    with workspace.read() as db:

        def rows(sql):
            return db.execute(sql).fetchall()

        assert rows(
            "SELECT item_id, criterion, answer, tolerance, explanation, attention FROM known_answers"
        ) == [
            (2, "fluency", 4.0, 1.0, "clear", 1),
            (2, "humor", 2.0, 0.0, "", 0),
        ]
        assert rows(
            "SELECT study_id, rater_id, reason, decided_by, excluded, included FROM exclusions ORDER BY id"
        ) == [
            (1, 7, "asleep", "me", "d1", "d2"),
            (1, 7, "asleep again", "you", "d3", None),
            (2, 7, "here too", "me", "d4", None),
        ]
        assert [*exclusions.excluded(db, "s")] == ["Ann"]
        assert rows("SELECT study_id, reason, closed, reopened FROM study_closings ORDER BY id") == [
            (1, "enough", "d5", "d6"),
            (2, "done", "d7", None),
        ]
        assert [closings.is_closed(db, name) for name in ("s", "t")] == [False, True]
        assert departures.departed(db, "s") == {"Ben"}
        assert [(one.annotator, one.attempt, one.outcome) for one in training.results(db, "s")] == [
            ("Cleo", 1, "failed"),
            ("Cleo", 2, "passed"),
            ("Ben", None, "admitted"),
        ]
        assert rows("SELECT hash, benchmark, version, name, body FROM prompts") == [
            ("h1", "pingpong", "v1", "judge", "Judge.")
        ]
        assert rows("SELECT name, version, variant, hash, body, created FROM rubrics") == [
            ("support", 1, "support v1", "h2", "{}", "2026-11-24")
        ]
        assert rows("SELECT token_hash, kind, name, expires, used FROM one_time_links") == [
            ("abc", "local", "", "2026-11-25", None)
        ]
        assert rows("SELECT desk, client, event, stored FROM desk_reports") == [
            ("annotator 7", "window-1", 12, "2026-11-24T10:00:00+00:00")
        ]
        assert [key for (key,) in rows("SELECT key FROM settings")] == ["desk numbers"]
        # An import that did not end is undone when the workspace is opened: the item that it added is gone.
        assert rows("SELECT count(*) FROM import_parts") == [(0,)]
        assert rows("SELECT id FROM items ORDER BY id") == [(1,), (2,)]


def test_a_link_of_a_crowd_keeps_its_terms_and_gets_codes_of_its_own(tmp_path):
    """From form 4: codes for failed attention and screen-out are empty, two misses count."""
    rows = (
        "INSERT INTO studies (name, title, source, created) VALUES ('s', '', '', '');"
        "INSERT INTO crowd_links (study_id, platform, quota, items, minutes, code, created) "
        "VALUES (1, 'prolific', 7, 5, 60, 'C0DE', '');"
    )
    workspace, brought_up = opened(tmp_path / "old", FORM_4 + rows)
    assert brought_up == form(Workspace.open(tmp_path / "new"))
    with workspace.read() as db:
        assert crowds.of_study(db, "s") == crowds.Crowd("s", "prolific", 7, 5, 60, "C0DE", "", "", 2)


def test_a_database_of_an_earlier_form_is_copied_first(tmp_path, caplog):
    Workspace.open(tmp_path / "new")
    assert not caplog.messages
    for _ in range(2):  # an earlier database may be restored: its first copy stays
        (tmp_path / "old" / "concord.db").unlink(missing_ok=True)
        opened(tmp_path / "old", FORM_4 + RATED_4)
    assert ["A copy of it as it was is concord.db-form-4" in said for said in caplog.messages] == [True, True]
    copies = sorted((tmp_path / "old").glob("concord.db-form-4*"))
    assert len(copies) == 2
    for copy in copies:
        assert copy.stat().st_mode & 0o777 == 0o600
        with sqlite3.connect(copy) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (4,)
            assert db.execute("SELECT count(*) FROM given").fetchone() == (2,)


def test_without_its_copy_a_database_is_not_changed(tmp_path, monkeypatch):
    with sqlite3.connect(tmp_path / "concord.db") as db:
        db.executescript(FORM_4)

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(database.os, "replace", full)
    with pytest.raises(
        WorkspaceError, match=r"concord\.db-form-4 could not be written: .* Nothing was changed"
    ):
        Workspace.open(tmp_path)
    with sqlite3.connect(tmp_path / "concord.db") as db:
        assert db.execute("PRAGMA user_version").fetchone() == (4,)
    assert not list(tmp_path.glob("concord.db-form-*"))


def form(workspace):
    """The statement that made each table, view, index and trigger, white space apart."""
    with sqlite3.connect(workspace.db_path) as db:
        rows = db.execute("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
        return {name: re.sub(r"\s*([,()])\s*", r"\1", " ".join(sql.split())) for name, sql in rows}


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


def test_an_emptied_database_is_refused_and_a_new_one_never_empty(tmp_path, monkeypatch):
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
    assert (done.exit_code, "has no errors" in done.output) == (0, True), done.output
    with sqlite3.connect(tmp_path / "concord.db") as db:
        db.execute("CREATE TABLE _sqlite_migrations (name)")
    done = CliRunner().invoke(main, ["--workspace", str(tmp_path), "verify"])
    assert "was made before Concord 0.1.0" in done.output


RATED_4 = """
INSERT INTO raters (id, kind, name) VALUES (1, 'human', 'Ann'), (2, 'judge', 'j');
INSERT INTO studies (id, name, title, source, created) VALUES (1, 's', 's', 'drawn', '2026');
INSERT INTO studies (id, name, title, source, kind, meta, created)
    VALUES (2, 'p', 'p', 'drawn', 'pairs', '{"rubric": {"name": "r", "version": 1}}', '2026');
INSERT INTO conversations (id, key, benchmark, language, player, messages, turns, reply_chars, created)
    VALUES (1, 'c', 'b', 'en', 'p', '[]', 0, 0, '2026'), (2, 'd', 'b', 'en', 'q', '[]', 0, 0, '2026');
INSERT INTO items (id, study_id, conversation_id, other_id) VALUES (1, 1, 1, NULL), (2, 2, 1, 2);
INSERT INTO placements (item_id, rater_id, purpose, position, state) VALUES (1, 1, 'first', 1, 'done');
INSERT INTO answers (placement_id, question, value, given, replaced)
    SELECT id, 'wit', 3, '2026-01', '2026-02' FROM placements;
INSERT INTO answers (placement_id, question, value, given) SELECT id, 'wit', 4, '2026-02' FROM placements;
INSERT INTO ratings (conversation_id, criterion, rater_id, study_id, score, explanation, created)
    VALUES (1, 'wit', 1, 1, 4, 'dry', '2026-02'), (1, 'wit', 2, NULL, 2, '', '2026-02');
INSERT INTO comparisons (key, first_id, second_id, rater_id, study_id, rubric, verdict, strong, created)
    VALUES ('k', 2, 1, 1, 2, 'r', 'A', 1, '2026'), ('l', 1, 2, 1, 2, 'other', 'A', 0, '2026');
INSERT INTO runs (benchmark, plan, state, started, beat) VALUES ('b', '{}', 'finished', '2026', '2026-03');
"""
"""Answers, a pair and a run, as form 4 has them."""


def test_the_view_of_scores_is_renamed_with_equal_rows(tmp_path):
    with sqlite3.connect(":memory:") as db:
        db.executescript(FORM_4 + RATED_4)
        before = db.execute("SELECT * FROM given ORDER BY item_id").fetchall()
    assert before == [(1, 1, 1, "wit", 4.0, "dry"), (2, 2, 1, "", -2.0, "")]
    workspace, _ = opened(tmp_path / "old", FORM_4 + RATED_4)
    with workspace.read() as db:
        assert db.execute("SELECT * FROM human_scores ORDER BY item_id").fetchall() == before
        assert "given" not in db.view_names()


def test_columns_of_moments_are_renamed_and_keep_what_they_hold(tmp_path):
    workspace, _ = opened(tmp_path / "old", FORM_4 + RATED_4)
    with workspace.read() as db:
        rows = db.execute("SELECT value, answered_at, superseded_at FROM answers ORDER BY id").fetchall()
        assert rows == [(3.0, "2026-01", "2026-02"), (4.0, "2026-02", None)]
        assert db.execute("SELECT heartbeat_at FROM runs").fetchall() == [("2026-03",)]


META = {
    "drawn": {
        "benchmark": "pingpong",
        "filter": {"benchmark": "pingpong", "facets": {"scene": ["quarrel"]}},
        "n": 2,
        "by": ["player", "scene"],
        "allocation": "even",
        "candidates": 9,
        "chance": [0.25, 1.0],
        "not_in": ["p"],
    },
    "rubric": {"name": "r", "version": 3, "hash": "h", "show": ["Scene"], "system_prompt": "everyone"},
    "judges": [["j", ""], ["j", "r v3"]],
    "extra": {"least": 1.5, "criterion": "wit"},
    "adjudication": {"least": 2, "criterion": ""},
    "training": {"bound": 0.75, "attempts": 3},
    "reveal": {"judge": "j", "variant": "r v3"},
    "discussion": True,
    "repeats": 0.1,
    "match": "language",
    "speakers": {"assistant": "Keeper"},
    "lab": {
        "rubric": "r",
        "seed": 4,
        "parts": {"c": "develop", "d": "test"},
        "variants": {"r v3": {"parent": "", "by": "Dana", "note": "its file", "made": "2026-05"}},
        "proposals": {"0a": {"diagnosis": "too kind", "instructions": "Be strict with it."}},
    },
}
"""Every key that the settings of a study had."""
LAKE = {
    "drawn": {
        "benchmark": "lake",
        "n": 2,
        "by": ["difference"],
        "candidates": 30,
        "lake": {"files": ["a.jsonl"], "draw": "difference"},
        "strata": {"same": 20, "differ": 10},
    }
}


def in_meta(name, kind, meta):
    """The SQL of a study with these settings."""
    values = name, name, "audit" if kind == "checks" else "drawn", kind, json.dumps(meta), "2026"
    quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
    return f"INSERT INTO studies (name, title, source, kind, meta, created) VALUES ({quoted});"


def test_what_a_study_kept_as_json_has_columns_and_tables(tmp_path):
    """From form 8: read back by the nouns, and exported as the same JSON."""
    audit = {"benchmark": "pingpong", "drawn_from": 40}
    rows = (
        RATED_4
        + in_meta("whole", "ratings", META)
        + in_meta("lake", "ratings", LAKE)
        + in_meta("audited", "checks", audit)
        + in_meta("triaged", "checks", {"benchmark": "stss"})
    )
    workspace, brought_up = opened(tmp_path / "old", FORM_4 + rows)
    assert brought_up == form(Workspace.open(tmp_path / "new"))
    with workspace.read() as db:
        whole = studies.get(db, "whole")
        assert whole.asked_rubric == studies.AskedRubric("r", 3, "h", ("Scene",), "everyone")
        assert whole.rules == {
            "extra": (1.5, "wit", None),
            "adjudicate": (2.0, "", None),
            "training": (0.75, "", 3),
        }
        assert (whole.repeats, whole.match, whole.discussion, whole.lab_rubric) == (
            0.1,
            "language",
            True,
            "r",
        )
        assert whole.revealed_judge == Rater("j", "judge", "r v3")
        assert (whole.sampling, studies.get(db, "lake").sampling) == (META["drawn"], LAKE["drawn"])
        assert lab.division(db, "whole") == lab.Division("r", 4, {"c": "develop", "d": "test"})
        assert studies.get(db, "s") == studies.Study("s", (), "s", created="2026")
        assert spotchecks.audits(db) == [spotchecks.Audit("audited", "pingpong", 0, 40, 0, "2026")]
        assert db.execute("SELECT benchmark FROM studies WHERE name = 'triaged'").fetchall() == [("stss",)]
        for name, meta in (("whole", META), ("lake", LAKE)):
            kept = lab.exported(db, name)
            exported = study_settings.meta_of(studies.get(db, name)) | ({"lab": kept} if kept else {})
            assert json.loads(json.dumps(exported)) == meta


def test_acts_of_the_audit_log_become_codes(tmp_path):
    """From form 9: what another version wrote stays as it is."""
    acts_before = (
        "drawn",
        "opened to a crowd",
        "training set",
        "exported ratings",
        "let in as adjudicator",
        "task accepted",
        "scripts brought",
        "instructions proposed",
        "odd one",
    )
    rows = "".join(
        f"INSERT INTO audit_log (done, by, what, study, about) VALUES ('d{n}', 'me', '{act}', 's', 'Eve');"
        for n, act in enumerate(acts_before)
    )
    workspace, _ = opened(tmp_path / "old", FORM_4 + RATED_4 + rows)
    with workspace.read() as db:
        lines = sorted(audit.lines(db, "s"), key=lambda line: line.done)
        assert [(line.act, line.target) for line in lines] == [
            (AuditAct.DRAW, ""),
            (AuditAct.OPENED_TO_A_CROWD, ""),
            (AuditAct.TRAINING_SET, ""),
            (AuditAct.EXPORTED, "ratings"),
            (AuditAct.LET_IN, "adjudicator"),
            (AuditAct.SCENARIO_ACCEPTED, "task"),
            (AuditAct.SCENARIOS_BROUGHT, "script"),
            (AuditAct.INSTRUCTIONS_PROPOSED, ""),
            ("odd one", ""),
        ]
        assert [line.words for line in lines] == [*acts_before]


def test_every_act_of_the_audit_log_has_words():
    assert messages.AUDIT_ACTS.keys() == set(AuditAct)
    step = schema.SCHEMA.with_name("form_10.sql").read_text()
    renamed = re.findall(r"'([a-z ]+)'", step.partition("WHERE act IN (")[2])
    assert {act.replace(" ", "_") for act in renamed} <= set(AuditAct)
    assert len(renamed) > 20
