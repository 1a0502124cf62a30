"""The two drawing functions of pages: one for a Table, one for a row of Estimates."""

from __future__ import annotations

import io
import json
import re
import zipfile

from streamlit.testing.v1 import AppTest

from concord.estimate import Estimate
from concord.table import Column, Table, as_csv
from pages.parts import charts, menu
from pages.parts import table as part
from pages.parts.plain import breakable
from tests.pages.drawing_helpers import SCORES


def drawn_table() -> None:
    from pages.parts.table import draw
    from tests.pages.drawing_helpers import SCORES

    draw(SCORES, select=print)


def drawn_estimates() -> None:
    from concord.estimate import Estimate, undefined
    from pages.parts.charts import forest

    rows = [("a", Estimate(0.5, 0.25, 0.75, n=12)), ("b", Estimate(-0.1, n=12)), ("c", undefined("no item"))]
    forest(rows, "Correlation", "Spearman's ρ")


def test_a_table_keeps_numbers_and_shows_intervals_notes_and_reasons() -> None:
    page = AppTest.from_function(drawn_table, default_timeout=30).run()
    assert not page.exception
    frame = page.dataframe[0].value
    assert frame.rho.tolist()[0] == 0.5
    assert frame["rho interval"].tolist() == ["[0.25, 0.75]", ""]
    assert frame.share.tolist()[0] == 25
    captions = [caption.value for caption in page.caption]
    assert captions[0] == r"A note\."
    assert captions[1] == r"- b, ρ\: constant \<b\>scores\</b\>"  # no HTML of a name or a model
    assert page.markdown[0].value == r"##### Scores of \*players\*"


def test_what_names_a_row_stays_in_sight_with_a_rank_before_it() -> None:
    held = part._columns(SCORES)
    assert [name for name, column in held.items() if column["pinned"]] == ["player"]
    ranked = Table(
        "ranked",
        "Ranked",
        (Column("rank", "#"), *SCORES.columns),
        tuple({**row, "rank": place} for place, row in enumerate(SCORES.rows, 1)),
    )
    columns = part._columns(ranked)
    assert [name for name, column in columns.items() if column["pinned"]] == ["rank", "player"]


def test_a_wide_table_has_an_interval_in_the_cell_of_its_figure() -> None:
    wide = Table("t", "T", (Column("x", interval="cell"),), ({"x": Estimate(0.5, 0.25, 0.9, n=4)},))
    assert part._frame(wide).to_dict("list") == {"x": ["0.50 [0.25, 0.90]"]}


def empty_tables() -> None:
    from concord.table import Column, Table
    from pages.parts.table import draw

    draw(Table("none", "None", (Column("who"),), (), notes=("Nobody.",)), selectable=True)


def test_a_table_without_rows_is_its_note() -> None:
    page = AppTest.from_function(empty_tables, default_timeout=30).run()
    assert not page.exception
    assert not page.dataframe
    assert [caption.value for caption in page.caption] == [r"Nobody\."]


def selectable_table() -> None:
    import streamlit as st

    from concord.table import Column, Note, Table
    from pages.parts.table import draw

    note = Note("5 items · judge less people", ("5 items", "judge less people"))
    rows = ({"who": "a", "n": 1}, {"who": "b", "n": 2})
    table = Table("picks", "Picks", (Column("who"), Column("n")), rows, "", (note, "Rules."))
    row = draw(table, selectable=True, titled=False, known_notes=("5 items",))
    st.text(f"chosen: {row and row['who']}")


def test_a_note_leaves_out_what_was_said() -> None:
    page = AppTest.from_function(selectable_table, default_timeout=30).run()
    assert [caption.value for caption in page.caption] == ["judge less people", r"Rules\."]
    assert not page.markdown, "the heading is the page's own"
    assert page.text[0].value == "chosen: None"


def test_one_figure_without_an_interval_has_an_axis_of_some_length() -> None:
    chart = charts.intervals([charts.Point("a", Estimate(3.0, n=1))], "score")
    scale = chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]
    assert scale["domain"] == [2.5, 3.5]


def test_a_column_shows_its_rounding() -> None:
    shown = part._columns(SCORES)
    assert shown["rho"]["type_config"]["format"] == "%.2f"
    assert shown["share"]["type_config"]["format"] == "%.0f%%"
    assert shown["n"]["type_config"]["format"] == "localized"


def test_a_forest_plot_names_its_axis_n_and_what_is_undefined() -> None:
    page = AppTest.from_function(drawn_estimates, default_timeout=30).run()
    assert not page.exception
    assert page.markdown[0].value == r"##### Correlation \(n \= 12\)"
    assert page.caption[0].value == r"c\: no item"
    chart = json.loads(page.get("vega_lite_chart")[0].proto.spec)
    assert len(chart["layer"]) == 3  # a line at 0, intervals, points
    assert chart["layer"][2]["encoding"]["x"]["title"] == "Spearman's ρ"


def test_a_word_of_a_megabyte_can_be_broken_and_reads_the_same():
    word = "x" * 1_000_000
    shown = breakable(f"{word}\n{'y' * 999} {word}")
    assert max(map(len, re.split(r"[\s\u200b]", shown))) == 999
    assert shown.replace("\u200b", "") == f"{word}\n{'y' * 999} {word}"


