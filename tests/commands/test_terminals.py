"""Whatever takes what commands print: any encoding, a full disk, a pipe or an output that is closed."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from concord.cli import COMMANDS, main
from concord.files import streams
from concord.store import access

ENCODINGS = ("latin-1", "cp1252", "cp437", "ascii", "utf-8")


def call(workspace, *words, charset="latin-1"):
    return CliRunner(charset=charset).invoke(main, ["--workspace", str(workspace.path), *words])


def shell(workspace, words, redirection, **env):
    """A command in a process of its own, whose output a shell redirects."""
    script = f'exec "$0" -m concord.cli --workspace "$1" {words} {redirection}'
    return subprocess.run(
        ["sh", "-c", script, sys.executable, workspace.path],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_invitation_prints_its_link(fresh, encoding):
    done = call(fresh, "people", "invite", "Žofie", charset=encoding)
    assert done.exit_code == 0, done.exception
    assert "/rate?token=" in done.output
    with fresh.read() as db:
        assert [annotator.name for annotator in access.annotators(db)] == ["Žofie"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "words",
    [
        ["models", "list"],
        ["leaderboard", "pingpong"],
        ["agreement", "--study", "first", "--resamples", "50"],
        ["agreement", "--study", "first", "--resamples", "50", "--format", "markdown"],
        ["export", "conversations"],
        ["study", "progress", "first"],
        ["no such command “Ž”"],
    ],
)
def test_tables_and_errors_are_printed(words, encoding, filled):
    done = call(filled, *words, charset=encoding)
    assert not isinstance(done.exception, UnicodeError)
    assert done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_printed(name):
    done = CliRunner(charset="latin-1").invoke(main, [name, "--help"])
    assert done.exit_code == 0, done.exception


def test_json_says_the_same_in_every_encoding(filled):
    documents = [
        call(filled, "leaderboard", "pingpong", "--format", "json", charset=encoding).stdout
        for encoding in ("latin-1", "cp1252", "cp437", "utf-8")
    ]
    assert all(json.loads(document) == json.loads(documents[-1]) for document in documents)


def test_what_an_encoding_lacks_is_escaped_as_in_json():
    text = "Ž 😀 ─┼ é"
    assert text.encode("latin-1", streams.ESCAPES) == rb"\u017d \ud83d\ude00 -\u253c " + b"\xe9"
    assert json.loads('"' + text.encode("ascii", streams.ESCAPES).decode() + '"') == "Ž 😀 -┼ é"
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("ascii", streams.ESCAPES)


def test_an_exported_file_is_utf_8_in_every_locale(filled):
    done = shell(filled, "export conversations", "", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0, done.stderr
    assert all(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.parametrize("words", ["people invite Ann", "link", "crowd open first --platform prolific"])
def test_what_is_shown_once_is_not_made_where_output_is_closed(fresh, words):
    done = shell(fresh, words, ">&-")
    assert done.returncode == 1
    assert "Standard output is closed" in done.stderr
    with fresh.read() as db:
        assert access.annotators(db) == []


def test_a_link_that_cannot_be_printed_is_not_stored(fresh):
    done = shell(fresh, "people invite Ann", ">/dev/full")
    assert done.returncode == 1
    assert done.stderr == "Error: Standard output cannot be written: No space left on device.\n"
    with fresh.read() as db:
        assert access.annotators(db) == []


@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_command_needs_no_open_streams(filled, redirection):
    done = shell(filled, "models list", redirection)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_help_on_a_full_disk_is_a_sentence(fresh):
    done = shell(fresh, "--help", ">/dev/full")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "No space left on device" in done.stderr
