"""A table whose names say little of whose answers it holds: from the page Import to a study, by page."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from concord.cli import main
from concord.workspace import Workspace

from .keeper import Server, serving
from .widgets import bring, choose, drawn

pytestmark = pytest.mark.browser
NAMES = "ticket,answer,alice,bob,mistral_large,v7_prompt"
ROWS = 60
PICTURES = os.environ.get("CONCORD_PICTURES", "")
"""A folder for pictures of each step, where somebody wants to look."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app serving an empty workspace."""
    folder = tmp_path_factory.mktemp("labels")
    with serving(Workspace.open(folder / "workspace"), folder / "log") as server:
        yield server


def scores(row: int) -> tuple[int, ...]:
    """Of alice, bob and two judges: of the two, the second one errs more."""
    true = row * 7 % 5 + 1
    steps = ((0, 1, 0, 0, -1), (0, 0, -1, 1, 0), (0, 1, 0, -1, 0), (2, -2, 1, 0, -1))
    return tuple(min(5, max(1, true + step[row % 5 if row % 3 else 0])) for step in steps)


def picture(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def test_columns_that_a_reader_names_become_a_study(app: Server, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "support.csv"
    lines = [f"T{n},Reply {n} to the ticket,{','.join(map(str, scores(n)))}" for n in range(ROWS)]
    file.write_text("\n".join([NAMES, *lines]) + "\n", encoding="utf-8")
    page.goto(app.url)
    bring(app, page, file, "which columns are annotators? Candidates: alice, bob")
    picture(page, "asked")
    choose(page, "Annotators: one column each", "alice", "bob")
    page.keyboard.press("Escape")
    choose(page, "Judges: one column each", "mistral_large", "v7_prompt")
    page.keyboard.press("Escape")
    drawn(page, f"support.csv holds {4 * ROWS} ratings by 2 people and 2 judges of {ROWS} items")
    picture(page, "named")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("button", name="See agreement")).to_be_visible()
    picture(page, "stored")
    page.get_by_role("button", name="See agreement").click()
    drawn(page, "mistral_large")
    picture(page, "agreement")
    command = ["--workspace", str(app.workspace.path), "agreement", "--study", "support"]
    whole = json.loads(CliRunner().invoke(main, [*command, "--format", "json"]).stdout)
    [criterion] = whole["sections"]
    judges = [row["rater"] for row in whole["sections"][criterion]["glance"]["glance"]["rows"]]
    assert {"mistral_large", "v7_prompt"} <= {*judges}
    assert whole["items"] == ROWS
