"""What a span says of itself: its id, its ancestors, its operation, and why it failed."""

from collections.abc import Iterator, Mapping
from typing import Any

from concord.exchange.otlp import (
    ATTRIBUTES,
    PARENT,
)
from concord.exchange.row_paths import first, value_at

_OPERATION = (
    "gen_ai.operation.name",
    "openinference.span.kind",
    "llm.request.type",
    "traceloop.span.kind",
    "langfuse.observation.type",
)


def span_id(value: Any) -> str:
    """An id without the sign that it is hexadecimal."""
    return str(value or "").lower().removeprefix("0x")


def start_moment(value: Any) -> tuple[int, float, str]:
    """What spans are sorted by: numbers before texts."""
    try:
        return 0, float(value), ""
    except (TypeError, ValueError):
        return 1, 0, str(value or "")


def operation(fields: Mapping[str, Any]) -> str:
    """What kind of work a span is, in lower case; “” where it does not say it."""
    label = first(fields[ATTRIBUTES], _OPERATION)
    return str(label or "").lower()


def ancestors(fields: Mapping[str, Any], by_id: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The spans number one, the nearest first."""
    number = span_id(fields.get(PARENT))
    visited = set[str]()
    while number in by_id and number not in visited:
        visited.add(number)
        yield by_id[number]
        number = span_id(by_id[number].get(PARENT))


def span_failure(fields: Mapping[str, Any]) -> str:
    """Why the call of a span failed; “” where it did not."""
    reason = first(fields, ("status.message", "status.description", "status_message", "StatusMessage"))
    code = first(fields, ("status.code", "status.status_code", "status_code", "StatusCode"))
    wrong = str(code).upper().rpartition(".")[2] in ("2", "ERROR", "STATUS_CODE_ERROR")
    return str(reason or value_at(fields[ATTRIBUTES], "error.type") or "error") if wrong else ""
