"""The catalogue that ships: enough tasks, each whole, none of them the published ones in other clothes."""

import json
import re

import pytest

from concord.benchmarks.simulbench.tasks import STRATEGIES, SimulationTask, catalogue
from concord.errors import ConfigError
from concord.workspace import SHIPPED

CATALOGUE = catalogue([SHIPPED / "data"])


def words(text):
    return re.findall(r"\w+", text.lower())


def runs_of(text, n=8):
    said = words(text)
    return {tuple(said[i : i + n]) for i in range(len(said) - n + 1)}


def test_there_are_twenty_of_each_type_at_least():
    assert sum(t.type == "stateless" for t in CATALOGUE.values()) >= 20
    assert sum(t.type == "stateful" for t in CATALOGUE.values()) >= 20
    assert len({t.act for t in CATALOGUE.values()}) == len(CATALOGUE)


@pytest.mark.parametrize("task", CATALOGUE.values(), ids=list(CATALOGUE))
def test_each_ends_with_its_first_request(task):
    end = " ".join(words(task.task_description)[-80:])
    assert re.search(r"\bfirst\b", end), "the request is announced"
    assert 80 <= len(words(task.task_description)) <= 260
    assert task.request_type[0].islower()
    assert not task.request_type.endswith(".")
    assert task.ways[-1] == STRATEGIES[-1]


def test_no_task_shares_eight_words_in_a_row_with_another():
    for task in CATALOGUE.values():
        others = set().union(*(runs_of(t.task_description) for t in CATALOGUE.values() if t is not task))
        assert not runs_of(task.task_description) & others, task.id


def test_nothing_is_taken_from_the_published_tasks(published):
    tasks = [
        SimulationTask.model_validate_json(line)
        for line in (published / "simulbench_tasks.jsonl").read_text().splitlines()
    ]
    theirs = set().union(*(runs_of(t.task_description) for t in tasks))
    for task in CATALOGUE.values():
        assert not runs_of(task.task_description) & theirs, task.id


def test_our_prompts_and_the_published_scripts_share_no_sentence(published):
    theirs = set()
    for line in (published / "simulbench_tasks.jsonl").read_text().splitlines():
        theirs |= runs_of(json.loads(line)["task_description"])
    for file in (SHIPPED / "prompts").glob("simulbench*/*/*.jinja"):
        assert not runs_of(file.read_text()) & theirs, file


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[tasks]]\nid = 'a'\nact = 'A'", "task 1: task_description"),
        ("[[tasks]]\nid = 'a'\nact = 'A'\ntask_description = 'x'\ntype = 'endless'", "type"),
        ("tasks = 3", "must list its tasks"),
        ("tasks = ['a']", "must list its tasks"),
        ("[[tasks", "not valid TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path, text, complaint):
    folder = tmp_path / "simulbench" / "en"
    folder.mkdir(parents=True)
    (folder / "stateless.toml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(complaint)) as caught:
        catalogue([tmp_path])
    assert "stateless.toml" in str(caught.value)


def test_a_task_of_the_workspace_replaces_the_shipped_one(tmp_path):
    folder = tmp_path / "simulbench" / "en"
    folder.mkdir(parents=True)
    (folder / "stateful.toml").write_text(
        "[[tasks]]\nid = 'hangman-warden'\nact = 'Hangman'\ntask_description = 'Play. My first guess is A.'"
    )
    found = catalogue([tmp_path, SHIPPED / "data"])
    assert found["hangman-warden"].act == "Hangman"
    assert found["hangman-warden"].type == "stateful", "by the file's name"
    assert len(found) == len(CATALOGUE)
