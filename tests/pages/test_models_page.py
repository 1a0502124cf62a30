"""The page of models: entries are listed and tested; keys are never shown."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.llm import gates
from concord.workspace import Workspace
from tests.mock.server import running
from tests.pages.test_navigation import FRAME

OTHER = "\n# the other\n[models.b]\nparams = {temperature=0.5}\n"
OWN = f'# mine\n[models.judge]   # first\nmodel = "mock-fixed"\n{OTHER}'


def opened(**address: str) -> AppTest:
    page = AppTest.from_string(FRAME.format(file="study/models.py"), default_timeout=60)
    page.query_params.update(address)
    return page.run()


def press(page: AppTest, label: str) -> AppTest:
    page = next(button for button in page.button if button.label == label).click().run()
    assert not page.exception
    return page


def test_the_list_says_what_each_is_and_no_key(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "the-secret")
    workspace.models_path.write_text(OWN + '[models.c]\napi_key_env = "MY_KEY"\n')
    page = opened()
    rows = page.dataframe[0].value.set_index("name")
    assert rows.loc["c", "key"] == "MY_KEY"
    assert rows.loc["judge", "key"].endswith("(not set)")
    assert rows.loc["judge", "price"] == "not known"
    assert "the-secret" not in str(page)
    assert "Start a run" in {link.label for link in page.get("page_link")}


def test_without_a_model_it_says_how_one_is_named(workspace: Workspace) -> None:
    workspace.models_path.write_text("")
    page = opened()
    assert "No model is named yet" in page.info[0].value
    assert "`concord models add`" in page.caption[-1].value


def test_a_test_call(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "FIRST_SECONDS", 0.0)  # what nothing answers is not asked again
    workspace.models_path.write_text(OWN)
    with running() as url:
        workspace.models_path.write_text(OWN.replace("   # first", f'\nbase_url = "{url}"'))
        page = press(opened(model="judge"), "Test")
        assert "judge\\: answers as asked \\(served as mock\\-fixed;" in page.success[-1].value
    page = press(page, "Test")
    assert page.error[0].value.startswith("judge\\: ")
