"""What was settled with endpoints, by what tells an entry of models.toml from others (`Model.asked_as`)."""

import json
from collections.abc import Mapping
from typing import Any

from sqlite_utils import Database

from concord.store import settings

_PREFIX = "handshake "
"""How the settings are called, before what the entry is known by."""


def get(db: Database, asked_as: str) -> Mapping[str, Any] | None:
    """What is known of an endpoint as plain values; None where it was never asked."""
    body = settings.get(db, _PREFIX + asked_as)
    if body is None:
        return None
    return dict(json.loads(body))


def put(db: Database, asked_as: str, values: Mapping[str, Any]) -> None:
    """Keep what is known of an endpoint."""
    settings.put(db, _PREFIX + asked_as, json.dumps(values, sort_keys=True))


def forget(db: Database, asked_as: str) -> None:
    """Have the endpoint asked anew."""
    settings.remove(db, _PREFIX + asked_as)
