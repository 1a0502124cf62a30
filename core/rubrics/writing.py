"""Write a rubric as TOML that a person goes on with: a field a line, texts of several lines as such."""

import re
from collections.abc import Mapping
from typing import Any

from concord.files import as_toml

HEAD = "# What judges and people are asked. docs/rubrics.md explains every field.\n"
_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?"""+|"(?:\\.|[^"\\])*"'  # strings with escapes
    r"|'''.*?'''+|'[^']*'"  # literal ones
    r"|#(?P<comment>[^\n]*)",
    re.DOTALL,
)


def toml(body: Mapping[str, Any]) -> str:
    """The content of a rubric's file."""
    plain = {name: value for name, value in body.items() if name not in ("judge", "criteria")}
    parts = [HEAD + _lines(plain)]
    if body.get("judge"):
        parts.append("[judge]\n" + _lines(body["judge"]))
    parts += ["[[criteria]]\n" + _lines(criterion) for criterion in body.get("criteria", ())]
    return "\n".join(parts)


def comments(text: str) -> list[str]:
    """The comments of valid TOML, without the head that `toml` writes: what `toml` would not write again."""
    every = (match["comment"] for match in _COMMENT.finditer(text))
    head = HEAD.removeprefix("#").strip()
    return [words for comment in every if comment is not None and (words := comment.strip()) != head]


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
