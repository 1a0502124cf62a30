"""Programs as judges: a dict in, a dict out, within a time limit, and nothing they return is trusted."""

import pytest

from concord.store import conversations, ratings
from tests.rubrics.judging_by_rubric_helpers import done, given, shop, write  # noqa: F401
from tests.rubrics.rubric_files_helpers import GOOD

CHECK = """
def judge(given):
    replies = [m["content"] for m in given["conversation"]["messages"] if m["role"] == "assistant"]
    same = {"polite": True, "cause": "billing", "effort": 3}
    return {"ratings": [
        {"turn": n, "solved": 7 if "great" in replies[n - 1] else 1, **same} for n in given["turns"]]}
"""


@pytest.fixture
def program(shop, request):  # noqa: F811
    """Writes a module of one's own, another in each test, whose function `judge` is the judge `check`."""

    def written(text, more=""):
        name = f"check_{abs(hash(request.node.nodeid))}"
        (shop.path / f"{name}.py").write_text(text)
        entry = f'[models.check]\nkind = "program"\nfunction = "{name}:judge"\n{more}\n'
        shop.models_path.write_text(entry)

    return written


def failure(workspace, key="c0"):
    with workspace.read() as db:
        (one,) = ratings.judgements_of(db, conversations.find_id(db, key))
    return one


def test_a_function_of_the_workspace_judges_like_a_model(shop, program, run):  # noqa: F811
    program(CHECK)
    done(run(shop, "judge", "support", "--judges", "check"))
    assert {r.score for r in given(shop, "c0") if r.criterion == "solved"} == {1}
    assert {(r.turn, r.score) for r in given(shop, "c1") if r.criterion == "solved"} == {(1, 7), (2, 7)}
    assert " 0 to generate" in done(run(shop, "judge", "support", "--judges", "check", "--estimate"))


def test_a_function_answers_about_the_whole_conversation(shop, program, run):  # noqa: F811
    write(shop, GOOD.replace("each-reply", "conversation"))
    scores = {"solved": 5, "polite": False, "cause": "delivery", "effort": 50}
    program(f"def judge(given):\n    print('a word beside')\n    return {scores}\n")
    done(run(shop, "judge", "support", "--judges", "check"))
    assert {r.criterion: r.score for r in given(shop, "c0")} == scores | {"polite": 0, "cause": 1}


@pytest.mark.parametrize(
    ("body", "says", "raw"),
    [
        ("raise ValueError('no such model')", "It raised ValueError: no such model", ""),
        ("return {'ratings': []}", "What the program returned cannot be used", '{"ratings": []}'),
        ("return 'hello'", "What the program returned cannot be used: It holds no JSON object.", "hello"),
        ("return 'x' * 200_000", "What the program returned cannot be used: It is longer than 100,000", "x"),
        ("import time; time.sleep(2)", "It took longer than 0.5 seconds.", ""),
    ],
)
def test_what_a_program_does_wrong_is_a_failed_judgement(shop, program, run, body, says, raw):  # noqa: F811
    program(f"def judge(given):\n    {body}\n", "timeout = 0.5" if "sleep" in body else "")
    assert run(shop, "judge", "support", "--judges", "check").exit_code == 2
    told = failure(shop)
    assert says in told["failure"]
    assert raw in told["raw"]


def test_a_program_that_is_not_there_ends_the_run(shop, run):  # noqa: F811
    shop.models_path.write_text('[models.check]\nkind = "program"\nfunction = "nowhere:check"\n')
    ended = run(shop, "judge", "support", "--judges", "check")
    assert ended.exit_code == 1
    assert "The judge needs a module “nowhere”" in ended.output


@pytest.mark.parametrize("entry", ['kind = "program"', 'function = "x:y"'])
def test_a_wrong_entry_is_one_sentence(shop, run, entry):  # noqa: F811
    shop.models_path.write_text(f"[models.check]\n{entry}\n")
    outcome = run(shop, "judge", "support", "--judges", "check")
    assert "a function belongs to kind" in outcome.output


def test_a_program_takes_no_other_role(shop, program, run):  # noqa: F811
    program(CHECK)
    said = run(shop, "run", "pingpong", "--players", "check", "--interrogator", "check").output
    assert "“check” is a program, which can only judge by a rubric." in said
