"""The mock models of SimulBench: jobs they really do, checked by hand; questions they recognise."""

import json
import re

import pytest

from concord.benchmarks.simulbench import DIALOGUES, SIMULBENCH
from concord.benchmarks.simulbench.tasks import STRATEGIES, catalogue
from concord.conversation import Message
from concord.runs.benchmark import Materials
from concord.workspace import SHIPPED
from tests.mock.call import Call
from tests.mock.personas import models, reply
from tests.mock.simulbench import question_of
from tests.mock.simulbench.judges import FAILED, PLAIN, rate, view
from tests.mock.simulbench.simulators import right_reply

SHIPS = Materials((SHIPPED / "prompts",), (SHIPPED / "data",))
TASKS = catalogue([SHIPPED / "data"])


def done(task, *requests):
    return right_reply([TASKS[task].task_description, *requests])


def test_morse():
    assert done("morse-operator", '"SOS 1."') == "... --- ... / .---- .-.-.-"
    assert done("morse-operator", "... --- ... / .---- ........") == "SOS 1?"
    assert done("morse-operator").startswith("... . -. -..")


def test_the_calculator():
    # 3, 4 squared is 16, swapped, 3 squared is 9, 25, root 5, then 2 stored and left on top, swapped.
    assert done("rpn-calculator") == "2: 2\n1: 5"
    assert done("rpn-calculator", "RCL 1 *", "+") == "1: 12"
    assert done("rpn-calculator", "0 /").startswith("ERR /\n2: 2")
    assert done("rpn-calculator", "drop drop drop").splitlines()[0] == "ERR drop"


def test_the_console_keeps_a_repository():
    assert done("git-workbench") == "```\nSwitched to a new branch 'rewrite'\n```"
    log = done("git-workbench", "git log --oneline")
    assert log == "```\na1f03c2 (HEAD -> rewrite) add outline\n```"
    typed = (
        'echo "3 Calm" >> outline.md',
        "git status",
        "git add outline.md && git commit -m calm",
        "git switch main",
    )
    shown = [done("git-workbench", *typed[:i]) for i in range(1, len(typed) + 1)]
    assert shown[0] == "```\n```"
    assert "Changes not staged for commit:\n\tmodified:   outline.md" in shown[1]
    mark = re.search(r"\[rewrite ([0-9a-f]{7})\] calm\n 1 file changed", shown[2])[1]
    assert shown[3] == "```\nSwitched to branch 'main'\n```"
    # main has a commit that rewrite lacks, and the other way round.
    assert "Not possible to fast-forward" in done("git-workbench", *typed, "git merge rewrite")
    assert mark in done("git-workbench", *typed, "git switch rewrite; git log --oneline")
    assert "Nothing" not in done("git-workbench", *typed, "cat outline.md")
    assert done("git-workbench", *typed, "cat outline.md") == "```\n1 Harbour\n2 Storm\n```"
    assert done("git-workbench", "git stauts").startswith("```\ngit: 'stauts' is not a git command.")


SCRIPTED = (
    "rail-fence-clerk",
    "key-value-console",
    "hanoi-attendant",
    "connect-four",
    "cron-interpreter",
    "museum-labels",
    "kanban-board",
)


def test_a_scripted_job_is_answered_along_its_paths():
    # WEAREDISCOVERED on three rails: the textbook's example of the fence, deciphered.
    typed = ('ENC, 2 rails, "Bring 3 ropes and a lantern"', 'ENC, 5 rails, "Bring 3 ropes and a lantern"')
    plain = done("rail-fence-clerk", *typed, 'DEC, 3 rails, "WECRL TEERD SOEEF EAOCA IVDEN"')
    assert plain.replace(" ", "") == "WEAREDISCOVEREDFLEEATONCE"
    # 1 to C, 2 to B, 1 onto 2, 3 to C.
    assert done("hanoi-attendant") == "A: 5 4\nB: 2 1\nC: 3\nMoves: 4"
    # The 4 may lie neither on the 2 of B nor on the 3 of C.
    assert done("hanoi-attendant", "A>B C>B").startswith("A>B is not allowed")
    assert "WRONGTYPE" in done(
        "key-value-console", 'LPUSH queue:night "wind clock"', "LRANGE queue:night 0 -1", "GET queue:night"
    )
    assert done("connect-four", "2", "9").splitlines()[-1] == "not possible"
    assert done("hanoi-attendant", "B>A B>B") is None


