"""Label Studio: a study as tasks with an equivalent labelling configuration, and its exports as ratings.

Read is its JSON export. What an annotator skipped, and predictions of which the export has
only the number, are left out and counted.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.errors import ImportRefused, StudyError
from concord.exchange import rows
from concord.exchange.answers import (
    Answered,
    AnswerFile,
    StudyItem,
    conversation_of,
    items,
    names,
    person,
    rater,
)
from concord.questions import NONE
from concord.rating import Criterion
from concord.store import studies

OBJECT = "dialogue"
_SPEAKERS = {"system": "System prompt", "user": "User", "assistant": "Model", "tool": "Tool"}


def write(db: Database, study: str, *, answers: bool = True, judges: bool = False) -> tuple[str, str, int]:
    """The tasks (JSON) and the labelling configuration (XML) of a study, and how many tasks there are.

    With `answers`, people's ratings are annotations; with `judges`, those of judges are predictions, which
    Label Studio shows to annotators. Raises NotFound for an unknown study.
    """
    row = studies.get(db, study)
    called = names(row.criteria)
    tasks = [_task(item, row.criteria, called, answers, judges) for item in items(db, study)]
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", configuration(row), len(tasks)


def configuration(study: studies.Study) -> str:
    """The labelling configuration that asks what the study asks."""
    called = names(study.criteria)
    lines = ["<View>", '  <Header value="$ask"/>']
    if study.guidelines:
        lines += [f"  <Collapse><Panel value={quoteattr('Guidelines')}><View>"]
        lines += [
            f'    <Header size="6" value={quoteattr(study.guidelines)}/>',
            "  </View></Panel></Collapse>",
        ]
    lines += [
        '  <Text name="context" value="$context"/>',
        f'  <Paragraphs name="{OBJECT}" value="$dialogue" layout="dialogue" nameKey="author" '
        'textKey="text"/>',
    ]
    for criterion in study.criteria:
        lines += [f"  {line}" for line in _question(criterion, called[criterion.name])]
    return "\n".join([*lines, "</View>", ""])


def _question(criterion: Criterion, name: str) -> Iterator[str]:
    required = f'required="{str(criterion.required).lower()}"'
    yield f'<Header size="5" value={quoteattr(f"{criterion.label}: {criterion.statement}")}/>'
    scale = criterion.scale
    if scale.kind.content:
        raise StudyError(
            f"“{criterion.name}” is answered in words of a reply, which are not written for Label Studio. "
            "Export ratings."
        )
    if scale.offered:
        how = "multiple" if scale.sets else "single"
        words = (*scale.labels, NONE) if scale.sets else (scale.word(v, level=True) for v in scale.offered)
        yield f'<Choices name="{name}" toName="{OBJECT}" choice="{how}" showInline="true" {required}>'
        yield from (f"  <Choice value={quoteattr(word)}/>" for word in words)
        yield "</Choices>"
    else:
        yield f'<Number name="{name}" toName="{OBJECT}" min="{scale.low:g}" max="{scale.high:g}" {required}/>'
    if criterion.reason:
        yield f'<TextArea name="{name}-reason" toName="{OBJECT}" placeholder="Why?"/>'


def _task(
    item: StudyItem, criteria: tuple[Criterion, ...], called: Mapping[str, str], answers: bool, judges: bool
) -> dict[str, Any]:
    data = {
        "item": item.name,
        "ask": item.ask,
        "context": item.context,
        "dialogue": [{"author": who, "text": m.content} for who, m in _said(item.conversation)],
    }
    task: dict[str, Any] = {"data": data}

    def results(given: Mapping[str, tuple[float, str]]) -> list[dict[str, Any]]:
        return [
            result
            for criterion in criteria
            if criterion.name in given
            for result in _results(item, criterion, called[criterion.name], *given[criterion.name])
        ]

    if answers and item.people:
        task["annotations"] = [
            {"completed_by": {"email": who.name}, "was_cancelled": False, "result": results(given)}
            for who, given in item.people.items()
        ]
    if judges and item.judges:
        task["predictions"] = [
            {"model_version": f"{who.name} {who.variant}".strip(), "result": results(given)}
            for who, given in item.judges.items()
        ]
    return task


def _said(conversation: Conversation) -> Iterator[tuple[str, Message]]:
    """Who says what; turns are numbered, because an item may be one of them."""
    for turn in conversation.turns():
        system = [m for m in turn.beside if m.role == "system"]
        tools = [m for m in turn.beside if m.role != "system"]
        for message in (*system, turn.user, *tools, turn.reply):
            if message is not None:
                yield f"{_SPEAKERS[message.role]} · turn {turn.number}", message


def _results(
    item: StudyItem, criterion: Criterion, name: str, score: float, why: str
) -> Iterator[dict[str, Any]]:
    scale = criterion.scale
    about = {"from_name": name, "to_name": OBJECT}
    if score not in scale or not scale.offered:
        yield {"id": f"{item.name}-{name}", **about, "type": "number", "value": {"number": score}}
    else:
        chosen = scale.chosen(score)
        yield {"id": f"{item.name}-{name}", **about, "type": "choices", "value": {"choices": chosen}}
    if why and criterion.reason:
        reason = {**about, "from_name": f"{name}-reason", "type": "textarea", "value": {"text": [why]}}
        yield {"id": f"{item.name}-{name}-reason", **reason}


def read(path: Path, study: str, _questions: Collection[str] = ()) -> AnswerFile:
    """The answers of a JSON export. Raises ImportRefused for a file of another form, such as JSON-MIN."""
    file = AnswerFile(str(path))
    for row in rows.read(path, "JSON"):
        if isinstance(row.whole.get("data"), Mapping):
            _whole(file, row.where, row.whole, study)
        else:
            raise ImportRefused(
                f"{row.where}, is no task of Label Studio: it has no “data”. Export the project as JSON, not "
                "as JSON-MIN."
            )
    return file


def _whole(file: AnswerFile, where: str, task: Mapping[str, Any], study: str) -> None:
    data = task["data"]
    item = _item(file, where, data, task.get("id"), study)
    for place, annotation in enumerate(_listed(task, "annotations", "completions"), 1):
        at = f"{where}, annotation {place}"
        if not isinstance(annotation, Mapping):
            file.leave_out("annotations of which the export has only the number")
        elif annotation.get("was_cancelled"):
            file.leave_out("annotations that were skipped")
        else:
            who = person(annotation.get("completed_by"))
            _answers(file, at, item, annotation, rater(who, "human"))
    for place, prediction in enumerate(_listed(task, "predictions"), 1):
        if not isinstance(prediction, Mapping):
            file.leave_out("predictions of which the export has only the number")
        else:
            named = str(prediction.get("model_version") or "predictions")
            _answers(file, f"{where}, prediction {place}", item, prediction, rater(named, "judge"))


def _answers(file: AnswerFile, where: str, item: str, given: Mapping[str, Any], by: Any) -> None:
    reasons: dict[str, str] = {}
    values: dict[str, float | str] = {}
    for result in _listed(given, "result"):
        name = result.get("from_name") if isinstance(result, Mapping) else None
        value = result.get("value") if isinstance(result, Mapping) else None
        if not isinstance(name, str) or not isinstance(value, Mapping):
            file.leave_out("results that are no answer to a question, such as relations")
        elif (answer := _value(value)) is not None:
            values[name] = answer
        elif isinstance(text := value.get("text"), list | str):
            reasons[name.removesuffix("-reason")] = (
                text if isinstance(text, str) else "\n".join(map(str, text))
            )
        else:
            file.leave_out("results of a kind that is no rating")
    created = str(given.get("created_at") or "")
    for name, answer in values.items():
        file.answers.append(Answered(where, item, name, answer, by, reasons.get(name, ""), created))


def _value(value: Mapping[str, Any]) -> float | str | None:
    """The number or the word of a rating, a number, or what was chosen, of several a list of JSON."""
    for name in ("rating", "number"):
        if isinstance(number := value.get(name), int | float) and not isinstance(number, bool):
            return float(number)
    chosen = value.get("choices")
    if isinstance(chosen, list) and chosen and all(isinstance(word, str) for word in chosen):
        return chosen[0] if len(chosen) == 1 else json.dumps(chosen, ensure_ascii=False)
    return None


def _item(file: AnswerFile, where: str, data: Mapping[str, Any], number: Any, study: str) -> str:
    """The name of a task's item; the conversation of a task that Concord did not make is kept."""
    if isinstance(named := data.get("item"), str):
        return named
    name = f"{study}/{data.get('id', number)}"
    if name not in file.conversations:
        file.conversations[name] = conversation_of(data, name, study, where, _spoken)
    return name


def _spoken(entry: Any) -> Any:
    """An utterance of Paragraphs, whose speaker is the author."""
    if not isinstance(entry, Mapping) or "role" in entry or "author" not in entry:
        return entry
    return {"role": str(entry["author"]).partition(" · ")[0], "content": entry.get("text")}


def _listed(given: Mapping[str, Any], *names_: str) -> list[Any]:
    return next((given[name] for name in names_ if isinstance(given.get(name), list)), [])
