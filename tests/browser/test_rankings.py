"""Another ranking uploaded to the leaderboard in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from concord.workspace import Workspace
from tests.mutual import fill

from .keeper import serving


def test_another_ranking_is_uploaded_and_drawn(page: Page, tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "grove")
    with workspace.write() as db:
        fill(db)
    other, wrong, large = (tmp_path / name for name in ("other.csv", "wrong.csv", "large.csv"))
    other.write_text("model,score\nELM,3\nash,2\noak,1\nyew,4\n")
    wrong.write_text("model,score\nelm,good\n")
    large.write_bytes(b"model,score\n" + b"x" * 2_000_000)
    with serving(workspace, tmp_path / "log") as server:
        server.sign_in(page.context)
        page.goto(f"{server.url}/leaderboard")
        expect(page.get_by_role("heading", name="How stable is this order?")).to_be_visible()
        page.get_by_role("tab", name="Another ranking").click()
        page.locator("input[type=file]").set_input_files(other)
        expect(page.get_by_text("over the n = 4 models in both")).to_be_visible()
        chart = page.get_by_test_id("stVegaLiteChart").last
        expect(chart.locator("canvas, svg").first).to_be_visible()
        expect(page.get_by_text("Largest falls: yew from 1 to 3.5.")).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 800})
        expect(chart).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.set_viewport_size({"width": 1400, "height": 900})
        for file, said in ((wrong, "is not a number"), (large, "1.0MB or smaller")):
            page.locator("input[type=file]").set_input_files(file)
            expect(page.get_by_text(said).first).to_be_visible()


def test_every_click_on_a_choice_counts(page: Page, tmp_path: Path) -> None:
    """Also the second in a row: the default follows the address, and must not make another widget."""
    workspace = Workspace.open(tmp_path / "grove")
    with workspace.write() as db:
        fill(db)
    with serving(workspace, tmp_path / "log") as server:
        server.sign_in(page.context)
        page.goto(f"{server.url}/differences")
        for name, value in (
            ("Versions", "versions"),
            ("Runs", "runs"),
            ("Players", "players"),
            ("Runs", "runs"),
        ):
            page.get_by_role("radio", name=name).click()
            expect(page).to_have_url(re.compile(f"of={value}"))
            expect(page.get_by_role("radio", name=name)).to_be_checked()
