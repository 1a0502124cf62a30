"""The form that starts a run, where a model's entry has changed since its results were stored."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from concord.benchmarks.plans import JudgePlan
from concord.llm.models import load_models
from concord.store import configurations
from concord.workspace import Workspace

PLAN = JudgePlan("pingpong", ("a",))


def form() -> None:
    from pages.study.run_form import estimate
    from tests.pages.test_run_form import PLAN

    estimate(PLAN, key="judge")


def test_a_changed_model_is_named_and_its_entry_copied_to_a_new_name(tmp_path, monkeypatch):
    monkeypatch.setenv("CONCORD_WORKSPACE", str(tmp_path))
    monkeypatch.setattr("pages.study.run_form.workspace", lambda: workspace)
    workspace = Workspace.open(tmp_path)
    workspace.models_path.write_text('[models.a]\nbase_url = "http://x/v1"\nmodel = "one"\n')
    with workspace.write() as db:
        configurations.remember(db, load_models(workspace.models_path)["a"].configuration)
    workspace.models_path.write_text('[models.a]\nbase_url = "http://x/v1"\nmodel = "two"\n')
    at = AppTest.from_function(form).run()
    assert "model is two, was one" in at.error[0].value
    at.text_input(key="judge as new").input("b").run()
    at.button(key="judge copy").click().run()
    assert not at.exception
    assert load_models(workspace.models_path)["b"].model == "two"
