"""Backups, the check for damage, and what a power cut leaves."""

import random
import shutil
import sqlite3
import stat
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from concord.conversation import Conversation, Message, Unit
from concord.errors import WorkspaceError
from concord.questions import between
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.store import (
    access,
    conversations,
    copies,
    database,
    desk,
    placements,
    ratings,
    studies,
    summaries,
)
from concord.store.writer import Writer
from concord.workspace import Workspace
from tests.derived import faults

CRITERIA = tuple(Criterion(name, name) for name in ("wit", "care", "fluency"))
PEOPLE, ITEMS = 3, 60


@pytest.fixture
def workspace(tmp_path):
    """People with the same items; each dialogue is judged."""
    made = Workspace.open(tmp_path / "workspace")
    said = (Message("user", "Good evening."), Message("assistant", "Aye. " * 200))
    with made.write() as db:
        ratings.register(db, "b", CRITERIA)
        studies.create(db, studies.Study("s", CRITERIA))
        found = [
            conversations.save(db, Conversation("b", f"c{i}", "p", said, context={"Card": "a keeper"}))
            for i in range(ITEMS)
        ]
        judged(db, "c0")
        units = studies.add_units(db, "s", [(number, None, "") for number in found])
        for person in range(PEOPLE):
            access.invite(db, f"person {person}")
            placements.assign(db, access.annotator_id(db, f"person {person}"), units)
    return made


def judged(db, key):
    given = tuple(Rating(Unit(key, 1), c.name, 3.0) for c in CRITERIA)
    ratings.save_judgement(db, Judgement(f"{key}|j", key, Rater("j", "judge"), given))


def desks(db):
    """(rater, units) of each person."""
    raters = [access.annotator_id(db, f"person {person}") for person in range(PEOPLE)]
    return [(rater, [unit for unit, _, _ in placements.on_desk(db, rater, "s")]) for rater in raters]


def report(n, unit):
    """An item as the desk reports it, answered and submitted."""
    done = [
        {"do": "answer", "criterion": c.name, "score": 1 + (unit + i) % 5} for i, c in enumerate(CRITERIA)
    ]
    return [{"n": n + i, "item": unit, **event} for i, event in enumerate([*done, {"do": "submit"}])]


def rated(db):
    """What is stored: the answers of each item that has any, or that is submitted, by (rater, unit)."""
    rows = db.execute(
        "SELECT a.rater_id, a.item_id, a.state, group_concat(r.criterion || '=' || cast(r.score AS int)) "
        "FROM placements a JOIN items u ON u.id = a.item_id LEFT JOIN ratings r "
        "ON r.study_id = u.study_id AND r.conversation_id = u.conversation_id AND r.rater_id = a.rater_id "
        "GROUP BY a.id HAVING a.state = 'done' OR r.id"
    )
    return {(rater, unit): (state, set((given or "").split(","))) for rater, unit, state, given in rows}


def whole(unit):
    return "done", {f"{c.name}={1 + (unit + i) % 5}" for i, c in enumerate(CRITERIA)}


def frames(wal):
    """A write-ahead log's salt, and where its last committed transaction ends."""
    if len(wal) < 32:
        return b"", 0
    (size,), salt, end, place = struct.unpack(">I", wal[8:12]), wal[16:24], 0, 32
    while place + 24 + size <= len(wal) and wal[place + 8 : place + 16] == salt:
        place += 24 + size
        if wal[place - size - 20 : place - size - 16] != b"\0\0\0\0":
            end = place
    return salt, end


