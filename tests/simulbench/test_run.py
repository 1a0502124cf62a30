"""From tasks to scores, end to end against mock models; and replies that are empty, cut off, or give no
verdict.
"""

from dataclasses import replace

import pytest

from concord.benchmarks.simulbench.dialogues import DIALOGUES, judge_values, read_turn, strategy_named
from concord.benchmarks.simulbench.targets import (
    PAIRWISE,
    SIMULBENCH,
    ending,
    read_score,
)
from concord.benchmarks.simulbench.targets import (
    judge_values as score_values,
)
from concord.benchmarks.simulbench.tasks import STRATEGIES, SimulationTask, Strategy
from concord.conversation import Conversation, Message
from concord.errors import ConfigError
from concord.llm.completions import ReplyDetails
from concord.llm.replies import Answer, Unusable
from concord.rating import NOTHING_SPENT
from concord.runs import planning
from concord.runs.benchmark import Materials
from concord.store import conversations, ratings, scenarios
from concord.workspace import SHIPPED
from tests.simulbench.conftest import JUDGES, TARGETS, TASKS, answers, dialogues, execute

SHIPS = Materials((SHIPPED / "prompts",), (SHIPPED / "data",))


def all_of(workspace, benchmark):
    with workspace.read() as db:
        return [c for _, c in conversations.of_benchmark(db, benchmark)]


def test_dialogues_have_four_turns_strategies_and_the_task_first(played_once):
    found = all_of(played_once, "simulbench-dialogues")
    assert len(found) == len(TASKS) * 2
    for dialogue in found:
        assert [m.role for m in dialogue.messages] == ["user", "assistant"] * 4
        assert "first" in dialogue.messages[0].content
        assert all(m.meta["strategy"] for m in dialogue.messages[2::2])
        assert dialogue.facets["task"] in TASKS
        assert dialogue.facets["type"] == (
            "stateless" if dialogue.facets["task"] == "rail-fence-clerk" else "stateful"
        )
    assert len({d.replies for d in found}) == len(found), "each dialogue of a task goes its own way"


def test_every_target_answers_every_script_and_every_judge_scores_it(played_once):
    with played_once.read() as db:
        known = scenarios.keys(db, "simulbench", "script")
    found = all_of(played_once, "simulbench")
    assert {(c.facets["script"], c.player) for c in found} == {(k, t) for k in known for t in TARGETS}
    assert len(found) == len(known) * len(TARGETS)
    with played_once.read() as db:
        for number, conversation in conversations.of_benchmark(db, "simulbench"):
            rated = ratings.of_conversation(db, number)
            assert sorted(r.rater.name for r in rated) == sorted(JUDGES)
            assert all(r.turn is None and 1 <= r.score <= 10 and r.explanation for r in rated)
            assert conversation.messages[-2].role == "user"


def test_the_same_plans_again_do_nothing(played):
    assert execute(played, dialogues()).done == 0
    assert execute(played, answers()).spent.calls == 0
    again = execute(played, answers(judges=("mock-sim-chatty",), subset="hard"))
    with played.read() as db:
        hard = sum(s.body["kind"] != "LastOnly" for s in scenarios.accepted(db, "simulbench", "script"))
    assert again.done == again.spent.calls == hard * len(TARGETS)


def test_scripts_that_were_set_aside_are_asked_no_more(played):
    with played.write() as db:
        first, *rest = scenarios.accepted(db, "simulbench", "script")
        scenarios.decide(db, "simulbench", "script", first.key, "discarded", "Ada")
    job = planning.job(played, answers())
    assert len({p.key for p in job.plays()}) == len(rest) * len(TARGETS)


def test_a_plan_without_scripts_says_where_they_come_from(workspace):
    with pytest.raises(ConfigError, match="concord simulbench import scripts"):
        execute(workspace, answers())


def test_stored_tasks_join_the_catalogue_and_can_be_chosen_by_source(workspace):
    task = SimulationTask(
        id="till", act="Till", task_description="Be a till. My first item costs 3.", type="stateful"
    )
    with workspace.write() as db:
        till = task.scenario("mine", "import")
        scenarios.save(db, [till, replace(till, key="wait", state="proposed")])
    plan = dialogues(tasks=[], sources=["mine"], repeats=1)
    assert [p.key.split("/")[3] for p in planning.job(workspace, plan).plays()] == ["till"], (
        "what is proposed is not used"
    )


def test_a_judge_without_readable_verdicts_fails_openly(played):
    judged = execute(played, answers(judges=("mock-judge-erratic",)))
    assert judged.failed > 0
    assert judged.done > 0
    with played.read() as db:
        failed = [
            j
            for n, _ in conversations.of_benchmark(db, "simulbench")
            for j in ratings.judgements_of(db, n)
            if j["failure"]
        ]
        assert len(failed) == judged.failed
        assert all("double brackets" in j["failure"] and j["raw"] and j["calls"] == 3 for j in failed)
    assert execute(played, answers(judges=("mock-judge-erratic",))).done == 0
    retried = execute(played, answers(judges=("mock-judge-erratic",)), retry_failed=True)
    assert retried.done + retried.failed == judged.failed
    assert retried.done > 0


