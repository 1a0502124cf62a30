"""The rows of every table as lines of JSON: how the demo is recorded, and read into an empty workspace.

A line `{"table": …, "columns": […]}` begins a table; each line after it is one of its rows, bytes as
hexadecimal text. What follows from ratings is not among them, as it is computed anew, nor settings: they hold
the secrets of one workspace.
"""

import json
from collections.abc import Iterable

from sqlite_utils import Database

from concord.store import summaries


def insert(db: Database, lines: Iterable[str]) -> None:
    """Store such rows in a database without any, in the caller's transaction."""
    db.execute("PRAGMA defer_foreign_keys = ON")
    statement = ""
    for line in lines:
        entry = json.loads(line)
        if isinstance(entry, list):
            row = [bytes.fromhex(cell["bytes"]) if isinstance(cell, dict) else cell for cell in entry]
            db.conn.execute(statement, row)
        else:
            columns = ", ".join(entry["columns"])
            marks = ", ".join("?" * len(entry["columns"]))
            statement = f"INSERT INTO {entry['table']} ({columns}) VALUES ({marks})"
    summaries.refresh(db)
