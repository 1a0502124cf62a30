"""Trajectories in the store, compressed: what was done beside what was said."""

import json
import zlib
from collections.abc import Mapping
from typing import Any

from sqlite_utils import Database

from concord.errors import NotFound
from concord.store import database


def save(db: Database, conversation: int, values: Mapping[str, Any]) -> None:
    """Store the trajectory of a stored conversation."""
    body = zlib.compress(json.dumps(dict(values), ensure_ascii=False, separators=(",", ":")).encode())
    database.update(db, "conversations", conversation, trajectory=body)


def find(db: Database, conversation: int) -> Mapping[str, Any] | None:
    """The trajectory of a conversation, by its id; None where it has none."""
    row = database.find(db, "conversations", "trajectory", id=conversation)
    body = row and row["trajectory"]
    return json.loads(zlib.decompress(body)) if body else None


def load(db: Database, conversation: int) -> Mapping[str, Any]:
    """The same, where there must be one. Raises NotFound."""
    values = find(db, conversation)
    if values is None:
        raise NotFound(f"There is no trajectory of conversation {conversation} in this workspace.")
    return values
