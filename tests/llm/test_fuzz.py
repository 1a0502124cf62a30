"""Mutated replies of every role: none raises, none gives a score that it does not hold, none takes long.

CONCORD_FUZZ says how many of each role are read; `make fuzz` reads 10,000.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
import unicodedata
from contextlib import suppress
from functools import partial

import pytest

from concord.llm import completions, verdicts
from concord.llm.completions import Broken
from concord.llm.replies import Unusable, json_schema, usable
from concord.llm.schemas import fill
from tests.llm.fault_matrix_helpers import ROLES

MANY = int(os.environ.get("CONCORD_FUZZ", "150"))
SECONDS = 1
"""CPU seconds for one reply of at most 200,000 characters. Linear reading takes .06 of them on a slow core;
what grows with the square takes minutes."""
MOST = 200_000
"""Characters of a mutated reply: twice as many as are read."""
BRACKETED = {"a score in brackets": "Rating: [[7]]", "a preference in brackets": "Verdict: [[B]]"}
"""Roles whose verdict is read from a text."""
WHOLE = partial(verdicts.whole_number, low=1, high=10)
FRAMES = (
    "{}",
    "```json\n{}\n```",
    "The player {{Nell}} is “fine” [1]. {}",
    "The player {{Nell}} is “fine” [1].\n{}\n\nSo much for {{Nell}}.",
)
JUNK = (
    "[",
    "{",
    "(",
    '{"a":',
    "{ ",
    "}",
    "]",
    '"',
    "'",
    "\\",
    "\\ud83d",
    "\ud83d",
    "\x00",
    "\u202e",
    "`" * 3,
    "1",
    "0",
    " ",
    "\n",
    ",",
    ":",
    "%",
    "≥",
    " or 9",
    "[[9]]",
    "[9]",
    "Rating: ",
    "<think>",
    "</think>",
    "//",
    "NaN",
    "-Infinity",
    "1e999",
    "9" * 5000,
    "null",
    "true",
    "/*",
    '{"score": 9}',
    "<one or two sentences>",
)


def valid(role, rng):
    """A reply that is as asked."""
    if role in BRACKETED:
        return rng.choice(("It is fine", "A [[3]] would be harsh. No")) + ".\n\n" + BRACKETED[role]
    value = fill(json_schema(ROLES[role]), rng)
    text = rng.choice((json.dumps(value), json.dumps(value, indent=1, ensure_ascii=False)))
    return rng.choice(FRAMES).format(text)


def read(role, text):
    """What is read of it. Raises Unusable."""
    if role == "a score in brackets":
        usable(text, None, WHOLE)
        return WHOLE(text)[0]
    if role == "a preference in brackets":
        usable(text, None, verdicts.preference)
        return verdicts.preference(text)[0]
    return usable(text, ROLES[role])


def truncated(text, rng):
    return text[: rng.randrange(len(text) + 1)]


def nested(text, rng):
    opened, closed = rng.choice((("[", "]"), ("{", "}"), ('{"a":', "}"), ("<think>", "</think>"), ("(", ")")))
    times = rng.choice((1, 2, 60, 250, 20_000))
    return opened * times + text + closed * rng.choice((0, times))


def repeated(text, rng):
    start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    times = rng.choice((2, 3, 100))
    return (text[:start] + text[start:end] * times + text[end:])[:MOST]


def re_encoded(text, rng):
    return rng.choice(
        (
            lambda: json.dumps(text),
            lambda: text.encode("utf-8", "surrogatepass").decode("latin-1"),
            lambda: text.encode("utf-16-le", "surrogatepass").decode("latin-1"),
            lambda: text.replace('"', "“"),
            lambda: text.replace('"', "'"),
            lambda: text.replace('"', "&quot;"),
            lambda: text.replace("\\", "\\\\"),
            lambda: text.replace("7", "７"),
            lambda: text.replace(": ", ":\u00a0"),
            lambda: text.replace("e", "\\u0065"),
        )
    )()


def spliced(text, rng):
    at = rng.randrange(len(text) + 1)
    junk = (rng.choice(JUNK) * rng.choice((1, 1, 1, 2, 500, 10_000)))[:MOST]
    return text[:at] + junk + text[at + rng.choice((0, 0, 1, 5)) :]


MUTATIONS = (truncated, nested, repeated, re_encoded, spliced)


def figures(value):
    """The numbers and truth values of a reply, each with the name of its field."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, bool | int | float):
                yield name, inner
            yield from figures(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from figures(inner)


def stands(name, figure, text):
    """Whether a reply says of this field that it is this number, and nothing that goes on behind it."""
    with suppress(ValueError, RecursionError):
        text = f"{text}\n{json.loads(text.strip())}"
    written = str(figure) if isinstance(figure, bool) else rf"{re.escape(f'{figure:g}')}(?:\.0+)?"
    named = "".join(rf"(?:{re.escape(c)}|\\u{ord(c):04x})" for c in name)
    pattern = rf"""["']{named}["']\s*:\s*["']?-?{written}["']?\s*(?:[,}}\]]|//|/\*)"""
    return re.search(pattern, text, re.I) is not None


@pytest.mark.parametrize("role", [*BRACKETED, *(role for role, reply in ROLES.items() if reply)])
def test_no_mutated_reply_raises_or_makes_up_a_score_or_takes_long(role):
    rng = random.Random(role)
    slowest, taken = (0.0, ""), 0
    for _ in range(MANY):
        text = valid(role, rng)
        for mutate in rng.choices(MUTATIONS, k=rng.choice((1, 1, 2, 3))):
            text = mutate(text, rng)
        message = {"content": text} if rng.random() < 0.9 else {"content": [{"type": "text", "text": text}]}
        content = json.dumps({"choices": [{"message": message, "finish_reason": None}]}).encode()
        content = truncated(content, rng) if rng.random() < 0.05 else content
        started, found = time.thread_time(), None
        try:
            said = completions.read(content).text
            said.encode()
            found = read(role, said)
        except (Broken, Unusable):
            pass
        slowest = max(slowest, (time.thread_time() - started, text[:200]))
        if found is None:
            continue
        taken += 1
        if role in BRACKETED:
            plain = unicodedata.normalize("NFKC", said)
            assert re.search(rf"\[\s*0*{found}(?:\.0+)?\s*\]", plain, re.I), text
        else:
            for name, figure in figures(found.model_dump(by_alias=True)):
                assert stands(name, figure, said), (name, figure, said)
    assert slowest[0] <= SECONDS, slowest
    assert taken, "some mutations leave a reply readable"


@pytest.mark.parametrize("role", [*BRACKETED, *(role for role, reply in ROLES.items() if reply)])
def test_no_prefix_of_a_reply_is_read_as_another(role):
    rng = random.Random(role)
    for _ in range(max(2, MANY // 100)):
        text = valid(role, rng)
        whole = read(role, text)
        ends = range(len(text)) if len(text) < 600 else sorted(rng.sample(range(len(text)), 600))
        for end in ends:
            try:
                found = read(role, text[:end])
            except Unusable:
                continue
            assert found == whole, text[:end]


BRACKETS = (
    "[[7]]",
    "[[10]]",
    "[3]",
    "Rating: ",
    "Verdict: ",
    "\n",
    ". ",
    " ",
    "I give it a ",
    "not ",
    "better",
    ",",
)


@pytest.mark.parametrize("seed", range(max(200, MANY)))
def test_no_prefix_of_a_text_is_read_as_another_score(seed):
    rng = random.Random(seed)
    text = "".join(rng.choices(BRACKETS, k=rng.randint(2, 9)))
    try:
        whole = WHOLE(text)[0]
    except Unusable:
        return
    for end in range(len(text)):
        try:
            found = WHOLE(text[:end])[0]
        except Unusable:
            continue
        assert found == whole, (text, text[:end])
