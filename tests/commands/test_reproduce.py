"""Each command of docs/reproduce.md prints its table from the demo, and costs are what is estimated today."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from concord.cli import main

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
REAL = (ROOT / "tests" / "real" / "test_real_model.py").read_text(encoding="utf-8")
EVERY_ROW = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in TEXT.splitlines()
    if line.startswith("| ") and "in the paper" not in line and "part | command" not in line
]
COSTS = [row for row in EVERY_ROW if re.match(r"[\d,]+$", row[2])]
ROWS = [row for row in EVERY_ROW if row not in COSTS]
COMMANDS = sorted(
    {c for c in re.findall(r"`concord --workspace demo ([^`]+)`", TEXT) if not c.startswith("demo")}
)
ESTIMATE = re.compile(r": ([\d,]+) calls, about ([\d,]+) tokens in and ([\d,]+) out")
PLACES = {
    "PingPong": ("Figure 1", "Tables 1 and 2", "Tables 3 and 4", "Table 5", "Tables 6 and 7", "Figure 2"),
    "SimulBench": ("Figure 1", "Table 1", "Table 2", "Table 3", "Figures 2 and 3, table 4"),
    "STSS": ("Figures 1 to 3", "Table 1", "table 2", "Table 3", "Table 4", "Tables 5 and 6"),
}
"""The tables and figures of each paper."""


def invoke(workspace, command):
    return CliRunner().invoke(main, ["--workspace", str(workspace.path), *shlex.split(command)])


def test_no_row_and_no_cell_is_empty():
    assert len(ROWS) > 20
    assert all(len(row) == 5 for row in EVERY_ROW)
    assert all(cell for row in EVERY_ROW for cell in row)
    assert all("`concord " in row[1] for row in EVERY_ROW)


@pytest.mark.parametrize("paper", PLACES)
def test_every_table_and_figure_of_a_paper_has_a_row(paper):
    section = TEXT.partition(f"\n## {paper}\n")[2].partition("\n## ")[0]
    assert not [place for place in PLACES[paper] if place not in section]


def test_real_runs_are_tests():
    named = {cell.strip("`") for row in ROWS for cell in row[4:] if cell != "–"}
    assert {name: bool(re.search(rf"def test_\w*{name}\w*\(", REAL)) for name in named} == dict.fromkeys(
        named, True
    )
    assert len(named) >= 3


@pytest.mark.parametrize("command", COMMANDS)
def test_the_demo_prints_it(command: str, demo_workspace, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("other.csv").write_text("model,score\nmock-vivid,3\nmock-typist,2\nmock-bland,1\n")
    done = invoke(demo_workspace, command)
    assert done.exit_code == 0, done.output
    assert done.stdout.count("\n") > 2 or Path("talks.jsonl").stat().st_size


@pytest.mark.parametrize("row", COSTS, ids=[row[0] for row in COSTS])
def test_costs_are_those_of_todays_estimate(row, demo_workspace):
    command = re.search(r"`concord --workspace demo ([^`]+)`", row[1])[1]
    done = invoke(demo_workspace, command)
    parts = [[int(number.replace(",", "")) for number in found] for found in ESTIMATE.findall(done.stdout)]
    calls, tokens_in, tokens_out = map(sum, zip(*parts, strict=True))
    written = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\d", f"{row[2]} {row[3]}")]
    assert [calls, tokens_in, tokens_out] == pytest.approx(written, rel=0.1)
