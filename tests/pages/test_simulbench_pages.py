"""SimulBench's page: proposals, published files, scripts and toxicity, each with the way back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from concord.benchmarks.simulbench.steps import NextStage, Progression
from concord.benchmarks.simulbench.tasks import tasks as usable
from concord.conversation import Conversation, Message
from concord.errors import ConcordError
from concord.runs.planning import materials
from concord.runs.registry import siblings
from concord.scenario import Scenario
from concord.store import audit, conversations, scenarios
from concord.workspace import Workspace
from tests.pages.framed import opened, press, words
from tests.simulbench import by_hand

PAGE = "simulbench/tasks_and_scripts.py"


def body(name: str) -> dict[str, str]:
    return {
        "act": name,
        "task_description": f"Be {name} and keep count. My first request: begin.",
        "request_type": "a request",
        "type": "stateful",
    }


def proposed(workspace: Workspace, *names: str) -> None:
    with workspace.write() as db:
        scenarios.save(
            db,
            [Scenario("simulbench", "task", name, body(name), "proposed", "generated") for name in names],
        )


def states(workspace: Workspace, kind: str = "task") -> dict[str, str]:
    with workspace.read() as db:
        return {row.key: row.state for row in scenarios.page(db, "simulbench", kind)}


def done(workspace: Workspace) -> list[str]:
    with workspace.read() as db:
        return [line.words for line in audit.lines(db)]


@pytest.mark.parametrize(
    ("counts", "step"),
    [
        ((2, 45, 3, 3, 9, 9, 9, 9), NextStage.DECIDE),
        ((0, 45, 0, 0, 0, 0, 0, 0), NextStage.COLLECT),
        ((0, 45, 3, 0, 0, 0, 0, 0), NextStage.LOOK),
        ((0, 45, 3, 1, 0, 0, 0, 0), NextStage.EXTRACT),
        ((0, 45, 0, 0, 5, 0, 0, 0), NextStage.ANSWER),  # imported scripts need no dialogues
        ((0, 45, 3, 3, 5, 5, 0, 0), NextStage.SCORE),
        ((0, 45, 3, 3, 5, 5, 5, 0), NextStage.CHECK),
        ((0, 45, 3, 3, 5, 5, 5, 1), NextStage.READ),
    ],
)
def test_the_next_step_is_the_first_that_later_ones_need(counts: tuple[int, ...], step: NextStage) -> None:
    assert Progression(*counts).next_step is step


def test_proposals_are_decided_one_by_one_and_a_decision_is_undone(workspace: Workspace) -> None:
    proposed(workspace, "a till", "a clock")
    page = opened(PAGE)
    assert "accept or reject 2 proposed tasks" in words(page)
    page = press(page, "Later")
    assert "Proposal 2 of 2" in words(page)
    page = press(page, "Accept")
    assert states(workspace) == {"a till": "proposed", "a clock": "accepted"}
    assert "a clock" in usable(materials(workspace))
    page = press(page, "Undo")
    assert set(states(workspace).values()) == {"proposed"}
    assert done(workspace) == ["task proposed", "task accepted"]
    assert not [button for button in page.button if button.label == "Undo"]


def test_a_near_copy_is_named_before_it_is_accepted(workspace: Workspace) -> None:
    proposed(workspace, "a till")
    with workspace.write() as db:
        row = Scenario("simulbench", "task", "copy", body("a till"), "proposed", "generated")
        scenarios.save(db, [row])
    page = press(opened(PAGE), "Later")
    assert "near" in page.warning[0].value
    assert "a till" in page.warning[0].value


def test_a_published_file_is_counted_imported_and_removed(workspace: Workspace, tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"id": name, **body(name)}) for name in ("a till", "a clock"))
    page = opened(PAGE)
    page.file_uploader(key="published file").upload("tasks.jsonl", lines.encode(), "text/plain").run()
    assert "2 tasks** (0 stateless, 2 stateful), 2 of them new" in words(page)
    page = press(page, "Import 2 tasks")
    assert states(workspace) == {"a till": "accepted", "a clock": "accepted"}
    with workspace.read() as db:
        assert audit.lines(db)[0].detail == "2 of simulbench, tasks"
    page = press(page, "Undo")
    assert states(workspace) == {}
    assert done(workspace) == ["tasks removed", "tasks brought"]


def test_a_file_that_is_none_says_the_line(workspace: Workspace) -> None:
    page = opened(PAGE)
    page.file_uploader(key="published file").upload("tasks.jsonl", b'{"id": "x"}', "text/plain").run()
    [error] = page.error
    assert "tasks" in error.value
    assert "line 1" in error.value
    assert "/tmp" not in error.value


def test_what_something_rests_on_is_not_removed(workspace: Workspace) -> None:
    with workspace.write() as db:
        by_hand.store_scripts(db, "s1")
        by_hand.fill(db, {("s1", "x"): [5]})
        with pytest.raises(ConcordError, match="in use"):
            scenarios.remove(db, "simulbench", "script", ["s1"], used_by=siblings("simulbench"))
        scenarios.save(db, [Scenario("simulbench", "task", "maker", body("maker"), "accepted", "file")])
        with pytest.raises(ConcordError, match="in use"):
            scenarios.remove(db, "simulbench", "task", ["maker"], used_by=siblings("simulbench"))
    assert states(workspace, "script") == {"s1": "accepted"}


def test_an_equal_facet_of_another_benchmark_keeps_nothing(workspace: Workspace) -> None:
    """Conversations from elsewhere may have a facet “task” with the same value."""
    messages = (Message("user", "a"), Message("assistant", "b"))
    with workspace.write() as db:
        scenarios.save(db, [Scenario("simulbench", "task", "maker", body("maker"), "accepted", "file")])
        conversations.save(db, Conversation("mine", "mine/1", "x", messages, facets={"task": "maker"}))
        assert scenarios.remove(db, "simulbench", "task", ["maker"], used_by=siblings("simulbench")) == 1
        scenarios.save(db, [Scenario("simulbench", "task", "maker", body("maker"), "accepted", "file")])
        of = Conversation("simulbench-dialogues", "d/1", "x", messages, facets={"task": "maker"})
        conversations.save(db, of)
        with pytest.raises(ConcordError, match="in use"):
            scenarios.remove(db, "simulbench", "task", ["maker"], used_by=siblings("simulbench"))


def test_scripts_with_full_marks_are_set_aside_and_used_again(workspace: Workspace) -> None:
    with workspace.write() as db:
        by_hand.store_scripts(db, "s1", "s2")
        by_hand.fill(db, {("s1", "x"): [10, 10], ("s2", "x"): [10, 9]})
    page = opened(PAGE, part="scripts")
    assert "1 script got full marks" in words(page)
    page = press(page, "Set aside 1 script")
    assert states(workspace, "script") == {"s1": "discarded", "s2": "accepted"}
    page = press(page, "Use them again")
    assert states(workspace, "script") == {"s1": "accepted", "s2": "accepted"}
    assert done(workspace) == ["script accepted", "script discarded"]
