"""Conversations of OpenTelemetry's spans: of spans with one id, or one trace.

A span of a model call holds the history and the reply. Spans with one conversation id, or of one trace, are
compared: a dialogue that stands whole in another is no conversation of its own. Where they share an id, the
next one goes on with the one before. Evaluations belong to the turn of the span that they are about.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from concord.conversation import Conversation
from concord.errors import ImportRefused
from concord.exchange import dialogue
from concord.exchange.conventions import Entries, SpanDialogue, speech_of
from concord.exchange.otlp import (
    ATTRIBUTES,
    EVALUATIONS,
    MESSAGES,
    NAME,
    PARENT,
    SPAN,
    START,
    TRACE,
    objects,
)
from concord.exchange.rows import FileRow
from concord.exchange.shapes import at, first, parsed
from concord.files.limits import RECORD
from concord.store.seen import TextsByKey, kept

DIALOGUE, SCORES, KEY, MODEL, ERROR = "GenAI messages", "evaluations", "key", "model", "error"
"""The names under which a conversation of spans has what its form reads."""
LOGS = "log records"
"""The name under which a span has what a second file says of it."""
CONVERSATION = (
    "gen_ai.conversation.id",
    "gen_ai.conversation_id",
    "session.id",
    "langfuse.session.id",
    "ai.telemetry.metadata.sessionId",
    "ai.telemetry.metadata.conversationId",
    *(
        f"traceloop.association.properties.{name}"
        for name in ("conversation_id", "session_id", "thread_id", "chat_id")
    ),
    "gcp.vertex.agent.session_id",
    "langsmith.metadata.thread_id",
    "langsmith.metadata.session_id",
)
"""Attributes whose value is that of all spans of a conversation."""
_MODEL = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "llm.response.model",
    "llm.request.model",
    "ai.response.model",
    "ai.model.id",
    "langfuse.observation.model.name",
)
_READ = (*_MODEL, *CONVERSATION)
_OPERATION = (
    "gen_ai.operation.name",
    "openinference.span.kind",
    "llm.request.type",
    "traceloop.span.kind",
    "langfuse.observation.type",
)
_NO_DIALOGUE = (
    "execute_tool",
    "embeddings",
    "retrieval",
    "create_agent",
    "evaluate",
    "tool",
    "retriever",
    "embedding",
    "reranker",
    "guardrail",
    "evaluator",
    "prompt",
)
"""Operations whose input and output are no dialogue."""
_EVALUATING = ("evaluator", "evaluate")
"""Operations under which the calls of a model are those of a judge."""
_PEOPLE = "microsoft.gen_ai.human_evaluation.source"

_CODE_OF_PYDANTIC = ("Equals", "EqualsExpected", "Contains", "IsInstance", "MaxDuration", "HasMatchingSpan")
"""Evaluators of Pydantic Evals that call no model."""


class Mark(NamedTuple):
    """What is compared of a message: who says what, or which tool is called."""

    role: str
    words: str
    entry: int


@dataclass
class Thread:
    """A dialogue of one or more spans. `ends` is where each span's own part ends, as a number of entries."""

    entries: Entries
    marks: list[Mark]
    lane: tuple[str, ...]
    base: dict[str, Any]
    ends: dict[str, int] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)
    model: str = ""
    choices: int = 1


def conversations(rows: Iterator[FileRow]) -> Iterator[FileRow]:
    """A row for each conversation of the spans and log records in these rows, in their order."""
    with kept() as of_trace, kept() as of_conversation, kept() as evaluations:
        for row in rows:
            fields = row.fields
            if fields is None:
                yield row
            elif SPAN not in fields:
                continue
            elif not fields[SPAN] and (response := at(fields[ATTRIBUTES], "gen_ai.response.id")):
                for one in _evaluations(fields):
                    evaluations.add(f"response {response}", row.where, json.dumps(one, default=str))
            else:
                of_trace.add(_id(fields[TRACE]), row.where, json.dumps(fields, default=str))
        for trace in of_trace.every_key():
            texts = of_trace.of(trace)
            for place, row_spans in _by_conversation(trace, texts):
                for key, sequence in row_spans.items():
                    of_conversation.add(key, place, json.dumps(sequence))
        for key in of_conversation.every_key():
            texts = of_conversation.of(key)
            if sum(len(text) for _, text in texts) > RECORD:
                wrong = f"begins a conversation longer than {RECORD:,} characters. Cut it."
                yield FileRow(texts[0][0], None, wrong)
                continue
            sequence = [one for _, text in texts for one in json.loads(text)]
            yield from _read(texts[0][0], key, sequence, evaluations)


