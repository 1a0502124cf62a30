"""Excel files within limits: a small file that unpacks to much is refused, or read without holding it."""

import subprocess
import sys
from collections.abc import Iterable

import pytest
from click.testing import CliRunner

from concord.cli import main
from concord.errors import ImportRefused
from concord.exchange import rows, spreadsheet
from concord.reading import labels
from tests.exchange import made_sheets as sheets

pytest.importorskip("openpyxl")


def rows_read(path):
    return [row.complete for row in rows.read(path)]


def test_rows_come_one_after_another(tmp_path):
    """The first rows of a sheet are there before the last one is read: here that one is broken."""
    path = sheets.workbook(
        tmp_path / "t.xlsx",
        [sheets.row(1, "id", "human"), sheets.row(2, 1, 0), *[sheets.row(n, 2, 1) for n in range(3, 50_000)]],
        after="</broken>",
    )
    read = rows.read(path)
    assert next(read).complete == {"id": 1, "human": 0}
    with pytest.raises(ImportRefused, match="cannot be read as a spreadsheet"):
        list(read)


def test_styled_cells_without_values_take_no_memory(tmp_path):
    """Excel writes such cells where a whole row has a colour. Each row was read as 16,384 cells."""
    table = [sheets.row(n, n, n % 2, after=f'<c r="XFD{n}" s="0"/>') for n in range(2, 20_000)]
    path = sheets.workbook(tmp_path / "t.xlsx", [sheets.row(1, "id", "human"), *table])
    code = (
        "import resource, sys; from pathlib import Path; from concord.exchange import rows; import openpyxl; "
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
        "print([len(row.complete) for row in rows.read(Path(sys.argv[1]))] == [2] * 19_998, "
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    whole, kibibytes = done.stdout.split()
    assert whole == "True"
    assert int(kibibytes) < 64 * 1024


def repeated(cell: str, times: int) -> Iterable[str]:
    return (cell for _ in range(times))


HOSTILE = {
    "cells": lambda path: sheets.workbook(path, repeated(f"<row>{'<c/>' * 1000}</row>", 2_001)),
    "cells of a row": lambda path: sheets.workbook(path, [f"<row>{'<c/>' * 20_000}</row>"]),
    "a column far right": lambda path: sheets.workbook(path, [sheets.row(1, "id", at="XFD")]),
    "a row far down": lambda path: sheets.workbook(path, [sheets.row(1, "id"), sheets.row(10**9, 1)]),
    "one value far right and down": lambda path: sheets.workbook(
        path, [sheets.row(1, "id"), sheets.row(2**20, 1, at="ALL")]
    ),
    "a long text in many cells": lambda path: sheets.workbook(
        path, [sheets.row(n, 0, of="s") for n in range(1, 400)], texts=[f"<si><t>{'x' * 10**6}</t></si>"]
    ),
    "a text of twenty million characters": lambda path: sheets.workbook(
        path, [sheets.row(1, 0, of="s")], texts=[f"<si><t>{'x' * 20_000_000}</t></si>"]
    ),
    "unpacked": lambda path: sheets.workbook(path, repeated(" " * 2**20, 300)),
    "merged cells": lambda path: sheets.workbook(
        path, [sheets.row(1, "id")], after="</sheetData><mergeCells>" + "<mergeCell/>" * 500_001
    ),
    "one sheet many times": lambda path: sheets.workbook(
        path, repeated(f"<row>{'<c/>' * 1000}</row>", 1_000), times=200, dimension=""
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, kind):
    path = HOSTILE[kind](tmp_path / "t.xlsx")
    assert path.stat().st_size < 2 * 2**20
    with pytest.raises(ImportRefused, match="Save the sheet as CSV without formats, or split it"):
        rows_read(path)


@pytest.mark.parametrize("kind", ["texts", "elements"])
def test_parts_that_are_no_cells_have_limits_too(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(spreadsheet, "SHEET_CELLS", 20_000)
    monkeypatch.setattr(spreadsheet, "ELEMENTS", 80_000)
    texts = repeated("<si/>", 20_001) if kind == "texts" else []
    values = f"<row><c>{'<v/>' * 10_000}</c></row>"
    path = sheets.workbook(tmp_path / "t.xlsx", [values] * (1 if texts else 8), texts=texts)
    with pytest.raises(ImportRefused, match=f"it has more than [28]0,000 {kind}. Save the sheet as CSV"):
        rows_read(path)


def test_by_command_and_library(tmp_path):
    path = HOSTILE["a column far right"](tmp_path / "t.xlsx")
    with pytest.raises(ImportRefused, match="row 1 has a value in column 16,384; 1,000 are read"):
        labels.read(path)
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 1
    assert "row 1 has a value in column 16,384" in " ".join(done.output.split())


BROKEN = {
    "a document type": {"before": '<!DOCTYPE x [<!ENTITY a "aaaa">]>'},
    "a place that is none": {"rows": ['<row><c r="1A"><v>1</v></c></row>']},
    "a number that is none": {"rows": ["<row><c><v>many</v></c></row>"]},
    "a text that is not there": {"rows": [sheets.row(1, 7, of="s")]},
    "a row number that is none": {"rows": ['<row r="x"><c><v>1</v></c></row>']},
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_sheet_is_refused_in_a_sentence(tmp_path, kind):
    path = sheets.workbook(tmp_path / "t.xlsx", **{"rows": [sheets.row(1, "id")], **BROKEN[kind]})
    with pytest.raises(ImportRefused, match="cannot be read as a spreadsheet"):
        rows_read(path)


@pytest.mark.parametrize("place", range(12))
def test_a_damaged_archive_is_refused_in_a_sentence(tmp_path, place):
    path = sheets.workbook(tmp_path / "t.xlsx", [sheets.row(n, n, n * 7919 % 1009) for n in range(1, 2_000)])
    whole = bytearray(path.read_bytes())
    start = len(whole) * place // 12
    whole[start : start + 40] = b"\xff" * 40
    whole[:4] = b"PK\3\4"
    path.write_bytes(whole)
    with pytest.raises(ImportRefused, match="cannot be read as a spreadsheet"):
        rows_read(path)


def test_a_sheet_without_values_has_no_rows(tmp_path):
    assert rows_read(sheets.workbook(tmp_path / "t.xlsx", [])) == []


def test_gaps_are_no_rows_and_places_need_not_be_written(tmp_path):
    unplaced = "<row><c><v>3</v></c><c><v>4</v></c></row>"
    path = sheets.workbook(tmp_path / "t.xlsx", [sheets.row(1, "id", "human"), sheets.row(5, 1, 0), unplaced])
    assert [row.location for row in rows.read(path)] == [f"{path}, row 5", f"{path}, row 6"]
    assert rows_read(path) == [{"id": 1, "human": 0}, {"id": 3, "human": 4}]


def test_a_second_sheet_widens_no_row_of_the_first(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in (["id", "human"], [1, 0], [2, 1]):
        book.active.append(line)
    book.create_sheet("wide").append([*range(900)])
    book.save(tmp_path / "t.xlsx")
    lines = spreadsheet.lines(tmp_path / "t.xlsx")
    assert [cells for _, cells in lines] == [("id", "human"), (1, 0), (2, 1)]
