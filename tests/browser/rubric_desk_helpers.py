"""What several tests take from `test_rubric_desk`: kept, saved."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .keeper import Server


def kept(server: Server, item: int) -> dict[str, tuple[float, str]]:
    """The answers to the item at this place: score and reason."""
    found = server.rows(
        "SELECT r.question, r.value, r.reason FROM answers r JOIN placements a ON a.id = r.placement_id "
        "WHERE a.position = ? AND r.superseded_at IS NULL",
        item,
    )
    return {criterion: (score, reason) for criterion, score, reason in found}


def saved(page: Page) -> None:
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
