"""JSON schemas (2020-12) of what `--format json` prints, for programs that read it.

They are made from the enums of `concord.codes` and the registry of sections, so that they have every code.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from concord.codes import (
    Advice,
    Claim,
    DriftOutcome,
    ErrorCode,
    Exclusion,
    Failure,
    GateOutcome,
    LakeWarning,
    Scope,
    Unknown,
    UseCondition,
    Verdict,
)
from concord.errors import check_known
from concord.reports.sections import names_of
from concord.table import SCHEMA

Json = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Json = {"type": "string"}
TEXTS: Json = {"type": "array", "items": TEXT}
COUNT: Json = {"type": "integer", "minimum": 0}
NUMBER_OR_NULL: Json = {"type": ["number", "null"]}
ENDS: Json = {
    "description": "The ends of the 95% interval; null without one.",
    "oneOf": [
        {"type": "null"},
        {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    ],
}


def _object(
    properties: Mapping[str, Json], optional: Mapping[str, Json] | None = None, **keywords: Any
) -> Json:
    """An object with these properties; those that are not optional are required, and others may be there."""
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": [*properties],
        **keywords,
    }


def _code(codes: type[StrEnum]) -> Json:
    return {"enum": [code.value for code in codes]}


def _or_null(schema: Json) -> Json:
    return {"oneOf": [schema, {"type": "null"}]}


def _reference(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


ESTIMATE = _object(
    {"value": NUMBER_OR_NULL, "ci": ENDS},
    {"n": COUNT, "method": TEXT, "reason": TEXT},
    description="A figure. An undefined one has the value null and a reason.",
)
TABLE = _object(
    {
        "schema": {"const": SCHEMA},
        "table": TEXT,
        "title": TEXT,
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": {
                    "anyOf": [
                        _reference("estimate"),
                        {"type": ["string", "number", "boolean", "null"]},
                    ]
                },
            },
        },
        "notes": TEXTS,
    },
    description="A table: a row's cells by the name of their column.",
)
TABLES: Json = {"type": "object", "additionalProperties": _reference("table")}
VERDICT = _object(
    {
        "criterion": TEXT,
        "judges": TEXTS,
        "verdict": _code(Verdict),
        "advice": _code(Advice),
        "use": TEXTS,
        "exclude": TEXTS,
        "decided_by": _or_null(TEXT),
        "conditions": {"type": "array", "items": _code(UseCondition)},
        "unknown": {"type": "array", "items": _code(Unknown)},
        "flags": {
            "type": "array",
            "items": _object(
                {"claim": _code(Claim), "judge": _or_null(TEXT), "about": _or_null(TEXT), "text": TEXT}
            ),
        },
        "words": TEXTS,
    },
    description="What to do about the judges on one criterion.",
)
OUTCOME = _object(
    {
        "name": TEXT,
        "passed": {"type": "boolean"},
        "message": TEXT,
        "outcome": {"oneOf": [_code(GateOutcome), _code(DriftOutcome), {"type": "null"}]},
        "value": NUMBER_OR_NULL,
        "ci": ENDS,
        "n": _or_null(COUNT),
        "excluded": _or_null(
            {"type": "object", "propertyNames": _code(Exclusion), "additionalProperties": COUNT}
        ),
    },
    description="What a gate, or a comparison in time, found.",
)


def _agreement() -> Json:
    sections = dict.fromkeys(names_of(Scope.CRITERION), TABLES)
    return _object(
        {
            "schema": {"const": SCHEMA},
            "study": TEXT,
            "items": COUNT,
            "main": TEXT,
            **dict.fromkeys(names_of(Scope.STUDY), TABLES),
            "verdicts": {"type": "object", "additionalProperties": _reference("verdict")},
            **dict.fromkeys(("summary", "missing", "notes", "limits"), TEXTS),
            "sections": {"type": "object", "additionalProperties": _object(sections)},
            "excluded": {
                "type": "array",
                "items": _object({"annotator": TEXT, "reason": TEXT, "decided": {"type": "boolean"}}),
            },
        },
        {"left_out": {"type": "array"}, "partial": {"type": "array"}},
        **{"$defs": {"estimate": ESTIMATE, "table": TABLE, "verdict": VERDICT}},
    )


def _check() -> Json:
    schema = _agreement()
    schema["properties"] |= {"taken": TEXTS, "not_read": TEXTS, "screen": TABLES, "join": {"type": "object"}}
    schema["required"] += ["taken", "not_read", "screen"]
    return schema


def _outcomes() -> Json:
    return _object({"suite": TEXT, "outcomes": {"type": "array", "items": OUTCOME}})


def _lake_estimate() -> Json:
    warning = _object({"code": _code(LakeWarning), "column": _or_null(TEXT), "text": TEXT})
    return _object(
        {
            "schema": {"const": SCHEMA},
            **dict.fromkeys(("study", "judge", "criterion"), TEXT),
            "judged": COUNT,
            "sentences": TEXTS,
            "warnings": {"type": "array", "items": warning},
            "tables": TABLES,
        },
        **{"$defs": {"estimate": ESTIMATE, "table": TABLE}},
    )


def _table() -> Json:
    return TABLE | {"$defs": {"estimate": ESTIMATE}}


def _error() -> Json:
    codes = {"enum": [code.value for code in (*ErrorCode, *Failure)]}
    error = _object({"code": codes, "message": TEXT})
    return _object({"error": error}, title="The last line of standard error with --format json")


MAKERS: Mapping[str, Callable[[], Json]] = {
    "check": _check,
    "agreement": _agreement,
    "gate": _outcomes,
    "drift": _outcomes,
    "estimate": _lake_estimate,
    "table": _table,
    "error": _error,
}
"""The schemas by name: that of a command, `table`, which the tables inside and other commands share, or
`error`, which any command prints."""


def json_schema(name: str) -> Json:
    """The schema of a command's JSON. Raises NotFound for another name."""
    check_known("schema", [name], MAKERS)
    return {"$schema": DIALECT, "title": f"concord {name} --format json", **MAKERS[name]()}
