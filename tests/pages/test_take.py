"""The page Export writes what the command writes."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from concord.commands.exchange_out import command
from concord.workspace import Workspace
from tests.browser.made import make
from tests.pages.framed import FRAME


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    return make(workspace.path, items=12, people=2)


def shown(kind: str) -> AppTest:
    page = AppTest.from_string(FRAME.format(file="study/take.py"), default_timeout=120).run()
    page.selectbox(key="what").select(kind).run()
    return page


def written(page: AppTest) -> tuple[str, bytes]:
    next(button for button in page.button if button.label == "Create the file").click().run()
    assert not page.exception
    assert not page.error
    made = page.session_state["written"]
    return made.path.name, made.path.read_bytes()


@pytest.mark.parametrize("kind", ["ratings", "conversations"])
def test_a_file_is_the_one_of_the_command(workspace: Workspace, tmp_path: Path, kind: str) -> None:
    page = shown(kind)
    page.selectbox(key="of study").select("made").run()
    out = tmp_path / "out"
    command.main([kind, "--study=made", f"--out={out}"], obj=str(workspace.path), standalone_mode=False)
    assert written(page)[1] == out.read_bytes()


def test_a_form_is_chosen_and_named(workspace: Workspace) -> None:
    page = shown("ratings")
    page.selectbox(key="form").select("parquet").run()
    name, data = written(page)
    assert name.endswith("-ratings.parquet")
    assert data[:4] == b"PAR1"


@pytest.mark.parametrize(
    ("kind", "holds"), [("dataset", "made/README.md"), ("site", "index.html"), ("report", "made/report.html")]
)
def test_a_folder_is_fetched_as_a_zip(workspace: Workspace, kind: str, holds: str) -> None:
    page = shown(kind)
    name, data = written(page)
    assert name.endswith(f"-{kind}.zip")
    assert holds in zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert not list(workspace.path.glob("*.zip")), "nothing is left in the workspace"


@pytest.mark.parametrize("kind", ["label-studio", "argilla"])
def test_a_study_moves_to_another_tool_as_the_command_writes_it(
    workspace: Workspace, tmp_path: Path, kind: str
) -> None:
    page = shown(kind)
    asked = [kind, "--study=made", f"--out={tmp_path / kind}"]
    command.main(asked, obj=str(workspace.path), standalone_mode=False)
    packed = zipfile.ZipFile(io.BytesIO(written(page)[1]))
    assert packed.namelist()
    for name in packed.namelist():
        assert packed.read(name) == (tmp_path / kind / name.removeprefix("made/")).read_bytes()


def test_what_cannot_be_written_is_a_sentence(workspace: Workspace) -> None:
    page = shown("comparisons")
    next(button for button in page.button if button.label == "Create the file").click().run()
    assert not page.exception
    assert "No comparisons yet" in page.error[0].value
    assert "written" not in page.session_state
