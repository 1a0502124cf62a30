"""What several tests take from `test_study_pages`: HEADING, ROW, press, table."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

HEADING, ROW = 35, 35
"""Pixels that a table's heading and each of its rows take."""


def press(page: Page, table: Locator, x: int, row: int) -> None:
    """Click into a table: its cells are drawn, so they are found by their place. Rows count from 0."""
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box
    page.mouse.click(box["x"] + x, box["y"] + HEADING + ROW * row + ROW / 2)


def table(page: Page, name: str | re.Pattern[str]) -> Locator:
    found = page.get_by_role("region", name=name).first
    expect(found).to_be_visible()
    page.wait_for_timeout(300)  # it is drawn a moment after it is there
    return found
