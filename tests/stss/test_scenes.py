"""Frozen scenes: so many of them, spread over the tasks, from the simulations of a workspace."""

from __future__ import annotations

from collections import Counter

import pytest

from concord.benchmarks.stss.scenes import freeze, spread
from concord.demo import workspace as demo
from concord.scenario import Scenario
from concord.store import scenarios
from concord.workspace import Workspace


def scene(task, number):
    return Scenario("b", "k", f"{task}/{number}", {"task": {"id": task}}, "accepted", "s")


POSSIBLE = [*(scene("a", i) for i in range(6)), *(scene("b", i) for i in range(2)), scene("c", 0)]


def tasks(scenes):
    return dict(Counter(one.body["task"]["id"] for one in scenes))


@pytest.mark.parametrize(
    ("number", "counts"),
    [
        (3, {"a": 1, "b": 1, "c": 1}),
        (5, {"a": 2, "b": 2, "c": 1}),
        (7, {"a": 4, "b": 2, "c": 1}),
        (325, {"a": 6, "b": 2, "c": 1}),
    ],
)
def test_scenes_are_spread_over_the_tasks(number, counts):
    assert tasks(spread(POSSIBLE, number, ())) == counts


def test_a_seed_chooses_the_same_and_stored_scenes_stay():
    assert spread(POSSIBLE, 4, (), seed=1) == spread(POSSIBLE, 4, (), seed=1)
    assert len({tuple(one.key for one in spread(POSSIBLE, 4, (), seed=seed)) for seed in range(9)}) > 1
    stored = {"a/0", "a/1", "a/2"}
    chosen = spread(POSSIBLE, 5, stored)
    assert stored < {one.key for one in chosen}
    assert tasks(chosen) == {"a": 3, "b": 1, "c": 1}
    assert spread(POSSIBLE, 2, stored) == POSSIBLE[:3], "none is taken away"


@pytest.fixture
def simulated(tmp_path):
    """The simulations of the demo, before a scene was frozen."""
    made = Workspace.open(tmp_path / "town")
    demo.load(made)
    with made.write() as db:
        db.execute("DELETE FROM scenarios WHERE benchmark = 'stss-language'")
    return made


def test_so_many_scenes_are_frozen_in_one_command(simulated, run):
    done = run(simulated, "stss", "freeze", "--scenes", 20)
    assert done.exit_code == 0, done.output
    assert "20 scenes" in done.stdout
    with simulated.read() as db:
        assert len(scenarios.keys(db, "stss-language", "scenario")) == 20
    # More than the simulations hold: what there is, and what to do.
    more = run(simulated, "stss", "freeze", "--scenes", 325)
    assert "38 scenes" in more.stdout
    assert "18 of them new" in more.stdout
    assert "For 325, simulate more tasks, models or repeats" in more.stdout


def test_fewer_of_the_same_two_people_are_frozen_on_request(simulated):
    one = freeze(simulated, per_pair=1)
    two = freeze(simulated)
    pairs = Counter((each.body["task"]["id"], each.body["partner"]) for each in one.scenes)
    assert max(pairs.values()) == 1
    assert one.possible < two.possible == 38


def test_the_demo_has_a_human_check_of_the_conditions(demo_workspace, run):
    done = run(demo_workspace, "agreement", "--study", "stss-check", "--section", "criteria")
    assert done.exit_code == 0, done.output
    assert "mock-judge-lenient" in done.stdout
