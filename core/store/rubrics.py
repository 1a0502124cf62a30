"""Versions of rubrics: each is kept whole when it is first used, and never changed."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlite_utils import Database

from concord.errors import check_known
from concord.rating import Criterion
from concord.store import ratings
from concord.store.database import column, find, insert, now, scalar


class Version(NamedTuple):
    """A version that was used; `body` is the rubric's content. `variant` tells its judges from others'."""

    name: str
    version: int
    variant: str
    hash: str
    body: Mapping[str, Any]
    created: str


def variant(name: str, version: int) -> str:
    """What the judges of a rubric's version are told apart by."""
    return f"{name} v{version}"


def scope(name: str, version: int) -> str:
    """The scope under which the criteria of a version are registered."""
    return f"rubric:{variant(name, version)}"


def number(db: Database, name: str, hash: str) -> int:
    """The number of the version with this hash; where it was never used, the next one."""
    row = find(db, "rubrics", "version", name=name, hash=hash)
    if row is not None:
        return int(row["version"])
    return int(scalar(db, "SELECT ifnull(max(version), 0) + 1 FROM rubrics WHERE name = ?", [name]))


def publish(
    db: Database, name: str, hash: str, body: Mapping[str, Any], criteria: Sequence[Criterion]
) -> int:
    """Keep a version with its criteria, unless it is kept; returns its number."""
    version = number(db, name, hash)
    if find(db, "rubrics", "version", name=name, hash=hash) is None:
        row = {"name": name, "version": version, "variant": variant(name, version), "hash": hash}
        text = json.dumps(dict(body), ensure_ascii=False)
        insert(db, "rubrics", {**row, "body": text, "created": now()})
        ratings.register(db, scope(name, version), criteria)
    return version


def versions(db: Database, name: str = "") -> list[Version]:
    """The versions of a rubric, or of all, in their order."""
    rows = db.execute(
        "SELECT name, version, variant, hash, body, created FROM rubrics WHERE ? IN ('', name) "
        "ORDER BY name, version",
        [name],
    )
    return [
        Version(name, version, variant, hash, json.loads(body), created)
        for name, version, variant, hash, body, created in rows
    ]


def other_judges(db: Database, names: Sequence[str], own: Collection[tuple[str, str]] = ()) -> list[int]:
    """The judges (ids) who did not rate by one of these rubrics; the name “” is that of rating by none.

    Those in `own` (name, variant) are no others, whatever they were asked by. Where the first rubric was
    never used here (the study came from elsewhere), judges who rated by none are its own.
    """
    return column(
        db,
        "SELECT x.id FROM raters x LEFT JOIN rubrics u ON u.variant = x.variant WHERE x.kind = 'judge' AND "
        "ifnull(u.name, CASE WHEN EXISTS (SELECT 1 FROM rubrics WHERE name = :first) THEN '' ELSE :first "
        "END) NOT IN (SELECT value FROM json_each(:names)) AND NOT EXISTS (SELECT 1 FROM json_each(:own) o "
        "WHERE o.value ->> 0 = x.name AND o.value ->> 1 = x.variant)",
        {"first": names[0], "names": json.dumps([*names]), "own": json.dumps([*own])},
    )


def get(db: Database, name: str, version: int) -> Version:
    """One version. Raises NotFound."""
    by_number = {str(v.version): v for v in versions(db, name)}
    check_known(f"version of the rubric {name}", str(version), by_number)
    return by_number[str(version)]
