"""Argilla: a study as a dataset folder that `Dataset.from_disk` reads, and its records as ratings.

Read are the records of the library (`records.to_json`, `to_disk`).
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from concord.errors import ImportRefused, StudyError
from concord.exchange import rows
from concord.exchange.answers import (
    AnswerFile,
    ForeignAnswer,
    StudyItem,
    conversation_of,
    is_name,
    items,
    names,
    person,
    rater,
    usable,
)
from concord.exchange.otlp import objects
from concord.files import file_name
from concord.questions import NONE, Scale
from concord.rating import Criterion
from concord.store import studies

RATINGS = range(11)
"""The values that a rating of Argilla may have."""
CHAT = "chat"


def write(db: Database, study: str) -> dict[str, str]:
    """The files of the dataset by name.

    Ratings are not written: judges' would be suggestions, which annotators see. Raises StudyError for a
    criterion that Argilla cannot ask.
    """
    row = studies.get(db, study)
    question_names = names(row.criteria)
    records = [_record(item) for item in items(db, row)]
    settings = {
        "guidelines": row.guidelines or None,
        "questions": [question for c in row.criteria for question in _questions(c, question_names[c.name])],
        "fields": [
            _part("ask", {"type": "text", "use_markdown": False}, "What to rate"),
            _part("context", {"type": "text", "use_markdown": False}, "Context", required=False),
            _part(CHAT, {"type": "chat", "use_markdown": False}, "Dialogue"),
        ],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": max(1, row.overlap)},
        "mapping": None,
    }
    dataset = {"name": file_name(study), "allow_extra_metadata": True, "status": "draft"}
    files = {".argilla/settings.json": settings, ".argilla/dataset.json": dataset, "records.json": records}
    return {name: json.dumps(value, ensure_ascii=False) + "\n" for name, value in files.items()}


def _part(name: str, settings: Mapping[str, Any], title: str, *, required: bool = True) -> dict[str, Any]:
    return {
        "name": name,
        "settings": settings,
        "title": title,
        "required": required,
        "type": settings["type"],
    }


def _questions(criterion: Criterion, name: str) -> Iterator[dict[str, Any]]:
    scale = criterion.scale
    if not scale.offered:
        raise StudyError(
            f"Argilla cannot ask “{criterion.name}”: it has no question type for numbers from "
            f"{scale.low:g} to {scale.high:g} or for words of a reply. Export ratings instead."
        )
    if scale.sets:
        options = [{"value": label, "text": label} for label in (*scale.labels, NONE)]
        settings: dict[str, Any] = {"type": "multi_label_selection", "options": options}
        settings |= {"visible_options": None, "options_order": "natural"}
    elif _as_rating(scale):
        settings = {"type": "rating", "options": [{"value": int(v)} for v in scale.values]}
    else:
        options = [{"value": f"{v:g}", "text": scale.word(v, level=True)} for v in scale.values]
        settings = {"type": "label_selection", "options": options, "visible_options": None}
    words = {f"{v:g}" for v in scale.values} != set(scale.labels)
    legend = "; ".join(scale.legend) if words else ""
    description = " ".join(filter(None, (criterion.statement, f"({legend})" if legend else "")))
    # Nothing depends on an answer there.
    required = criterion.required and not criterion.when
    yield {**_part(name, settings, criterion.label, required=required), "description": description}
    if criterion.reason:
        text = {"type": "text", "use_markdown": False}
        yield _part(
            f"{name}-reason", text, f"Why? ({criterion.label})", required=criterion.reason == "required"
        )


def _as_rating(scale: Scale) -> bool:
    """Whether the numbers alone can be offered; categories need their words."""
    return scale.ordered and all(value in RATINGS for value in scale.values)


def _record(item: StudyItem) -> dict[str, Any]:
    chat = [{"role": m.role, "content": m.content} for m in item.conversation.messages]
    fields = {"ask": item.question_text, "context": item.context, CHAT: chat}
    return {
        "id": item.name,
        "fields": {name: value for name, value in fields.items() if value},
        "metadata": {},
        "suggestions": {},
        "responses": {},
        "vectors": {},
    }


def read(path: Path, study: str) -> AnswerFile:
    """The answers of a file of records, or of a folder that `to_disk` wrote. Raises ImportRefused."""
    path = path / "records.json" if path.is_dir() else path
    file = AnswerFile(str(path))
    for row in rows.read(path):
        record = row.complete
        fields = row.complete.get("fields")
        if not isinstance(fields, Mapping):
            raise ImportRefused(
                f"{row.location}, is not an Argilla record: it has no “fields”. Export the dataset with "
                "to_disk."
            )
        item = str(record.get("id") or row.location.rpartition(" ")[2])
        if not is_name(item):
            item = f"{study}/{item}"
            file.conversations[item] = conversation_of(fields, item, study, row.location)
        values = {}
        for annotator, status, name, value in _responses(record.get("responses")):
            if status == "submitted":
                values[annotator, name] = value
            else:
                file.left_out["answers that were not submitted"] += 1
        for (annotator, name), value in values.items():
            if name.endswith("-reason"):
                continue
            if (answer := usable(value)) is None:
                file.left_out["answers that are neither ratings nor labels"] += 1
                continue
            reason = str(values.get((annotator, f"{name}-reason")) or "")
            file.answers.append(
                ForeignAnswer(row.location, item, name, answer, rater(annotator, "human"), reason)
            )
        suggestions = record.get("suggestions")
        for question, suggestion in (suggestions if isinstance(suggestions, Mapping) else {}).items():
            value = suggestion.get("value") if isinstance(suggestion, Mapping) else None
            if (answer := usable(value)) is not None:
                judge = rater(str(suggestion.get("agent") or "suggestions"), "judge")
                file.answers.append(ForeignAnswer(row.location, item, str(question), answer, judge))
    return file


def _responses(responses: Any) -> Iterator[tuple[str, Any, str, Any]]:
    """(person, status, question, value) of answers: a list of them for each question."""
    for name, answers in (responses if isinstance(responses, Mapping) else {}).items():
        for answer in objects(answers):
            status = answer.get("status", "submitted")
            yield person(answer.get("user_id")), status, str(name), answer.get("value")
