"""The mock models of SimulBench: jobs they really do, checked by hand; questions they recognise."""

import json
import re

import pytest

from core.benchmarks.benchmark import Materials
from core.benchmarks.simulbench import DIALOGUES, SIMULBENCH
from core.benchmarks.simulbench.tasks import STRATEGIES, catalogue
from core.conversation import Message
from core.demo.mock.call import Call
from core.demo.mock.personas import PERSONAS
from core.demo.mock.simulbench_engines import right_reply
from core.demo.mock.simulbench_judges import Eye, view
from core.demo.mock.simulbench_reading import Reply, question_of
from core.workspace import SHIPPED

SHIPS = Materials((SHIPPED / "prompts",), (SHIPPED / "data",))
TASKS = catalogue([SHIPPED / "data"])


def done(task, *requests):
    return right_reply([TASKS[task].task_description, *requests])


def test_the_rail_fence():
    # WEAREDISCOVERED on three rails: W...E...C...R / .E.R.D.S.O.E.E. / ..A...I...V...D, the textbook's
    # example of the fence.
    assert (
        done("rail-fence-clerk", 'ENC, 3 rails, "We are discovered, flee at once"')
        == "WECRL TEERD SOEEF EAOCA IVDEN"
    )
    assert (
        done("rail-fence-clerk", 'DEC, 3 rails, "WECRL TEERD SOEEF EAOCA IVDEN"').replace(" ", "")
        == "WEAREDISCOVEREDFLEEATONCE"
    )
    assert done("rail-fence-clerk", 'ENC, 7 rails, "x"') == "BAD RAILS"
    assert re.fullmatch(r"([A-Z]{5} )*[A-Z]{1,5}", done("rail-fence-clerk"))


def test_morse():
    assert done("morse-operator", '"SOS 1."') == "... --- ... / .---- .-.-.-"
    assert done("morse-operator", "... --- ... / .---- ........") == "SOS 1?"
    assert done("morse-operator").startswith("... . -. -..")


def test_the_store_keeps_its_state():
    first = done("key-value-console")
    assert first == "```\n(integer) 3\n```"
    assert (
        done("key-value-console", "LPOP queue:night; LRANGE queue:night 0 -1")
        == '```\n"boil water"\n1) "feed cat"\n2) "lock gate"\n```'
    )
    assert "WRONGTYPE" in done("key-value-console", "GET queue:night")
    assert done("key-value-console", "SET a 4", "INCRBY a 3") == "```\n(integer) 7\n```"


def test_the_calculator():
    # 3, 4 squared is 16, swapped, 3 squared is 9, 25, root 5, then 2 stored and left on top, swapped.
    assert done("rpn-calculator") == "2: 2\n1: 5"
    assert done("rpn-calculator", "RCL 1 *", "+") == "1: 12"
    assert done("rpn-calculator", "0 /").startswith("ERR /\n2: 2")
    assert done("rpn-calculator", "drop drop drop").splitlines()[0] == "ERR drop"


def test_the_towers():
    # 1 to C, 2 to B, 1 onto 2, 3 to C.
    assert done("hanoi-attendant") == "A: 5 4\nB: 2 1\nC: 3\nMoves: 4"
    # The 4 may not lie on the 3, and what comes after is left undone.
    assert done("hanoi-attendant", "A>C B>A") == "A>C is not allowed\nA: 5 4\nB: 2 1\nC: 3\nMoves: 4"


def test_connect_four():
    board = done("connect-four", "4").splitlines()
    assert board[5][3] == "X"
    assert board[4][3] in "XO"
    assert len(board) == 8
    assert done("connect-four", "9").splitlines()[-1] == "not possible"


def test_jobs_that_nobody_knows():
    assert done("museum-labels") is None
    assert right_reply([]) is None


def call(model, asked, seed=0):
    from core.llm.replies import json_schema

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
        from core.conversation import Conversation

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
    for name, persona in PERSONAS.items():
        if name == "mock-fixed":
            continue
        one = call(name, asked)
        assert question_of(one) == question
        answer = persona(one)
        if question == "request":
            assert json.loads(answer)["user"]["request"]
        elif question == "propose":
            assert json.loads(answer)["task_name"]
        elif question in ("rate", "compare", "challenge") and name != "mock-judge-erratic":
            assert re.search(r"\[\[\w+\]\]\Z", answer) or name == "mock-judge-noisy"


def test_a_reply_that_is_sent_back_is_recognised_still():
    asked = asked_for("rate")
    again = (*asked.messages, Message("assistant", "seven"), Message("user", "This reply cannot be used."))
    assert question_of(Call("mock-judge-strict", again)) == "rate"
    assert "[[" in PERSONAS["mock-judge-strict"](Call("mock-judge-strict", again))


def test_judges_prefer_what_is_right_and_dislike_chatter_and_cuts():
    requests = [TASKS["rpn-calculator"].task_description, "+"]
    right = view(requests, Reply("1: 7"), Eye())
    wrong = view(requests, Reply("1: 8"), Eye())
    chatty = view(requests, Reply("Certainly! Here is what you asked for:\n\n1: 7"), Eye())
    cut = view(requests, Reply("1: 7", cut=True), Eye())
    empty = view(requests, Reply(""), Eye())
    assert right.points > chatty.points > empty.points
    assert right.points > wrong.points
    assert right.points > cut.points
    assert (right.failed, empty.failed) == (False, True)
