"""The leaderboard says how it was measured: with the panel and the weights that its address names."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from concord.workspace import Workspace
from tests.filled import fill
from tests.pages.framed import FRAME


def test_percentile_intervals_are_chosen_in_the_address(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, people=False)

    def columns(**address: str) -> list[str]:
        page = AppTest.from_string(FRAME.format(file="results/leaderboard.py"), default_timeout=60)
        for name, value in address.items():
            page.query_params[name] = value
        page.run()
        assert not page.exception
        return list(page.dataframe[0].value.columns)

    assert "half_width" not in columns()
    assert "half_width" in columns(intervals="percentile")


def test_the_panel_and_the_weights_follow_the_address(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, languages=("en", "ru"), people=False)
    page = AppTest.from_string(FRAME.format(file="results/leaderboard.py"), default_timeout=60)
    for name, value in (("judges", "kind"), ("weights", "Fluency twice"), ("language", "ru")):
        page.query_params[name] = value
    page.run()
    assert not page.exception
    said = "\n".join(text.value for kind in (page.markdown, page.caption) for text in kind)
    assert "Means over conversations and the panel kind." in said.replace("\\", "")
    assert "Weights of the overall score: in_character 1, entertaining 1, fluency 2." in said.replace(
        "\\", ""
    )