def _id(value: Any) -> str:
    """An id without the sign that it is hexadecimal."""
    return str(value or "").lower().removeprefix("0x")


ONE = "conversation "
"""How the key of spans with a conversation id begins; that of others is their trace's or their own."""


def _by_conversation(
    trace: str, texts: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, dict[str, list[dict[str, Any]]]]]:
    """The spans of a trace by the conversation to which they belong; one at a time where the trace is long.

    A span without a conversation id has that of the nearest span above it, else the only one of its trace.
    """
    fits = sum(len(text) for _, text in texts) <= RECORD
    ids = dict[str, str]()
    ancestors = dict[str, str]()
    for _, text in texts:
        fields = json.loads(text)
        span_id = _id(fields[SPAN])
        ancestors[span_id] = _id(fields.get(PARENT))
        if (label := first(fields[ATTRIBUTES], CONVERSATION)) is not None and str(label).strip():
            ids.setdefault(span_id, str(label).strip())
    single = next(iter(set(ids.values()))) if len(set(ids.values())) == 1 else ""
    groups = dict[str, list[dict[str, Any]]]()
    for place, text in texts:
        fields = json.loads(text)
        span_id, steps = _id(fields[SPAN]), 0
        while span_id and span_id not in ids and steps < len(ancestors):
            span_id, steps = ancestors.get(span_id, ""), steps + 1
        label = ids.get(span_id) or single
        group = ONE + label if label else trace if fits else f"{trace} {_id(fields[SPAN])}"
        if fits:
            groups.setdefault(group, []).append(fields)
        else:
            yield place, {group: [fields]}
    if fits:
        yield texts[0][0], groups


def _read(place: str, key: str, rows: Sequence[dict[str, Any]], elsewhere: TextsByKey) -> Iterator[FileRow]:
    """The conversations of spans that belong together."""
    one = key.startswith(ONE)
    spans = [*_merged(rows).values()]
    spans.sort(key=lambda fields: _moment(fields.get(START)))
    by_id = {_id(fields[SPAN]): fields for fields in spans}
    threads, failed = list[Thread](), list[dict[str, Any]]()
    for fields in spans:
        if any(_operation(item) in _EVALUATING for item in _ancestors(fields, by_id)):
            continue
        speech = None if _operation(fields) in _NO_DIALOGUE else speech_of(fields)
        if speech is not None and speech.entries:
            ancestors = {_id(item[SPAN]) for item in _ancestors(fields, by_id)}
            _take(threads, _thread(fields, speech, place), ancestors, continues=one)
        elif _failure(fields):
            failed.append(fields)
    scores = list[tuple[Thread | None, dict[str, Any], str]]()
    for fields in spans:
        for score in _evaluations(fields):
            thread = _evaluated(fields, score, threads, spans, by_id)
            scores.append((thread, score, _id(score.pop("span", "")) or _id(fields[SPAN])))
        response = at(fields[ATTRIBUTES], "gen_ai.response.id")
        for _, text in elsewhere.of(f"response {response}") if response else ():
            span = _id(fields[SPAN])
            scores.append((next((t for t in threads if span in t.ends), None), json.loads(text), span))
    orphans = [score for thread, score, _ in scores if thread is None]
    for number, thread in enumerate(threads):
        group = [(score, span) for candidates, score, span in scores if candidates is thread]
        name = key.removeprefix(ONE) if one else f"{thread.base[TRACE]}/{thread.base[SPAN]}"
        name = f"{name}/{thread.base[SPAN]}" if one and number else name
        yield FileRow(place, _record(thread, name, group, orphans if not number else []))


