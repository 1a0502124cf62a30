"""Programs as judges: JSON in, JSON out, within a time limit, and nothing they print is trusted."""

import sys

import pytest

from concord.store import conversations, ratings
from tests.rubrics.test_judging_by_rubric import GOOD, done, given, shop, write  # noqa: F401

CHECK = """
import json, sys
told = json.load(sys.stdin)
replies = [m["content"] for m in told["conversation"]["messages"] if m["role"] == "assistant"]
same = {"polite": True, "cause": "billing", "effort": 3}
print(json.dumps({"ratings": [
    {"turn": n, "solved": 7 if "great" in replies[n - 1] else 1, **same} for n in told["turns"]]}))
"""
ENTRY = """
[models.check]
kind = "program"
command = ["{python}", "{file}"]
{more}
"""


def program(workspace, text, more=""):
    file = workspace.path / "check.py"
    file.write_text(text)
    workspace.models_path.write_text(ENTRY.format(python=sys.executable, file=file, more=more))


def failure(workspace, key="c0"):
    with workspace.read() as db:
        (one,) = ratings.judgements_of(db, conversations.find_id(db, key))
    return one


def test_a_command_judges_like_a_model(shop, run):  # noqa: F811
    program(shop, CHECK)
    done(run(shop, "judge", "support", "--judges", "check"))
    assert {r.score for r in given(shop, "c0") if r.criterion == "solved"} == {1}
    assert {(r.turn, r.score) for r in given(shop, "c1") if r.criterion == "solved"} == {(1, 7), (2, 7)}
    assert " 0 left to make" in done(run(shop, "judge", "support", "--judges", "check", "--estimate"))


def test_a_function_of_the_workspace_judges(shop, run):  # noqa: F811
    write(shop, GOOD.replace("each-reply", "conversation"))
    (shop.path / "own_metric.py").write_text(
        "def judge(told):\n    print('a word beside')\n"
        "    return {'solved': 5, 'polite': False, 'cause': 'delivery', 'effort': 50}\n"
    )
    shop.models_path.write_text('[models.metric]\nkind = "program"\nfunction = "own_metric:judge"\n')
    done(run(shop, "judge", "support", "--judges", "metric"))
    assert {r.criterion: r.score for r in given(shop, "c0")} == {
        "solved": 5,
        "polite": 0,
        "cause": 1,
        "effort": 50,
    }


@pytest.mark.parametrize(
    ("text", "says", "raw"),
    [
        ("import sys; sys.exit('no such model')", "It ended with 1.", "no such model"),
        ("print('{\"ratings\": []}')", "What the program printed cannot be used", '{"ratings": []}'),
        ("print('hello')", "What the program printed cannot be used: It holds no JSON object.", "hello"),
        ("while True: print('x' * 65536)", "It printed more than 1,048,576 bytes.", ""),
        ("import time; time.sleep(60)", "It took longer than 0.5 seconds.", ""),
    ],
)
def test_what_a_program_does_wrong_is_a_failed_judgement(shop, run, text, says, raw):  # noqa: F811
    program(shop, text, "timeout = 0.5" if "sleep" in text else "")
    assert run(shop, "judge", "support", "--judges", "check").exit_code == 2
    told = failure(shop)
    assert says in told["failure"]
    assert raw in told["raw"]


def test_a_program_that_is_not_there_ends_the_run(shop, run):  # noqa: F811
    shop.models_path.write_text('[models.check]\nkind = "program"\ncommand = ["/nowhere/check"]\n')
    ended = run(shop, "judge", "support", "--judges", "check")
    assert ended.exit_code == 1
    assert "The judge “check” cannot be started: /nowhere/check" in ended.output


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ('kind = "program"', "a program needs a command or a function, one of the two"),
        ('command = ["x"]', 'a command or a function belongs to kind = "program"'),
    ],
)
def test_a_wrong_entry_is_one_sentence(shop, run, entry, says):  # noqa: F811
    shop.models_path.write_text(f"[models.check]\n{entry}\n")
    assert says in run(shop, "judge", "support", "--judges", "check").output


def test_a_program_takes_no_other_role(shop, run):  # noqa: F811
    program(shop, CHECK)
    said = run(shop, "run", "pingpong", "--players", "check", "--interrogator", "check").output
    assert "“check” is a program, which can only judge by a rubric." in said
