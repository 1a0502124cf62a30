"""Near-copies among proposals: by the words that two descriptions have in the same order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

from concord.benchmarks.simulbench.near_copies import near_copies, rouge_l
from concord.benchmarks.simulbench.tasks import catalogue
from concord.cli import main
from concord.store import scenarios
from concord.workspace import SHIPPED

KNOWN = list(catalogue([SHIPPED / "data"]).values())


def like(task, id, text):
    return task.model_copy(update={"id": id, "task_description": text})


def test_rouge_l_by_hand():
    # The longest common subsequence of the two is “a c d e”: 2 · 4 / (5 + 5).
    assert rouge_l(["a", "b", "c", "d", "e"], ["a", "c", "d", "e", "f"]) == pytest.approx(0.8)
    assert rouge_l(["a"], ["a"]) == 1.0
    # All words are shared, in the opposite order: only one stays in order, 2 · 1 / 10.
    assert rouge_l(["a", "b", "c", "d", "e"], ["e", "d", "c", "b", "a"]) == pytest.approx(0.2)
    assert rouge_l(["a", "b"], ["c", "d"]) == 0.0
    assert rouge_l([], []) == 0.0


def test_a_reworded_task_is_marked_and_another_is_not():
    first = KNOWN[0]
    same = like(first, "same", first.task_description.replace("the", "a").upper())
    again = like(first, "again", "Count sheep with me. My first sheep is white, the next one black.")
    twin = like(first, "twin", "Count sheep with me! My first sheep is white, the next one brown.")
    found = near_copies([same, again, twin], KNOWN)
    assert found["same"].task == first.id
    assert "again" not in found
    assert found["twin"].task == "again"


def test_tasks_that_ship_are_no_copies_of_each_other():
    assert near_copies(KNOWN, []) == {}


def test_the_list_of_proposals_marks_them(workspace):
    copied = KNOWN[0].scenario("generated", "proposed")
    other = replace(copied, key="other", body={**copied.body, "task_description": "My first word is blue."})
    with workspace.write() as db:
        proposed = replace(copied, key="copied", state="proposed")
        scenarios.save(db, [proposed, replace(other, state="proposed")])
    command = ["--workspace", str(workspace.path), "simulbench", "tasks", "list", "--state", "proposed"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert done.output.count("Near-copy of") == 1
    assert f"Near-copy of {KNOWN[0].id} (1.00)" in done.output
