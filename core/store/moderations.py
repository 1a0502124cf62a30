"""Harm scores of texts in the store: one row a text and model, so that no text is paid for twice."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from sqlite_utils import Database

from concord.configuration import Use
from concord.store import configurations
from concord.store.database import now


def mark(text: str) -> str:
    """What a text is known by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def save(
    db: Database, use: Use, given: Iterable[tuple[str, Mapping[str, float]]], *, simulated: bool = False
) -> None:
    """Keep the scores of texts by category, and the configuration of the model that gave them."""
    configuration = use.configuration
    assert configuration is not None
    common = {
        "model": configuration.nickname,
        "simulated": int(simulated),
        "created": now(),
        "configuration_id": configurations.remember(db, configuration),
        "reported": configurations.dump(use.reported),
    }
    db.table("moderations").insert_all(
        ({"hash": mark(text), "categories": json.dumps(dict(scores)), **common} for text, scores in given),
        replace=True,
    )


def known(db: Database, model: str, texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Those of the texts that the model has scored: text → category → score."""
    marks = {mark(text): text for text in texts}
    return {
        marks[found]: json.loads(categories)
        for found, categories in db.execute(
            "SELECT hash, categories FROM moderations WHERE model = ? AND hash IN (SELECT value "
            "FROM json_each(?))",
            [model, json.dumps(list(marks))],
        )
    }


def models(db: Database) -> dict[str, bool]:
    """The models that have scored texts, and whether they are mock models."""
    rows = db.execute("SELECT model, max(simulated) FROM moderations GROUP BY model ORDER BY model")
    return {model: bool(simulated) for model, simulated in rows.fetchall()}
