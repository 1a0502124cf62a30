"""A workspace that the pages show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner

from concord.workspace import Workspace
from pages.parts.people import Researcher


@pytest.fixture(scope="session", autouse=True)
def no_packaged_components() -> Iterator[None]:
    """No run of a page looks for components in all installed packages, for more CPU than most pages need."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(manifest_scanner, "scan_component_manifests", list)
        yield


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
