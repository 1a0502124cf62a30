"""A workspace that the pages show."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st

from concord.workspace import Workspace
from pages.parts.people import Researcher


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Altair checks every chart that a page draws."""
    monkeypatch.setattr("pages.parts.charts.CHECKED", True)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An empty workspace, with a researcher before the pages."""
    monkeypatch.setenv("CONCORD_WORKSPACE", str(tmp_path))
    # There is no connection here whose session could be looked up.
    monkeypatch.setattr("pages.parts.session.who_is_here", lambda _: Researcher("local"))
    st.cache_resource.clear()
    st.cache_data.clear()
    return Workspace.open(tmp_path)
