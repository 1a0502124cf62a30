"""The rules of docs/replies.md, each with its example; and that no text makes a verdict up."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import Field

from concord.llm import verdicts
from concord.llm.replies import Reason, Reply, Unusable, read
from concord.llm.thinking import visible_reply

PAGE = Path(__file__).parent.parent.parent / "docs" / "replies.md"
ASKED_AGAIN = "asked again"


class Scored(Reply):
    why: Reason
    score: Annotated[int, Field(ge=1, le=10)]


def rules(heading):
    """The rows of the table under a heading: rule, reply, what becomes of it."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    found = []
    for row in rows:
        rule, reply, outcome = re.fullmatch(r"\| (.*?) \| (.*) \| (.*?) \|", row).groups()
        ticks = re.match(r"`+", reply)[0]
        found.append(
            (rule, reply[len(ticks) : -len(ticks)].strip().replace("⏎", "\n").replace("\\|", "|"), outcome)
        )
    return found


@pytest.mark.parametrize(("rule", "reply", "outcome"), rules("A verdict in brackets"))
def test_a_verdict_in_brackets(rule, reply, outcome):
    text = visible_reply(reply).text
    if outcome == ASKED_AGAIN:
        with pytest.raises(Unusable):
            verdicts.whole_number(text, 1, 10)
    else:
        assert verdicts.whole_number(text, 1, 10)[0] == int(outcome), rule


@pytest.mark.parametrize(("rule", "reply", "outcome"), rules("A verdict in JSON"))
def test_a_verdict_in_json(rule, reply, outcome):
    if outcome == ASKED_AGAIN:
        with pytest.raises(Unusable):
            read(reply, Scored)
    else:
        assert read(reply, Scored).score == int(outcome), rule


WORDS = st.text(alphabet="abc [](){}.,:;!\n\"'`*1234567890-", max_size=60)


@given(WORDS)
def test_a_verdict_stands_in_brackets_of_the_reply(text):
    """Whatever is read stands in the text, in brackets, and nothing else is a number between 1 and 10."""
    try:
        score, _ = verdicts.whole_number(text, 1, 10)
    except Unusable:
        return
    assert re.search(rf"\[\s*0*{score}(?:\.0+)?\s*\]", text)


@given(WORDS, st.integers(1, 10), WORDS.filter(lambda text: "[" not in text))
def test_a_marked_verdict_is_found_whatever_stands_around_it(before, score, after):
    assume(not re.search(r"(?m)^\W*\[+\s*-?\d", before))  # an answer on a line of its own, which may differ
    reply = f"{before}\n\nRating: [[{score}]]\n\n{after}"
    assert verdicts.whole_number(reply, 1, 10)[0] == score


@given(st.text(alphabet="abc ,\n", max_size=30), st.integers(1, 10), st.text(alphabet="abc ", min_size=1))
def test_a_number_in_the_midst_of_a_sentence_is_never_taken(before, score, after):
    with pytest.raises(Unusable):
        verdicts.whole_number(f"{before} a [[{score}]] would do{after}", 1, 10)


PROSE = st.text(alphabet="abc {}:,.\n", max_size=40)


@given(PROSE, st.integers(1, 10), PROSE)
def test_an_object_is_found_between_prose_with_braces(before, score, after):
    assert read(f'{before}\n{{"why": "w", "score": {score}}}\n\n{after.upper()}', Scored).score == score


@given(st.text(alphabet='{}[]":,1234567890.-+eE \ntruefalsn', max_size=50))
def test_a_score_that_is_read_stands_in_the_text(text):
    try:
        found = read(text, Scored)
    except Unusable:
        return
    assert str(found.score) in re.sub(r"[^0-9]+", " ", text)
