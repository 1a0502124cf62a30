"""Retrieval by meaning: cosines by hand, each text embedded once and in company, the same whatever the order
of replies.
"""

from __future__ import annotations

import asyncio
import json
import random

import numpy as np
import pytest

from concord.benchmarks.stss.memory import Memory, Stream, Vectors
from concord.codes import Failure
from concord.errors import CallFailed
from concord.llm.embeddings import BATCH
from tests.stss.asking import Asking, simulate
from tests.stss.made import at


class Embedding:
    """Gives the vectors of a table, or what `vector` makes of a text; keeps what went in each call."""

    def __init__(self, table=None, vector=None, delay=None):
        self.vector = vector or (lambda text: table[text])
        self.delay = random.Random(delay) if delay is not None else None
        self.calls = []

    async def embed(self, model, texts):
        self.calls.append(list(texts))
        for _ in range(self.delay.randrange(9) if self.delay else 1):
            await asyncio.sleep(0)
        return [np.array(self.vector(text), dtype=np.float16) for text in texts]


TABLE = {"supper": [1, 0], "dinner": [0.8, 0.6], "rain": [0, 1], "drought": [-1, 0], "meal": [1, 0]}


def stream(ask, *texts):
    found = Stream(vectors=Vectors(ask, "m"))
    for text in texts:
        found.add(Memory(at("1 08:00"), text, 5))
    return found


def test_relevance_is_the_cosine_of_the_vectors():
    ask = Embedding(TABLE)
    found = asyncio.run(Vectors(ask, "m").cosines(["supper", "dinner", "rain", "drought", " "], "meal"))
    # (1, 0)·(1, 0) = 1; (0.8, 0.6)·(1, 0) = 0.8; 0; −1; a blank text is near nothing and is not sent.
    assert found == pytest.approx([1, 0.8, 0, -1, 0], abs=1e-3)
    assert ask.calls == [["supper", "dinner", "rain", "drought", "meal"]]
    assert asyncio.run(Vectors(ask, "m").cosines(["rain"], "")).tolist() == [0]


def test_what_means_the_same_is_retrieved_though_no_word_is_shared():
    remembering = stream(Embedding(TABLE), "rain", "dinner", "drought")
    (best,) = asyncio.run(remembering.retrieve("meal", at("1 12:00"), 1))
    assert best.text == "dinner"
    # Recency and importance are the same for all, and no memory holds the word: lexically the latest would be
    # taken.
    lexical = Stream(remembering.memories)
    for memory in ("rain", "dinner", "drought"):
        lexical.add(Memory(at("1 08:00"), memory, 5))
    assert lexical.lexical_relevance("meal").tolist() == [0] * len(lexical.memories)


def test_of_memories_with_the_same_words_the_later_is_taken():
    rng = np.random.default_rng(0)
    known = {}
    remembering = stream(
        Embedding(vector=lambda t: known.setdefault(t, rng.normal(size=301))), *["we met"] * 7
    )
    cosines = asyncio.run(remembering.vectors.cosines(["we met"] * 7, "who?"))
    assert len(set(cosines.tolist())) == 1
    assert asyncio.run(remembering.retrieve("who?", at("1 12:00"), 1))[0] is remembering.memories[-1]


def test_texts_wanted_at_one_moment_go_in_one_call():
    ask = Embedding(vector=lambda text: [len(text), 1])

    async def go():
        vectors = Vectors(ask, "m")
        await asyncio.gather(*(vectors.cosines(["shared", f"own {i}"], "what?") for i in range(5)))
        await vectors.cosines(["shared", "own 3"], "what?")
        await vectors.cosines(["shared", "own 9"], "what?")

    asyncio.run(go())
    assert ask.calls == [["shared", "own 0", "what?", "own 1", "own 2", "own 3", "own 4"], ["own 9"]]


def test_calls_are_no_longer_than_servers_take():
    ask = Embedding(vector=lambda text: [1, len(text)])
    asyncio.run(Vectors(ask, "m").cosines([f"memory {i}" for i in range(2 * BATCH)], "what?"))
    assert [len(call) for call in ask.calls] == [BATCH, BATCH, 1]


def test_a_failure_reaches_all_who_waited_and_nothing_more_is_asked():
    class Failing(Embedding):
        async def embed(self, model, texts):
            found = await super().embed(model, texts)
            if len(self.calls) == 1:
                raise CallFailed("The endpoint is gone.", code=Failure.SERVER)
            return found

    ask = Failing(TABLE)

    async def go():
        vectors = Vectors(ask, "m")
        failed = await asyncio.gather(
            *(vectors.cosines([t], "meal") for t in ("rain", "supper")), return_exceptions=True
        )
        return failed

    assert [str(failure) for failure in asyncio.run(go())] == ["The endpoint is gone."] * 2
    assert len(ask.calls) == 1


def test_vectors_of_another_length_within_a_simulation_are_refused():
    ask = Embedding(vector=lambda text: [1] * (2 if text == "rain" else 3))

    async def go():
        vectors = Vectors(ask, "m")
        await vectors.cosines(["rain"], "rain")
        await vectors.cosines(["supper"], "rain")

    with pytest.raises(
        CallFailed, match=r"“m” gave vectors of 2 and of 3 numbers within one simulation.*dimensions"
    ):
        asyncio.run(go())


class Living(Asking):
    """The mock models' replies and vectors, late and out of order where told."""

    def __init__(self, delay=None):
        super().__init__(delay)
        from concord.llm.embeddings import read
        from tests.mock.texts import embed

        self.vectors = Embedding(delay=delay)
        self.vectors.vector = lambda text: read(
            json.dumps(embed(json.dumps({"input": text}).encode())).encode(), 1
        )[0]

    async def embed(self, model, texts):
        return await self.vectors.embed(model, texts)


def test_the_order_in_which_vectors_and_replies_arrive_changes_nothing():
    asked = [Living(delay) for delay in (None, 1, 2)]
    first, *others = [
        json.dumps(simulate(ask, architecture="GA+TDP", embeddings="m").trajectory, sort_keys=True)
        for ask in asked
    ]
    assert all(other == first for other in others)
    sent = [[text for call in ask.vectors.calls for text in call] for ask in asked]
    for texts, ask in zip(sent, asked, strict=True):
        assert len(texts) == len(set(texts)), "a text was embedded twice"
        assert len(ask.vectors.calls) < len(texts) / 2
    assert set(sent[0]) == set(sent[1]) == set(sent[2])


def test_meaning_changes_what_prompts_are_given():
    prompts = {}
    for embeddings in ("", "m"):
        ask = Living()
        simulate(ask, embeddings=embeddings)
        prompts[embeddings] = {step: prompt for step, (_, _, prompt) in ask.asked.items()}
    shared = prompts[""].keys() & prompts["m"].keys()
    assert any(prompts[""][step] != prompts["m"][step] for step in shared)
