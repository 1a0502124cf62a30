"""The runs page shows a spending limit beside what was spent, asks for prices, and resumes with the limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message
from concord.rating import Spent
from concord.runs import launching
from concord.runs.plans import JudgePlan, PlayPlan, as_dict
from concord.store import conversations, locks, runs
from concord.workspace import Workspace
from pages.parts import session
from pages.parts.people import Researcher
from tests.pages.framed import FRAME

PAGE = Path(__file__).parents[2] / "pages" / "study" / "runs.py"
PLAN = JudgePlan("pingpong", ("a",))


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("CONCORD_WORKSPACE", str(tmp_path))
    monkeypatch.setattr(session, "current_visitor", lambda: Researcher("local"))
    session.workspace.clear()
    opened = Workspace.open(tmp_path)
    opened.models_path.write_text('[models.a]\nbase_url = "http://x/v1"\n')
    yield opened
    session.workspace.clear()


def begun(workspace, cost, limit=2.0):
    """A run that has spent so much of its limit; its number."""
    with workspace.write() as db:
        number = runs.start(db, PLAN.benchmark, as_dict(PLAN), 1, limit)
        runs.elsewhere(db, number)
        runs.grant(db, number, cost)
        runs.spend(db, number, Spent(1, 10, 10, cost, 1.0))
        runs.beat(db, number, planned=10, stored=0, done=4, failed=0)
    return number


def shown(view):
    at = AppTest.from_file(str(PAGE))
    at.session_state["view"] = view
    return at.run()


def said(at):
    """What the page says, without the escapes of Markdown."""
    kinds = (at.markdown, at.warning, at.info, at.caption)
    return " ".join(str(one.value) for kind in kinds for one in kind).replace("\\", "")


def test_what_is_spent_stands_beside_the_limit_and_what_earlier_runs_spent(workspace):
    with workspace.write() as db:
        runs.end(db, begun_in(db, 0.5), "stopped")
    number = begun(workspace, 0.25)
    with locks.present(workspace.db_path, number):
        at = shown("Start a run")
    assert "0.25 of 2, 0.50 by other runs of its plan" in said(at)
    assert "1,000" not in said(at)  # which would be planned anew each second


def test_what_a_thousand_more_would_cost_stands_beside_what_a_run_cost(workspace):
    """Ten results for 5.00, two of each conversation: 1,000 conversations are 2,000 results, for 1,000.00."""
    entry = '[models.{}]\nbase_url = "http://x/v1"\nprice = {{ input = 1, output = 1 }}\n'
    workspace.models_path.write_text(entry.format("a") + entry.format("b"))
    roles = {"players": ("b",), "interrogator": ("b",), "judges": ("a",)}
    plan = PlayPlan("pingpong", roles, {"characters": ["tully"], "situations": ["reality"]})
    with workspace.write() as db:
        number = runs.start(db, "pingpong", as_dict(plan), 1)
        runs.spend(db, number, Spent(10, 10, 10, 5.0, 1.0))
        runs.beat(db, number, planned=10, stored=0, done=10, failed=0)
        runs.end(db, number, "finished")
        judging = runs.start(db, "pingpong", as_dict(PLAN), 1)
        runs.spend(db, judging, Spent(10, 10, 10, 5.0, 1.0))
        runs.beat(db, judging, planned=10, stored=0, done=10, failed=0)
        runs.end(db, judging, "finished")
        conversations.save(db, Conversation("pingpong", "k", "b", (Message("user", "Hi."),)))
    text = said(shown("Earlier runs"))
    assert "**1,000.00**" in text
    assert "to make 1,000 more conversations, judged alike]" in text
    assert "**500.00**" in text
    assert "to judge 1,000 more conversations]" in text


def begun_in(db, cost):
    number = runs.start(db, PLAN.benchmark, as_dict(PLAN), 1, 2.0)
    runs.spend(db, number, Spent(1, 10, 10, cost, 1.0))
    return number


def test_what_the_store_cannot_take_is_read_from_the_run_itself(workspace):
    number = begun(workspace, 0.25)
    with locks.present(workspace.db_path, number) as say:
        say("No calls while the database cannot be used: the disk is full.")
        at = shown("Start a run")
    assert "the disk is full" in said(at)


def test_a_stopped_run_is_resumed_with_its_limit_or_another(workspace, monkeypatch):
    started = []
    monkeypatch.setattr(
        launching,
        "start",
        lambda _workspace, plan, **how: started.append(how["max_cost"]) or 1,
    )
    with workspace.write() as db:
        number = begun_in(db, 2.0)
        runs.beat(db, number, planned=10, stored=0, done=4, failed=0)
        runs.end(db, number, "stopped", "Stopped at the spending limit of 2.")
    shown("Earlier runs").button(key=f"resume {number}").click().run()
    at = shown("Earlier runs")
    at.number_input(key=f"limit {number}").set_value(3.5)
    at.button(key=f"resume {number}").click().run()
    assert started == [2.0, 3.5]
    assert not at.tabs, "what was started takes the place of the forms"


def test_a_limit_needs_prices_before_the_run_starts(workspace):
    with workspace.write() as db:
        told = (Message("user", "Hi"), Message("assistant", "Hello."))
        conversations.save(db, Conversation("pingpong", "k", "player", told))
    at = shown("Let judges rate")
    at.multiselect(key="further judges").set_value(["a"]).run()
    assert not at.button(key="judge start").disabled
    at.number_input(key="judge limit").set_value(1.0).run()
    assert "has none for “a”" in at.error[0].value
    assert at.button(key="judge start").disabled


def test_what_was_chosen_stays_while_another_tab_is_open(workspace):
    with workspace.write() as db:
        conversations.save(db, Conversation("pingpong", "k", "player", (Message("user", "Hi"),)))
    at = shown("Let judges rate")
    at.multiselect(key="further judges").set_value(["a"]).run()
    at.number_input(key="repeats of further judges").set_value(3).run()
    for view in ("Start a run", "Let judges rate"):
        at.session_state["view"] = view
        at.run()
    assert at.multiselect(key="further judges").value == ["a"]
    assert at.number_input(key="repeats of further judges").value == 3


def test_an_address_shows_its_run_and_where_it_is_resumed(workspace):
    number = begun(workspace, 0.25)
    with locks.present(workspace.db_path, number):
        at = AppTest.from_file(str(PAGE))
        at.query_params["run"] = str(number)
        at.run()
        assert not at.tabs
        assert at.button(key=f"stop {number}")
    with workspace.write() as db:
        runs.end(db, number, "stopped", "Stopped on request.")
    at.run()
    assert at.subheader[0].value.replace("\\", "") == f"Run {number}: stopped"
    assert at.button(key=f"resume {number}")
    at.button[0].click().run()
    assert at.tabs
    assert "run" not in at.query_params


@pytest.mark.parametrize("which", ["99", "x", "9" * 200])
def test_an_address_of_no_run_is_a_sentence(workspace, which):
    at = AppTest.from_string(FRAME.format(file="study/runs.py"), default_timeout=30)
    at.query_params["run"] = which
    at.run()
    assert not at.exception
    assert "run" in at.error[0].value
    assert at.button[0].label == "All runs"


def test_the_estimate_names_the_currency(workspace):
    workspace.models_path.write_text(
        f'currency = "EUR"\n{workspace.models_path.read_text()}price = {{ input = 0, output = 0 }}\n'
    )
    with workspace.write() as db:
        told = (Message("user", "Hi"), Message("assistant", "Hello."))
        conversations.save(db, Conversation("pingpong", "k", "player", told))
    at = shown("Let judges rate")
    at.multiselect(key="further judges").set_value(["a"]).run()
    assert at.metric[0].value == "0.00 EUR"
    assert at.number_input(key="judge limit").label.replace("\\", "") == "Stop at a cost of (EUR)"
