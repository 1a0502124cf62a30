"""The rows of every table as lines of JSON: how a recorded workspace is kept, and read into an empty one.

A line `{"table": …, "columns": […]}` begins a table; each line after it is one of its rows. What follows from
ratings is not written, as it is computed anew, nor settings: they hold the secrets of one workspace.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sqlite_utils import Database

from concord.errors import WorkspaceError
from concord.store import summaries
from concord.store.checking import DERIVED

_LEFT_OUT = {"sqlite_sequence", "settings", *DERIVED}
_BYTES = "bytes"


def lines(db: Database) -> Iterator[str]:
    """The rows of every table that has any; bytes as hexadecimal text."""
    for table in sorted({*db.table_names()} - _LEFT_OUT):
        rows = db.execute(f"SELECT * FROM {table}")
        columns = [column[0] for column in rows.description]
        for number, row in enumerate(rows):
            if number == 0:
                yield _line({"table": table, "columns": columns})
            yield _line([{_BYTES: value.hex()} if isinstance(value, bytes) else value for value in row])


def insert(db: Database, written: Iterable[str]) -> None:
    """Store what `lines` wrote in a database without rows, in the caller's transaction.

    Raises WorkspaceError for a table or a column that the database lacks.
    """
    db.execute("PRAGMA defer_foreign_keys = ON")
    columns_of = {table: set(db[table].columns_dict) for table in db.table_names()}
    statement = ""
    for line in written:
        entry = json.loads(line)
        if isinstance(entry, list):
            row = [bytes.fromhex(v[_BYTES]) if isinstance(v, dict) else v for v in entry]
            db.conn.execute(statement, row)
            continue
        table, columns = entry["table"], entry["columns"]
        if unknown := set(columns) - columns_of.get(table, set()):
            raise WorkspaceError(
                f"The rows were recorded from another database: {table} has no {', '.join(sorted(unknown))} "
                "here. Record them again."
            )
        statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    summaries.refresh(db)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
