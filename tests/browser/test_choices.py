"""The choice of what is compared, clicked in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from concord.workspace import Workspace
from tests.mutual import fill

from .keeper import serving


def test_every_click_on_a_choice_counts(page: Page, tmp_path: Path) -> None:
    """Also the second in a row: the default follows the address, and must not make another widget."""
    workspace = Workspace.open(tmp_path / "grove")
    with workspace.write() as db:
        fill(db)
    with serving(workspace, tmp_path / "log") as server:
        server.sign_in(page.context)
        page.goto(f"{server.url}/leaderboard?of=player")
        for name, value in (
            ("Interrogator", "interrogator"),
            ("Player", "player"),
            ("Interrogator", "interrogator"),
            ("Player", "player"),
        ):
            page.get_by_role("radio", name=name).click()
            expect(page).to_have_url(re.compile(f"of={value}"))
            expect(page.get_by_role("radio", name=name)).to_be_checked()
