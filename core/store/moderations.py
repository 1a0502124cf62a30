"""Harm scores of texts: calls that the journal keeps for good, so that no text is paid for twice."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from sqlite_utils import Database

from concord.configuration import UNREPORTED, Use
from concord.rating import NOTHING_SPENT
from concord.store import runs
from concord.store.runs import NotedCall

_WORK = "moderations/"


def mark(text: str) -> str:
    """What a text is known by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def save(db: Database, use: Use, scores_of_texts: Iterable[tuple[str, Mapping[str, float]]]) -> None:
    """Keep the scores of texts by category, and the configuration of the model that gave them."""
    configuration = use.configuration
    assert configuration is not None
    reported = next(iter(use.reported), UNREPORTED)
    for text, scores in scores_of_texts:
        call = NotedCall("", json.dumps(dict(scores)), False, NOTHING_SPENT, reported)
        runs.note_call(db, _WORK + configuration.nickname, mark(text), call, configuration)


def scored(db: Database, model: str, texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Those of the texts that the model has scored: text → category → score."""
    marks = {mark(text): text for text in texts}
    rows = db.execute(
        "SELECT step, reply FROM journal WHERE work = ? AND step IN (SELECT value FROM json_each(?))",
        [_WORK + model, json.dumps(list(marks))],
    )
    return {marks[step]: json.loads(categories) for step, categories in rows}