def test_the_user_agent_follows_the_paths_and_the_dialogue_stays_right():
    for task in SCRIPTED:
        said = [Message("user", TASKS[task].task_description), Message("assistant", done(task))]
        requests = []
        for _ in range(3):
            prompt = DIALOGUES.prompt(SHIPS, "user")
            asked = prompt.render(task="x", messages=said, strategies=STRATEGIES, request_type="x")
            requests.append(json.loads(reply(call("mock-user", asked)))["user"]["request"])
            truth = done(task, *requests)
            assert truth is not None
            said += [Message("user", requests[-1]), Message("assistant", truth)]


def test_jobs_that_nobody_knows():
    assert done("turtle-plotter") is None
    assert right_reply([]) is None


def call(model, asked, seed=0):
    from concord.llm.replies import json_schema

    schema = json_schema(asked.reply) if asked.reply else None
    return Call(model, asked.messages, "json_schema" if schema else "text", schema, own_seed=seed)


def asked_for(question):
    said = (
        Message("user", TASKS["rpn-calculator"].task_description),
        Message("assistant", "2: 2\n1: 5"),
        Message("user", "+"),
    )
    values = {"task": "Stack Calculator", "dialogue": said, "response": "1: 7", "cut": False}
    if question == "simulate":
        return SIMULBENCH.prompt(SHIPS, "target").render(said, task="Stack Calculator")
    if question == "rate":
        return SIMULBENCH.prompt(SHIPS, "judge").render(**values)
    if question == "compare":
        pair = {"first": "1: 7", "second": "1: 8", "first_cut": False, "second_cut": False}
        return SIMULBENCH.prompt(SHIPS, "pairwise").render(task="Stack Calculator", dialogue=said, **pair)
    if question == "challenge":
        from concord.conversation import Conversation

        turns = list(Conversation("", "", "", (*said, Message("assistant", "9: 9"))).turns())
        return DIALOGUES.prompt(SHIPS, "judge").render(task="Stack Calculator", turns=turns)
    if question == "request":
        return DIALOGUES.prompt(SHIPS, "user").render(
            task="x", messages=said[:2], strategies=STRATEGIES, request_type="a line"
        )
    return SIMULBENCH.prompt(SHIPS, "task_stateful").render(examples=["{}"])


@pytest.mark.parametrize("question", ["simulate", "rate", "compare", "challenge", "request", "propose"])
def test_every_question_is_recognised_and_answered_by_every_model(question):
    asked = asked_for(question)
    for name in models():
        if name == "mock-fixed":
            continue
        one = call(name, asked)
        assert question_of(one).__name__ == question
        answer = reply(one)
        if question == "request":
            assert json.loads(answer)["user"]["request"]
        elif question == "propose":
            assert json.loads(answer)["task_name"]
        elif question in ("rate", "compare", "challenge") and name != "mock-judge-erratic":
            assert re.search(r"\[\[\w+\]\]\Z", answer) or name == "mock-judge-noisy"


def test_a_reply_that_is_sent_back_is_recognised_still():
    asked = asked_for("rate")
    again = (*asked.messages, Message("assistant", "seven"), Message("user", "This reply cannot be used."))
    assert question_of(Call("mock-judge-strict", again)) is rate
    assert "[[" in reply(Call("mock-judge-strict", again))


def test_judges_prefer_what_is_right_and_dislike_chatter_and_cuts():
    requests = (Message("user", TASKS["rpn-calculator"].task_description), Message("user", "+"))

    def points(reply, **meta):
        return view([*requests, Message("assistant", reply, meta)], PLAIN)[0]

    right = points("1: 7")
    chatty = points("Certainly! Here is what you asked for:\n\n1: 7")
    assert right > chatty > points("")
    assert right > points("1: 8")
    assert right > points("1: 7", cut=True)
    assert right >= FAILED > points("")
