"""The runs page resumes an earlier run, where a model's entry has changed since its results were stored."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from concord.llm.models import load_models
from concord.runs import launching
from concord.runs.plans import JudgePlan, as_dict
from concord.store import batches, configurations, runs
from concord.workspace import Workspace
from pages.parts import session
from pages.parts.people import Researcher

PLAN = JudgePlan("pingpong", ("a",))


PAGE = Path(__file__).parents[2] / "pages" / "study" / "runs.py"


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A run that was stopped; the entry of its judge has changed."""
    monkeypatch.setenv("CONCORD_WORKSPACE", str(tmp_path))
    monkeypatch.setattr(session, "current_visitor", lambda: Researcher("local"))
    session.workspace.clear()
    opened = Workspace.open(tmp_path)
    opened.models_path.write_text('[models.a]\nbase_url = "http://x/v1"\nmodel = "one"\n')
    with opened.write() as db:
        configurations.remember(db, load_models(opened.models_path)["a"].configuration)
        runs.end(db, runs.start(db, PLAN.benchmark, as_dict(PLAN), 1), "stopped")
    opened.models_path.write_text('[models.a]\nbase_url = "http://x/v1"\nmodel = "two"\n')
    yield opened
    session.workspace.clear()


def test_a_run_whose_model_has_changed_is_not_resumed_and_says_why(workspace, monkeypatch):
    started = []

    def start(_workspace, plan, **how):
        started.append((plan, how["retry_failed"]))
        return 1

    monkeypatch.setattr(launching, "start", start)
    at = AppTest.from_file(str(PAGE))
    at.session_state["view"] = "Earlier runs"
    at.run()
    assert not at.error
    at.button(key="resume 1").click().run()
    assert "model is two, was one" in at.error[0].value
    assert not started


def test_a_run_that_waits_for_batches_is_resumed_by_batch(workspace, monkeypatch):
    workspace.models_path.write_text('[models.a]\nbase_url = "http://x/v1"\nmodel = "one"\n')
    call = batches.Waiting("c", None, "a", "w", "judge", "h", 0.0)
    with workspace.write() as db:
        batches.prepare(db, 1, "a", "mark", [call])
    started = []

    def start(_workspace, _plan, **how):
        started.append(how["batch"])
        return 1

    monkeypatch.setattr(launching, "start", start)
    at = AppTest.from_file(str(PAGE))
    at.session_state["view"] = "Earlier runs"
    at.run()
    assert "waiting for batches" in at.expander[0].label
    at.button(key="resume 1").click().run()
    assert not at.exception
    assert started == [True]
