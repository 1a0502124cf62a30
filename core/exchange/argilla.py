"""Argilla: a study as a dataset folder that `Dataset.from_disk` reads, and its records as ratings.

Read are the records of the library (`records.to_json`, `to_disk`) and those of the server's interface.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from concord.errors import ImportRefused, StudyError
from concord.exchange import rows
from concord.exchange.answers import (
    Answered,
    AnswerFile,
    StudyItem,
    conversation_of,
    is_name,
    items,
    names,
    person,
    rater,
)
from concord.files import file_name, read_json
from concord.questions import NONE, Scale
from concord.rating import Criterion
from concord.store import studies

RATINGS = range(11)
"""The values that a rating of Argilla may have."""
CHAT = "chat"
LABEL = 4
"""Words of a label; what has more is a text."""


def write(db: Database, study: str, *, judges: bool = False) -> tuple[dict[str, str], int]:
    """The files of the dataset by name, and how many records it has.

    People's answers are not written: Argilla has them by the number of its own users. With `judges`, the
    first judge's ratings of each question are suggestions, of which Argilla has one. Raises StudyError for a
    criterion that Argilla cannot ask.
    """
    row = studies.get(db, study)
    called = names(row.criteria)
    records = [_record(item, row.criteria, called, judges) for item in items(db, study)]
    settings = {
        "guidelines": row.guidelines or None,
        "questions": [question for c in row.criteria for question in _questions(c, called[c.name])],
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
    return {name: json.dumps(value, ensure_ascii=False) + "\n" for name, value in files.items()}, len(records)


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
            f"Argilla cannot ask “{criterion.name}”: it has no question for every number from "
            f"{scale.low:g} to {scale.high:g}, and none for words of a reply. Export ratings."
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
    yield {**_part(name, settings, criterion.label, required=criterion.required), "description": description}
    if criterion.reason:
        text = {"type": "text", "use_markdown": False}
        yield _part(
            f"{name}-reason", text, f"Why? ({criterion.label})", required=criterion.reason == "required"
        )


def _as_rating(scale: Scale) -> bool:
    """Whether the numbers alone can be offered; categories need their words."""
    return scale.ordered and all(value in RATINGS for value in scale.values)


def _record(
    item: StudyItem, criteria: tuple[Criterion, ...], called: Mapping[str, str], judges: bool
) -> dict[str, Any]:
    suggestions: dict[str, Any] = {}
    for who, given in item.judges.items() if judges else ():
        for criterion in criteria:
            if criterion.name in given and given[criterion.name][0] in criterion.scale:
                score = given[criterion.name][0]
                value: Any = int(score) if _as_rating(criterion.scale) else f"{score:g}"
                value = criterion.scale.chosen(score) if criterion.scale.sets else value
                suggested = {"value": value, "score": None, "agent": f"{who.name} {who.variant}".strip()}
                suggestions.setdefault(called[criterion.name], suggested)
    chat = [{"role": m.role, "content": m.content} for m in item.conversation.messages]
    fields = {"ask": item.ask, "context": item.context, CHAT: chat}
    return {
        "id": item.name,
        "fields": {name: value for name, value in fields.items() if value},
        "metadata": {},
        "suggestions": suggestions,
        "responses": {},
        "vectors": {},
    }


def read(path: Path, study: str, _asked: Collection[str] = ()) -> AnswerFile:
    """The answers of a file of records, or of a folder that `to_disk` wrote. Raises ImportRefused."""
    path = path / "records.json" if path.is_dir() else path
    file = AnswerFile(str(path))
    texts = _text_questions(path.parent / ".argilla" / "settings.json")
    for row in rows.read(path):
        if not isinstance(row.whole.get("fields"), Mapping):
            raise ImportRefused(
                f"{row.where}, is no record of Argilla: it has no “fields”. Export the dataset with to_disk."
            )
        _read(file, row.where, row.whole, study)
    words = dict[str, set[str]]()
    for one in file.answers:
        words.setdefault(one.criterion, set()).update([one.answer] if isinstance(one.answer, str) else [])
    texts |= {name for name, said in words.items() if name not in _asked and any(map(_is_text, said))}
    for one in file.answers:
        if one.criterion in texts:
            file.leave_out(f"texts in answer to “{one.criterion}”")
    file.answers = [one for one in file.answers if one.criterion not in texts]
    return file


def _text_questions(settings: Path) -> set[str]:
    """The questions of a dataset that are answered by a text; none where its settings are not there."""
    whole = read_json(settings, ImportRefused) if settings.is_file() else {}
    questions = whole.get("questions") if isinstance(whole, Mapping) else None
    return {
        str(question.get("name"))
        for question in (questions if isinstance(questions, list) else ())
        if isinstance(question, Mapping) and question.get("type") == "text"
    }


def _is_text(answer: str) -> bool:
    """Whether an answer is no label: of several words that begin with no number."""
    return len(answer.split()) > LABEL and not answer[:1].isdigit()


def _read(file: AnswerFile, where: str, record: Mapping[str, Any], study: str) -> None:
    item = str(record.get("external_id") or record.get("id") or where.rpartition(" ")[2])
    if not is_name(item):
        item = f"{study}/{item}"
        file.conversations[item] = conversation_of(record["fields"], item, study, where)
    for name, value, who, why in _responses(file, record):
        file.answers.append(Answered(where, item, name, value, rater(who, "human"), why))
    for name, value, who in _suggestions(record):
        file.answers.append(Answered(where, item, name, value, rater(who, "judge")))


def _responses(file: AnswerFile, record: Mapping[str, Any]) -> Iterator[tuple[str, float | str, str, str]]:
    """(question, answer, person, reason) of what was submitted."""
    responses = record.get("responses")
    by_person: dict[str, dict[str, Any]] = {}
    if isinstance(responses, Mapping):  # the library: question → one answer for each person
        for name, answers in responses.items():
            for answer in answers if isinstance(answers, list) else ():
                if isinstance(answer, Mapping) and answer.get("status", "submitted") == "submitted":
                    by_person.setdefault(person(answer.get("user_id")), {})[str(name)] = answer.get("value")
    for response in (
        responses if isinstance(responses, list) else ()
    ):  # the server: one response for each person
        if not isinstance(response, Mapping) or response.get("status", "submitted") != "submitted":
            file.leave_out("responses that were not submitted")
            continue
        values = response.get("values")
        for name, value in values.items() if isinstance(values, Mapping) else ():
            inner = value.get("value") if isinstance(value, Mapping) else value
            by_person.setdefault(person(response.get("user_id")), {})[str(name)] = inner
    for who, answers in by_person.items():
        for name, value in answers.items():
            if (usable := _usable(value)) is not None and not name.endswith("-reason"):
                yield name, usable, who, str(answers.get(f"{name}-reason") or "")
            elif not name.endswith("-reason"):
                file.leave_out("answers that are no rating and no label")


def _suggestions(record: Mapping[str, Any]) -> Iterator[tuple[str, float | str, str]]:
    suggestions = record.get("suggestions")
    listed = (
        [{"question": name, **value} for name, value in suggestions.items() if isinstance(value, Mapping)]
        if isinstance(suggestions, Mapping)
        else suggestions
    )
    for suggestion in listed if isinstance(listed, list) else ():
        if isinstance(suggestion, Mapping) and (value := _usable(suggestion.get("value"))) is not None:
            named = suggestion.get("question") or suggestion.get("question_name")
            if isinstance(named, str):
                yield named, value, str(suggestion.get("agent") or "suggestions")


def _usable(value: Any) -> float | str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, list) and value and all(isinstance(label, str) for label in value):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) and value and len(value) <= 200 else None
