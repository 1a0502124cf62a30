"""Every format is a subcommand, is documented, and refuses what it cannot read with one sentence."""

from pathlib import Path

import pytest

from core.commands.exchange_in import command
from core.exchange import FORMATS
from core.store import conversations, studies

DOCS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
OPTIONS = {"ratings": ("--study", "s")}


def test_the_subcommands_are_the_formats():
    assert set(command.commands) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_it_is_documented(name):
    assert f"`{name} " in DOCS
    assert any(name in heading for heading in DOCS.splitlines() if heading.startswith("## "))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("what", ["missing", "empty", "binary", "other JSON", "a folder"])
def test_what_it_cannot_read_is_one_sentence_and_stores_nothing(workspace, run, tmp_path, name, what):
    target = tmp_path / "target"
    if what == "a folder":
        target.mkdir()
    elif what != "missing":
        target.write_bytes(
            {"empty": b"", "binary": b"\x89PNG\r\n\x1a\n\x00\xff\xfe" * 9, "other JSON": b'[{"a": 1}, 2]'}[
                what
            ]
        )
    done = run(workspace, "import", name, target, *OPTIONS.get(name, ()))
    assert done.exit_code == 1
    assert done.exception is None or isinstance(done.exception, SystemExit)
    lines = done.output.strip().splitlines()
    assert lines[0].startswith("Error: ")
    assert str(target) in done.output
    with workspace.read() as db:
        assert conversations.count(db) == 0
        assert studies.names(db) == []
    assert not (workspace.path / "data").exists()