def test_an_empty_reply_is_judged_and_endings_are_told():
    def of(text, cut=False, **beside):
        return ending(Answer(text, None, cut, NOTHING_SPENT, ReplyDetails(**beside)))

    assert of("") == of(" \n") == "empty"
    assert of("I will not.", refused=True) == "refusal"
    # Words alone are no refusal: a character may say them.
    assert of("```\nI cannot open file\n```") == of("I'm sorry, but I can't do that.") == "whole"
    assert of("", cut=True) == "cut"


def conversation(*replies, cut=False):
    said = [m for i, r in enumerate(replies) for m in (Message("user", f"q{i}"), Message("assistant", r))]
    if cut:
        said[-1] = Message("assistant", replies[-1], {"cut": True})
    return Conversation("simulbench", "c", "x", tuple(said), facets={"script": "s"}, context={"Task": "Till"})


@pytest.mark.parametrize("cut", [False, True])
def test_judges_see_the_dialogue_and_whether_the_reply_is_cut(cut):
    one = conversation("", "last", cut=cut)
    asked = SIMULBENCH.prompt(SHIPS, "judge").render(**score_values(one)).messages[-1].content
    assert "(an empty reply)" in asked.split("=== The last reply ===")[0]
    assert "last" in asked.split("=== The last reply ===")[1]
    assert ("cut off here by the length limit" in asked) == cut
    assert '"Till"' in asked
    pair = SIMULBENCH.prompt(SHIPS, "pairwise").render(**PAIRWISE.values(one, conversation("", "other")))
    text = pair.messages[-1].content
    assert text.index("last") < text.index("=== Reply B ===") < text.index("other")
    assert ("cut off here by the length limit" in text) == cut
    search = DIALOGUES.prompt(SHIPS, "judge").render(**judge_values(one)).messages[-1].content
    assert "1 to 2, or 0" in search
    assert "Turn 2\nUser:\nq1\nAssistant:\nlast" in search


def test_targets_get_the_dialogue_as_it_stands():
    one = conversation("", "last")
    for prompt in (SIMULBENCH.prompt(SHIPS, "target"), DIALOGUES.prompt(SHIPS, "simulator")):
        asked = prompt.render(one.messages[:3], task="Till")
        assert [(m.role, m.content) for m in asked.messages] == [
            ("user", "q0"),
            ("assistant", ""),
            ("user", "q1"),
        ]
        assert dict(asked.params) == {"temperature": 0.0, "max_tokens": 1024}


def test_the_user_agent_is_offered_the_tasks_own_strategies():
    task = SimulationTask(
        id="t",
        act="T",
        task_description="x",
        type="stateful",
        request_type="your move",
        strategies=(Strategy(title="Next letter", text="Guess."),),
    )
    prompt = DIALOGUES.prompt(SHIPS, "user")
    asked = prompt.render(
        task="T", messages=conversation("a").messages, strategies=task.ways, request_type=task.request_type
    )
    assert "1. Next letter. Guess.\n2. Others." in asked.messages[-1].content
    assert "The request is to be: your move." in asked.messages[-1].content
    assert dict(asked.params) == {"temperature": 1.2, "max_tokens": 300}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("1", "Improvement"),
        ("[2]", "Next step"),
        ("3: New request", "New request"),
        ("4 (a riddle)", "Others: a riddle"),
        ("9", "9"),
        ("curiosity", "curiosity"),
        ("", "not said"),
    ],
)
def test_strategies_are_kept_by_name(said, told):
    assert strategy_named(said, STRATEGIES) == told


def test_verdicts_are_read_on_their_own_scales():
    one = conversation("a", "b")
    assert [(r.criterion, r.score) for r in read_turn(one, "All fine. Turn: [[0]]")] == [
        ("challenging_turn", 0)
    ]
    assert read_turn(one, "It slips. Turn: [[2]]")[0].explanation == "It slips."
    with pytest.raises(Unusable, match="from 0 to 2, not 3"):
        read_turn(one, "Turn: [[3]]")
    assert read_score(one, "Good. Rating: [[8]]")[0].score == 8
    with pytest.raises(Unusable, match="from 1 to 10, not 0"):
        read_score(one, "Rating: [[0]]")


def test_the_number_of_a_turn_is_no_score(played_once):
    with played_once.read() as db:
        dialogue = conversations.search(db, conversations.Filter(benchmark="simulbench-dialogues"), limit=1)[
            0
        ]
    assert dialogue.final is None
    assert dialogue.judges == 0
