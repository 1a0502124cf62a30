"""A table is drawn by one function a medium; each shows every cell, and says why a figure is missing."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import get_args, get_type_hints

import pytest
from rich.cells import cell_len

from concord.estimate import Estimate, undefined
from concord.table import (
    RENDERERS,
    Column,
    Table,
    as_csv,
    as_document,
    as_latex,
    as_markdown,
    as_text,
    as_values,
    markdown_text,
    shown,
)

TABLE = Table(
    "scores",
    "Scores of players",
    (
        Column("player"),
        Column("final", "Final", interval="cell"),
        Column("rho", "ρ", digits=3, interval="ends"),
        Column("share", percent=True),
        Column("n"),
    ),
    (
        {"player": "a_b", "final": Estimate(3.456, 3.2, 3.7), "rho": Estimate(0.5), "share": 0.25, "n": 1200},
        {"player": "=1+1", "final": undefined("no conversation"), "rho": Estimate(-0.25, -0.5, 0.0), "n": 0},
    ),
    notes=("A note.",),
)


def test_cells_as_a_reader_sees_them():
    _, final, rho, share, n = TABLE.columns
    assert shown(Estimate(3.456, 3.2, 3.7), final) == "3.46 [3.20, 3.70]"
    assert shown(Estimate(-0.25, -0.5, 0.0), rho) == "-0.250 [-0.500, 0.000]"
    assert shown(undefined("none"), rho) == "–"
    assert shown(0.256, share) == "26%"
    assert shown(1200, n) == "1,200"
    assert shown(None, n) == ""
    assert shown(Estimate(0.5), Column("bias", signed=True)) == "+0.50"


@pytest.mark.parametrize("ends", [(5.4, 9.56), (0.0, 0.326), (8.0, 8.1)])
@pytest.mark.parametrize("interval", [*get_args(get_type_hints(Column)["interval"])])
def test_no_medium_shows_half_of_an_interval(interval, ends):
    """8.05 on a scale that ends at 10 has [5.40, 9.56]: ± half of it would say 5.97 to 10.13."""
    columns = (Column("model"), Column("All", interval=interval))
    table = Table("t", "T", columns, ({"model": "m", "All": Estimate(8.05, *ends, n=12)},))
    for write in (as_text, as_latex, as_markdown):
        written = write(table)
        assert "±" not in written
        assert "pm$" not in written
        assert (f"{ends[0]:.2f}, {ends[1]:.2f}" in written) == (interval != "none"), written
    [row] = csv.DictReader(io.StringIO(as_csv(table)))
    assert (float(row["All_low"]), float(row["All_high"])) == ends


def test_csv_is_unrounded_and_marks_formulas():
    rows = list(csv.DictReader(io.StringIO(as_csv(TABLE))))
    assert rows[0]["final"] == "3.456"
    assert (rows[0]["final_low"], rows[0]["final_high"], rows[0]["final_reason"]) == ("3.2", "3.7", "")
    assert rows[1]["final_reason"] == "no conversation"
    assert rows[1]["player"] == "'=1+1"
    assert rows[1]["share"] == ""


def test_latex_escapes_names():
    written = as_latex(TABLE)
    assert r"a\_b & 3.46 [3.20, 3.70]" in written
    assert r"\begin{tabular}{lrrrr}" in written
    assert r"\label{tab:" in written
    assert "% =1+1, Final: no conversation" in written


def test_latex_writes_symbols_that_its_fonts_lack_as_mathematics():
    written = as_latex(Table("t", "50 % of ρ", (Column("kappa", "κ − 1"),), ({"kappa": "≥ 2~x"},)))
    assert r"\caption{50 \% of $\rho$.}" in written
    assert r"$\kappa$ $-$ 1 \\" in written
    assert r"$\geq$ 2\textasciitilde{}x \\" in written


def test_json_is_plain_and_carries_the_schema():
    found = json.loads(json.dumps(as_values(TABLE), allow_nan=False))
    assert found["schema"] == 1
    assert found["rows"][0]["final"] == {"value": 3.456, "ci": [3.2, 3.7]}
    assert found["rows"][1]["final"]["reason"] == "no conversation"
    assert "share" not in found["rows"][1]


def test_columns_of_numbers_are_aligned_to_the_right():
    lines = as_text(TABLE).splitlines()
    assert lines[2].startswith("player  ")
    assert lines[4].endswith("1,200")
    assert lines[5].endswith("    0")


@pytest.mark.parametrize("render", RENDERERS.values(), ids=RENDERERS)
def test_every_format_says_why_a_figure_is_missing(render):
    assert "no conversation" in render(TABLE).replace("\\", "")


@pytest.mark.parametrize("render", RENDERERS.values(), ids=RENDERERS)
def test_a_table_without_rows_is_drawn(render):
    assert "Final" in render(Table("empty", "Empty", TABLE.columns, ())) or render is as_csv


def test_n_stands_beside_a_figure_and_in_a_column_of_files():
    table = Table("t", "T", (Column("score", n=True),), ({"score": Estimate(0.5, n=1200)},))
    assert shown(table.rows[0]["score"], table.columns[0]) == "0.50 (n 1,200)"
    assert as_csv(table) == "score,score_n\n0.5,1200\n"


def test_a_file_only_column_stands_in_files_alone():
    table = Table(
        "t", "T", (Column("player"), Column("secret", file_only=True)), ({"player": "a", "secret": "x"},)
    )
    assert "secret" in as_csv(table)
    assert as_values(table)["rows"] == [{"player": "a", "secret": "x"}]
    for form in ("table", "latex", "markdown"):
        assert "secret" not in RENDERERS[form](table)


def test_several_tables_as_csv_are_a_figure_a_line():
    one = Table(
        "one",
        "One",
        (Column("player"), Column("score")),
        ({"player": "=a", "score": Estimate(1.5, 1.0, 2.0, n=4)},),
    )
    other = Table(
        "other", "Other", (Column("judge"), Column("share")), ({"judge": "j", "share": undefined("none")},)
    )
    assert as_document([one, other], "csv").splitlines() == [
        "table,player,judge,figure,value,low,high,n,reason",
        "one,'=a,,score,1.5,1.0,2.0,4,",
        "other,,j,share,,,,,none",
    ]
    assert list(json.loads(as_document([one, other], "json"))["tables"]) == ["one", "other"]


@pytest.mark.parametrize("form", ["table", "latex", "markdown"])
def test_a_name_cannot_command_the_terminal(form):
    name = "a\x1b[2J\u202eb\x9b"
    table = Table("t", f"T{name}", (Column("player", f"C{name}"),), ({"player": name},), notes=(f"N{name}",))
    written = RENDERERS[form](table)
    assert not {"\x1b", "\u202e", "\x9b"} & set(written)
    assert "u001b" in written


def test_names_of_columns_are_marked_as_cells_are():
    """A column may be named after a judge."""
    table = Table("=t", "T", (Column("@who"), Column("=judge")), ({"@who": "a", "=judge": Estimate(-1.5)},))
    assert as_csv(table) == "'@who,'=judge\na,-1.5\n"
    assert as_document([table, table], "csv").splitlines()[:2] == [
        "table,'@who,figure,value,low,high,n,reason",
        "'=t,a,'=judge,-1.5,,,,",
    ]


def wide(names: list[str]) -> Table:
    columns = (Column("name", "Judge or panel"), Column("a", "Share of all answers", digits=3), Column("b"))
    rows = tuple({"name": name, "a": Estimate(0.5, 0.4, 0.6), "b": "x" * 20} for name in names)
    return Table("wide", "Wide", (columns[0], replace(columns[1], interval="ends"), columns[2]), rows)


def test_text_fits_its_terminal_by_headings_of_several_lines_and_cut_names():
    table = wide(["a-judge-with-quite-a-long-name-1", "a-judge-with-quite-a-long-name-2"])
    lines = as_text(table, 62).splitlines()
    assert max(map(len, lines)) <= 62
    cut = [line for line in lines if "…" in line]
    assert len({line.split()[0] for line in cut}) == 2
    assert "a-judge-with-quite-a-long-name-1" in as_text(table), "a file has whole names"


def test_names_that_could_not_be_told_apart_are_not_cut():
    table = wide(
        ["the same beginning " * 2 + "1" + " and end" * 4, "the same beginning " * 2 + "2" + " and end" * 4]
    )
    text = as_text(table, 62)
    assert all(str(row["name"]) in text for row in table.rows)


def test_a_small_p_is_no_zero():
    column = Column("p", digits=4, least=0.0001)
    assert shown(Estimate(0.0), column) == shown(Estimate(0.00004), column) == "< 0.0001"
    assert shown(Estimate(0.0001), column) == "0.0001"


def test_a_column_that_is_undefined_throughout_is_named_once():
    none = undefined("no names")
    columns = (Column("name"), Column("a"), Column("b"))
    rows = ({"name": "x", "a": none, "b": none}, {"name": "y", "a": none, "b": Estimate(1.0)})
    assert Table("t", "T", columns, rows).reasons() == ["x, b; a: no names"]
    alike = ({"name": "x", "b": none}, {"name": "y", "b": none}, {"name": "z", "b": Estimate(1.0)})
    assert Table("t", "T", columns, alike).reasons() == ["x; y, b: no names"]


def test_what_rounds_to_zero_has_no_minus():
    column = Column("bias", signed=True, interval="ends")
    assert shown(Estimate(-0.001, -0.004, 0.23), column) == "+0.00 [+0.00, +0.23]"
    assert str(Estimate(-0.0001)) == "0.000"


def test_markdown_escapes_what_markdown_reads_and_no_more():
    """A colon alone is text; between colons GitHub reads an emoji."""
    assert markdown_text("Demo: 250 (a {b}), at 12:30") == "Demo: 250 (a {b}), at 12:30"
    assert markdown_text("*a* | <b> :smile: #1") == r"\*a\* \| \<b\> \:smile: \#1"


@pytest.mark.parametrize("name", ["模型甲", "👍 approve", "한국어", "café", "👨‍👩‍👧 family", "🇩🇪"])
def test_columns_align_on_a_terminal_where_characters_take_two_places(name):
    columns = (Column("player"), Column("n"))
    table = Table("t", "T", columns, ({"player": name, "n": 1}, {"player": "a", "n": 23}))
    heading, rule, *rows = as_text(table).splitlines()[2:]
    assert {cell_len(line) for line in (heading, rule, *rows)} == {cell_len(rule)}
    assert max(map(cell_len, as_text(table, 60).splitlines())) <= 60


def test_a_wide_name_is_cut_in_places_of_the_terminal():
    names = [f"{'模型' * 30}{end}" for end in ("甲", "乙")]
    rows = tuple({"player": name, "n": 1} for name in names)
    lines = as_text(Table("t", "T", (Column("player"), Column("n")), rows), 40).splitlines()
    assert max(map(cell_len, lines)) <= 40
    assert [line.split("…")[1].split()[0][-1] for line in lines if "…" in line] == ["甲", "乙"]


def test_rows_that_a_column_folds_away_are_apart_and_counted():
    shown_words = Column("shown", words={"no": "not shown"}, folded="no")
    rows = ({"who": "a", "shown": "yes"}, {"who": "b", "shown": "no"}, {"who": "c", "shown": "no"})
    table = Table("t", "T", (Column("who"), shown_words), rows, "A caption.", ("A note.",))
    first, folded = table.divided()
    assert [row["who"] for row in first.rows] == ["a"]
    assert (first.title, first.caption, first.notes) == (table.title, table.caption, table.notes)
    assert [row["who"] for row in folded.rows] == ["b", "c"]
    assert (folded.title, folded.caption, folded.notes) == ("2 rows: not shown", "", ())
    assert replace(table, rows=rows[:2]).divided()[1].title == "1 row: not shown"
    assert TABLE.divided()[0] == TABLE
    assert not TABLE.divided()[1].rows