def test_after_a_power_cut_everything_acknowledged_is_there(workspace, tmp_path):
    """Database and write-ahead log are copied while desks and a run write. The log loses a part of what was
    written after the last answer that had been acknowledged, as what is not on the disk yet is lost.
    """
    chance = random.Random(1)
    acknowledged, more, stop = set(), threading.Condition(), threading.Event()
    with workspace.read() as db:
        work = desks(db)

    def annotate(rater, units):
        for n, unit in enumerate(units):
            told = report(4 * n + 1, unit)
            workspace.change(lambda db, told=told: desk.apply(db, rater, "window", told))
            with more:
                acknowledged.add((rater, unit))
                more.notify_all()

    def run():
        with Writer(workspace.db_path) as writing:
            for number in range(1, ITEMS):
                if stop.is_set():
                    break
                writing.put(lambda db, number=number: judged(db, f"c{number}"))

    cuts = []
    with ThreadPoolExecutor(PEOPLE + 1) as pool:
        waiting = [pool.submit(run), *(pool.submit(annotate, *one) for one in work)]
        for number in range(20):
            with more:
                wanted = len(acknowledged) + chance.randint(0, 8)
                more.wait_for(lambda wanted=wanted: len(acknowledged) >= min(wanted, PEOPLE * ITEMS), 60)
                before = set(acknowledged)
            wal = workspace.db_path.with_name("concord.db-wal")
            folder = tmp_path / f"cut {number}"
            folder.mkdir()
            # A reader keeps the log from being begun anew between the two copies; a cut falls at one moment.
            with workspace.read() as db:
                db.execute("SELECT count(*) FROM ratings").fetchone()
                salt, safe = frames(wal.read_bytes())
                shutil.copy(workspace.db_path, folder / "concord.db")
                log = wal.read_bytes()
            least = safe if log[16:24] == salt else 0
            (folder / "concord.db-wal").write_bytes(log[: chance.randint(least, len(log))])
            cuts.append((folder, before))
        stop.set()
        for done in waiting:
            done.result()
    for folder, before in cuts:
        cut = Workspace.open(folder)
        with cut.read() as db:
            stored = rated(db)
        assert before <= stored.keys()
        assert all(found == whole(unit) for (_, unit), found in stored.items())
        with copies.snapshot(cut.db_path) as copy:
            assert faults(copy) == []
    assert len({len(before) for _, before in cuts}) > 5


def test_what_is_said_to_be_saved_is_on_the_disk_first(workspace):
    """At “normal” a power cut loses the last commits of a database with a write-ahead log."""
    full = 2
    assert workspace.change(lambda db: db.execute("PRAGMA synchronous").fetchone()) == (full,)
    with workspace.write() as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (full,)


def test_a_backup_while_others_write_is_one_state_for_its_owner_only(workspace, run, tmp_path):
    with workspace.read() as db:
        (rater, units), *_ = desks(db)
    file = tmp_path / "copy.db"
    with workspace.write() as db:  # a transaction that is under way is no part of it
        desk.apply(db, rater, "window", report(1, units[0]))
        done = run(workspace, "backup", file)
        assert done.exit_code == 0, done.output
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run(workspace, "verify", file).exit_code == 0
    restored = tmp_path / "restored"
    restored.mkdir()
    file.rename(restored / "concord.db")
    with Workspace.open(restored).read() as db:
        assert rated(db) == {}
        assert conversations.count(db) == ITEMS
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert run(Workspace(restored), "verify").exit_code == 0
    with workspace.read() as db:
        assert rated(db).keys() == {(rater, units[0])}


def test_a_backup_replaces_nothing_and_leaves_nothing_where_it_fails(workspace, run, tmp_path):
    file = tmp_path / "copy.db"
    file.write_text("kept")
    done = run(workspace, "backup", file)
    assert done.exit_code == 1
    assert "exists already" in done.output
    assert file.read_text() == "kept"
    assert "cannot be written" in run(workspace, "backup", tmp_path / "none" / "copy.db").output
    damage(workspace.db_path)
    with pytest.raises(WorkspaceError, match=r"damaged|could not be copied"):
        copies.backup(workspace.db_path, tmp_path / "damaged.db")
    assert not list(tmp_path.glob("damaged*"))


