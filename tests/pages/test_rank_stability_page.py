"""“How stable is this order?” on the leaderboard: orders, and another ranking as slopes."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from concord.workspace import Workspace
from tests.mutual import fill
from tests.pages.framed import FRAME

HOSTILE = "<img src=x> **b** $x^2$ :red[r]"


@pytest.fixture
def page(workspace: Workspace) -> AppTest:
    """The leaderboard of models that judge each other, with the section open."""
    with workspace.write() as db:
        fill(db)
    shown = AppTest.from_string(FRAME.format(file="results/leaderboard.py"), default_timeout=30)
    shown.session_state["stability"] = True
    shown.run()
    assert not shown.exception
    return shown


def uploaded(page: AppTest, text: str, name: str = "other.csv") -> AppTest:
    page.file_uploader[0].set_value((name, text.encode(), "text/csv")).run()
    assert not page.exception
    return page


def words(page: AppTest) -> str:
    return "\n".join(e.value for kind in ("markdown", "caption") for e in page.get(kind)).replace("\\", "")


def test_orders_and_their_taus(page: AppTest):
    tables = [each.value for each in page.dataframe]
    summary = next(table for table in tables if "varies" in table.columns)
    # The arithmetic stands in tests/reports/test_rank_stability.py.
    assert summary.set_index(["varies", "fixed"]).loc[
        ("judge", "every conversation"), "tau"
    ] == pytest.approx(0.2)
    assert ("interrogator", "judged by oak") in summary.set_index(["varies", "fixed"]).index
    assert any("by oak" in table.columns for table in tables)


def test_another_ranking_is_drawn_as_slopes(page: AppTest):
    uploaded(page, "model,score\nYEW,4\nelm,3\nash,2\noak,1\nfir,9\n")
    assert "Largest rises: elm from 2 to 1" in words(page)
    assert "Largest falls: yew from 1 to 3.5." in words(page)
    specs = [json.loads(chart.proto.spec) for chart in page.get("vega_lite_chart")]
    assert any("Rank (1 is best)" in json.dumps(spec) for spec in specs)


def test_a_broken_file_is_a_sentence_and_the_rest_stays(page: AppTest):
    uploaded(page, f"model,score\nelm,{HOSTILE}\n", f"{HOSTILE}.csv")
    assert len(page.error) == 1
    assert HOSTILE not in page.error[0].value
    assert any("varies" in each.value.columns for each in page.dataframe)
