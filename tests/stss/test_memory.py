"""Retrieval by recency, importance and relevance, each worked out by hand."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest

from concord.benchmarks.stss.memory import DECAY, Memory, Stream
from tests.stss.made import at


def stream(*entries):
    found = Stream()
    for when, importance, text in entries:
        found.add(Memory(at(when), text, importance))
    return found


def retrieve(found, query, now, k):
    return asyncio.run(found.retrieve(query, now, k))


def test_relevance_is_the_cosine_of_tf_idf():
    found = stream(("1 10:00", 1, "party party"), ("1 10:00", 1, "party soup"), ("1 10:00", 1, "soup"))
    # n = 3; each word is in two memories: idf = ln(4/3) + 1 for both, so it cancels: cosines of word counts.
    assert found.lexical_relevance("party") == pytest.approx([1, 1 / math.sqrt(2), 0])
    rare = stream(("1 10:00", 1, "party soup"), ("1 10:00", 1, "soup"), ("1 10:00", 1, "soup"))
    party, soup = math.log(4 / 2) + 1, math.log(4 / 4) + 1
    assert rare.lexical_relevance("party")[0] == pytest.approx(party / math.hypot(party, soup))
    assert rare.lexical_relevance("unheard of") == pytest.approx([0, 0, 0])


def test_each_of_the_three_can_decide():
    same = "we met"
    late = stream(("1 08:00", 5, same), ("1 12:00", 5, same))
    assert retrieve(late, "x", at("1 12:00"), 1)[0].time == at("1 12:00")
    weighty = stream(("1 08:00", 9, same), ("1 08:00", 2, same))
    assert retrieve(weighty, "x", at("1 12:00"), 1)[0].importance == 9
    apt = stream(("1 08:00", 5, "a supper at the hall"), ("1 08:00", 5, "rain"))
    assert "supper" in retrieve(apt, "supper", at("1 12:00"), 1)[0].text


def test_the_three_weigh_alike():
    found = stream(("1 00:00", 10, "soup"), ("1 12:00", 1, "soup"), ("1 12:00", 1, "party"))
    # Recency 0, 1, 1 and importance 1, 0, 0 and relevance to “party” 0, 0, 1: worth 1, 1, 2.
    assert [m.text for m in retrieve(found, "party", at("1 12:00"), 1)] == ["party"]
    # Of the two worth 1 the later one is kept; what is kept is told oldest first.
    assert [m.importance for m in retrieve(found, "party", at("1 12:00"), 2)] == [1, 1]
    assert [m.importance for m in retrieve(found, "party", at("1 12:00"), 9)] == [10, 1, 1]


def test_recency_halves_in_about_three_days():
    assert pytest.approx(0.5, abs=0.01) == DECAY**69


def test_nothing_is_remembered_of_nothing():
    assert retrieve(Stream(), "x", at("1 10:00"), 5) == []
    assert np.isfinite(stream(("1 10:00", 1, "…")).lexical_relevance("…")).all()