def damage(path):
    """Overwrite a page in the middle of a file with nothing behind it in the log."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    with path.open("r+b") as file:
        file.seek(4096 * 40)
        file.write(b"\xff" * 4096)


def test_a_damaged_file_is_found_and_the_remedy_named(workspace, run, tmp_path):
    assert run(workspace, "verify").output.endswith("all sums correct.\n")
    damage(workspace.db_path)
    done = run(workspace, "verify")
    assert done.exit_code == 1
    assert "Restore a backup" in done.output
    nothing = tmp_path / "nothing.db"
    nothing.write_bytes(b"no database " * 1000)
    done = run(workspace, "verify", nothing)
    assert done.exit_code == 1
    assert "Restore a backup" in done.output


FAULTS: dict[str, str | tuple[str, ...]] = {
    "Rows of ratings that refer to missing rows of conversations: 1 (": (
        "INSERT INTO ratings (conversation_id, criterion, rater_id, score, created) "
        "VALUES (999, 'wit', 1, 3, '')"
    ),
    "Submitted items without answers: 1 (1099511627778)": (
        "UPDATE placements SET state = 'done' WHERE id = 1099511627778"
    ),
    "Submitted items whose answers are not their ratings: 1 (1099511627777)": (
        "INSERT INTO answers (placement_id, question, value, answered_at) "
        "VALUES (1099511627777, 'wit', 3, '')",
        "UPDATE placements SET state = 'done' WHERE id = 1099511627777",
    ),
    "Scores in ratings that are not on their scale (wit, 77 on 1 to 5): 1 (1)": (
        "UPDATE ratings SET score = 77 WHERE criterion = 'wit'"
    ),
    "Scores in ratings that are not on their scale (wit, 3.5 on 1 to 5): 1 (1)": (
        "UPDATE ratings SET score = 3.5 WHERE criterion = 'wit'"
    ),
    "Scores in ratings that are not on their scale (wit, no number): 1 (1)": (
        "UPDATE ratings SET score = 'many' WHERE criterion = 'wit'"
    ),
    "Scores in answers that are not on their scale (wit, 0 on 1 to 5): 1 (1)": (
        "INSERT INTO answers (placement_id, question, value, answered_at) "
        "VALUES (1099511627777, 'wit', 0, '')"
    ),
    "Failed judgements that have scores: 1 (1)": "UPDATE judgements SET failure = 'unreadable'",
    "Rows of conversations whose messages is no JSON: 1 (7)": (
        "UPDATE conversations SET messages = '[[' WHERE id = 7"
    ),
    "Rows of scores that do not follow from what is stored: 2": (
        "UPDATE scores SET total = total + 1 WHERE criterion = 'wit'"
    ),
    "Rows of summaries that do not follow from what is stored: 2": "UPDATE summaries SET refused = 1",
    "Rows of player_counts that do not follow from what is stored: 2": "UPDATE player_counts SET judged = 9",
    "Texts of conversations that are no UTF-8: player.": (
        "UPDATE conversations SET player = CAST(x'70ff' AS TEXT) WHERE id = 7"
    ),
    "Parts of the database that are missing: 1 (index ratings_once)": "DROP INDEX ratings_once",
    "Parts of the database that are missing: 1 (trigger score_added)": "DROP TRIGGER score_added",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found_by_its_own_sentence(workspace, run, fault):
    db = database.connect(workspace.db_path)
    db.execute("PRAGMA foreign_keys = OFF")
    faults = FAULTS[fault]
    for sql in (faults,) if isinstance(faults, str) else faults:
        db.execute(sql)
    db.close()
    done = run(workspace, "verify")
    assert done.exit_code == 1
    assert fault in done.output


@pytest.mark.parametrize("words", ["verify", "people invite Ann", "export ratings", "backup copy.db", "app"])
def test_a_byte_in_the_schema_that_is_no_text_is_said_in_a_sentence(workspace, run, words, monkeypatch):
    """Python cannot decode what SQLite says of such a schema, and raises no error of SQLite."""
    with sqlite3.connect(workspace.db_path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    content = workspace.db_path.read_bytes()
    statement = b"language TEXT NOT NULL"
    assert statement in content
    workspace.db_path.write_bytes(content.replace(statement, statement[:-1] + b"\xff", 1))
    monkeypatch.chdir(workspace.path)
    done = run(workspace, *words.split())
    assert isinstance(done.exception, SystemExit)
    assert done.exit_code == 1
    assert f"{workspace.db_path} is not a Concord database, or it is damaged (its schema is no" in done.output
    assert not (workspace.path / "copy.db").exists()


def test_a_scale_that_was_guessed_says_nothing_of_scores(workspace, run):
    with workspace.write() as db:
        db.execute("UPDATE criteria SET scale = ? WHERE scope = 'b'", [between(1, 5, guessed=True).as_json])
        db.execute("UPDATE ratings SET score = 7 WHERE criterion = 'wit'")
        summaries.refresh(db)
    assert run(workspace, "verify").exit_code == 0


def test_a_check_needs_a_database(run, tmp_path):
    done = run(Workspace(tmp_path / "none"), "verify")
    assert done.exit_code == 1
    assert "There is no database" in done.output
    assert not (tmp_path / "none").exists()