def drawn_answers() -> None:
    from concord.table import Column, Table
    from pages.parts.table import draw

    draw(Table("weak", "Weak", (Column("rater"), Column("weak")), ({"rater": "a", "weak": False},)))


def test_yes_and_no_are_words_not_check_boxes() -> None:
    page = AppTest.from_function(drawn_answers, default_timeout=30).run()
    assert page.dataframe[0].value.weak.tolist() == ["no"]
    assert "checkbox" not in page.dataframe[0].proto.columns


def page_with_a_menu() -> None:
    import streamlit as st

    from pages.parts import menu
    from pages.parts.table import draw
    from tests.pages.drawing_helpers import SCORES

    menu.begin()
    if st.toggle("tables"):
        draw(SCORES)
        draw(SCORES, key="again")
    menu.draw()


def test_the_menu_holds_every_table_as_csv_and_latex() -> None:
    page = AppTest.from_function(page_with_a_menu, default_timeout=30).run()
    assert not page.get("download_button")
    page.toggle[0].set_value(True).run()
    assert not page.exception
    assert [button.label for button in page.get("download_button")] == ["Tables (CSV and LaTeX, ZIP)"]
    packed = zipfile.ZipFile(io.BytesIO(menu._zipped({"scores": SCORES, "again": SCORES})))
    assert sorted(packed.namelist()) == ["again.csv", "again.tex", "scores.csv", "scores.tex"]
    assert packed.read("scores.csv").decode() == as_csv(SCORES)


def folded_rows() -> None:
    from concord.table import Column, Table
    from pages.parts.table import draw

    shown = Column("shown", words={"no": "not shown"}, folded="no")
    rows = ({"who": "a", "shown": "no"}, {"who": "b", "shown": "no"})
    draw(Table("none", "None of them", (Column("who"), shown), rows, "No row is shown."))
    draw(Table("some", "Some of them", (Column("who"), shown), ({"who": "c", "shown": "yes"}, *rows)))


def test_rows_of_little_use_stand_in_an_expander() -> None:
    page = AppTest.from_function(folded_rows, default_timeout=30).run()
    assert not page.exception
    assert [each.label for each in page.expander] == [r"2 rows\: not shown"] * 2
    assert [frame.value.who.tolist() for each in page.expander for frame in each.dataframe] == [
        ["a", "b"]
    ] * 2
    assert [frame.value.who.tolist() for frame in page.dataframe] == [["a", "b"], ["c"], ["a", "b"]]
    assert page.caption[0].value == r"No row is shown\."


def tables_behind_a_heading() -> None:
    import streamlit as st

    from pages.parts import menu
    from pages.parts.table import fold
    from tests.pages.drawing_helpers import SCORES

    menu.begin()
    fold("The figures in tables", [SCORES], "tables")
    st.text(" ".join(menu._page().tables))


def test_tables_behind_a_heading_are_drawn_when_it_is_opened() -> None:
    page = AppTest.from_function(tables_behind_a_heading, default_timeout=30).run()
    assert not page.exception
    assert [each.label for each in page.expander] == ["The figures in tables"]
    assert not page.dataframe
    assert page.text[0].value == SCORES.name  # the menu has it as a file
    page.session_state["tables"] = True
    page.run()
    assert [frame.value.rho.tolist()[0] for frame in page.expander[0].dataframe] == [0.5]


def test_on_a_telephone_figures_follow_the_names_of_a_row(monkeypatch) -> None:
    wide = Table(
        "t",
        "T",
        (Column("who"), Column("what"), Column("step"), Column("n"), Column("rho", interval="ends")),
        ({"who": "judge", "what": "a longer name", "step": 1.0, "n": 4, "rho": Estimate(0.5, 0.2, 0.9)},),
    )
    assert [column.name for column in part._figures_first(wide).shown] == ["who", "what", "rho", "step", "n"]
    ranked = Table("t", "T", (Column("rank"), *wide.columns), ({**wide.rows[0], "rank": 1},))
    order = ["rank", "who", "what", "rho", "step", "n"]
    assert [column.name for column in part._figures_first(ranked).shown] == order
    long = Table("t", "T", wide.columns, ({**wide.rows[0], "what": "the model is of the judge's family"},))
    monkeypatch.setattr(part, "on_telephone", lambda: True)
    assert part._columns(long)["what"]["width"] == part.BRIEF[1]
    monkeypatch.setattr(part, "on_telephone", lambda: False)
    assert part._columns(long)["what"]["width"] is None


def test_a_legend_has_as_many_names_in_a_line_as_fit(monkeypatch) -> None:
    answers = ["1 Does nothing, or harm", "2 Little", "3 Some of it"]
    assert charts.legend(answers).to_dict()["columns"] == 3
    monkeypatch.setattr(charts, "on_telephone", lambda: True)
    assert charts.legend(answers).to_dict()["columns"] == 1
    assert charts.legend(["no", "yes"]).to_dict()["columns"] == 2


def test_a_text_below_the_first_rows_has_room() -> None:
    """The grid measures the first rows only."""
    texts = ["dealt"] * part.SAMPLED + ["adjudication set"]
    rows = tuple({"when": "today", "act": text, "who": "researcher"} for text in texts)
    columns = part._columns(Table("t", "T", (Column("when"), Column("act"), Column("who")), rows))
    assert columns["act"]["width"] >= len(texts[-1]) * part.CHARACTER
    assert columns["who"]["width"] is None
