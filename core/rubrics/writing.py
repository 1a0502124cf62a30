"""Write a rubric as TOML that a person goes on with: a field a line, texts of several lines as such."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from concord.files import as_toml
from concord.store.rubrics import Version
from concord.table import Column, Table

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


def flat(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each field of a rubric by its place, such as “solved: statement”, with its value as TOML writes it."""
    for name, value in body.items():
        if name == "criteria":
            for entry in value:
                yield from ((f"{entry['name']}: {field}", _as_text(of)) for field, of in entry.items())
        elif isinstance(value, Mapping):
            yield from ((f"{name}: {field}", _as_text(of)) for field, of in value.items())
        else:
            yield name, _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else as_toml({"x": value}).removeprefix("x = ").rstrip("\n")


def differences(versions: Sequence[Version]) -> Table:
    """The fields in which versions differ, a column each."""
    fields = {version.variant: dict(flat(version.body)) for version in versions}
    places = dict.fromkeys(place for each in fields.values() for place in each)
    rows = [
        {"field": place, **{variant: each.get(place, "") for variant, each in fields.items()}}
        for place in places
        if len({each.get(place) for each in fields.values()}) > 1
    ]
    return Table("versions", "What differs", (Column("field"), *map(Column, fields)), tuple(rows))
