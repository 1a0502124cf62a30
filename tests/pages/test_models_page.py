"""The page of models: entries are added and tested; keys are never shown, members only read."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.llm import gates
from concord.llm.models import load_models
from concord.store import audit
from concord.workspace import Workspace
from pages.parts.people import Researcher
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


def test_a_model_is_added_with_its_price_and_without_a_key(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "the-secret")
    workspace.models_path.write_text(OWN)
    page = opened(model="new model …")
    kinds = page.selectbox(key="entry kind")
    assert kinds.value == "openai"
    assert "mock" in kinds.options, "each is offered by its name alone"
    assert "- **mock**: `concord mock`, to try" in kinds.help
    page.text_input(key="entry name").set_value("c")
    page.text_input(key="entry api_key_env").set_value("MY_KEY")
    page.selectbox(key="entry kind").set_value("vllm")
    page = press(page, "Add")
    assert "endpoint calls it" in page.error[0].value
    page.text_input(key="entry model").set_value("some-id")
    page.number_input(key="entry input").set_value(2.5)
    page = press(page, "Add")
    assert "both rates" in page.error[0].value
    assert workspace.models_path.read_text() == OWN
    page.number_input(key="entry output").set_value(10.0)
    page = press(page, "Add")
    assert {"Start a run with it", "Import conversations"} <= {link.label for link in page.get("page_link")}
    model = load_models(workspace.models_path)["c"]
    assert model.price is not None
    assert (model.served, model.api_key_env, model.price.output) == ("some-id", "MY_KEY", 10.0)
    assert model.base_url == "http://127.0.0.1:8000/v1", "the preset's"
    assert workspace.models_path.read_text().startswith(OWN)
    rows = page.dataframe[0].value.set_index("name")
    assert rows.loc["c", "key"] == "MY_KEY"
    assert rows.loc["judge", "key"].endswith("(not set)")
    assert rows.loc["judge", "price"] == "not known"
    assert "the-secret" not in str(page)
    with workspace.read() as db:
        assert [(line.what, line.about) for line in audit.every(db)] == [("added a model", "c")]


def test_a_test_call(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "FIRST_SECONDS", 0.0)  # what nothing answers is not asked again
    workspace.models_path.write_text(OWN)
    with running() as url:
        workspace.models_path.write_text(OWN.replace("   # first", f'\nbase_url = "{url}"'))
        page = press(opened(model="judge"), "Test")
        assert "judge\\: answers as asked \\(served as mock\\-fixed;" in page.success[-1].value
    page = press(page, "Test")
    assert page.error[0].value.startswith("judge\\: ")


def test_a_researcher_reads_and_adds_nothing(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.models_path.write_text(OWN)
    page = opened(model="new model …")
    who = Researcher("member", "Dana", 1, "researcher")
    monkeypatch.setattr("pages.parts.session.who_is_here", lambda _: who)
    page = press(page, "Add")
    assert "Only the owner" in page.error[0].value
    assert not page.text_input
    assert workspace.models_path.read_text() == OWN
    with workspace.read() as db:
        assert not audit.every(db)
