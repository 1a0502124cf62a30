"""Task files of the published form: what is read, what their quirks mean, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from concord.benchmarks.stss.tasks import TITLES, read_tasks, task_from, values_of
from concord.errors import ConfigError
from tests.stss.made import at, party

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "stss"


def entry(**changes):
    goal = {
        "keyword": "party",
        "alter_kwd": ["ball"],
        "start_time": "2023-02-14 19:00",
        "duration_in_minutes": 180,
        "location": "Café",
    }
    task = {
        "target": [],
        "target_num": 4,
        "goal": [{**goal, **changes.pop("subgoal", {})}],
        **changes.pop("task", {}),
    }
    return {
        "goal": "Hold a party",
        "FPG": "#performer wants a party at #location_0 at #time_0",
        "Description": "#target_num come",
        "task_type": "Party",
        "task": task,
        "performer": "Ada",
        "all_chars": ["Ada", "Ben"],
        **changes,
    }


def written(tmp_path, given):
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps(given))
    return file


def test_a_task_as_published(tmp_path):
    (found,) = read_tasks(written(tmp_path, [entry()]))
    assert found.kind == "public"
    assert found.subgoals[0].keywords == ("party", "ball")
    assert (found.subgoals[0].start, found.subgoals[0].end) == (at("2 19:00"), at("2 22:00"))
    assert found.currently == "Ada wants a party at Café at 2023-02-14 19:00"
    assert found.criteria == "3 come"  # target_num counts the performer too
    assert found.id == "task-1"


def test_not_said_means_anywhere_at_any_time(tmp_path):
    (found,) = read_tasks(
        written(tmp_path, entry(task_type="Find partner", subgoal={"start_time": "N/A", "location": "N/A"}))
    )
    assert (found.kind, found.subgoals[0].start, found.subgoals[0].location) == ("companions", None, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "must hold a list of tasks"),
        ([entry(task_type="Dance")], "there is no task type “Dance”"),
        ([entry(task={"target_num": 1})], "must be at least 2"),
        ([entry(task_type="Personal appointment")], "needs the person to be met"),
        ([entry(subgoal={"start_time": "tomorrow"})], "task 1: task.goal.0.start_time: .*tomorrow"),
        ([entry(subgoal={"keyword": " "})], "task.goal.0.keyword"),
        ([entry(task={"goal": []})], "task.goal"),
        ([entry(task={"target": ["Zed"]})], "the target Zed is not among all_chars"),
        ([entry(id="a"), entry(id="a")], "two tasks called “a”"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, given, message):
    with pytest.raises(ConfigError, match=message):
        read_tasks(written(tmp_path, given))


def test_a_task_written_is_the_task_read():
    task = party(cast=("Ada", "Ben"))
    assert task_from(json.loads(json.dumps(values_of(task)))) == task


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published task files are not here")
def test_the_published_files():
    tasks = read_tasks(PUBLISHED / "tasks.json") + read_tasks(PUBLISHED / "tasks_supplement.json")
    counts = {kind: sum(t.kind == kind for t in tasks) for kind in TITLES}
    assert counts == {"public": 10, "appointment": 5, "companions": 5, "online": 5, "help": 5}
    assert all(10 <= len(t.cast) - 1 <= 12 for t in tasks)
    for file in PUBLISHED.glob("meta_task_*.json"):
        assert all("#" not in t.currently + t.criteria + t.goal for t in read_tasks(file)), file
