"""The table of aims: a value passes or falls short by its bound, and bench/README.md lists every aim."""

from pathlib import Path

import pytest

from bench import aims


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("call", 1.5, "pass"),
        ("call", 1.51, "short"),
        ("throughput 32", 0.95, "pass"),
        ("throughput 32", 0.94, "short"),
    ],
)
def test_a_value_passes_up_to_its_bound(name, value, word, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv(aims.RESULTS, str(tmp_path / "results"))
    aims.reached(name, value)
    assert capsys.readouterr().out.endswith(f", {word}\n")
    assert (tmp_path / "results").read_text() == f'["{name}", {value}]\n'
    assert f"| {value:g} | {word} |" in aims.table({name: value})


def test_what_was_not_measured_is_said():
    assert aims.table({}).count("| not measured |") == len(aims.AIMS)


def test_every_aim_stands_in_the_readme():
    text = (Path(aims.__file__).parent / "README.md").read_text(encoding="utf-8")
    aimed = next(part for part in text.split("\n\n") if part.startswith("| what | against | aim |"))
    listed = aimed.splitlines()[2:]
    wanted = aims.table({}).splitlines()[2:]
    assert [line.split(" | ")[:3] for line in listed] == [line.split(" | ")[:3] for line in wanted]
