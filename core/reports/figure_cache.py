"""Figures of a report that stay on the disk: their stamp, and values as JSON.

Figures are pure functions of the ratings that were read and of the options, so the stamp is a digest of these
and of the code: figures of other data, other options or another version are never found.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import suppress
from dataclasses import fields
from enum import StrEnum
from functools import cache
from importlib.metadata import version
from typing import Any, TypeVar

from concord import codes
from concord.estimate import Estimate
from concord.files import PACKAGE, SHIPPED, VERSION
from concord.reports.verdict import Assessment
from concord.statistics.claims import Flag
from concord.statistics.study import CriterionAgreement, RaterAgreement, StudyAgreement
from concord.store.figures import StoredFigures
from concord.table import Column, Note, Table

K = TypeVar("K")
V = TypeVar("V")

LIBRARIES = ("numpy", "scipy", "pandas", "krippendorff")
"""What figures are computed with beside our own code."""
RECORDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        Estimate,
        Column,
        Table,
        Assessment,
        StudyAgreement,
        CriterionAgreement,
    )
}
TUPLES: dict[str, Callable[..., Any]] = {"Flag": Flag, "RaterAgreement": RaterAgreement, "Note": Note}
CODES: dict[str, type[StrEnum]] = {
    name: kind for name, kind in vars(codes).items() if isinstance(kind, type) and issubclass(kind, StrEnum)
}
KIND = "~"
"""The key under which an object of JSON says what it is of, where it is no mapping of texts."""


class _Digest:
    """A file that keeps only the digest of what is written."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=20)

    def write(self, data: Any) -> int:
        self.hash.update(data)
        return len(data)


@cache
def _code() -> bytes:
    """A digest of all that computes figures: the package with its tables, Python and the libraries."""
    digest = hashlib.blake2b(f"{VERSION} {sys.version_info[:3]}".encode())
    for name in LIBRARIES:
        digest.update(f" {name} {version(name)}".encode())
    for file in (*sorted(PACKAGE.rglob("*.py")), *sorted((SHIPPED / "data").glob("*.toml"))):
        digest.update(file.read_bytes())
    return digest.digest()


def stamp(*values: Any) -> str:
    """A digest of values and of the code. Raises TypeError for values that cannot be written.

    Values are pickled into the digest; nothing is ever read from a pickle. Without a memo equal values give
    equal bytes, whether or not they are one object.
    """
    digest = _Digest()
    digest.write(_code())
    pickler = pickle.Pickler(digest, protocol=5)
    pickler.fast = True
    try:
        pickler.dump(values)
    except (pickle.PicklingError, AttributeError) as error:
        raise TypeError(str(error)) from error
    return digest.hash.hexdigest()


def to_json(value: Any) -> Any:
    """A value of a report as JSON has it. Raises TypeError for one of an unknown class."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [to_json(part) for part in value]
    if isinstance(value, float):  # of numpy
        return float(value)
    if kind is dict and KIND not in value and all(type(key) is str for key in value):
        return {key: to_json(part) for key, part in value.items()}
    return {KIND: kind.__name__, "of": _parts(value)}


def _parts(value: Any) -> Any:
    """What `from_json` makes a value of, in the order in which it takes it."""
    kind = type(value)
    if kind is dict:
        return [[to_json(key), to_json(part)] for key, part in value.items()]
    if kind in (tuple, Flag, RaterAgreement):
        return [to_json(part) for part in value]
    if kind is Note:
        return [str(value), list(value.parts)]
    if RECORDS.get(kind.__name__) is kind:
        return [to_json(getattr(value, field.name)) for field in fields(kind)]
    if CODES.get(kind.__name__) is kind:
        return [value.value]
    raise TypeError(f"no figure of a report: {kind}")


def from_json(value: Any) -> Any:
    """A value of a report from what `to_json` made of it. Raises KeyError, TypeError and ValueError."""
    if isinstance(value, list):
        return [from_json(part) for part in value]
    if not isinstance(value, dict):
        return value
    if KIND not in value:
        return {key: from_json(part) for key, part in value.items()}
    kind = value[KIND]
    parts = from_json(value["of"])
    makers: dict[str, Callable[..., Any]] = {**RECORDS, **TUPLES, **CODES}
    if kind == "dict":
        return dict(parts)
    return tuple(parts) if kind == "tuple" else makers[kind](*parts)


class FigureCache(MutableMapping[K, V]):
    """Values of one kind by what they are of: made once, and on the disk for the next process."""

    def __init__(self, texts: StoredFigures, kind: str) -> None:
        self._texts = texts
        self._kind = kind
        self._values: dict[K, V] = {}

    def __getitem__(self, key: K) -> V:
        if key not in self._values:
            try:
                self._values[key] = from_json(json.loads(self._texts[self._part(key)]))
            except (TypeError, ValueError) as error:
                raise KeyError(key) from error
        return self._values[key]

    def __setitem__(self, key: K, value: V) -> None:
        self._values[key] = value
        with suppress(TypeError):  # a value of another class stays in this process
            self._texts[self._part(key)] = json.dumps(to_json(value), ensure_ascii=False)

    def __delitem__(self, key: K) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _part(self, key: K) -> str:
        return json.dumps([self._kind, key], ensure_ascii=False)
