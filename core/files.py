"""Read a file that a person wrote; an error is one sentence that names the file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.errors import ConcordError, ConfigError

Refusal = type[ConcordError]


def read_text(path: Path, refusal: Refusal = ConfigError) -> str:
    """The text of a UTF-8 file, with or without a byte order mark. Raises `refusal`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise refusal(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise refusal(f"{path} is not UTF-8 text. Save it as UTF-8.") from error


def read_toml(path: Path, refusal: Refusal = ConfigError) -> dict[str, Any]:
    """The tables of a TOML file. Raises `refusal`."""
    try:
        return tomllib.loads(read_text(path, refusal))
    except tomllib.TOMLDecodeError as error:
        raise refusal(f"{path} is not valid TOML: {error}.") from error


def kept_toml(path: Path) -> Mapping[str, Any]:
    """`read_toml`, parsed again only where the file has changed; {} where there is none."""
    return _parsed(path, path.stat().st_mtime_ns) if path.is_file() else {}


@lru_cache(maxsize=512)
def _parsed(path: Path, _changed: int) -> Mapping[str, Any]:
    return read_toml(path)


def as_toml(table: Mapping[str, Any]) -> str:
    """A table of texts, numbers, lists and tables as lines of TOML; inner tables are written inline."""
    return "".join(f"{key} = {_value(value)}\n" for key, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_value(str(key))} = {_value(of)}" for key, of in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    # A JSON string is a TOML basic string, but for the DEL character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_json(path: Path, refusal: Refusal = ConfigError) -> Any:
    """The value that a JSON file holds. Raises `refusal`."""
    try:
        return json.loads(read_text(path, refusal))
    except ValueError as error:
        raise refusal(f"{path} is not valid JSON: {error}.") from error


def first_problem(error: ValidationError) -> str:
    """The first thing that pydantic found wrong: where, and what."""
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where + ': ' if where else ''}{first['msg'].removeprefix('Value error, ')}"
