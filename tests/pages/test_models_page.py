"""The page of models: entries are listed and tested; keys are never shown."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.llm import gates
from concord.llm.models import currency, load_models
from concord.store import audit
from concord.workspace import Workspace
from pages.parts.people import Researcher
from tests.mock.server import running
from tests.pages.framed import FRAME

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
    assert "No models yet" in page.info[0].value
    page = added(page, "judge", "mock-fixed", preset="mock")
    [entry] = load_models(workspace.models_path).values()
    assert (entry.name, entry.model, entry.seed) == ("judge", "mock-fixed", True)
    assert page.selectbox(key="model").value == "judge"
    assert done(workspace) == ["model_added"]


def added(page: AppTest, name: str, model: str, preset: str) -> AppTest:
    page = page.selectbox(key="preset").set_value(preset).run()
    page.text_input(key="new name").set_value(name)
    page.text_input(key="new id").set_value(model)
    return press(page.run(), "Add this model")


def done(workspace: Workspace) -> list[str]:
    with workspace.read() as db:
        return [line.act for line in audit.lines(db)]


def test_an_address_with_a_blank_and_a_name_that_is_taken_are_not_added(workspace: Workspace) -> None:
    workspace.models_path.write_text(OWN)
    page = opened()
    page = page.selectbox(key="preset").set_value("azure").run()
    page.text_input(key="new name").set_value("judge")
    page.text_input(key="new id").set_value("gpt")
    page = page.run()
    add = next(button for button in page.button if button.label == "Add this model")
    assert add.disabled
    page.text_input(key="new name").set_value("other")
    page = page.run()
    assert next(button for button in page.button if button.label == "Add this model").disabled
    page.text_input(key="new address azure").set_value("https://mine.example/v1")
    page = press(page.run(), "Add this model")
    assert load_models(workspace.models_path)["other"].api_key_env == "AZURE_OPENAI_API_KEY"


def test_price_family_and_variable_are_changed_and_changed_back(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    workspace.models_path.write_text(OWN)
    page = opened(model="judge")
    page.number_input(key="judge change in").set_value(2.5)
    page.number_input(key="judge change out").set_value(10.0)
    page.text_input(key="judge change family").set_value("gpt")
    page.text_input(key="judge change variable").set_value("MY_KEY")
    page = press(page.run(), "Save the changes")
    judge = load_models(workspace.models_path)["judge"]
    assert judge.price is not None
    assert (judge.price.input, judge.price.output, judge.family) == (2.5, 10.0, "gpt")
    assert "MY_KEY" in page.warning[0].value
    assert OTHER in workspace.models_path.read_text()
    page = press(page, "Undo the last change")
    assert workspace.models_path.read_text() == OWN
    assert done(workspace) == ["models_changed_back", "model_changed"]


def test_the_key_itself_is_no_name_of_a_variable(workspace: Workspace) -> None:
    workspace.models_path.write_text(OWN)
    page = opened(model="judge")
    page.text_input(key="judge change variable").set_value(key := "sk-abcdefghijklmnopqrstuvwx")
    page = press(page.run(), "Save the changes")
    assert key not in page.error[0].value
    assert workspace.models_path.read_text() == OWN
    assert done(workspace) == []


def test_a_model_is_removed_and_comes_back(workspace: Workspace) -> None:
    workspace.models_path.write_text(OWN)
    page = press(opened(model="judge"), "Remove this model")
    assert list(load_models(workspace.models_path)) == ["b"]
    press(page, "Undo the last change")
    assert workspace.models_path.read_text() == OWN


def test_a_currency_stands_beside_prices(workspace: Workspace) -> None:
    workspace.models_path.write_text(OWN)
    page = opened()
    page = press(page.selectbox(key="currency after ").set_value("EUR").run(), "Save the currency")
    assert currency(workspace.models_path) == "EUR"
    assert "EUR" in str(page.number_input(key="new openai in").label)


def test_a_researcher_by_link_tests_models_and_changes_none(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = Researcher("member", "Rae", role="researcher")
    monkeypatch.setattr("pages.parts.session.who_is_here", lambda _: member)
    workspace.models_path.write_text(OWN)
    assert [button.label for button in opened().button] == ["Test"]


def test_a_test_call(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "FIRST_SECONDS", 0.0)  # what nothing answers is not asked again
    workspace.models_path.write_text(OWN)
    with running() as url:
        workspace.models_path.write_text(OWN.replace("   # first", f'\nbase_url = "{url}"'))
        page = press(opened(model="judge"), "Test")
        assert "judge\\: answers as asked \\(served as mock\\-fixed;" in page.success[-1].value
    page = press(page, "Test")
    assert page.error[0].value.startswith("judge\\: ")
