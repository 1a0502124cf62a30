"""Agent architectures of the user's own: the documented example, what they must be, what they may not do."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from concord.benchmarks.stss import architectures, system, tables
from concord.benchmarks.stss.agent import Agent
from concord.benchmarks.stss.architectures import MOST_CALLS, Architecture, Guarded
from concord.benchmarks.stss.mind import DayPlan, Mind
from concord.benchmarks.stss.schedule import Wish
from concord.benchmarks.stss.thoughts import Speech, Summary
from concord.cli import main
from concord.codes import Failure
from concord.errors import CallFailed, ConfigError, NotFound
from concord.runs import engine, planning
from tests.mock.server import running
from tests.stss.asking import MATERIALS, PROMPTS, TOWN, Asking
from tests.stss.run_helpers import plan, workspace_at

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def path(monkeypatch):
    """What is imported from a workspace is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def played(made, spoil=None):
    """One simulation with a performer in an architecture."""
    of = Architecture("mine", made, "c0de")
    agent = Agent("mock-outgoing", "mine", "mock-resident", "", PROMPTS, of.mind, of.code)
    task = system.tasks_of(MATERIALS, system.TOWN)["harvest-supper"]
    ask = Asking(spoil=spoil)
    return asyncio.run(system.simulate(ask, "key", task, TOWN, agent, 15, agent.facets(system.TOWN)))


def test_a_class_derived_from_the_papers_mind_plays_as_it():
    assert played(type("Same", (Mind,), {})).messages == played(Mind).messages
    assert played(Mind).facets["code"] == "c0de"


async def _raises(self, *args):
    raise ZeroDivisionError("by hand")


async def _asks_for_ever(self, me, *args):
    while True:
        await self.thinks(me, args[-1], "loop", "Again?", Speech)


async def _swallows(self, me, *args):
    with suppress(Exception):
        await _asks_for_ever(self, me, *args)
    return True


def _returns(value):
    async def thought(self, *args):
        return value

    return thought


async def _walks_away(self, me, *args):
    me.place = replace(me.place, arena="elsewhere") if hasattr(me.place, "__dataclass_fields__") else None
    return True


async def _waits(self, *args):
    await asyncio.sleep(3600)


LONG = "la " * 2000
WRONG = {
    "raises": {"plan": _raises},
    "exits": {"prepare": lambda self, *args: sys.exit(1)},
    "no coroutine": {"approaches": lambda self, *args: True},
    "asks for ever": {"approaches": _asks_for_ever},
    "asks for ever and hides it": {"approaches": _swallows},
    "talks for ever": {"says": _returns(Speech(utterance=LONG, done=False))},
    "says a text": {"approaches": _returns(True), "says": _returns("Hello.")},
    "no plan": {"plan": _returns(None)},
    "a plan of words": {"plan": _returns(DayPlan(["sleep"]))},
    "a wish of no time": {"plan": _returns(DayPlan([Wish("08:00", -5, "eating", "Home")]))},
    "a day of 1000 wishes": {"plan": _returns(DayPlan([Wish("08:00", 5, "eating", "Home")] * 1000))},
    "neither yes nor no": {"approaches": _returns("yes")},
    "a summary of 6000 signs": {
        "approaches": _returns(True),
        "keeps": _returns(Summary(summary=LONG, importance=5, changes_today=False)),
    },
    "moves by itself": {"approaches": _walks_away},
    "wants more": {"__init__": lambda self: None},
}


@pytest.mark.parametrize("methods", WRONG.values(), ids=WRONG)
def test_an_architecture_that_fails_is_a_failure_of_its_simulation(methods):
    with pytest.raises(CallFailed) as failed:
        played(type("Wrong", (Mind,), methods))
    assert failed.value.code is Failure.UNPARSEABLE
    assert failed.value.code.on_demand
    assert failed.value.model == "mock-outgoing"
    assert failed.value.reason.startswith("an agent: ")


def test_a_thought_that_waits_for_ever_ends(monkeypatch):
    monkeypatch.setattr(architectures, "SECONDS", 0.05)
    with pytest.raises(CallFailed) as failed:
        played(type("Waiting", (Mind,), {"plan": _waits}))
    assert failed.value.reason == "an agent: timeout"


