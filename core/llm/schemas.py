"""JSON schemas: weaker ones for endpoints that refuse a feature, and a valid reply for any of them."""

import random
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any

Schema = Mapping[str, Any]


class Feature(StrEnum):
    """A feature of schemas that some endpoints refuse. Without it a schema allows no fewer replies."""

    BOUNDS = "bounds"
    """Limits of numbers, texts and lists."""
    INTEGER_ENUMS = "integer_enums"
    """Lists of whole numbers; without them a field has a range."""
    REFERENCES = "references"
    """Parts that are named once and referred to; without them each stands where it is used."""
    CLOSED_OBJECTS = "closed_objects"
    """That an object has no other fields."""
    TITLES = "titles"
    STRICT = "strict"
    """The flag beside a schema that asks for replies that follow it exactly."""


KEYWORDS: Mapping[Feature, tuple[str, ...]] = {
    Feature.BOUNDS: (
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "format",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minLength",
        "maxLength",
        "minProperties",
        "maxProperties",
    ),
    Feature.INTEGER_ENUMS: ("enum", "const"),
    Feature.REFERENCES: ("$ref", "$defs", "definitions"),
    Feature.CLOSED_OBJECTS: ("additionalProperties",),
    Feature.TITLES: ("title", "description", "default", "examples"),
}
"""The keywords of each feature."""


def weakened(schema: Schema, dropped_features: Collection[str]) -> Schema:
    """The schema without some features."""
    if not dropped_features:
        return schema
    return _weakened(schema, dropped_features, schema, 0)


def _weakened(schema: Schema, dropped_features: Collection[str], root: Schema, depth: int) -> dict[str, Any]:
    if Feature.REFERENCES in dropped_features and depth < DEPTH:
        schema = resolve(schema, root)
    weaker: dict[str, Any] = {}
    for name, value in schema.items():
        if name in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
            weaker[name] = {
                field: _weakened(subschema, dropped_features, root, depth + 1)
                for field, subschema in value.items()
            }
        elif isinstance(value, Mapping):
            weaker[name] = _weakened(value, dropped_features, root, depth + 1)
        elif isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
            weaker[name] = [_weakened(item, dropped_features, root, depth + 1) for item in value]
        else:
            weaker[name] = value
    values = weaker.get("enum") or ([weaker["const"]] if "const" in weaker else [])
    integers = bool(values) and all(isinstance(one, int) and not isinstance(one, bool) for one in values)
    if Feature.INTEGER_ENUMS in dropped_features and integers:
        weaker = {name: value for name, value in weaker.items() if name not in ("enum", "const")}
        weaker |= {"type": "integer", "minimum": min(values), "maximum": max(values)}
    dropped = {
        keyword
        for feature in dropped_features
        if feature != Feature.INTEGER_ENUMS
        for keyword in KEYWORDS.get(Feature(feature), ())
    }
    return {name: value for name, value in weaker.items() if name not in dropped}


def features(schema: Schema) -> frozenset[Feature]:
    """The features that a schema has."""
    return frozenset(feature for feature in KEYWORDS if weakened(schema, (feature,)) != schema)


WORDS = ("plain", "clear", "usual", "fair", "brief", "steady", "open", "calm")
DEPTH = 12
"""How deep a schema that refers to itself is followed."""


def resolve(schema: Schema, root: Schema) -> Schema:
    """The schema with its local `$ref` followed; an unknown reference is an empty schema."""
    for _ in range(DEPTH):
        ref = schema.get("$ref")
        if not isinstance(ref, str):
            return schema
        target: Any = root
        for step in ref.removeprefix("#").strip("/").split("/"):
            target = target.get(step, {}) if isinstance(target, dict) else {}
        schema = target if isinstance(target, dict) else {}
    return schema


def fill(schema: Schema, rng: random.Random, root: Schema | None = None, depth: int = 0) -> Any:
    """A value that fits `schema`: numbers within their bounds, strings and lists short, booleans false.

    Knows types, enums, constants, bounds, `$ref`, `anyOf`, `oneOf`, `allOf`.
    """
    root = schema if root is None else root
    schema = resolve(schema, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return rng.choice(schema["enum"])
    for options in filter(None, (schema.get(key) for key in ("anyOf", "oneOf", "allOf"))):
        option = next((o for o in options if resolve(o, root).get("type") != "null"), options[0])
        return fill(option, rng, root, depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), "null")
    if kind == "object" or (kind is None and "properties" in schema):
        fields = schema.get("properties", {})
        field_names = (
            fields if depth < DEPTH else [name for name in fields if name in schema.get("required", ())]
        )
        return {name: fill(fields[name], rng, root, depth + 1) for name in field_names}
    if kind == "array":
        minimum = 1 if depth < DEPTH and schema.get("maxItems") != 0 else 0
        length = max(int(schema.get("minItems", 0)), minimum)
        return [fill(schema.get("items", {}), rng, root, depth + 1) for _ in range(length)]
    if kind in ("integer", "number"):
        return rng.randint(*bounds(schema)) if kind == "integer" else round(rng.uniform(*bounds(schema)), 2)
    if kind in ("boolean", "null"):
        return False if kind == "boolean" else None
    text = " ".join(rng.choice(WORDS) for _ in range(3)).ljust(int(schema.get("minLength", 0)), ".")
    return text[: int(schema.get("maxLength", len(text)))]


def bounds(schema: Schema) -> tuple[int, int]:
    """The lowest and highest whole number allowed; where nothing is said, 1 to 5 or a range as wide."""
    low = schema.get("minimum")
    high = schema.get("maximum")
    if low is None and "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + 1
    if high is None and "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - 1
    if low is None:
        low = 1 if high is None else high - 4
    high = low + 4 if high is None else high
    return int(low), max(int(low), int(high))
