"""The condition on conversations of lists, samples, tables and queues."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

FacetValues = Mapping[str, Sequence[str]]
"""The values allowed, by name: a facet, “language” or “player”. A name without values allows all."""

COLUMNS = ("language", "player")


def facet_condition(facets: FacetValues | None) -> tuple[str, dict[str, Any]]:
    """A condition in SQL on the table `conversations`, under its own name, and its arguments by name."""
    clauses = ["1"]
    args: dict[str, Any] = {}
    for number, (name, values) in enumerate((facets or {}).items()):
        if not values:
            continue
        args[f"values{number}"] = json.dumps(list(values))
        one_of = f"IN (SELECT value FROM json_each(:values{number}))"
        if name in COLUMNS:
            clauses.append(f"conversations.{name} {one_of}")
        else:
            args[f"facet{number}"] = name
            clauses.append(
                "conversations.id IN (SELECT conversation_id FROM facets "
                f"WHERE name = :facet{number} AND value {one_of})"
            )
    return " AND ".join(clauses), args
