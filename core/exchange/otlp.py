"""Spans and log records of OpenTelemetry as one form, however a file has them.

OTLP as JSON (`resourceSpans`, `resourceLogs`), what the console exporters print, Jaeger's JSON, and tables of
spans as Phoenix, Logfire and ClickHouse write them. Attributes with a number in the name, such as
`gen_ai.prompt.0.role`, are lists of objects.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from concord.files import parse_json

TRACE = "traceId"
SPAN = "spanId"
PARENT = "parentSpanId"
NAME = "name"
START = "startTimeUnixNano"
ATTRIBUTES = "attributes"
MESSAGES = "message events"
EVALUATIONS = "evaluation events"
"""The names under which every span, and every log record of one, has its parts."""
_ALIASES: Mapping[str, tuple[str, ...]] = {
    TRACE: ("traceId", "trace_id", "TraceId", "traceID"),
    SPAN: ("spanId", "span_id", "SpanId", "spanID"),
    PARENT: ("parentSpanId", "parent_span_id", "ParentSpanId", "parent_id", "parentId"),
    NAME: ("name", "span_name", "SpanName", "operationName"),
    START: (
        "startTimeUnixNano",
        "start_time",
        "startTime",
        "start_timestamp",
        "Timestamp",
        "timeUnixNano",
        "timestamp",
        "time",
        "observedTimeUnixNano",
        "observed_timestamp",
    ),
    ATTRIBUTES: ("attributes", "SpanAttributes", "LogAttributes", "tags"),
}
_EVENTS = ("events", "Events", "otel_events", "logs")
_EVENT_NAME = ("eventName", "event_name", "EventName")
_ENVELOPES = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs")
_LEVELS = (
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "scopeLogs",
    "scope_logs",
    "spans",
    "logRecords",
    "log_records",
)
_MARKS = frozenset({*_ENVELOPES, *_ALIASES[TRACE], "trace", "context", "context.trace_id"})
"""Names of which one is in every row that holds spans."""
_MESSAGE_EVENT = re.compile(
    r"gen_ai\.((system|user|assistant|tool)\.message|choice|content\.(prompt|completion))"
)
_EVALUATION_EVENT = re.compile(r"gen_ai\.evaluation(\.results?)?")
_DETAILS = "gen_ai.client.inference.operation.details"
_EVENTS_INSIDE = ("events", "all_messages_events")
"""Attributes in which Pydantic AI and Logfire write events."""
_NUMBERED = re.compile(r"(.+?)\.(\d{1,4})\.(.+)")
_DEPTH = 8
"""Lists inside of lists in the names of attributes."""


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def unpacked(fields: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The spans and log records in a row, each with the names above; None for a row that holds none."""
    if _MARKS.isdisjoint(fields):
        return None
    outer = fields["trace"] if isinstance(fields.get("trace"), Mapping) else fields
    if any(isinstance(outer.get(name), list) for name in _ENVELOPES):
        level = [inner for name in _ENVELOPES for inner in objects(outer.get(name))]
        for names in (_LEVELS[:5], _LEVELS[5:]):
            level = [inner for item in level for name in names for inner in objects(item.get(name))]
        return [span(item) for item in level]
    jaeger = objects(fields.get("spans"))
    if jaeger and "traceID" in fields:
        return [span(item) for item in jaeger]
    return [span(fields)] if _is_span(fields) else None


def _is_span(fields: Mapping[str, Any]) -> bool:
    """Whether a row is a span or a log record, by its ids and attributes."""
    context = fields.get("context")
    ids = context if isinstance(context, Mapping) else fields
    flat = "context.span_id" in fields and "context.trace_id" in fields
    if not flat and not all(any(name in ids for name in _ALIASES[part]) for part in (TRACE, SPAN)):
        return False
    has_parts = (name in fields for name in (*_ALIASES[ATTRIBUTES], *_EVENTS))
    return any(has_parts) or any(str(name).startswith("attributes.") for name in fields)


