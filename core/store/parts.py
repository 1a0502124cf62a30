"""Changes too long for one transaction: stored in parts, so that others write in between, and undone as a
whole where they do not end.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from concord.errors import WorkspaceError
from concord.store import summaries
from concord.store.database import column, reading, scalar, writer
from concord.store.locks import alone

Part = Callable[[], AbstractContextManager[Database]]
"""Opens the next part: one transaction."""
NUMBERED = ("studies", "conversations", "items", "ratings", "comparisons")
"""Tables in which new rows get the next id. Only rows added to these, and criteria, are undone."""
UNUSED = """AND NOT EXISTS (SELECT 1 FROM items i WHERE i.conversation_id = conversations.id)
AND NOT EXISTS (SELECT 1 FROM judgements j WHERE j.conversation_id = conversations.id)"""
"""A conversation that others put into a study, or had judged, before its import was undone stays."""


@contextmanager
def in_parts(path: Path) -> Iterator[Part]:
    """Store a change in parts. Where the block fails, what it added is removed before it raises.

    Where the process dies, `undo_abandoned` removes it. Meanwhile others see what is stored already. Raises
    WorkspaceError while another process does the same.
    """

    with alone(path, "import") as free, writer(path) as begin:
        if not free:
            raise WorkspaceError("Another import is running in this workspace. Wait until it has ended.")

        @contextmanager
        def part() -> Iterator[Database]:
            with begin() as db:
                ids = _last_ids(db)
                criteria = _criteria(db)
                yield db
                last = _last_ids(db)
                additions: list[tuple[str, Any, Any]] = []
                for table in ids:
                    if last[table] > ids[table]:
                        additions.append((table, ids[table] + 1, last[table]))
                for scope, name in _criteria(db) - criteria:
                    additions.append(("criteria", scope, name))
                _keep(db, additions)

        _undo(begin)
        try:
            yield part
        except BaseException:
            _undo(begin)
            raise
        with begin() as db:
            db.execute("DELETE FROM import_parts")


def _keep(db: Database, additions: Sequence[tuple[str, Any, Any]]) -> None:
    """Keep what a part has added: (table, first id, last id), or the scope and the name of a criterion."""
    db.table("import_parts").insert({"added": json.dumps(additions)})


def undo_abandoned(path: Path) -> None:
    """Remove what a process had stored in parts and died before the end."""
    with reading(path) as db:
        abandoned = scalar(db, "SELECT EXISTS (SELECT 1 FROM import_parts)")
    if abandoned:
        with alone(path, "import") as free:
            if free:
                with writer(path) as begin:
                    _undo(begin)


def _undo(begin: Part) -> None:
    """Remove the last part first; a part and the note of it in one transaction."""
    while True:
        with begin() as db:
            row = db.execute("SELECT number, added FROM import_parts ORDER BY number DESC LIMIT 1").fetchone()
            if row is None:
                return
            number, additions = row
            for table, first, last in reversed(json.loads(additions)):
                _remove(db, table, first, last)
            db.table("import_parts").delete(number)


def _remove(db: Database, table: str, first: Any, last: Any) -> None:
    if table == "ratings":
        sql = "SELECT DISTINCT conversation_id FROM ratings WHERE id BETWEEN ? AND ?"
        touched = column(db, sql, [first, last])
        db.execute("DELETE FROM ratings WHERE id BETWEEN ? AND ?", [first, last])
        summaries.refresh(db, touched)
    elif table == "criteria":
        db.execute("DELETE FROM criteria WHERE scope = ? AND name = ?", [first, last])
        summaries.refresh(db, rated_by(db, first))
    else:
        unused = UNUSED if table == "conversations" else ""
        db.execute(f"DELETE FROM {table} WHERE id BETWEEN ? AND ? {unused}", [first, last])


def rated_by(db: Database, scope: str) -> list[int]:
    """The conversations whose finals follow from the criteria of a benchmark or a study."""
    sql = (
        "SELECT id FROM conversations WHERE benchmark = ? UNION SELECT u.conversation_id FROM items u "
        "JOIN studies t ON t.id = u.study_id WHERE 'study:' || t.name = ?"
    )
    return column(db, sql, [scope, scope])


def _last_ids(db: Database) -> dict[str, int]:
    return {table: scalar(db, f"SELECT ifnull(max(id), 0) FROM {table}") for table in NUMBERED}


def _criteria(db: Database) -> set[tuple[str, str]]:
    return set(db.execute("SELECT scope, name FROM criteria").fetchall())
