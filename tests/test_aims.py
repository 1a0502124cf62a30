"""The table of aims: a value passes or falls short by its bound, and bench/README.md lists every aim."""

from pathlib import Path

import pytest

from bench import aims
from concord.files import VERSION


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
    assert f"| {value:g} | {word} |" in aims.table({name: (value, VERSION)})


def test_what_was_not_measured_is_said():
    assert aims.table({}).count("| not measured |") == len(aims.AIMS)


def test_a_value_of_another_version_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(aims, "MEASURED", tmp_path / "measured.json")
    aims.MEASURED.write_text('{"call": [1.6, "0.0.9"], "resume": [1.5, "0.0.9"], "gone": [1, "0.0.9"]}')
    both = aims.keep({"call": 1.4})
    assert both == aims.measured() == {"call": (1.4, VERSION), "resume": (1.5, "0.0.9")}
    table = aims.table(both)
    assert "| 1.4 | pass |" in table
    assert "| 1.5 | pass, not measured since 0.0.9 |" in table


def test_every_module_with_an_aim_is_in_one_part():
    modules = [module for part in aims.PARTS.values() for module in part]
    assert sorted(modules) == sorted({aim.module for aim in aims.AIMS.values()})


def test_the_readme_has_the_table_of_what_was_measured():
    text = (Path(aims.__file__).parent / "README.md").read_text(encoding="utf-8")
    aimed = next(part for part in text.split("\n\n") if part.startswith("| what | against | aim |"))
    listed = aimed.splitlines()[2:]
    assert listed == aims.table(aims.measured()).splitlines()[2:]
