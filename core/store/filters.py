"""The condition on conversations of lists, samples, tables and queues."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

Where = Mapping[str, Sequence[str]]
"""The values allowed, by name: a facet, “language” or “player”. A name without values allows all."""

COLUMNS = ("language", "player")


def condition(where: Where | None) -> tuple[str, dict[str, Any]]:
    """A condition in SQL on conversations with the alias `c`, and its arguments by name."""
    clauses, args = ["1"], dict[str, Any]()
    for i, (name, allowed) in enumerate((where or {}).items()):
        if not allowed:
            continue
        args[f"values{i}"] = json.dumps(list(allowed))
        values = f"(SELECT value FROM json_each(:values{i}))"
        if name in COLUMNS:
            clauses.append(f"c.{name} IN {values}")
        else:
            args[f"facet{i}"] = name
            clauses.append(
                f"c.id IN (SELECT conversation_id FROM facets WHERE name = :facet{i} AND value IN {values})"
            )
    return " AND ".join(clauses), args