def _merged(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """One object a span: its own row with what log records say of it."""
    spans = dict[str, dict[str, Any]]()
    records = [item for fields in rows for item in (fields, *objects(fields.get(LOGS)))]
    for number, fields in enumerate(records):
        span = _id(fields[SPAN]) or f"row {number}"
        if (position := spans.get(span)) is None:
            spans[span] = dict(fields)
            continue
        label = fields if fields.get(NAME) else position  # a span has a name, a record of a log has none
        record = position if label is fields else fields
        merged = {**record, **{name: value for name, value in label.items() if value is not None}}
        merged[ATTRIBUTES] = {**record[ATTRIBUTES], **label[ATTRIBUTES]}
        for part in (MESSAGES, EVALUATIONS):
            if listed := [*position.get(part, ()), *fields.get(part, ())]:
                merged[part] = listed
        spans[span] = merged
    return spans


def _moment(value: Any) -> tuple[int, float, str]:
    try:
        return 0, float(value), ""
    except (TypeError, ValueError):
        return 1, 0, str(value or "")


def _operation(fields: Mapping[str, Any]) -> str:
    label = first(fields[ATTRIBUTES], _OPERATION)
    return str(label or "").lower()


def _ancestors(fields: Mapping[str, Any], by_id: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The spans above one, the nearest first."""
    span_id, visited = _id(fields.get(PARENT)), set[str]()
    while span_id in by_id and span_id not in visited:
        visited.add(span_id)
        yield by_id[span_id]
        span_id = _id(by_id[span_id].get(PARENT))


def _failure(fields: Mapping[str, Any]) -> str:
    """Why the call of a span failed; “” where it did not."""
    reason = first(fields, ("status.message", "status.description", "status_message", "StatusMessage"))
    code = first(fields, ("status.code", "status.status_code", "status_code", "StatusCode"))
    wrong = str(code).upper().rpartition(".")[2] in ("2", "ERROR", "STATUS_CODE_ERROR")
    return str(reason or at(fields[ATTRIBUTES], "error.type") or "error") if wrong else ""


def _thread(fields: dict[str, Any], speech: SpanDialogue, place: str) -> Thread:
    marks = _marks(speech.entries, place)
    instructions = [mark.words for mark in marks if mark.role == "system"]
    agent = str(at(fields[ATTRIBUTES], "gen_ai.agent.name") or "")
    marks = [mark for mark in marks if mark.role != "system"]
    model = first(fields[ATTRIBUTES], _MODEL)
    return Thread(
        speech.entries,
        marks,
        (_operation(fields), agent, *instructions),
        fields,
        {_id(fields[SPAN]): len(speech.entries)},
        {*speech.attributes},
        str(model or ""),
        speech.choices,
    )


def _marks(entries: Entries, place: str) -> list[Mark]:
    marks = list[Mark]()
    for number, entry in enumerate(entries, 1):
        try:
            spoken = dialogue.utterances([entry], place, {**dialogue.SPEAKERS, "*": "user"})
        except ImportRefused:
            continue  # it is refused with its place where the conversation is read
        for message, calls in spoken:
            words = "" if message.role == "tool" else message.content
            if words or message.role == "tool":
                marks.append(Mark(message.role, words, number))
            marks += [
                Mark("call", name, number) for name in message.meta.get("calls", ()) or (calls and [""])
            ]
    return marks


def _take(threads: list[Thread], new: Thread, ancestors: set[str], *, continues: bool) -> None:
    """Add the dialogue of a span to those of the spans before it, but for the spans above it."""
    for thread in threads:
        if (places := _positions(new.marks, thread.marks)) is not None:
            end = places[-1] if len(new.marks) else 0
            thread.ends |= dict.fromkeys(new.ends, end)
            _instruct(thread, [entry for entry in new.entries if _is_system(entry)])
            thread.attributes |= new.attributes if new.base is thread.base else set()
            thread.model = thread.model or new.model
            return
    place = len(threads)
    for number, thread in reversed([*enumerate(threads)]):
        if (places := _positions(thread.marks, new.marks)) is None:
            continue
        entry_of = {mark.entry: entry for mark, entry in zip(thread.marks, places, strict=True)}
        for span, end in thread.ends.items():
            reached = [entry_of[mark.entry] for mark in thread.marks if mark.entry <= end]
            new.ends.setdefault(span, max(reached, default=0))
        new.model = new.model or thread.model
        del threads[number]
        place = number
    before = [thread for thread in reversed(threads) if _id(thread.base[SPAN]) not in ancestors]
    lane = next((t for t in before if t.lane == new.lane), None) if continues else None
    if lane is None and new.marks and new.marks[0].role == "tool":
        lane = next((t for t in before if t.marks and t.marks[-1].role == "call"), None)
    if lane is None or place < len(threads):
        threads.insert(place, new)
        return
    size = min(len(lane.marks), len(new.marks))
    pairs = [mark[:2] for mark in lane.marks], [mark[:2] for mark in new.marks]
    shared = next((n for n in range(size, 0, -1) if pairs[0][-n:] == pairs[1][:n]), 0)
    begin = new.marks[shared - 1].entry if shared else 0
    rest = [entry for entry in new.entries[begin:] if not _is_system(entry)]
    left = len(new.entries) - len(rest)
    lane.ends |= {span: len(lane.entries) + max(0, end - left) for span, end in new.ends.items()}
    lane.marks += [
        Mark(mark.role, mark.words, len(lane.entries) + mark.entry - left) for mark in new.marks[shared:]
    ]
    lane.entries = [*lane.entries, *rest]
    lane.model = new.model or lane.model


def _instruct(thread: Thread, instructions: Entries) -> None:
    """Put the system prompt of a call before the dialogue of a span above it that has none."""
    if not instructions or any(map(_is_system, thread.entries)):
        return
    added = len(instructions)
    thread.entries = [*instructions, *thread.entries]
    thread.marks = [mark._replace(entry=mark.entry + added) for mark in thread.marks]
    thread.ends = {span: end + added if end else end for span, end in thread.ends.items()}


def _is_system(entry: Mapping[str, Any]) -> bool:
    return str(entry.get("role", "")).lower() in ("system", "developer")


def _positions(sequence: Sequence[Mark], marks: Sequence[Mark]) -> list[int] | None:
    """Where the messages of a dialogue stand in another in the same order; None where one does not."""
    places = list[int]()
    position = iter(marks)
    for mark in sequence:
        place = next((item.entry for item in position if item[:2] == mark[:2]), None)
        if place is None:
            return None
        places.append(place)
    return places or None


def _record(
    thread: Thread, name: str, group: Sequence[tuple[dict[str, Any], str]], orphans: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """A conversation as a row of its form; attributes that were read are gone."""
    read = (MESSAGES, EVALUATIONS, ATTRIBUTES, LOGS, "annotations", PARENT)
    base = {n: v for n, v in thread.base.items() if n not in read and not _ARIZE.fullmatch(n)}
    attributes = thread.base[ATTRIBUTES].items()
    base |= {f"{ATTRIBUTES}.{n}": v for n, v in attributes if n not in thread.attributes and n not in _READ}
    several = len({_turn(thread.entries[:end]) for end in thread.ends.values()}) > 1
    scores = [
        {
            **score,
            **(
                {"turn": turn}
                if several and (turn := _turn(thread.entries[: thread.ends.get(span, 0)]))
                else {}
            ),
        }
        for score, span in group
    ]
    record = {KEY: name, **{n: v for n, v in base.items() if v is not None}, DIALOGUE: thread.entries}
    record |= {MODEL: thread.model} if thread.model else {}
    record |= {SCORES: scores} if scores else {}
    record |= {"evaluations of other spans": list(orphans)} if orphans else {}
    record |= {ERROR: reason} if (reason := _failure(thread.base)) else {}
    record |= {"other choices": thread.choices - 1} if thread.choices > 1 else {}
    return record


def _turn(entries: Entries) -> int:
    """The turn of the last reply in a dialogue; 0 without one."""
    roles = {**dialogue.SPEAKERS, "*": "user"}
    messages = dialogue.from_list(entries, "", roles) if entries else ()
    turns = Conversation("", "", "", messages).turns()
    return max((turn.number for turn in turns if turn.reply is not None), default=0)


# What spans are evaluated as.


def _evaluated(
    fields: Mapping[str, Any],
    score: Mapping[str, Any],
    threads: Sequence[Thread],
    spans: Sequence[dict[str, Any]],
    by_id: Mapping[str, dict[str, Any]],
) -> Thread | None:
    """The conversation that an evaluation is about: that of its span, or the nearest."""
    candidates = [_id(score.get("span")), _id(fields[SPAN])]
    candidates += [_id(item[SPAN]) for item in _ancestors(fields, by_id)]
    for span in filter(None, candidates):
        if thread := next((t for t in threads if span in t.ends), None):
            return thread
    below = [item for item in spans if any(e is fields for e in _ancestors(item, by_id))]
    inside_it = [t for t in threads if any(_id(item[SPAN]) in t.ends for item in below)]
    return inside_it[-1] if inside_it else threads[0] if len(threads) == 1 else None


def _evaluations(fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The evaluations of a span, and the annotations that Phoenix keeps beside it, as scores of one form."""
    for event in fields.get(EVALUATIONS, ()):
        body = event.get("body")
        listed = objects(body.get("evaluations")) if isinstance(body, dict) else []
        for candidates in listed or [{**(body if isinstance(body, dict) else {}), **event["attributes"]}]:
            if "error.type" not in candidates and (score := _evaluation(candidates)):
                yield score
    yield from _in_columns(fields)
    for annotation in objects(parsed(fields.get("annotations"))):
        yield _score(
            first(annotation, ("name", "annotation_name")),
            first(annotation, ("result.score", "score", "result.label", "label")),
            first(annotation, ("result.explanation", "explanation")),
            first(annotation, ("annotator_kind", "annotatorKind")),
            first(annotation, ("metadata.rater", "user_id", "identifier")),
        )


_ARIZE = re.compile(r"(eval|annotation)\.(.+)\.(score|label|explanation|updated_by)")
"""A column of an export of Arize: evaluations do not say who gave them, annotations are people's."""


def _in_columns(fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The evaluations and annotations that a table of spans has in columns, as Arize exports them."""
    columns: dict[tuple[str, str], dict[str, Any]] = {}
    for column, value in fields.items():
        match = _ARIZE.fullmatch(column)
        if match and value not in (None, ""):
            columns.setdefault((match[1], match[2]), {})[match[3]] = value
    for (source, name), parts in columns.items():
        kind = "human" if source == "annotation" else None
        value = first(parts, ("score", "label"))
        if score := _score(name, value, parts.get("explanation"), kind, parts.get("updated_by")):
            yield score


def _evaluation(candidates: Mapping[str, Any]) -> dict[str, Any]:
    prefix = "gen_ai.evaluation."
    source = parsed(first(candidates, (f"{prefix}evaluator.source",)))
    label = source.get("name") if isinstance(source, Mapping) else source
    kind = first(candidates, (f"{prefix}evaluator.type", f"{prefix}source", "annotator_kind"))
    if kind is None and str(label) in ("LLMJudge", "GEval"):
        kind = "llm_judge"
    if kind is None and str(label) in _CODE_OF_PYDANTIC:
        kind = "code"
    if kind is None and first(candidates, (_PEOPLE,)) is not None:
        kind = "human"
    return _score(
        first(candidates, (f"{prefix}name", "gen_ai.evaluation.metric")),
        first(
            candidates, (f"{prefix}score.value", f"{prefix}score", f"{prefix}score.label", f"{prefix}label")
        ),
        first(candidates, (f"{prefix}explanation", f"{prefix}reasoning")),
        kind,
        first(candidates, (f"{prefix}evaluator.id", f"{prefix}evaluator.name", f"{prefix}evaluator"))
        or label,
    )


def _score(name: Any, value: Any, reason: Any, kind: Any, evaluator: Any) -> dict[str, Any]:
    """A score with those of its parts that hold something; {} without a name or a value."""
    if name is None or value is None or isinstance(value, Mapping | list):
        return {}
    parts = {"name": name, "value": value, "explanation": reason, "kind": kind, "by": evaluator}
    return {name: part for name, part in parts.items() if isinstance(part, str | int | float)}
