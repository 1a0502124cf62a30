"""The agreement page on studies that lack something: it shows what there is, and says why the rest is
undefined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from concord.codes import Tab
from concord.messages import TABS
from concord.questions import Scale, categories, points
from concord.rating import Criterion
from concord.reports.sections import SECTIONS
from concord.workspace import Workspace
from pages.trust.agreement_charts import scatter
from pages.trust.agreement_tabs import DRAWINGS
from tests.pages.agreement_helpers import WIT, Score, fill, varied

FRAME = """
import streamlit as st
from pages.parts.navigation import SECTIONS
wanted = ("agreement", "annotators", "samples", "runs")
listed = [page for pages in SECTIONS.values() for page in pages if page.address in wanted]
shown = [st.Page(p.path, title=p.title, url_path=p.address, default=p.address == "agreement") for p in listed]
st.navigation(shown).run()
"""


def squares(shift: int) -> Score:
    """Scores that nobody who is `varied` gives."""
    return lambda item: float(1 + (item * item * (shift + 1) + item // 3) % 5)


def constant(item: int) -> float:
    return 3.0


def half(item: int) -> float | None:
    return varied(1)(item) if item < 6 else None


BOTH = {"Ada": varied(), "Bo": varied(2)}
SLIDER = Criterion("feel", "", Scale((0, 100), ("cold", "warm"), "number"))
ODD: dict[str, tuple[dict[str, object], str]] = {
    "one person": (
        {"people": {"Ada": varied()}, "judges": {"j": varied(1)}},
        "Only one annotator rated the study",
    ),
    "no people": (
        {"people": {}, "judges": {"j": varied(), "k": varied(1)}},
        "No annotator has rated the study",
    ),
    "no judges": ({"people": BOTH, "judges": {}}, "No judge has rated the study"),
    "unnamed people": ({"people": BOTH, "judges": {"j": varied(1)}, "anonymous": True}, "no names"),
    "all alike": ({"people": {"Ada": constant, "Bo": constant}, "judges": {"j": constant}}, "constant"),
    "a constant judge": (
        {"people": BOTH, "judges": {"j": constant, "k": varied(1)}},
        "j gives every item the same answer (3)",
    ),
    "two items": ({"people": BOTH, "judges": {"j": varied(1)}, "items": 2}, "at least 3 are needed"),
    "one item": (
        {"people": BOTH, "judges": {"j": varied(1), "k": varied()}, "items": 1},
        "at least 3 are needed",
    ),
    "no item in common": (
        {"people": {"Ada": half, "Bo": half}, "judges": {"j": lambda i: None if i < 6 else 3.0}},
        "no item",
    ),
    "a judge who missed some": ({"people": BOTH, "judges": {"j": half, "k": varied(1)}}, "6 of 12 items"),
    "turns": ({"people": BOTH, "judges": {"j": varied(1)}, "turns": (1, 2)}, "another annotator"),
    "another scale": ({"people": BOTH, "judges": {"j": lambda i: 10.0 * varied(1)(i)}}, "are off the scale"),
    "a slider": ({"people": BOTH, "judges": {"j": varied(1)}, "criteria": (SLIDER,)}, "another annotator"),
    "scales that differ": (
        {
            "people": BOTH,
            "judges": {"j": varied(1)},
            "criteria": (WIT, Criterion("skill", "", points(1, 10))),
        },
        "Judges and panels: Spearman",
    ),
    "names that look like markup": (
        {
            "people": {"<i>A</i> :red[x]": varied(), "B|o": varied(2)},
            "judges": {"$x^2$ [l](http://e)": varied(1), "*j*": varied(3)},
        },
        "the panel of 2 judges",
    ),
}


def shown(
    workspace: Workspace,
    change: Callable[[AppTest], object] = lambda page: None,
    tabs: Iterable[str] = DRAWINGS,
    sections: Iterable[str] = (),
) -> str:
    """Everything the page says on its tabs, with these sections open."""
    page = AppTest.from_string(FRAME, default_timeout=30)
    page.query_params["resamples"] = "200"  # the figures are not what is tested
    page.session_state["tab"], *others = tabs
    for name in sections:
        page.session_state[f"section {name}"] = True
    change(page.run())
    said = told(page)
    for tab in others:
        page.session_state["tab"] = tab
        said += told(page.run())
    return "\n".join(said)


def told(page: AppTest) -> list[str]:
    assert not page.exception
    assert not page.error, page.error[0].value
    said = [e.value for kind in ("markdown", "caption", "subheader", "warning") for e in page.get(kind)]
    return said + [frame.value.to_string() for frame in page.dataframe]


@pytest.mark.parametrize("name", ODD)
def test_an_odd_study_is_shown_and_says_why_figures_are_undefined(name: str, workspace: Workspace) -> None:
    made, word = ODD[name]
    with workspace.write() as db:
        fill(db, **made)  # type: ignore[arg-type]
    said = shown(workspace, sections=SECTIONS)
    assert word in said.replace("\\", "")
    assert "nan" not in said.split()
    assert "<b>" not in said  # a name's markup reaches the page only with its marks escaped


def test_where_judges_fail_by_scenario(workspace: Workspace) -> None:
    """Every facet that divides the items can be chosen; a study without any has none to choose from."""
    with workspace.write() as db:
        fill(db, BOTH, {"j": varied(1)}, facets=lambda n: {"topic": f"topic {n % 3}"})

    def by_topic(page: AppTest) -> None:
        page.session_state["bias by"] = "topic"
        page.run()

    said = shown(workspace, by_topic, ["fails"])
    assert "By topic" in said
    assert "topic 2" in said


def opened(page: AppTest) -> AppTest:
    """The page with its options open: they are drawn only then."""
    page.session_state["how"] = True
    return page.run()


def test_repeated_runs_are_a_mean_and_have_a_test_and_retest(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, BOTH, {"j": varied(1)}, repeats=3)
    said = shown(workspace, sections=["retest"]).replace("\\", "")
    assert "j #2" not in said
    assert "Test–retest of judges" in said


def test_every_section_has_its_pictures_where_a_panel_is_measured(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, BOTH, {"j": varied(1), "k": varied(3)}, items=40)
    assert "j + k" in shown(workspace, sections=SECTIONS)


def test_without_any_study_the_page_says_what_to_do(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    assert "No study yet" in page.info[0].value


def test_twelve_criteria_and_long_names_are_one_summary(workspace: Workspace) -> None:
    criteria = tuple(Criterion(f"c{number}", "x" * 200) for number in range(12))
    judges = {f"{'j' * 190} {number}": squares(number) for number in range(8)}
    with workspace.write() as db:
        fill(db, {f"{'p' * 190} {n}": varied(n) for n in range(3)}, judges, criteria=criteria, items=20)
    page = AppTest.from_string(FRAME, default_timeout=60)
    page.query_params["criterion"] = "c7"
    said = "\n".join(told(page.run())).replace("\\", "")
    assert "On C7, " in said
    # Everybody answers all criteria alike, so that nobody does so more often than others.
    assert "gave all criteria the same answer" not in said


def test_what_a_tab_begins_with_are_sections_of_that_tab() -> None:
    """A section that is drawn by no tab's beginning follows it, so that a new one needs nothing here."""
    drawn = {name: tab for tab, drawing in DRAWINGS.items() for name in drawing.drawn}
    assert drawn == {name: SECTIONS[name].tab for name in drawn}
    assert set(DRAWINGS) == set(TABS) == set(Tab)


