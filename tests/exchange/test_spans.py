"""Spans of OpenTelemetry: every convention, every form of file, conversations over spans, and evaluations."""

import json

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from concord.codes import Scorer
from concord.errors import ImportRefused
from concord.exchange import conversations_file
from concord.exchange.conversations_file import FileOptions
from tests.exchange.lines_helpers import lines

SYSTEM, ASK, ANSWER = "Be brief.", "How warm is it?", "18 degrees."
SAID = [("user", ASK), ("assistant", ANSWER)]
BRIEF = [("system", SYSTEM), *SAID]


def messages(*said):
    """Messages with parts, as a text of JSON."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": words}]} for role, words in said])


def chat(span="s1", trace="t1", *, said=SAID, start=1, **attributes):
    """A span of the present convention whose last message is the reply."""
    *before, reply = said
    of_messages = {"gen_ai.input.messages": messages(*before), "gen_ai.output.messages": messages(reply)}
    return plain(span, trace, start=start, **(of_messages | attributes))


def plain(span="s1", trace="t1", *, start=1, parent="", events=(), **attributes):
    model = {"gen_ai.request.model": "elm", "gen_ai.operation.name": "chat"}
    return {
        "traceId": trace,
        "spanId": span,
        "parentSpanId": parent,
        "name": "chat elm",
        "startTimeUnixNano": str(start),
        "attributes": model | attributes,
        "events": list(events),
    }


def event(name, **attributes):
    return {"name": name, "attributes": {key.replace("__", "."): value for key, value in attributes.items()}}


def evaluation(name="helpful", value=0.5, **more):
    return {
        "name": "gen_ai.evaluation.result",
        "attributes": {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": value}
        | {f"gen_ai.evaluation.{part.replace('__', '.')}": of for part, of in more.items()},
    }


def survey(tmp_path, *rows, **options):
    return conversations_file.survey(lines(tmp_path / "b.jsonl", *rows), FileOptions("b", **options))


def dialogues(found):
    assert found.wrong == []
    return [
        [(m.role, m.content) for m in c.messages] for _, entry in found.examples for c in entry.conversations
    ]


def scores(found):
    return [
        (s.criterion, s.score, s.rater.kind, s.rater.name, s.unit.turn, s.explanation)
        for _, entry in found.examples
        for s in entry.scores
    ]


def spoken(system, ask, answer):
    """A span of every convention in which the same is said."""
    turns = [{"role": "system", "content": system}, {"role": "user", "content": ask}]
    reply = {"role": "assistant", "content": answer}
    details = {
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": system}]),
        "gen_ai.input.messages": messages(("user", ask)),
        "gen_ai.output.messages": messages(("assistant", answer)),
    }
    by_place = {
        f"gen_ai.prompt.{n}.{part}": each[part]
        for n, each in enumerate(turns)
        for part in ("role", "content")
    }
    by_message = {
        f"llm.input_messages.{n}.message.{part}": each[part]
        for n, each in enumerate(turns)
        for part in ("role", "content")
    }
    parts = {
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": system,
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.contents.0.message_content.type": "text",
        "llm.input_messages.1.message.contents.0.message_content.text": ask,
    }
    reply_message = {"llm.output_messages.0.message.role": "assistant"}
    reply_message |= {"llm.output_messages.0.message.content": answer}
    named = [
        event("gen_ai.system.message", content=system),
        event("gen_ai.user.message", content=ask, role="user"),
    ]
    strands = [
        event("gen_ai.system.message", content=json.dumps([{"text": system}])),
        event("gen_ai.user.message", content=json.dumps([{"text": ask}])),
        event("gen_ai.choice", message=json.dumps([{"text": answer}]), finish_reason="end_turn"),
    ]
    in_events = [
        {"event.name": "gen_ai.system.message", "content": system, "role": "system"},
        {"event.name": "gen_ai.user.message", "content": ask, "role": "user"},
        {"event.name": "gen_ai.choice", "index": 0, "message": reply},
    ]
    return {
        "messages with parts": plain(**details),
        "details as an event": plain(
            events=[{"name": "gen_ai.client.inference.operation.details", "attributes": details}]
        ),
        "events": plain(events=[*named, event("gen_ai.choice", index=0, message=json.dumps(reply))]),
        "events whose reply is a text": plain(
            events=[*named, event("gen_ai.choice", index=0, message=answer)]
            if answer[:1] not in "{["
            else [*named, event("gen_ai.choice", index=0, content=answer)]
        ),
        "events of Azure": plain(
            events=[
                event(f"gen_ai.{each['role']}.message", gen_ai__event__content=json.dumps(each))
                for each in turns
            ]
            + [event("gen_ai.choice", gen_ai__event__content=json.dumps({"message": reply, "index": 0}))]
        ),
        "events of Strands": plain(events=strands, **{"gen_ai.system": "strands-agents"}),
        "events in an attribute": plain(**{"all_messages_events": json.dumps(in_events)}),
        "content events": plain(
            events=[
                event("gen_ai.content.prompt", gen_ai__prompt=json.dumps(turns)),
                event("gen_ai.content.completion", gen_ai__completion=json.dumps([reply])),
            ]
        ),
        "prompts by place": plain(
            **by_place,
            **{"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": answer},
        ),
        "OpenInference": plain(**by_message, **reply_message),
        "OpenInference with parts": plain(**parts, **reply_message),
        "OpenInference, nested": plain(
            **{
                "llm": {
                    "input_messages": [{"message": each} for each in turns],
                    "output_messages": [{"message": reply}],
                }
            }
        ),
        "AI SDK": plain(
            **{"ai.prompt": json.dumps({"system": system, "prompt": ask}), "ai.response.text": answer}
        ),
        "Logfire": plain(
            request_data=json.dumps({"messages": turns}), response_data=json.dumps({"message": reply})
        ),
        "Langfuse": plain(
            **{
                "langfuse.observation.input": json.dumps(turns),
                "langfuse.observation.output": json.dumps(reply),
            }
        ),
        "Pydantic AI": plain(
            **{"pydantic_ai.all_messages": messages(("system", system), ("user", ask), ("assistant", answer))}
        ),
    }


@pytest.mark.parametrize("name", list(spoken(SYSTEM, ASK, ANSWER)))
def test_every_convention_has_its_speakers_and_words(tmp_path, name):
    found = survey(tmp_path, spoken(SYSTEM, ASK, ANSWER)[name])
    assert dialogues(found) == [BRIEF]
    assert found.examples[0][1].conversations[0].player == "elm"


LIKE_STRUCTURE = [
    '{"answer": "18"}',
    '["a","b"]',
    '[{"role": "user", "content": "x"}]',
    '{"role": "assistant", "content": "x"}',
    '{"messages": [{"role": "user", "content": "x"}]}',
    '"18"',
    "null",
    "  18\n\n",
    "{'a': 1}",
]
WORDS = st.one_of(
    st.sampled_from(LIKE_STRUCTURE),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20).filter(str.strip),
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(system=WORDS, ask=WORDS, answer=WORDS)
@pytest.mark.parametrize("name", list(spoken(SYSTEM, ASK, ANSWER)))
def test_no_text_of_a_span_is_changed(tmp_path, name, system, ask, answer):
    found = survey(tmp_path, spoken(system, ask, answer)[name])
    assert dialogues(found) == [[("system", system), ("user", ask), ("assistant", answer)]]


@pytest.mark.parametrize("words", LIKE_STRUCTURE)
def test_a_value_that_is_text_is_not_read_as_json(tmp_path, words):
    attributes = {"input.value": words, "input.mime_type": "text/plain"}
    attributes |= {"output.value": words, "output.mime_type": "text/plain"}
    assert dialogues(survey(tmp_path, plain(**attributes))) == [[("user", words), ("assistant", words)]]


def otlp(value):
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": n, "value": otlp(v)} for n, v in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp(v) for v in value]}}
    kind = {bool: "boolValue", int: "intValue", float: "doubleValue"}.get(type(value), "stringValue")
    return {kind: str(value) if kind == "intValue" else value}


def keyed(attributes):
    return [{"key": name, "value": otlp(value)} for name, value in attributes.items()]


def as_otlp(*rows):
    spans = [
        {**row, "attributes": keyed(row["attributes"])}
        | {"events": [{**e, "attributes": keyed(e["attributes"])} for e in row["events"]]}
        for row in rows
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


def files(tmp_path, row):
    """The same span in every form of file."""
    about, ids = row["attributes"], {"trace_id": row["traceId"], "span_id": row["spanId"]}
    jaeger = {
        "traceID": row["traceId"],
        "spans": [
            {
                "traceID": row["traceId"],
                "spanID": row["spanId"],
                "operationName": row["name"],
                "startTime": 1,
                "tags": [{"key": n, "type": "string", "value": v} for n, v in about.items()],
                "logs": [
                    {"timestamp": 1, "fields": [{"key": "event", "value": e["name"]}, *tags(e["attributes"])]}
                    for e in row["events"]
                ],
            }
        ],
    }
    console = {"name": row["name"], "context": ids, "kind": "SpanKind.CLIENT", "parent_id": None}
    console |= {"start_time": "2026-01-01T00:00:00Z", "attributes": about, "events": row["events"]}
    houses = {
        "TraceId": row["traceId"],
        "SpanId": row["spanId"],
        "SpanName": row["name"],
        "Timestamp": "2026",
    }
    houses |= {"SpanAttributes": [*about.items()], "Events.Name": [e["name"] for e in row["events"]]}
    houses |= {"Events.Attributes": [[*e["attributes"].items()] for e in row["events"]]}
    logfire = {**ids, "span_name": row["name"], "start_timestamp": "2026", "attributes": json.dumps(about)}
    logfire |= {"otel_events": json.dumps(row["events"])}
    flat = {f"context.{name}": value for name, value in ids.items()} | {"name": row["name"]}
    flat |= {f"attributes.{name}": value for name, value in about.items()} | {"events": row["events"]}
    written = {
        "otlp.json": json.dumps(as_otlp(row), indent=1),
        "otlp.jsonl": json.dumps(as_otlp(row)) + "\n",
        "tempo.json": json.dumps({"batches": as_otlp(row)["resourceSpans"]}),
        "jaeger.json": json.dumps({"data": [jaeger]}),
        "console.json": json.dumps(console, indent=4),
        "list.json": json.dumps([console]),
    }
    for name, text in written.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        yield tmp_path / name
    for name, fields in (("clickhouse", houses), ("logfire", logfire), ("phoenix", flat), ("dump", row)):
        file = tmp_path / f"{name}.parquet"
        parquet.write_table(pa.Table.from_pylist([fields], schema=schema(fields)), file)
        yield file
    (tmp_path / "logfire.jsonl").write_text(json.dumps(logfire) + "\n")
    yield tmp_path / "logfire.jsonl"


def tags(attributes):
    return [{"key": name, "value": value} for name, value in attributes.items()]


def schema(fields):
    """Types of columns; pairs are a map of texts, as ClickHouse has it."""
    types = {name: pa.array([value]).type for name, value in fields.items() if "Attributes" not in name}
    of_pairs = pa.map_(pa.string(), pa.string())
    types |= {name: of_pairs for name in fields if name == "SpanAttributes"}
    types |= {name: pa.list_(of_pairs) for name in fields if name == "Events.Attributes"}
    return pa.schema([(name, types[name]) for name in fields])


def test_every_form_of_file_has_the_same_dialogue(tmp_path):
    events = spoken(SYSTEM, ASK, ANSWER)["events"]["events"]
    for event_ in events:
        event_["attributes"] = {name: str(value) for name, value in event_["attributes"].items()}
    for row in (chat(said=BRIEF), plain(events=events)):
        for file in files(tmp_path, row):
            found = conversations_file.survey(file)
            assert (file.name, dialogues(found)) == (file.name, [BRIEF])
            assert found.examples[0][1].conversations[0].key.endswith("t1/s1")


CALL = {"type": "tool_call", "id": "c", "name": "look", "arguments": {"at": "Oslo"}}
RESULT = {"type": "tool_call_response", "id": "c", "response": "18"}
CALLS = [{"role": "assistant", "parts": [CALL], "finish_reason": "tool_call"}]
LOOKED = [
    ("user", ASK),
    ("tool", 'look({"at": "Oslo"})'),
    ("tool", "18"),
    ("assistant", ANSWER),
]


def loop(trace="t1", start=1, *, history=(), **more):
    """The two calls of a model around a call of a tool, the tool's own span, and the agent around them."""
    asked = json.loads(messages(*history, ("user", ASK)))
    whole = json.dumps([*asked, *CALLS, {"role": "tool", "parts": [RESULT]}])
    done = messages(("assistant", ANSWER))
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": "18"}
    tool |= {
        "gen_ai.input.messages": messages(("user", "{}")),
        "gen_ai.output.messages": messages(("assistant", "18")),
    }
    shown = {"gen_ai.input.messages": messages(("user", ASK)), "gen_ai.output.messages": done}
    inner = {"parent": f"{trace}a"}
    return [
        plain(f"{trace}a", trace, start=start, **agent, **shown, **more),
        plain(f"{trace}b", trace, start=start + 1, **inner)
        | {
            "attributes": {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "elm",
                "gen_ai.input.messages": json.dumps(asked),
                "gen_ai.output.messages": json.dumps(CALLS),
            }
        },
        plain(f"{trace}c", trace, start=start + 2, **inner, **tool),
        plain(
            f"{trace}d",
            trace,
            start=start + 3,
            **inner,
            **{"gen_ai.input.messages": whole, "gen_ai.output.messages": done},
        ),
    ]


