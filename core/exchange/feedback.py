"""Ratings as other tools take them back: scores of Langfuse, annotations of Phoenix, assessments of MLflow.

One object a line, as the tool's API takes it. A conversation is named by the trace and the span that its file
named, else by its id there.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.exchange.dataset import Kinds, Row
from concord.rating import Rater
from concord.store import conversations, ratings

TRACES = ("traceId", "trace_id", "context.trace_id")
SPANS = ("spanId", "span_id", "context.span_id", "observationId", "observation_id")
"""The metadata under which imported conversations have the ids of their trace and span."""
LANGFUSE: Kinds = dict.fromkeys(
    ("id", "traceId", "observationId", "name", "value", "dataType", "source", "comment", "metadata"), "text"
)
PHOENIX: Kinds = dict.fromkeys(
    ("span_id", "name", "annotator_kind", "result", "identifier", "metadata"), "text"
)
MLFLOW: Kinds = dict.fromkeys(
    (
        "assessment_name",
        "trace_id",
        "source",
        "feedback",
        "rationale",
        "metadata",
        "create_time",
        "last_update_time",
    ),
    "text",
)
_KINDS = {"human": "HUMAN", "gold": "HUMAN", "judge": "LLM"}


def langfuse(db: Database, study: str, *, with_excluded: bool = False) -> Iterator[Row]:
    """Bodies of Langfuse's `POST /api/public/scores`; those of people are annotations."""
    for row, trace, span in _rated(db, study, with_excluded):
        person = row["rater_type"] != "judge"
        yield {
            "id": _id(row),
            "traceId": trace,
            "observationId": span,
            "name": row["criterion"],
            "value": row["score"],
            "dataType": "NUMERIC",
            "source": "ANNOTATION" if person else "API",
            "comment": _reasons(row) or None,
            "metadata": _provenance(row),
        }


def phoenix(db: Database, study: str, *, with_excluded: bool = False) -> Iterator[Row]:
    """Entries of `data` in Phoenix's `POST /v1/span_annotations`."""
    for row, trace, span in _rated(db, study, with_excluded):
        result: dict[str, Any] = {"score": row["score"]}
        result |= {"explanation": reasons} if (reasons := _reasons(row)) else {}
        yield {
            "span_id": span or trace,
            "name": row["criterion"],
            "annotator_kind": _kind(row),
            "result": result,
            "identifier": _id(row),
            "metadata": _provenance(row),
        }


def mlflow(db: Database, study: str, *, with_excluded: bool = False) -> Iterator[Row]:
    """Assessments as `mlflow.entities.Assessment.from_dictionary` reads them."""
    for row, trace, _ in _rated(db, study, with_excluded):
        source = {"HUMAN": "HUMAN", "LLM": "LLM_JUDGE", "CODE": "CODE"}[_kind(row)]
        yield {
            "assessment_name": row["criterion"],
            "trace_id": trace,
            "source": {"source_type": source, "source_id": _program(row) or row["rater"]},
            "feedback": {"value": row["score"]},
            "rationale": _reasons(row) or None,
            "metadata": {name: str(value) for name, value in _provenance(row).items()},
            "create_time": row["created"],
            "last_update_time": row["created"],
        }


def _rated(db: Database, study: str, with_excluded: bool) -> Iterator[tuple[dict[str, Any], str, str | None]]:
    """The ratings of a study, each with the trace and the span of its conversation."""
    key = ""
    trace = ""
    span = None
    for row in ratings.exported(db, study, with_excluded=with_excluded):
        if row["item_id"] != key:
            key = row["item_id"]
            trace, span = place_of(conversations.load(db, key))
        yield row, trace, span


def place_of(conversation: Conversation) -> tuple[str, str | None]:
    """The trace and the span of a conversation in the tool that its file came from."""
    meta: Mapping[str, Any] = conversation.meta
    id_there = conversation.key.removeprefix(f"{conversation.benchmark}/")
    trace = next((str(meta[name]) for name in TRACES if meta.get(name)), "")
    span = next((str(meta[name]) for name in SPANS if meta.get(name)), None)
    if trace and span is None and meta.get("id") not in (None, trace):
        span = str(meta["id"])  # an observation of Langfuse
    return (trace or id_there).removeprefix("0x"), span.removeprefix("0x") if span else None


def _kind(row: Mapping[str, Any]) -> str:
    return "CODE" if _program(row) is not None else _KINDS[row["rater_type"]]


def _program(row: Mapping[str, Any]) -> str | None:
    return Rater(row["rater"], row["rater_type"]).program


def _reasons(row: Mapping[str, Any]) -> str:
    parts = (row["explanation"], row["comment"])
    return "\n".join(part for part in parts if part)


def _provenance(row: Mapping[str, Any]) -> dict[str, Any]:
    """Who gave a rating, and of which turn and study it is."""
    names = ("rater", "rater_type", "variant", "turn", "study", "model")
    return {name: row[name] for name in names if row[name] not in (None, "")}


def _id(row: Mapping[str, Any]) -> str:
    """A name for a rating that a second upload has too, so that the tool replaces the first."""
    parts = [row[name] for name in ("study", "item_id", "turn", "criterion", "rater", "variant", "repeat")]
    return "concord " + json.dumps(parts, ensure_ascii=False)
