"""Write a rubric as TOML that a person goes on with: a field a line, texts of several lines as such."""

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
