"""Who sees a conversation's system prompt: neither side, judges, or annotators too, beside the other "
"fields."""

from __future__ import annotations

import pytest

from concord.conversation import SYSTEM_PROMPT, Conversation, Message
from concord.rubrics import writing
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import shown
from concord.runs import rubric_judge

SAID = (Message("system", "Be brief."), Message("user", "Hi"), Message("assistant", "Hello."))
WHAT = Conversation("b", "k", "m", SAID, context={"Task": "Greet."})
ENTRY = {"criteria": [{"name": "kind", "statement": "It is kind."}]}


@pytest.mark.parametrize(
    ("setting", "people", "judges"),
    [("none", False, False), ("judges", False, True), ("everyone", True, True)],
)
@pytest.mark.parametrize("show", [None, ["Task"], [SYSTEM_PROMPT]])
def test_each_side_sees_what_the_rubric_says(setting, people, judges, show) -> None:
    more = {} if show is None else {"show": show}
    rubric = rubric_of("r", {**ENTRY, **more, "system_prompt": setting}, "r")
    always = show == [SYSTEM_PROMPT]
    seen = dict(shown(WHAT, rubric.show, system=rubric.system_prompt == "everyone"))
    assert (SYSTEM_PROMPT in seen) == (people or always)
    assert ("Task" in seen) == (show != [SYSTEM_PROMPT])
    [request] = rubric_judge.requests(rubric, "v1", WHAT)
    assert any("Be brief." in message.content for message in request.messages) == (judges or always)


def test_a_rubric_without_the_setting_is_the_version_that_it_was() -> None:
    assert rubric_of("r", ENTRY, "r").hash == rubric_of("r", {**ENTRY, "system_prompt": "none"}, "r").hash
    assert rubric_of("r", ENTRY, "r").hash != rubric_of("r", {**ENTRY, "system_prompt": "judges"}, "r").hash


@pytest.mark.parametrize(
    "text",
    [
        'title = "T"\n[[criteria]]\nname = "a"\n',
        'system_prompt = "none"\n[[criteria]]\nname = "a"\n',
        '# mine\nguidelines = """\n[a]\nsystem\n"""\n',
    ],
)
def test_the_setting_is_written_above_all_tables(text: str) -> None:
    changed = writing.with_setting(text, "system_prompt", "judges")
    assert 'system_prompt = "judges"' in changed
    assert writing.with_setting(changed, "system_prompt", "none") != changed


@pytest.mark.parametrize("text", ["[[criteria", 'guidelines = """\nsystem_prompt = 1\n"""\n'])
def test_a_text_where_no_line_can_be_changed_stays(text: str) -> None:
    assert writing.with_setting(text, "system_prompt", "judges") == text