def test_a_link_shows_the_same_view_and_unknown_values_are_said(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, BOTH, {"j": varied(1)}, criteria=(WIT, Criterion("skill", "")))
    page = AppTest.from_string(FRAME, default_timeout=30)
    page.query_params.update(
        {
            "criterion": "skill",
            "tab": "raters",
            "keep-refused": "yes",
            "nobody": "x",
            "resamples": "3",
        }
    )
    told(page.run())
    assert page.session_state["tab"] == "raters"
    warnings = [warning.value.replace("\\", "") for warning in page.warning]
    assert warnings[0] == "There is no resamples “3”."
    assert all(warning.startswith("- 12 items were rated") for warning in warnings[1:])
    assert page.query_params["criterion"] == "skill"
    assert any("1000 resamples of " in caption.value for caption in page.caption)
    opened(page).toggle[0].set_value(False)
    told(page.run())
    assert "keep-refused" not in page.query_params
    # Back in the browser: the address changes, and the page follows it.
    page.query_params["tab"] = "judges"
    page.query_params["criterion"] = "final"
    told(page.run())
    assert (page.session_state["tab"], page.session_state["criterion"]) == ("judges", "final")


def test_options_named_in_limits_are_code() -> None:
    def limits() -> None:
        from types import SimpleNamespace

        from pages.trust.agreement_tabs import limits as draw_limits

        draw_limits(SimpleNamespace(limits=["ann*"], notes=["See `--keep-refused`."]))  # type: ignore[arg-type]

    page = AppTest.from_function(limits).run()
    assert not page.exception
    said = page.markdown[0].value
    assert "`--keep-refused`" in said
    assert "ann\\*" in said