@pytest.mark.parametrize("backwards", [False, True])
def test_a_loop_of_tools_is_one_conversation(tmp_path, backwards):
    rows = loop()
    found = survey(tmp_path, *(reversed(rows) if backwards else rows))
    assert dialogues(found) == [LOOKED]


def test_spans_of_one_conversation_id_are_one_dialogue(tmp_path):
    more = [("user", "And there?"), ("assistant", "20.")]
    of_id = {"gen_ai.conversation.id": "c7"}
    repeated = [chat("s1", "t1", **of_id), chat("s2", "t2", said=[*SAID, *more], start=2, **of_id)]
    alone = [chat("s1", "t1", **of_id), chat("s2", "t2", said=more, start=2, **of_id)]
    window = [
        chat("s1", "t1", **of_id),
        chat("s2", "t2", said=[*SAID, *more], start=2, **of_id),
        chat("s3", "t3", said=[*more, ("user", "Bye."), ("assistant", "Bye!")], start=3, **of_id),
    ]
    for rows, expected in (
        (repeated, [*SAID, *more]),
        (alone, [*SAID, *more]),
        (window, [*SAID, *more, ("user", "Bye."), ("assistant", "Bye!")]),
    ):
        found = survey(tmp_path, *rows)
        assert dialogues(found) == [expected]
        assert found.examples[0][1].conversations[0].key == "b/c7"


