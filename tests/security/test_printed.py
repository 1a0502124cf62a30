"""Whatever a model or a file is called, a terminal shows it letter for letter."""

import json
import re

import click.testing
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from concord.cli import main
from concord.commands import progress
from concord.conversation import Conversation, Message
from concord.files import write_csv
from concord.files.limits import SHOWN
from concord.files.plain import brief, plain, plain_line
from concord.store import conversations

NAME = "[bold red]a[/] \x1b]0;title\x07\x1b[2J\x9b31m\u202eb\r\u2028{x}"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@given(st.text())
def test_plain_text_holds_nothing_that_a_terminal_obeys(text):
    shown = plain(text)
    assert not OBEYED.search(shown)
    assert json.loads(plain(json.dumps(text, ensure_ascii=False))) == text
    assert len(plain_line(text).splitlines()) <= 1
    shown.encode()


def test_words_of_any_script_stay_as_they_are():
    for text in ("naïve – “quoted”\n\t", "👩\u200d🔬", "می\u200cخواهم", "[bold]"):
        assert plain(text) == text


def test_a_long_line_of_an_error_is_cut():
    assert brief("a\n" + "b" * SHOWN) == "a\n" + "b" * SHOWN
    assert len(brief("b" * 10**6)) < SHOWN + 10


@pytest.mark.parametrize(
    "words", [["leaderboard", NAME], ["agreement", "--study", NAME], ["run", NAME], [NAME]]
)
def test_errors_are_escaped(fresh, words):
    done = CliRunner().invoke(main, ["--workspace", str(fresh.path), *words])
    assert done.exit_code in (1, 2)
    assert re.search(r"\[bold red\]a\[/\] \\(u00|x)1b\]0", done.output)
    assert not OBEYED.search(done.output)


def test_an_error_that_quotes_a_whole_file_is_cut(fresh, run, tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("x" * 10**6)
    done = run(fresh, "import", "ratings", file, "--study", "s")
    assert done.exit_code == 1
    assert "the column item_id is missing" in done.output
    assert len(done.output) < 2 * SHOWN


def test_a_word_that_is_not_utf_8_is_one_sentence(fresh):
    done = CliRunner().invoke(main, ["--workspace", str(fresh.path), "agreement", "--study", "a\udcff"])
    assert done.exit_code == 2
    assert "“a\\udcff” is not UTF-8." in done.output


@pytest.mark.parametrize("form", ["table", "csv", "latex", "markdown", "json"])
def test_tables_are_escaped_and_json_reads_the_same(fresh, run, tmp_path, form):
    file = tmp_path / "r.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        kinds = (("human", ""), ("human", "other "), ("judge", ""))
        header = ("item_id", "criterion", "rater_type", "rater", "score")
        ratings = ((n, NAME, kind, f"{who}{NAME}", n % 3) for n in range(6) for kind, who in kinds)
        write_csv(out, [header, *ratings])
    assert run(fresh, "import", "ratings", file, "--study", NAME).exit_code == 0
    done = run(fresh, "agreement", "--study", NAME, "--format", form)
    assert done.exit_code == 0, done.output
    assert not OBEYED.search(done.output)
    assert "[bold" in done.output.replace("\\", "")
    if form == "json":
        assert json.loads(done.stdout)["study"] == NAME


def test_conversations_on_a_terminal_are_escaped(fresh, run, monkeypatch):
    with fresh.write() as db:
        conversations.save(db, Conversation("b", "k", NAME, (Message("assistant", NAME),)))
    exact = run(fresh, "export", "conversations").stdout
    assert "\x9b" in exact
    monkeypatch.setattr(click.testing._NamedTextIOWrapper, "isatty", lambda _: True, raising=False)
    shown = run(fresh, "export", "conversations").stdout
    assert not OBEYED.search(shown)
    assert [json.loads(line) for line in shown.split("\n")[:-1]] == [
        json.loads(line) for line in exact.split("\n")[:-1]
    ]


def test_progress_is_escaped(fresh, monkeypatch):
    shown = []
    monkeypatch.setattr(progress, "Live", lambda **_: _Live(shown))
    monkeypatch.setattr(progress, "sentence", lambda _: NAME)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    with progress._watching() as show:
        show(type("Beat", (), {"stored": 0, "done": 1, "failed": 0, "planned": 2})())
    [text] = shown
    assert isinstance(text, Text)
    assert "[bold red]a[/] \\u001b]0" in text.plain


class _Live:
    def __init__(self, shown):
        self.update = shown.append
        self.console = Console()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass
