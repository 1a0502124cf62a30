"""Every page file is in the navigation, where the frame decides who may open it; and every page draws on an
empty and on a filled workspace.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from concord.workspace import Workspace
from pages.parts.navigation import PAGES, SECTIONS, PageFile
from tests.filled import fill
from tests.pages.framed import FRAME

LISTED = [page for pages in SECTIONS.values() for page in pages]


def test_no_page_lies_where_streamlit_would_serve_it_without_the_frame() -> None:
    assert not list(PAGES.glob("*.py"))


def test_every_page_file_is_in_the_navigation() -> None:
    """A page is a script: it calls something at its top level. Modules that only define things lie beside the
    page they serve.
    """
    files = {path.relative_to(PAGES).as_posix() for path in PAGES.glob("*/*.py") if is_script(path)}
    assert files == {page.file for page in LISTED}


def is_script(path: Path) -> bool:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return any(isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in body)


def test_every_page_has_an_address_and_a_title_of_its_own() -> None:
    assert len({page.address for page in LISTED}) == len(LISTED)
    assert len({page.title for page in LISTED}) == len(LISTED)
    assert [page.address for page in LISTED].count("") == 1


@pytest.mark.parametrize("filled", [False, True], ids=["empty", "filled"])
@pytest.mark.parametrize("page", LISTED, ids=lambda page: page.file)
def test_every_page_draws(page: PageFile, filled: bool, workspace: Workspace) -> None:
    if filled:
        with workspace.write() as db:
            fill(db)
    shown = AppTest.from_string(FRAME.format(file=page.file), default_timeout=30).run()
    assert not shown.exception
    # A page says what is missing in its own place; an error in the frame's manner means that it gave up.
    assert not shown.error
