"""What the charts of several pages have in common."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import streamlit as st

from concord.reports.names import everybody
from concord.scores import labels
from concord.store import ratings
from pages.parts.session import workspace

GREEN = "#3a927e"
"""Readable on white and on black."""


JUDGES = ("#2f7fc2", "#d2701f", "#3a927e", "#b0862a", "#c2566e", "#5f7fd6", "#7d8a2e", "#b5652f")
PANELS = ("#a262b8", "#4a93a0", "#6f8f4a", "#9a6fc0")
"""Colours of judges and of panels: 3:1 or more against the page in both themes, as marks need."""


def judge_colours(names: Sequence[str]) -> alt.Scale:
    """The colours of judges and panels in a chart, by name.

    A judge's colour goes with its place among all judges of the workspace, in the order in which they came:
    it is the same on every page, and stays as further judges come. No panel has a judge's colour, and the
    panel of all judges has the same on every page.
    """
    known = _known_judges(str(workspace().path), tuple(names))
    # The names of a chart are judges and panels of them, so no panel has more judges than there are names.
    whole = {everybody(number) for number in range(len(names) + 1)}
    others = sorted((name for name in names if name not in known), key=lambda name: name not in whole)
    colours = {name: JUDGES[place % len(JUDGES)] for name, place in known.items()}
    colours |= {name: PANELS[place % len(PANELS)] for place, name in enumerate(others)}
    return alt.Scale(domain=list(names), range=[colours[name] for name in names])


@st.cache_data(max_entries=32, show_spinner=False)
def _known_judges(folder: str, names: tuple[str, ...]) -> dict[str, int]:
    """The places of those of the names that are judges of the workspace."""
    with workspace().read() as db:
        came = sorted(ratings.judges(db).items(), key=lambda item: item[1])
    found = labels(rater for rater, _ in came)
    places = {rater.name: place for place, (rater, _) in reversed([*enumerate(came)])}
    places |= {found[rater]: place for place, (rater, _) in enumerate(came)}
    return {name: places[name] for name in names if name in places}


CHECKED = False
"""Whether Altair checks a chart against the schema of Vega-Lite before it is drawn: in the tests only. The
check takes a quarter of the server's time for a page of charts.
"""


SPARSE = {"labelFlush": False, "labelSeparation": 6}
"""Settings of every axis: the last label stands at its tick, and labels that nearly touch are thinned out."""


class _Described(NamedTuple):
    """A chart as `st.altair_chart` uses it, which asks for its description only."""

    chart: Any

    def to_dict(self) -> dict[str, Any]:
        """The description in Vega-Lite."""
        described: dict[str, Any] = self.chart.to_dict(validate=CHECKED)
        axis = described.setdefault("config", {}).setdefault("axis", {})
        for name, value in SPARSE.items():
            axis.setdefault(name, value)
        return described


def show(chart: Any, said: str, **look: Any) -> Any:
    """Draw a chart of Altair; `said` is its text for screen readers, `look` as of `st.altair_chart`."""
    described: Any = _Described(chart)
    st.session_state[DRAWN] = True
    return st.altair_chart(described, alt=said, **look)


DRAWN = "a chart was drawn"
_figures = st.components.v2.component(
    "concord_figures",
    html="<details><summary>Charts as SVG</summary><p></p></details>",
    css="""
        details, button { color: var(--st-text-color); font: 0.875rem var(--st-font); }
        summary, button { cursor: pointer; }
        p { display: flex; flex-wrap: wrap; gap: 0.5rem; }
        button { padding: 0.25rem 0.75rem; background: none; text-align: left; }
        button { border: 1px solid var(--st-border-color); border-radius: 0.5rem; }
    """,
    js=(Path(__file__).resolve().parent / "figures.js").read_text(encoding="utf-8"),
)


def as_svg() -> None:
    """Offer the charts that the page has drawn as SVG files; nothing where it has drawn none."""
    if st.session_state.pop(DRAWN, False):
        _figures(key="charts as svg")


def in_rows(chart: Any, pixels: int, rows: int) -> Any:
    """A chart as wide as its place, with so many pixels a row."""
    fitting = alt.AutoSizeParams(type="fit-x", contains="padding")
    return chart.properties(height=pixels * max(rows, 1), autosize=fitting)


def name_axis(limit: int = 260) -> alt.Axis:
    """An axis of names: every one of them, at its row, of at most so many pixels."""
    return alt.Axis(labelLimit=limit, labelOverlap=False, labelFlush=False, ticks=False)


def text_colour() -> str:
    """The colour of words within a chart, of 4.5:1 or more against the page in the reader's theme."""
    return "#c9cdd1" if st.context.theme.type == "dark" else "#4a5157"
