"""Evaluations of spans as scores of one form: they belong to the turn of the span that they are about."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from concord.exchange.embedded_text import parsed
from concord.exchange.otlp import (
    EVALUATIONS,
    SPAN,
    objects,
)
from concord.exchange.row_paths import first
from concord.exchange.span_fields import ancestors, span_id
from concord.exchange.span_threads import Thread

_PEOPLE = "microsoft.gen_ai.human_evaluation.source"

_CODE_OF_PYDANTIC = ("Equals", "EqualsExpected", "Contains", "IsInstance", "MaxDuration", "HasMatchingSpan")
"""Evaluators of Pydantic Evals that call no model."""


def thread_evaluated(
    fields: Mapping[str, Any],
    score: Mapping[str, Any],
    threads: Sequence[Thread],
    spans: Sequence[dict[str, Any]],
    by_id: Mapping[str, dict[str, Any]],
) -> Thread | None:
    """The conversation that an evaluation is about: that of its span, or the nearest."""
    candidates = [span_id(score.get("span")), span_id(fields[SPAN])]
    candidates += [span_id(item[SPAN]) for item in ancestors(fields, by_id)]
    for span in filter(None, candidates):
        if thread := next((t for t in threads if span in t.ends), None):
            return thread
    below = [item for item in spans if any(e is fields for e in ancestors(item, by_id))]
    inside_it = [t for t in threads if any(span_id(item[SPAN]) in t.ends for item in below)]
    if inside_it:
        return inside_it[-1]
    return threads[0] if len(threads) == 1 else None


def evaluations_of(fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
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


ARIZE = re.compile(r"(eval|annotation)\.(.+)\.(score|label|explanation|updated_by)")
"""A column of an export of Arize: evaluations do not say who gave them, annotations are people's."""


def _in_columns(fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The evaluations and annotations that a table of spans has in columns, as Arize exports them."""
    columns: dict[tuple[str, str], dict[str, Any]] = {}
    for column, value in fields.items():
        match = ARIZE.fullmatch(column)
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