def test_a_criterion_of_categories_has_the_same_page_with_its_own_figures(workspace: Workspace) -> None:
    tone = Criterion("tone", "", categories(tuple("abcdef")), counted=False)
    criteria = (Criterion("wit", ""), Criterion("care", ""), tone)
    with workspace.write() as db:
        fill(db, BOTH, {"j": varied(1)}, criteria=criteria)
    page = AppTest.from_string(FRAME, default_timeout=30)
    page.query_params["criterion"] = "tone"
    told(page.run())
    sentence = page.subheader[0].value.replace("\\", "")
    assert "Tone" in sentence
    charts = "".join(chart.proto.alt for chart in page.get("vega_lite_chart"))
    assert "κ" in charts
    assert "ρ" not in charts
    [tabs] = [group for group in page.get("button_group") if group.key == "tab"]
    assert tabs.options == ["Which judge?", "Where does it fail?", "Who rated how?"]
    page.query_params["tab"] = "fails"
    said = "\n".join(told(page.run()))
    assert "Cross table of answers" in said
    assert re.search(r"\d+ items? on which they differ", said)
    assert "bias" not in said.casefold()


def test_any_two_panels_stand_side_by_side_with_their_price(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, BOTH, {"j": varied(1), "k": varied(3), "l": varied(4)}, items=40)
    page = AppTest.from_string(FRAME, default_timeout=30)
    page.query_params["tab"] = "panels"
    told(page.run())
    page.multiselect("beside").set_value(["k"]).run()
    told(page)
    said = "\n".join(told(page)).replace("\\", "")
    assert re.search(r"less the first's: [+-]0\.\d\d", said)
    page.multiselect("beside").set_value([]).run()
    assert "Choose at least one judge on each side." in "\n".join(told(page))


def test_the_next_step_after_a_judge_that_is_worse_is_where_it_fails(workspace: Workspace) -> None:
    """People agree, and the judge says the opposite of them."""
    with workspace.write() as db:
        fill(db, BOTH | {"Cy": varied()}, {"j": lambda item: 6 - varied()(item)}, items=60)
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    next(button for button in page.button if button.label == "See where it fails").click().run()
    assert not page.exception
    assert "##### Where the judge and annotators disagree" in [text.value for text in page.markdown]


def test_a_scatter_has_the_ends_of_the_scale_a_diagonal_and_whole_items() -> None:
    dots = pd.DataFrame({"mean": [1.0, 5.0], "score": [5.0, 2.5], "items": [1, 3]})
    described = scatter(dots, (1.0, 5.0)).to_dict()
    line, points = described["layer"]
    assert line["mark"]["type"] == "line"
    for axis in ("x", "y"):  # the ends 1 and 5, with a twentieth of 4 beside, so that no dot is cut
        assert points["encoding"][axis]["scale"]["domain"] == [0.8, 5.2]
    assert points["encoding"]["size"]["legend"]["values"] == [1, 2, 3]


def test_a_scatter_of_two_scales_has_no_diagonal() -> None:
    dots = pd.DataFrame({"mean": [1.0, 5.0], "score": [10.0, 90.0], "items": [1, 1]})
    described = scatter(dots, None).to_dict()
    assert "layer" not in described
    assert described["encoding"]["y"]["scale"]["domain"] == [6.0, 94.0]


def test_a_chosen_tab_begins_right_below_the_tabs(workspace: Workspace) -> None:
    """The answer's reasons and picture stand on the first tab alone, so that another one is in sight."""
    with workspace.write() as db:
        fill(db, {"Ada": varied(), "Bo": varied(1)}, {"j": varied()})
    page = AppTest.from_string(FRAME, default_timeout=60)
    page.query_params["tab"] = "fails"
    page = page.run()
    assert not page.exception
    nodes = list(page.main)
    tabs = next(place for place, node in enumerate(nodes) if getattr(node, "key", None) == "tab")
    texts = [node.value for node in nodes[tabs:] if node.type in ("markdown", "caption")]
    assert texts[0] == "##### Where the judge and annotators disagree"
