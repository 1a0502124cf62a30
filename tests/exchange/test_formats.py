"""Every format is a subcommand, is documented, and refuses what it cannot read with one sentence."""

from pathlib import Path

import pytest

from concord.commands.exchange_in import command
from concord.runs.registry import SLICES, part
from concord.store import conversations, studies

DOCS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
OPTIONS = dict.fromkeys(
    ("import ratings", "import label-studio", "import argilla", "import dataset"), ("--study", "s")
)


def formats():
    """Every command that imports a file, by its words."""
    yield from (f"import {name}" for name in command.commands)
    for slice_name in SLICES:
        own = part(slice_name, "commands").command.commands.get("import")
        yield from (f"{slice_name} import {name}" for name in (own.commands if own else ()))


FORMATS = list(formats())


def test_every_benchmark_imports_its_published_files():
    assert {name.split()[0] for name in FORMATS} == {"import", *SLICES}


@pytest.mark.parametrize("name", FORMATS)
def test_it_is_documented(name):
    assert f"`{name} " in DOCS
    what = name.removeprefix("import ")
    assert any(what in heading for heading in DOCS.splitlines() if heading.startswith("## "))


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
    done = run(workspace, *name.split(), target, *OPTIONS.get(name, ()))
    assert done.exit_code == 1
    assert done.exception is None or isinstance(done.exception, SystemExit)
    lines = done.output.strip().splitlines()
    assert lines[0].startswith("Error: ")
    assert str(target) in done.output
    with workspace.read() as db:
        assert conversations.count(db) == 0
        assert studies.names(db) == []
    assert not (workspace.path / "data").exists()
