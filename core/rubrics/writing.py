"""Write a rubric as TOML that a person goes on with: a field a line, texts of several lines as such."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from concord.files import as_toml

HEAD = "# What judges and people are asked. docs/rubrics.md explains every field.\n"


def toml(body: Mapping[str, Any]) -> str:
    """The content of a rubric's file."""
    plain = {name: value for name, value in body.items() if name not in ("judge", "criteria")}
    parts = [HEAD + _lines(plain)]
    if body.get("judge"):
        parts.append("[judge]\n" + _lines(body["judge"]))
    parts += map(criterion, body.get("criteria", ()))
    return "\n".join(parts)


def criterion(entry: Mapping[str, Any]) -> str:
    """One question, as it stands in a rubric's file."""
    return "[[criteria]]\n" + _lines(entry)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(
        f'{name} = """\n{_escaped(value)}"""\n'
        if isinstance(value, str) and "\n" in value
        else as_toml({name: value})
        for name, value in table.items()
    )


def _escaped(text: str) -> str:
    """A text between three quotation marks: its own quotation marks and backslashes are escaped."""
    return text.replace("\\", "\\\\").replace('"""', '""\\"').replace("\x7f", "\\u007f") + (
        "\\\n" if text.endswith('"') else ""
    )


def with_setting(text: str, name: str, value: str) -> str:
    """The TOML text of a rubric with a setting of the whole, in place of the one before, above all tables.

    A text that is no TOML, or that has the setting where no line can be changed, stays as it is.
    """
    lines = text.splitlines()
    line = as_toml({name: value}).rstrip("\n")
    places = [n for n, old in enumerate(lines) if re.match(rf"\s*{re.escape(name)}\s*=", old)]
    if places:
        lines[places[0]] = line
    else:
        place = next((n for n, old in enumerate(lines) if not old.startswith("#")), 0)
        lines.insert(place, line)
    changed = "\n".join(lines) + "\n"
    try:
        alike = tomllib.loads(changed) == tomllib.loads(text) | {name: value}
    except tomllib.TOMLDecodeError:
        alike = False
    return changed if alike else text
