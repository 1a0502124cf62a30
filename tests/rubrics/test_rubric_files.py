"""Rubrics as files: what they say, and one sentence for each mistake."""

from dataclasses import replace

import pytest

from concord.conversation import Conversation, Message
from concord.errors import ConfigError
from concord.rubrics import shipped
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import EXAMPLE
from concord.runs import rubric_judge
from concord.runs.registry import BENCHMARKS
from concord.store import conversations
from concord.workspace import SHIPPED, Workspace
from tests.rubrics.rubric_files_helpers import GOOD, rubric


def test_each_type_of_question_is_read():
    read = rubric(GOOD)
    types = ["likert", "yes-no", "categories", "number", "pairwise"]
    assert [c.scale.type for c in (*read.criteria, *read.pairs)] == types
    solved, polite, cause, effort = read.criteria
    assert solved.scale.labels == ("Not at all", "2", "Partly", "Partly", "Partly", "6", "Wholly")
    assert polite.scale.labels == ("No", "Yes")
    assert cause.scale.labels == ("billing", "delivery")
    assert effort.statement == "How much effort was it?\n0 to 20: hardly any"
    assert (effort.scale.low, effort.scale.high, effort.scale.offered) == (0, 100, ())
    [better] = read.pairs
    assert dict(zip(better.scale.labels, better.scale.values, strict=True)) == {
        "B by far": -2,
        "B": -1,
        "tie": 0,
        "A": 1,
        "A by far": 2,
    }


def test_only_questions_on_one_scale_enter_final_unless_told():
    assert [c.counted for c in rubric(GOOD).criteria] == [True, False, False, False]
    told = GOOD.replace('type = "yes-no"', 'type = "yes-no"\ncounted = true')
    assert [c.counted for c in rubric(told).criteria] == [True, True, False, False]


def test_the_hash_follows_the_content_and_not_the_writing():
    read = rubric(GOOD)
    assert rubric("# a comment\n" + GOOD.replace('scale = "1..7"', "scale='1..7'")).hash == read.hash
    assert rubric(GOOD.replace("Partly", "In part")).hash != read.hash
    assert rubric(GOOD.replace('reasons = "after"', 'reasons = "none"')).hash != read.hash


def test_a_rubric_is_read_again_from_what_is_kept_of_it():
    read = rubric(GOOD)
    again = rubric_of("support", read.body, "version 1")
    assert again == read
    assert again.hash == read.hash


def test_what_explains_a_question_is_read_by_people_with_the_guidelines():
    told = GOOD.replace('name = "solved"', 'name = "solved"\nguideline = "Is it over?"')
    read = rubric('guidelines = "Take your time."\n' + told)
    assert read.guidance == "Take your time.\n\n## Solved\n\n*The problem is solved.*\n\nIs it over?"


def test_a_benchmark_asks_what_its_rubrics_say():
    """Every benchmark that is judged has rubrics in the form of any other, one for each template it ships."""
    judged = [b for b in BENCHMARKS.values() if b.asking]
    assert len(judged) >= 5
    for benchmark in judged:
        of = benchmark.prompts_of or benchmark.name
        found = shipped.rubrics(of)
        # A benchmark may say besides on which scale its judges answer.
        asked = {c.name: replace(c, judged=None) for c in benchmark.criteria}
        assert {c.name: c for r in found for c in r.criteria} == asked
        folder = SHIPPED / "prompts" / of / benchmark.version
        assert all((folder / f"{each.judge.template}_user.jinja").is_file() for each in found)
        for language in (path.parent.name for path in (SHIPPED / "data" / of).glob("*/rubrics")):
            told = shipped.rubrics(of, language)
            assert {r.language for r in told} == {language}
            assert [(c.name, c.scale.values, c.counted, c.only) for r in told for c in r.criteria] == [
                (c.name, c.scale.values, c.counted, c.only) for r in found for c in r.criteria
            ]


