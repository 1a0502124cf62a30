"""Every command that the documents and the prose of pages name exists, with the options they give it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from concord.cli import main
from concord.errors import ConcordError
from concord.store import studies
from concord.store.writer import GATHER_SECONDS

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
    known = {
        "--help",
        *(name for option in command.params for name in (*option.opts, *option.secondary_opts)),
    }
    given = {word.split("=")[0] for word in words if word.startswith("--")}
    return f"there is no {', '.join(sorted(given - known))}" if given - known else ""


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_the_documents_name_commands_that_exist(file: Path):
    assert not {line: wrong(line) for line in commands(file.read_text(encoding="utf-8")) if wrong(line)}


def test_docstrings_and_messages_name_commands_that_exist():
    named = {line: file for file in SOURCES for line in commands(file.read_text(encoding="utf-8"))}
    assert len(named) > 30
    assert not {f"{file.name}: {line}": wrong(line) for line, file in named.items() if wrong(line)}


def documented(heading: str, text: str) -> set[str]:
    """The keys in the first column of the table that follows these words."""
    table = text.partition(heading)[2].partition("\n| key |")[2].partition("\n\n")[0]
    return {key for row in table.split("\n") for key in re.findall(r"`(\w+)`", row.split(" | ")[0])}


def test_the_json_of_agreement_is_the_documented_one(filled, run):
    """Every key is in the table, and every key of the table in the JSON."""
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    with filled.read() as db:
        (name,) = studies.names(db)
    words = ("agreement", "--study", name, "--resamples", 20, "--format", "json")
    written = json.loads(run(filled, *words).stdout)
    known = documented("**JSON of agreement.**", text)
    assert set(written) <= known
    assert known - set(written) <= {"clusters"}  # where items are drawn together
    paragraph = text.partition("**JSON of agreement.**")[2].partition("**Formulas.**")[0]
    figure = written["sections"][written["main"]]["glance"]["glance"]["rows"][0]["judge"]
    assert set(figure) <= set(re.findall(r"\w+", re.search(r"\{(\"value.*?)\}", paragraph).group(1)))
    assert {"by_criterion", "p_by_criterion", "people_by_criterion"} >= set(written["criteria"])
    for of in written["left_out"]:
        assert set(of) == {"reason", "units", "by"}


def test_the_json_of_check_adds_what_is_documented(fresh, run):
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    file = ROOT / "data" / "examples" / "ratings.csv"
    written = json.loads(run(fresh, "check", file, "--resamples", 20, "--format", "json").stdout)
    known = documented("**JSON of agreement.**", text)
    paragraph = text.partition("**JSON of agreement.**")[2].partition("| key |")[0]
    assert set(written) - known == {"taken", "not_read", "screen"}
    assert all(f"`{key}`" in paragraph for key in ("taken", "not_read", "screen"))


def test_one_page_says_how_intervals_are_found():
    """docs/pingpong.md once said percentiles, which docs/intervals.md says are not used."""
    for file in PAGES:
        if file.name not in ("intervals.md", "reproduce.md", "CHANGELOG.md"):
            assert "percentile" not in file.read_text(encoding="utf-8").lower(), file.name


def test_what_a_kill_costs_is_said_with_the_time_that_answers_are_gathered():
    """An answer is on the disk after `GATHER_SECONDS` at most."""
    assert GATHER_SECONDS == 0.1
    for name in ("runs.md", "architecture.md", "scale.md"):
        text = " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())
        for sentence in re.findall(r"[^.;]*kill -9[^.;]*in flight[^.;]*[.;]", text):
            assert "last tenth of a second" in sentence, f"{name}: {sentence}"