def test_the_id_of_the_span_above_is_that_of_the_spans_below(tmp_path):
    root = plain("r", "t1", **{"session.id": "s"})
    other = plain("r", "t2", **{"session.id": "s"})
    found = survey(
        tmp_path,
        root,
        {**chat("a", "t1"), "parentSpanId": "r"},
        other,
        {
            **chat("a2", "t2", said=[("user", "And there?"), ("assistant", "20.")], start=2),
            "parentSpanId": "r",
        },
    )
    assert dialogues(found) == [[*SAID, ("user", "And there?"), ("assistant", "20.")]]


def test_calls_of_one_trace_that_say_other_things_stay_apart(tmp_path):
    route = [("system", "Pick one: weather, other."), ("user", ASK), ("assistant", "weather")]
    found = survey(tmp_path, chat("s1", said=route), chat("s2", said=BRIEF, start=2))
    assert dialogues(found) == [route, BRIEF]
    with_id = {"gen_ai.conversation.id": "c"}
    found = survey(tmp_path, chat("s1", said=route, **with_id), chat("s2", said=BRIEF, start=2, **with_id))
    assert dialogues(found) == [route, BRIEF]


def test_the_calls_of_a_judge_are_no_conversations(tmp_path):
    judge = plain("e", **{"openinference.span.kind": "EVALUATOR", "gen_ai.operation.name": ""})
    found = survey(
        tmp_path,
        chat(),
        judge,
        {**chat("s2", said=[("user", "Rate it."), ("assistant", "4")]), "parentSpanId": "e"},
    )
    assert dialogues(found) == [SAID]