ONE = '[[criteria]]\nname = "a"\nstatement = "It is good."\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[judge]\ntemplate = "judge"\n' + ONE, "[judge] template names a template of a benchmark. Remove"),
        ("colour = 1\n" + ONE, "There is no field “colour”. Known: criteria,"),
        (
            ONE + "statment = 'x'",
            "criterion 1 (“a”): There is no field “statment”. Did you mean “statement”?",
        ),
        ("[judge]\nreason = 'x'\n" + ONE, "[judge]: There is no field “reason”. Did you mean “reasons”?"),
        ("", "“criteria” is missing. Add it."),
        ('[[criteria]]\nname = "a"\n', "criterion 1 (“a”): “statement” is missing. Add it."),
        ("unit = 'turn'\n" + ONE, "“unit”: input should be 'conversation', 'each-reply'"),
        (ONE + "scale = '3..3'", "criterion “a”: a scale needs at least two values"),
        (ONE + "scale = '5..1'", 'criterion “a”: the scale must rise. Write "1..5".'),
        (
            ONE + "scale = 'low to high'",
            'the scale “low to high” is invalid. Write it as "1..5"; other answers have a type',
        ),
        (ONE + "scale = [1, 1]", "a scale needs at least two values, which rise"),
        (ONE + 'anchors = { "1..3" = "bad", "3..5" = "good" }', "two anchors overlap at 3. Give “3..5”"),
        (ONE + "anchors = { 6 = 'superb' }", "the anchor “6” is outside the scale 1 to 5."),
        (ONE + "anchors = { best = 'superb' }", "the anchor “best” is invalid."),
        (ONE + "scale = [1, 5]\nanchors = { 3 = 'fair' }", "the anchor “3” is outside the scale"),
        (ONE + "categories = ['one']", "a question needs at least two categories."),
        (ONE + "categories = ['one', 'one']", "the category “one” is listed twice."),
        (ONE + ONE, "criterion 2 (“a”): the name is in use. Choose another one."),
        (ONE.replace('"a"', '"My Name"'), "a name has small letters, digits and “_”"),
        (
            "[judge]\nsystem = 'Say {{ dialog }}'\n" + ONE,
            "[judge] system: There is no variable “dialog”. Did you mean “dialogue”?",
        ),
        (
            "[judge]\nuser = '''\n\n{{ dialogue'''\n" + ONE,
            "[judge] user: the template is not valid in line 2: ",
        ),
    ],
)
def test_a_mistake_is_one_sentence_with_the_place(text, says):
    with pytest.raises(ConfigError) as refused:
        rubric(text)
    assert str(refused.value).startswith("support.toml: ")
    assert says in str(refused.value)


def test_judges_are_sent_the_guidelines_unless_the_rubric_says_no():
    text = 'guidelines = "A promise is no help."\n[[criteria]]\nname = "good"\nstatement = "It is good."\n'
    told = rubric(text)
    (prompt,) = rubric_judge.requests(told, "support v1", EXAMPLE)
    assert "A promise is no help." in prompt.messages[0].content
    silent = rubric(text + "[judge]\nguidelines = false\n")
    (prompt,) = rubric_judge.requests(silent, "support v2", EXAMPLE)
    assert "promise" not in prompt.messages[0].content
    assert told.hash != silent.hash


@pytest.mark.parametrize("facet", ["topci", "colour"])
def test_a_facet_that_no_conversation_has_is_refused(tmp_path, run, facet):
    workspace = Workspace.open(tmp_path)
    said = (Message("user", "a"), Message("assistant", "b"))
    with workspace.write() as db:
        conversations.save(db, Conversation("shop", "k", "p", said, facets={"topic": "parcel"}))
    folder = tmp_path / "rubrics"
    folder.mkdir()
    text = '[[criteria]]\nname = "good"\nstatement = "Good?"\n'
    text += '[[criteria]]\nname = "right"\nstatement = "Right?"\n'
    (folder / "refunds.toml").write_text(text + f'only = {{ {facet} = "refund" }}\n')
    for refused in (
        run(workspace, "study", "draw", "s", "--n", 1, "--rubric", "refunds"),
        run(workspace, "judge", "refunds", "--judges", "a", "--estimate"),
    ):
        assert refused.exit_code == 1
        assert f"never asks “right”: only names the unknown facet “{facet}”" in refused.output
        assert "Did you mean “topic”?" in refused.output or facet == "colour"
    # A value may come with later conversations: it is said, and nothing is refused.
    (folder / "refunds.toml").write_text(text + 'only = { topic = "refund" }\n')
    shown = run(workspace, "rubric", "show", "refunds")
    assert "“right” applies to no stored conversation: none has topic = refund." in shown.output
    assert run(workspace, "study", "draw", "s", "--n", 1, "--rubric", "refunds").exit_code == 0
    (folder / "refunds.toml").write_text(text + "only = { topic = [] }\n")
    assert "only has no value of “topic”" in run(workspace, "rubric", "show", "refunds").output