def span(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A span or a log record with the names above, and its fields of other names."""
    rest = dict(fields)
    context = rest.get("context")
    if isinstance(context, Mapping):
        rest |= {name: context[name] for name in ("trace_id", "span_id") if name in context}
        del rest["context"]
    for name in ("trace_id", "span_id"):
        if f"context.{name}" in rest:
            rest[name] = rest.pop(f"context.{name}")
    parts = dict[str, Any]()
    for part, aliases in _ALIASES.items():
        values = [rest.pop(alias) for alias in aliases if alias in rest]
        parts[part] = next((value for value in values if value not in (None, "", [], {})), None)
    flat = attributes_of(parts[ATTRIBUTES])
    for name in [name for name in rest if str(name).startswith("attributes.")]:
        flat[name.removeprefix("attributes.")] = rest.pop(name)
    messages = list[Any]()
    evaluations = list[Any]()
    rest_of_events = list[Any]()
    for event in _events(rest, flat):
        name = event["name"]
        if _MESSAGE_EVENT.fullmatch(name):
            messages.append(event)
        elif _EVALUATION_EVENT.fullmatch(name):
            evaluations.append(event)
        elif name == _DETAILS:
            details = event["attributes"] | (event["body"] if isinstance(event["body"], dict) else {})
            flat = details | flat
        else:
            rest_of_events.append(event)
    if "gen_ai.evaluation.name" in flat and not evaluations:
        evaluations.append({"name": "gen_ai.evaluation.result", "attributes": flat, "body": None})
    rest |= {"events": rest_of_events} if rest_of_events else {}
    rest |= {MESSAGES: messages} if messages else {}
    rest |= {EVALUATIONS: evaluations} if evaluations else {}
    return {**parts, ATTRIBUTES: nested(flat), **rest}


def _events(rest: dict[str, Any], attributes: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a span in their order, or the log record itself; they are removed from the fields."""
    event_name = next((rest.pop(name) for name in _EVENT_NAME if rest.get(name)), None)
    event_name = event_name or (attributes.get("event.name") if "body" in rest or "Body" in rest else None)
    if event_name is not None:
        body = rest.pop("body", rest.pop("Body", None))
        yield {"name": str(event_name), "attributes": attributes, "body": value_of(body)}
    for name in _EVENTS_INSIDE:
        inside = attributes.get(name)
        listed = _parsed(inside)
        if objects(listed) and all("event.name" in item for item in objects(listed)):
            del attributes[name]
            for item in objects(listed):
                yield {"name": str(item["event.name"]), "attributes": item, "body": None}
    if isinstance(names := rest.get("Events.Name"), list):
        attribute_lists = rest.pop("Events.Attributes", None) or [{}] * len(names)
        del rest["Events.Name"]
        for event, inner_attributes in zip(names, attribute_lists, strict=False):
            yield {"name": str(event), "attributes": attributes_of(inner_attributes), "body": None}
    for field in _EVENTS:
        listed = _parsed(rest.get(field))
        if not objects(listed):
            continue
        del rest[field]
        for item in objects(listed):
            inner = attributes_of(item.get("attributes", item.get("Attributes", item.get("fields"))))
            event = item.get("name") or item.get("Name") or item.get("event_name") or inner.get("event")
            yield {"name": str(event), "attributes": inner, "body": value_of(item.get("body"))}


def attributes_of(value: Any) -> dict[str, Any]:
    """Attributes by name: of a list with keys, of pairs, of an object, or of the JSON of one."""
    value = _parsed(value)
    if isinstance(value, Mapping):
        return {str(name): inner for name, inner in value.items() if inner is not None}
    if not isinstance(value, list):
        return {}
    pairs = [item for item in value if isinstance(item, Sequence) and not isinstance(item, str)]
    if pairs and len(pairs) == len(value) and all(len(pair) == 2 for pair in pairs):
        return {str(name): inner for name, inner in pairs}
    return {str(item.get("key")): value_of(item.get("value")) for item in objects(value)}


def _parsed(value: Any) -> Any:
    """The list or object that a text holds as JSON; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse_json(value)
        except ValueError:
            return value
    return value


def value_of(value: Any) -> Any:
    """A value of OTLP's JSON, which says of which type it is; any other as it is."""
    if (
        isinstance(value, dict)
        and len(value) > 1
        and all(str(n).endswith(("Value", "_value")) for n in value)
    ):
        value = {
            name: inner for name, inner in value.items() if inner is not None
        }  # of the others it is null
    if value == {}:  # a value of no type is null
        return None
    kind, inner = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", value)
    if not str(kind).endswith(("Value", "_value")):
        return value
    if not isinstance(inner, dict):
        return int(inner) if str(kind).startswith("int") and str(inner).lstrip("-").isdecimal() else inner
    if str(kind).startswith("kvlist"):
        return {str(item.get("key")): value_of(item.get("value")) for item in objects(inner.get("values"))}
    return [value_of(item) for item in objects(inner.get("values"))]


def nested(attributes: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Attributes of which those with a number in the name, such as `prompt.0.role`, are lists of objects."""
    plain = dict[str, Any]()
    lists = dict[str, dict[int, dict[str, Any]]]()
    for name, value in attributes.items():
        if depth < _DEPTH and (parts := _NUMBERED.fullmatch(name)):
            lists.setdefault(parts[1], {}).setdefault(int(parts[2]), {})[parts[3]] = value
        else:
            plain[name] = value
    listed = {name: [nested(places[n], depth + 1) for n in sorted(places)] for name, places in lists.items()}
    return plain | listed
