"""Scripts are cut from dialogues as the paper says, and set aside when they tell nobody apart."""

import pytest
from pydantic import ValidationError

from concord.benchmarks.simulbench import extraction
from concord.benchmarks.simulbench import tables as boards
from concord.benchmarks.simulbench.scripts import Script, extract
from concord.conversation import Conversation, Message
from concord.errors import ConcordError, NotFound
from concord.scenario import Scenario
from concord.store import scenarios
from tests.simulbench import by_hand


def dialogue(turns=4):
    said = [
        m
        for t in range(1, turns + 1)
        for m in (Message("user", f"q{t}", {"strategy": "Next step"}), Message("assistant", f"a{t}"))
    ]
    return Conversation(
        "simulbench-dialogues",
        "d",
        "sim",
        tuple(said),
        facets={"task": "till", "type": "stateful"},
        context={"Task": "Till"},
    )


def cut(found):
    return [(s.kind, s.turn, [said.content for said in s.history]) for s in found]


def test_without_a_challenging_turn_the_last_request_is_the_script():
    assert cut(extract(dialogue(), 0)) == [("LastOnly", 4, ["q1", "a1", "q2", "a2", "q3", "a3", "q4"])]


def test_from_the_challenging_turn_on_every_turn_is_one():
    assert cut(extract(dialogue(), 3)) == [
        ("FirstChan", 3, ["q1", "a1", "q2", "a2", "q3"]),
        ("SubseqChan", 4, ["q1", "a1", "q2", "a2", "q3", "a3", "q4"]),
    ]
    assert cut(extract(dialogue(), 1))[0] == ("FirstChan", 1, ["q1"])
    assert [kind for kind, *_ in cut(extract(dialogue(), 1))] == ["FirstChan"] + ["SubseqChan"] * 3
    assert [kind for kind, *_ in cut(extract(dialogue(), 4))] == ["FirstChan"]


def test_a_script_keeps_its_strategies_task_and_origin():
    [one] = extract(dialogue(2), 0)
    assert (one.key, one.dialogue, one.task, one.act, one.type) == ("d@2", "d", "till", "Till", "stateful")
    assert one.history[2].meta == {"strategy": "Next step"}


def test_nothing_is_cut_without_words_or_such_a_turn():
    assert extract(dialogue(0), 0) == []
    assert extract(dialogue(2), 3) == []


@pytest.mark.parametrize("changed", [{"turn": 3}, {"challenging": 2}, {"kind": "FirstChan"}, {"history": []}])
def test_a_script_that_contradicts_itself_is_none(changed):
    [good] = extract(dialogue(2), 0)
    with pytest.raises(ValidationError):
        Script.model_validate({**good.model_dump(), **changed})


def test_scripts_come_from_the_judge_named_and_not_twice(played):
    with played.write() as db:
        known = scenarios.keys(db, "simulbench", "script")
        again = extraction.extract_scripts(db, "mock-judge-strict")
        assert (again.cut.dialogues, again.cut.unjudged) == (8, 0)
        assert (len(again.cut.scripts), again.new) == (len(known), [])
        assert len(known) > 8
        with pytest.raises(NotFound, match="nobody"):
            extraction.extract_scripts(db, "nobody")


def test_without_a_judge_there_is_nothing_to_go_by(workspace):
    with workspace.write() as db, pytest.raises(ConcordError, match="No judge has looked"):
        extraction.extract_scripts(db, "mock-judge-strict")


def test_scripts_of_a_rejected_task_are_asked_no_more(run, workspace):
    def planned():
        told = run(workspace, "run", "simulbench", "--targets", "mock-sim-steady", "--estimate")
        assert told.exit_code == 0, told.output
        return told.output.split("\n")[0]

    body = {
        "act": "Maker",
        "task_description": "Be a maker of things. My first request: make one.",
        "request_type": "a request",
        "type": "stateless",
    }
    with workspace.write() as db:
        by_hand.store_scripts(db, "s1", "s2", "s3", "s4")
        scenarios.save(db, [Scenario("simulbench", "task", "maker", body, "proposed", "generated")])
        scenarios.decide(db, "simulbench", "task", "maker", "accepted", "Ada")
        by_hand.fill(db, {("s1", "x"): [5], ("s4", "x"): [7]})
    every = planned()
    assert "4" in every
    with workspace.write() as db:
        scenarios.decide(db, "simulbench", "task", "maker", "rejected", "Ben")
        assert [s.key for s in scenarios.accepted(db, "simulbench", "script")] == ["s4"]
        # What was answered stays in the table: s1 (5) and s4 (7).
        table = boards.subsets(boards.scored(db), resamples=0)
        every_script = table.rows[0]["All"]
        assert (every_script.n, every_script.value) == (2, 6)
    assert planned() == every.replace("4", "1")
    with workspace.write() as db:
        again = scenarios.decide(db, "simulbench", "task", "maker", "accepted", "Cem")
        assert (again.state, again.decided_by, dict(again.body)) == ("accepted", "Cem", body)
        assert len(scenarios.accepted(db, "simulbench", "script")) == 4
    assert planned() == every


def test_full_marks_from_every_judge_for_every_target_set_a_script_aside(run, workspace):
    with workspace.write() as db:
        by_hand.store_scripts(db, "s1", "s2", "s3", "s4")
        by_hand.fill(
            db,
            {
                ("s1", "x"): [10, 10],
                ("s1", "y"): [10, 10],  # everybody has full marks
                ("s2", "x"): [10, 10],
                ("s2", "y"): [10, 9],  # one judge gives less
                ("s3", "x"): [10, 10],
                ("s3", "y"): [10, None],  # one verdict cannot be read
                ("s4", "x"): [10, 10],  # one target has not answered
            },
        )
    done = run(workspace, "--by", "Ada", "simulbench", "scripts", "discard")
    assert done.output == "  s1 (LastOnly, stateless)\n1 scripts set aside, full marks for x, y.\n"
    with workspace.read() as db:
        [discarded] = scenarios.page(db, "simulbench", "script", state="discarded")
    assert (discarded.key, discarded.decided_by) == ("s1", "Ada")
