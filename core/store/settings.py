"""Values that a workspace keeps by name."""

from sqlite_utils import Database

from concord.store.database import find

ADDRESS = "http://localhost:8501"
"""Where `concord app` serves unless told otherwise."""
_LISTENED = "listened at"


def get(db: Database, name: str) -> str | None:
    """A value; None where there is none."""
    row = find(db, "settings", "value", key=name)
    return row["value"] if row else None


def put(db: Database, name: str, value: str) -> None:
    """Keep a value in place of the one before."""
    db.execute("REPLACE INTO settings (key, value) VALUES (?, ?)", [name, value])


def remove(db: Database, name: str) -> None:
    """Forget a value, if there is one."""
    db.table("settings").delete_where("key = ?", [name])


def listens_at(db: Database, url: str) -> None:
    """Keep where the app listens."""
    put(db, _LISTENED, url)


def address(db: Database) -> str:
    """Where the app last listened; the default address where it never did."""
    return get(db, _LISTENED) or ADDRESS
