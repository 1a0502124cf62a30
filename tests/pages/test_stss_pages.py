"""STSS's page of residents and tasks: read, choose, import and undo, freeze, score."""

from __future__ import annotations

import json

import pytest

from concord.benchmarks.stss import system
from concord.benchmarks.stss.tasks import values_of
from concord.errors import ConcordError
from concord.runs.planning import materials
from concord.store import audit, scenarios
from concord.workspace import Workspace
from tests.pages.framed import opened, press, words

PAGE = "stss/residents_and_tasks.py"


def lines(workspace: Workspace) -> list[str]:
    with workspace.read() as db:
        return [line.words for line in audit.lines(db)]


def some_tasks(workspace: Workspace, number: int = 3) -> list[dict[str, object]]:
    tasks = system.tasks_of(materials(workspace), system.TOWN)
    return [values_of(task) for task in list(tasks.values())[:number]]


def test_the_towns_tasks_and_residents_are_read_and_chosen(workspace: Workspace) -> None:
    page = opened(PAGE)
    assert page.selectbox[0].options == ["Merrow Quay"]
    assert "30 tasks: 10 public activity" in words(page)
    assert len(page.dataframe[0].value) == 30
    page.multiselect[0].set_value(["board-games"]).run()
    [way] = [link for link in page.get("page_link") if link.label.startswith("Start a run")]
    assert way.label == "Start a run with 1 task"
    assert "tasks=board-games" in way.proto.query_string
    residents = opened(PAGE, part="residents")
    assert "25 residents, 35 places." in words(residents)


def test_tasks_are_imported_under_a_new_name_and_the_import_is_undone(workspace: Workspace) -> None:
    text = json.dumps(some_tasks(workspace)).encode()
    page = opened(PAGE, part="import")
    page.file_uploader(key="task file").upload("mine.json", text, "application/json").run()
    assert "3 tasks; 3 of them can be played in Merrow Quay." in words(page)
    page = press(page, "Import 3 tasks")
    assert list(system.task_sets(materials(workspace))) == ["mine"]
    assert "mine" in page.query_params["task_set"]
    again = opened(PAGE, part="import")
    again.file_uploader(key="task file").upload("mine.json", text, "application/json").run()
    assert "“mine” is there already" in words(again)
    press(page, "Undo the last change")
    assert not system.task_sets(materials(workspace))
    assert lines(workspace) == ["import of tasks removed", "tasks imported"]


def test_what_the_town_lacks_is_named(workspace: Workspace) -> None:
    [task] = some_tasks(workspace, 1)
    performer = str(task["performer"])
    text = json.dumps([task]).replace(performer, "Nobody Known").encode()
    page = opened(PAGE, part="import")
    page.file_uploader(key="task file").upload("mine.json", text, "application/json").run()
    assert "1 task; 0 of them can be played" in words(page)
    assert "Nobody Known (1)" in words(page)


def test_people_become_a_town_of_their_own(workspace: Workspace) -> None:
    persona: dict[str, object] = {
        "age": 30,
        "innate": "kind",
        "learned": "Isabella runs a café.",
        "currently": "Isabella plans a party.",
        "lifestyle": "Isabella goes to bed at 11pm and wakes up at 6am.",
        "daily_plan_req": "Isabella opens the café at 8am.",
    }
    page = opened(PAGE, part="import")
    names = ["Isabella Rodriguez", "Klaus Mueller"]
    alone = json.dumps({names[0]: persona}).encode()
    page.file_uploader(key="people file").upload("ville.json", alone, "application/json").run()
    page = press(page, "Import 1 person")
    assert "at least 2" in words(page)
    assert "ville" not in system.towns(materials(workspace))
    text = json.dumps(dict.fromkeys(names, persona)).encode()
    page.file_uploader(key="people file").set_value(("ville.json", text, "application/json")).run()
    page = press(page, "Import 2 people")
    assert list(system.town_named(materials(workspace), "ville").residents) == names
    press(page, "Undo the last change")
    assert "ville" not in system.towns(materials(workspace))


def test_a_file_that_is_none_says_why(workspace: Workspace) -> None:
    page = opened(PAGE, part="import")
    page.file_uploader(key="task file").upload("mine.json", b"[]", "application/json").run()
    assert "must hold a list of tasks" in words(page)
    assert "/tmp" not in words(page)


def test_without_simulations_there_is_nothing_to_freeze(workspace: Workspace) -> None:
    page = opened(PAGE, part="scenes")
    assert "There is nothing to freeze" in words(page)
    assert "Start a run" in {link.label for link in page.get("page_link")}


def test_scenes_in_use_are_not_removed(workspace: Workspace) -> None:
    with workspace.write() as db:
        assert scenarios.remove(db, "stss-language", "scenario", ["none"], used_by=["stss-language"]) == 0
        with pytest.raises(ConcordError):
            scenarios.get(db, "stss-language", "scenario", "none")
