"""Conversations of OpenTelemetry's spans: of spans with one id, or one trace.

A span of a model call holds the history and the reply. Spans with one conversation id, or of one trace, are
compared: a dialogue that stands whole in another is no conversation of its own. Where they share an id, the
next one goes on with the one before (`concord.exchange.span_threads`).
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from concord.exchange.conventions import speech_of
from concord.exchange.file_row import FileRow
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
from concord.exchange.row_paths import first, value_at
from concord.exchange.span_evaluations import ARIZE, evaluations_of, thread_evaluated
from concord.exchange.span_fields import ancestors, operation, span_failure, span_id, start_moment
from concord.exchange.span_threads import MODEL_ATTRIBUTES, Thread, last_turn, take_thread, thread_of
from concord.files.limits import RECORD
from concord.store.seen import TextsByKey, kept

DIALOGUE = "GenAI messages"
SCORES = "evaluations"
KEY = "key"
MODEL = "model"
ERROR = "error"
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
_READ = (*MODEL_ATTRIBUTES, *CONVERSATION)
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


def conversations(rows: Iterator[FileRow]) -> Iterator[FileRow]:
    """A row for each conversation of the spans and log records in these rows, in their order."""
    with kept() as of_trace, kept() as of_conversation, kept() as evaluations:
        for row in rows:
            fields = row.fields
            if fields is None:
                yield row
            elif SPAN not in fields:
                continue
            elif not fields[SPAN] and (response := value_at(fields[ATTRIBUTES], "gen_ai.response.id")):
                for one in evaluations_of(fields):
                    evaluations.add(f"response {response}", row.location, json.dumps(one, default=str))
            else:
                of_trace.add(span_id(fields[TRACE]), row.location, json.dumps(fields, default=str))
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
    parent_of = dict[str, str]()
    for _, text in texts:
        fields = json.loads(text)
        number = span_id(fields[SPAN])
        parent_of[number] = span_id(fields.get(PARENT))
        if (label := first(fields[ATTRIBUTES], CONVERSATION)) is not None and str(label).strip():
            ids.setdefault(number, str(label).strip())
    single = next(iter(set(ids.values()))) if len(set(ids.values())) == 1 else ""
    groups = dict[str, list[dict[str, Any]]]()
    for place, text in texts:
        fields = json.loads(text)
        number = span_id(fields[SPAN])
        steps = 0
        while number and number not in ids and steps < len(parent_of):
            number = parent_of.get(number, "")
            steps += 1
        label = ids.get(number) or single
        group = trace if fits else f"{trace} {span_id(fields[SPAN])}"
        if label:
            group = ONE + label
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
    spans.sort(key=lambda fields: start_moment(fields.get(START)))
    by_id = {span_id(fields[SPAN]): fields for fields in spans}
    threads = list[Thread]()
    failed = list[dict[str, Any]]()
    for fields in spans:
        if any(operation(item) in _EVALUATING for item in ancestors(fields, by_id)):
            continue
        speech = None if operation(fields) in _NO_DIALOGUE else speech_of(fields)
        if speech is not None and speech.entries:
            ids_above = {span_id(item[SPAN]) for item in ancestors(fields, by_id)}
            take_thread(threads, thread_of(fields, speech, place), ids_above, continues=one)
        elif span_failure(fields):
            failed.append(fields)
    scores = list[tuple[Thread | None, dict[str, Any], str]]()
    for fields in spans:
        for score in evaluations_of(fields):
            thread = thread_evaluated(fields, score, threads, spans, by_id)
            scores.append((thread, score, span_id(score.pop("span", "")) or span_id(fields[SPAN])))
        response = value_at(fields[ATTRIBUTES], "gen_ai.response.id")
        for _, text in elsewhere.of(f"response {response}") if response else ():
            span = span_id(fields[SPAN])
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
        span = span_id(fields[SPAN]) or f"row {number}"
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


def _record(
    thread: Thread, name: str, group: Sequence[tuple[dict[str, Any], str]], orphans: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """A conversation as a row of its form; attributes that were read are gone."""
    read = (MESSAGES, EVALUATIONS, ATTRIBUTES, LOGS, "annotations", PARENT)
    base = {n: v for n, v in thread.base.items() if n not in read and not ARIZE.fullmatch(n)}
    attributes = thread.base[ATTRIBUTES].items()
    base |= {f"{ATTRIBUTES}.{n}": v for n, v in attributes if n not in thread.attributes and n not in _READ}
    several = len({last_turn(thread.entries[:end]) for end in thread.ends.values()}) > 1
    scores = [
        {
            **score,
            **(
                {"turn": turn}
                if several and (turn := last_turn(thread.entries[: thread.ends.get(span, 0)]))
                else {}
            ),
        }
        for score, span in group
    ]
    record = {KEY: name, **{n: v for n, v in base.items() if v is not None}, DIALOGUE: thread.entries}
    record |= {MODEL: thread.model} if thread.model else {}
    record |= {SCORES: scores} if scores else {}
    record |= {"evaluations of other spans": list(orphans)} if orphans else {}
    record |= {ERROR: reason} if (reason := span_failure(thread.base)) else {}
    record |= {"other choices": thread.choices - 1} if thread.choices > 1 else {}
    return record
