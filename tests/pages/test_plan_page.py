"""The page Plan: what labels are for, and the answer, from what judges said of stored conversations."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from concord.workspace import Workspace
from tests.filled import fill
from tests.pages.test_navigation import FRAME


def shown(*, query: dict[str, str] | None = None) -> AppTest:
    app = AppTest.from_string(FRAME.format(file="trust/plan.py"), default_timeout=30)
    for name, value in (query or {}).items():
        app.query_params[name] = value
    return app.run()


def test_an_empty_workspace_says_where_to_begin(workspace: Workspace) -> None:
    assert "no judge has rated any yet" in shown().info[0].value


def test_a_goal_is_answered_and_what_fits_no_scale_is_not_offered(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db)
    app = shown()
    assert not app.exception
    said = " ".join(one.value for one in app.markdown)
    assert "Expected ρ" in said
    assert "for ± 0.1 on ρ" in said.replace("\\", "")
    (figures,) = [one for one in app.button_group if one.label == "Labels are for"]
    assert figures.options == ["agreement", "corrected rate or mean"]
