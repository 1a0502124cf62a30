"""Label Studio: a study as tasks with an equivalent labelling configuration, and its exports as ratings.

Read is its JSON export. What an annotator skipped, and predictions of which the export has
only the number, are excluded and counted.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.errors import ImportRefused, StudyError
from concord.exchange import rows
from concord.exchange.answers import (
    AnswerFile,
    ForeignAnswer,
    StudyItem,
    conversation_of,
    items,
    names,
    person,
    rater,
    usable,
)
from concord.exchange.otlp import objects
from concord.questions import NONE, Scale
from concord.rating import Criterion, Dependence, Rater, criteria_by_name
from concord.store import studies

OBJECT = "dialogue"
_SPEAKERS = {"system": "System prompt", "user": "User", "assistant": "Model"}


def write(db: Database, study: str) -> dict[str, str]:
    """The files of a study: its tasks (JSON) and the labelling configuration (XML).

    Ratings are not written: judges' would be predictions, which Label Studio shows to annotators. Raises
    NotFound for an unknown study.
    """
    row = studies.get(db, study)
    tasks = [_task(item) for item in items(db, row)]
    text = json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"
    return {"tasks.json": text, "config.xml": configuration(row)}


def configuration(study: studies.Study) -> str:
    """The labelling configuration that asks what the study asks."""
    question_names = names(study.criteria)
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
    by_name = criteria_by_name(study.criteria)
    for criterion in study.criteria:
        question = [*_question(criterion, question_names[criterion.name])]
        for name, condition in criterion.when.items():
            if name in by_name:
                question = _dependent(question, by_name[name].scale, question_names[name], condition)
        lines += [f"  {line}" for line in question]
    return "\n".join([*lines, "</View>", ""])


def _question(criterion: Criterion, name: str) -> Iterator[str]:
    required = f'required="{str(criterion.required).lower()}"'
    yield f'<Header size="5" value={quoteattr(f"{criterion.label}: {criterion.statement}")}/>'
    scale = criterion.scale
    if scale.kind.content:
        raise StudyError(
            f"“{criterion.name}” is answered in words of a reply, which cannot be exported to Label "
            "Studio. Export ratings instead."
        )
    if scale.offered:
        mode = "multiple" if scale.sets else "single"
        words = (*scale.labels, NONE) if scale.sets else (scale.word(v, level=True) for v in scale.offered)
        yield f'<Choices name="{name}" toName="{OBJECT}" choice="{mode}" showInline="true" {required}>'
        yield from (f"  <Choice value={quoteattr(word)}/>" for word in words)
        yield "</Choices>"
    else:
        yield f'<Number name="{name}" toName="{OBJECT}" min="{scale.low:g}" max="{scale.high:g}" {required}/>'
    if criterion.reason:
        yield f'<TextArea name="{name}-reason" toName="{OBJECT}" placeholder="Why?"/>'


def _dependent(question: Sequence[str], scale: Scale, name: str, condition: Dependence) -> list[str]:
    """A question that is shown where another one has such an answer; always, where that is a number, on which
    nothing can depend there.
    """
    if not scale.offered:
        return [line.replace('required="true"', 'required="false"') for line in question]
    fitting_values = [
        value for value in (*scale.offered, *([0.0] if scale.sets else [])) if condition.holds(scale, value)
    ]
    words = [
        scale.word(value, level=True) if not scale.sets else scale.chosen(value)[0]
        for value in fitting_values
    ]
    condition_attributes = (
        f'visibleWhen="choice-selected" whenTagName="{name}" whenChoiceValue={quoteattr(",".join(words))}'
    )
    return [f"<View {condition_attributes}>", *(f"  {line}" for line in question), "</View>"]


def _task(item: StudyItem) -> dict[str, Any]:
    dialogue = [{"author": speaker, "text": m.content} for speaker, m in _spoken_messages(item.conversation)]
    return {
        "data": {"item": item.name, "ask": item.question_text, "context": item.context, "dialogue": dialogue}
    }


def _spoken_messages(conversation: Conversation) -> Iterator[tuple[str, Message]]:
    """Who says what; turns are numbered, because an item may be one of them."""
    for turn in conversation.turns():
        system = [m for m in turn.other_messages if m.role == "system"]
        tools = [m for m in turn.other_messages if m.role != "system"]
        for message in (*system, turn.user, *tools, turn.reply):
            if message is not None:
                speaker = message.tool_part if message.role == "tool" else _SPEAKERS[message.role]
                yield f"{speaker} · turn {turn.number}", message


def read(path: Path, study: str) -> AnswerFile:
    """The answers of a JSON export. Raises ImportRefused for a file of another form, such as JSON-MIN."""
    file = AnswerFile(str(path))
    for row in rows.read(path, "JSON"):
        data = row.complete.get("data")
        if not isinstance(data, Mapping):
            raise ImportRefused(
                f"{row.location}, is not a Label Studio task: it has no “data”. Export the project as JSON, "
                "not as JSON-MIN."
            )
        item = data.get("item")
        if not isinstance(item, str):  # Concord did not make the task
            item = f"{study}/{data.get('id', row.complete.get('id'))}"
            if item not in file.conversations:
                file.conversations[item] = conversation_of(data, item, study, row.location)
        for kind in ("annotations", "predictions"):
            listed = row.complete.get(kind)
            for place, annotation in enumerate(listed if isinstance(listed, list) else (), 1):
                if not isinstance(annotation, Mapping):
                    file.left_out[f"{kind} that the export has only as a number"] += 1
                elif annotation.get("was_cancelled"):
                    file.left_out["annotations that were skipped"] += 1
                else:
                    annotator = _rater(kind, annotation)
                    _answers(
                        file, f"{row.location}, {kind.removesuffix('s')} {place}", item, annotation, annotator
                    )
    return file


def _rater(kind: str, annotation: Mapping[str, Any]) -> Rater:
    if kind == "annotations":
        return rater(person(annotation.get("completed_by")), "human")
    return rater(str(annotation.get("model_version") or kind), "judge")


def _answers(
    file: AnswerFile, location: str, item: str, annotation: Mapping[str, Any], annotator: Rater
) -> None:
    """Add the answers of an annotation or a prediction, each with the reason that stands beside it."""
    reasons: dict[str, str] = {}
    values: dict[str, float | str] = {}
    for result in objects(annotation.get("result")):
        name = result.get("from_name")
        value = result.get("value")
        if not isinstance(name, str) or not isinstance(value, Mapping):
            file.left_out["results that are no answer to a question, such as relations"] += 1
        elif (answer := _value(value)) is not None:
            values[name] = answer
        elif isinstance(text := value.get("text"), list | str):
            reasons[name.removesuffix("-reason")] = (
                text if isinstance(text, str) else "\n".join(map(str, text))
            )
        else:
            file.left_out["results of a kind that is no rating"] += 1
    created = str(annotation.get("created_at") or "")
    for name, answer in values.items():
        file.answers.append(
            ForeignAnswer(location, item, name, answer, annotator, reasons.get(name, ""), created)
        )


def _value(value: Mapping[str, Any]) -> float | str | None:
    """The number or the word of a rating, a number, or what was chosen, of several a list of JSON."""
    choices = value.get("choices")
    one = choices[0] if isinstance(choices, list) and len(choices) == 1 else choices
    answers = map(usable, (value.get("rating"), value.get("number"), one))
    return next((answer for answer in answers if answer is not None), None)