def test_an_endpoint_that_fails_is_not_the_architectures_failure():
    def gone(step, text):
        if "approach" in step and "Hanne" in step:
            raise CallFailed("The endpoint is gone.", code=Failure.UNREACHABLE)
        return text

    class Careless(Mind):
        async def approaches(self, me, other, now):
            with suppress(Exception):
                return await super().approaches(me, other, now)
            return False

    with pytest.raises(CallFailed) as failed:
        played(Careless, gone)
    assert failed.value.code is Failure.UNREACHABLE


def test_an_agent_that_is_none_is_told():
    def known(made):
        return architectures.own_architectures(replace(MATERIALS, agents=lambda: {"mine:Agent": made}))

    class Named(Mind):
        name = "Mine"

    assert list(known(Named)) == ["Mine"]
    for wrong in (3, type("GA", (Mind,), {}), type("a/b", (Mind,), {}), type("Bare", (), {"name": "Bare"})):
        with pytest.raises(ConfigError):
            known(wrong)


def test_the_documented_example_is_run_counted_and_compared_by_name(tmp_path, path):
    with running(seed=5) as url:
        workspace = workspace_at(tmp_path / "w", url)
        (workspace.path / "react_agent.py").write_text((DOCS / "react_agent.py").read_text(encoding="utf-8"))
        (workspace.path / "broken_agent.py").write_text(
            "from concord.benchmarks.stss.mind import Mind\n\n\n"
            "class Agent(Mind):\n    name = 'Broken'\n\n"
            "    async def plan(self, me, now):\n        return 1 / 0\n"
        )
        listed = 'agents = ["react_agent:Agent", "broken_agent:Agent"]\n'
        workspace.models_path.write_text(listed + workspace.models_path.read_text(encoding="utf-8"))
        of = plan(tasks=("harvest-supper", "thesis-talk"), architectures=["GA", "ReAct", "Broken"])
        ended = engine.execute(workspace, planning.job(workspace, of))
        assert (ended.state, ended.done, ended.failed) == ("finished", 4, 2)
        again = engine.execute(workspace, planning.job(workspace, of))
        assert (again.stored, again.spent.calls) == (4, 0)
    command = ["--workspace", str(workspace.path), "leaderboard", "stss", "--format", "json"]
    done = CliRunner().invoke(main, [*command, "--beside", "host GA"])
    assert done.exit_code == 0, done.output
    rows = {row["architecture"]: row for row in json.loads(done.stdout)["tables"]["action"]["rows"]}
    gap = rows["ReAct"]["overall"]["value"] - rows["GA"]["overall"]["value"]
    assert rows["ReAct"]["difference"]["value"] == pytest.approx(gap)
    assert rows["ReAct"]["n"] == 2
    unknown = CliRunner().invoke(main, [*command, "--beside", "host GAA"])
    assert unknown.exit_code == 1
    assert "host GA" in unknown.output


def test_differences_are_paired_by_task_with_an_interval_from_eight():
    def frame(tasks):
        # ReAct is 0.2 above GA on even tasks and 0.4 on odd ones: 0.3 on average.
        rows = [("m", "GA", "", f"t{i}", 0.1 * (i % 5)) for i in range(tasks)]
        rows += [("m", "ReAct", "", f"t{i}", 0.1 * (i % 5) + (0.4 if i % 2 else 0.2)) for i in range(tasks)]
        rows += [("m", "ReAct", "", "alone", 0.0)]
        return pd.DataFrame(rows, columns=[*tables.AGENT, "task", "score"])

    found = tables.differences(frame(10), "m GA", resamples=200, seed=0)["m ReAct"]
    assert found.value == pytest.approx(0.3)
    assert found.n == 10
    assert 0.2 < found.low < 0.3 < found.high < 0.4
    assert tables.differences(frame(6), "m GA", resamples=200, seed=0)["m ReAct"].interval is None
    with pytest.raises(NotFound):
        tables.differences(frame(6), "m GAA", resamples=200, seed=0)


def test_the_limit_of_calls_is_that_of_one_thought():
    assert MOST_CALLS > 4
    assert set(architectures.THOUGHTS) <= set(vars(Guarded))
