"""Every command that the documents and the prose of pages name exists, with the options they give it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from concord.cli import main
from concord.errors import ConcordError

ROOT = Path(__file__).parent.parent.parent
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = sorted([*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")])


def commands(text: str) -> list[str]:
    """What stands in backticks, or begins a line of a code block; haiku is the benchmark that CONTRIBUTING.md
    adds.
    """
    text = re.sub(r'"\n\s+f?"', "", text)
    lines = re.findall(r"^(concord .*)$", text, re.M)
    return [*re.findall(r"`(concord (?!haiku)[^`{}]+)`", text), *(line.split("#")[0] for line in lines)]


def wrong(line: str) -> str:
    """What of a command does not exist; words in capitals stand for names, and … for anything."""
    words = shlex.split(re.sub(r"\s+", " ", line.replace("…", "")))[1:]
    command: click.Command = main
    while isinstance(command, click.Group) and words and not words[0].isupper():
        word = words.pop(0)
        if word.startswith("-"):
            words = words[1:]
            continue
        try:
            found = command.get_command(click.Context(command), word)
        except ConcordError as error:
            return str(error)
        if found is None:
            return f"there is no {word}"
        command = found
    if isinstance(command, click.Group):
        return ""
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    given = {word.split("=")[0] for word in words if word.startswith("--")}
    return f"there is no {', '.join(sorted(given - known))}" if given - known else ""


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_the_documents_name_commands_that_exist(file: Path):
    assert not {line: wrong(line) for line in commands(file.read_text(encoding="utf-8")) if wrong(line)}


def test_docstrings_and_messages_name_commands_that_exist():
    named = {line: file for file in SOURCES for line in commands(file.read_text(encoding="utf-8"))}
    assert len(named) > 30
    assert not {f"{file.name}: {line}": wrong(line) for line, file in named.items() if wrong(line)}
