"""The form that starts a run, where a model's entry has changed since its results were stored."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message
from concord.llm.models import load_models
from concord.runs import planning
from concord.store import configurations, conversations
from concord.workspace import Workspace
from tests.pages.run_form_helpers import PLAN


def form() -> None:
    from pages.study.run_form import estimate
    from tests.pages.run_form_helpers import PLAN

    estimate(PLAN, key="judge")


def test_a_changed_model_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CONCORD_WORKSPACE", str(tmp_path))
    monkeypatch.setattr("pages.study.run_form.workspace", lambda: workspace)
    workspace = Workspace.open(tmp_path)
    workspace.models_path.write_text('[models.a]\nbase_url = "http://x/v1"\nmodel = "one"\n')
    with workspace.write() as db:
        configurations.remember(db, load_models(workspace.models_path)["a"].configuration)
    workspace.models_path.write_text('[models.a]\nbase_url = "http://x/v1"\nmodel = "two"\n')
    at = AppTest.from_function(form).run()
    assert "model is two, was one" in at.error[0].value
    assert not at.button


def test_a_run_is_started_by_batch_and_its_price_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("CONCORD_WORKSPACE", str(tmp_path))
    workspace = Workspace.open(tmp_path)
    monkeypatch.setattr("pages.study.run_form.workspace", lambda: workspace)
    started = []
    monkeypatch.setattr(
        "pages.study.run_form.begin", lambda plan, _address, **how: started.append((plan, how))
    )
    price = "price = { input = 1000, output = 1000, batch = 0.5 }"
    workspace.models_path.write_text(f'[models.a]\nbase_url = "http://x/v1"\n{price}\n')
    with workspace.write() as db:
        conversations.save(db, Conversation("pingpong", "one", "p", (Message("user", "Hello"),)))
    at = AppTest.from_function(form).run()
    found = planning.survey(workspace, planning.job(workspace, PLAN))
    assert found.by_batch == found.cost / 2 > 1
    assert at.toggle(key="judge batch").label == f"Use the Batch API (about {found.by_batch:.2f})"
    at.toggle(key="judge batch").set_value(True).run()
    at.button(key="judge start").click().run()
    assert not at.exception
    assert [how["batch"] for _, how in started] == [True]