def test_the_first_of_several_replies_is_taken(tmp_path):
    replies = [
        {"role": "assistant", "parts": [{"type": "text", "content": words}], "finish_reason": "stop"}
        for words in (ANSWER, "Warm.")
    ]
    parts = plain(
        **{"gen_ai.input.messages": messages(("user", ASK)), "gen_ai.output.messages": json.dumps(replies)}
    )
    by_event = plain(
        events=[
            event("gen_ai.user.message", content=ASK),
            *(
                event("gen_ai.choice", index=n, message=json.dumps({"content": words}))
                for n, words in enumerate((ANSWER, "Warm."))
            ),
        ]
    )
    by_place = plain(
        **{"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": ASK}
        | {f"gen_ai.completion.{n}.content": words for n, words in enumerate((ANSWER, "Warm."))}
        | {f"gen_ai.completion.{n}.role": "assistant" for n in range(2)}
    )
    for row in (parts, by_event, by_place):
        found = survey(tmp_path, row)
        assert dialogues(found) == [SAID]
        assert found.examples[0][1].conversations[0].meta["other choices"] == 1


KINDS = {
    "human": ("human", "ann"),
    "llm_judge": ("judge", "ann"),
    "LLM": ("judge", "ann"),
    "deterministic": ("judge", "ann (code)"),
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_evaluation_is_a_score_of_its_evaluator(tmp_path, kind):
    about = evaluation(explanation="Short.", evaluator__type=kind, evaluator__id="ann")
    found = survey(tmp_path, chat() | {"events": [about]})
    assert scores(found) == [("helpful", 0.5, *KINDS[kind], None, "Short.")]


def test_the_evaluator_of_an_evaluation_that_does_not_say_it_is_asked(tmp_path):
    row = chat() | {"events": [evaluation(), evaluation("brief", None, score__label="pass")]}
    found = survey(tmp_path, row)
    assert (found.unknown, scores(found)) == ({"helpful": 1, "brief": 1}, [])
    found = survey(tmp_path, row, scorers={"helpful": Scorer.HUMAN, "*": Scorer.CODE})
    assert [(name, score, kind, by) for name, score, kind, by, *_ in scores(found)] == [
        ("helpful", 0.5, "human", ""),
        ("brief", 1, "judge", "code"),
    ]


def test_an_evaluation_that_failed_is_no_score(tmp_path):
    failed = evaluation(explanation="boom", evaluator__type="human")
    failed["attributes"]["error.type"] = "TimeoutError"
    assert scores(survey(tmp_path, chat() | {"events": [failed]})) == []


def test_an_evaluation_belongs_to_the_turn_of_its_span(tmp_path):
    of_id, by = {"gen_ai.conversation.id": "c"}, {"evaluator__type": "human", "evaluator__id": "ann"}
    more = [("user", "And there?"), ("assistant", "20.")]
    found = survey(
        tmp_path,
        chat("s1", "t1", **of_id) | {"events": [evaluation(value=1, **by)]},
        chat("s2", "t2", said=[*SAID, *more], start=2, **of_id) | {"events": [evaluation(value=2, **by)]},
    )
    assert [(score, turn) for _, score, _, _, turn, _ in scores(found)] == [(1, 1), (2, 2)]


def record(name="gen_ai.evaluation.result", span="s1", trace="t1", **attributes):
    return {
        "resourceLogs": [
            {
                "scopeLogs": [
                    {
                        "logRecords": [
                            {
                                "timeUnixNano": "9",
                                "eventName": name,
                                "traceId": trace,
                                "spanId": span,
                                "attributes": keyed(attributes),
                            }
                        ]
                    }
                ]
            }
        ]
    }


@pytest.mark.parametrize("joined", [False, True])
def test_log_records_stand_in_the_same_file_or_in_another(tmp_path, joined):
    about = evaluation(evaluator__type="human", evaluator__id="ann")["attributes"]
    rows = [as_otlp(chat()), record(**about)]
    if joined:
        logs = lines(tmp_path / "logs.jsonl", rows.pop())
        found = survey(tmp_path, *rows, joins=(logs,))
        assert found.unused[str(logs)] == 0
    else:
        found = survey(tmp_path, *rows)
    assert (dialogues(found), scores(found)) == ([SAID], [("helpful", 0.5, "human", "ann", None, "")])


def test_an_evaluation_finds_its_reply_by_the_id_of_the_response(tmp_path):
    about = evaluation(evaluator__type="human", evaluator__id="ann")["attributes"]
    about["gen_ai.response.id"] = "r1"
    found = survey(tmp_path, chat(**{"gen_ai.response.id": "r1"}), record(span="", trace="", **about))
    assert scores(found) == [("helpful", 0.5, "human", "ann", None, "")]


def test_an_evaluation_of_the_span_around_is_about_the_conversation_in_it(tmp_path):
    by = evaluation(evaluator__type="human", evaluator__id="ann")
    found = survey(tmp_path, plain("r", events=[by]), {**chat("s2"), "parentSpanId": "r"})
    assert scores(found) == [("helpful", 0.5, "human", "ann", None, "")]


def test_messages_in_log_records_of_another_file_are_those_of_the_spans(tmp_path):
    def said(name, **body):
        return {
            "trace_id": "0xt1",
            "span_id": "0xs1",
            "event_name": name,
            "attributes": {"gen_ai.system": "x"},
            "body": body,
        }

    logs = lines(
        tmp_path / "logs.jsonl",
        said("gen_ai.user.message", content=ASK),
        said("gen_ai.choice", index=0, message={"role": "assistant", "content": ANSWER}),
    )
    bare = plain("0xs1", "0xt1")
    found = survey(tmp_path, bare, joins=(logs,))
    assert dialogues(found) == [SAID]
    assert found.examples[0][1].conversations[0].player == "elm"
    with pytest.raises(ImportRefused, match="--join"):
        survey(tmp_path, bare)


def test_images_in_parts_are_kept_or_named(tmp_path):
    parts = [
        {"type": "text", "content": "What is it?"},
        {"type": "uri", "modality": "image", "uri": "https://example.org/cat.png"},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "iVBORw0KGgo="},
        {"type": "file", "modality": "image", "file_id": "f1"},
    ]
    row = plain(
        **{
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": parts}]),
            "gen_ai.output.messages": messages(("assistant", "A cat.")),
        }
    )
    (((_, question), _),) = dialogues(survey(tmp_path, row))
    assert question.splitlines()[:2] == ["What is it?", "[image: https://example.org/cat.png]"]
    assert "image/png" in question
    assert "[image: f1]" in question


def test_a_call_that_failed_says_why(tmp_path):
    row = plain(**{"gen_ai.input.messages": messages(("user", ASK))}) | {
        "status": {"code": 2, "message": "503"}
    }
    found = survey(tmp_path, chat(), {**row, "spanId": "s2", "traceId": "t2"})
    assert "ended with an error" in found.wrong[0]
    assert "503" in found.wrong[0]
