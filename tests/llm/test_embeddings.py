"""Vectors of texts: what a reply must hold, the short form they are kept in, and what becomes of a call that
gives none.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager

import numpy as np
import pytest
from aiohttp import web

from concord.conversation import Message
from concord.demo.server import listening
from concord.errors import CallFailed, ConfigError, NotFound
from concord.llm.client import REASKS, Client
from concord.llm.embeddings import BadVectors, pack, read, tokens, unpack
from concord.llm.models import Model, Price, pick
from concord.runs.examining import examine
from tests.mock.server import running


def reply(*vectors, **more):
    return json.dumps(
        {"data": [{"index": i, "embedding": v} for i, v in enumerate(vectors)], **more}
    ).encode()


def test_vectors_come_in_the_order_of_the_texts_and_of_length_one():
    # 3, 4 is of length 5: 0.6, 0.8.
    first, second = read(reply([3, 4], [0, 2]), 2)
    assert first.tolist() == pytest.approx([0.6, 0.8], abs=1e-3)
    assert second.tolist() == [0, 1]
    mixed = {"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]}
    assert read(json.dumps(mixed).encode(), 2)[1].tolist() == [0, 1]
    unnumbered = {"data": [{"embedding": [0, 2]}, {"embedding": [3, 4]}]}
    assert read(json.dumps(unnumbered).encode(), 2)[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<html>", "not what an embeddings endpoint"),
        (b"[]", "not what an embeddings endpoint"),
        (b'{"data": null}', "not what an embeddings endpoint"),
        (b'{"data": [1, 2]}', "not what an embeddings endpoint"),
        (b'{"choices": [{"message": {"content": "Hello"}}]}', "not what an embeddings endpoint"),
        (reply([1, 0]), "1 vectors came for 2 texts"),
        (reply([1, 0], [0, 1], [1, 1]), "3 vectors came for 2 texts"),
        (reply([1, 0], [0, 1, 0]), "One vector has 2 numbers, another 3"),
        (reply([1, 0], [0, float("nan")]), "not finite"),
        (reply([1, 0], [0, float("inf")]), "not finite"),
        (reply([1, 0], [0, 10**400]), "beyond all bounds"),
        (reply([1, 0], [0, "1"]), "not a list of numbers"),
        (reply([1, 0], [True, False]), "not a list of numbers"),
        (reply([1, 0], []), "not a list of numbers"),
        (reply([1, 0], "AACAPw=="), "not a list of numbers"),
        (reply([1, 0], [0, 0]), "all zeros"),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', "not numbered"),
        (b'{"data": [{"index": "a", "embedding": [1]}, {"index": 0, "embedding": [1]}]}', "not numbered"),
    ],
)
def test_what_is_wrong_with_vectors_is_said(content, says):
    with pytest.raises(BadVectors, match=says):
        read(content, 2)


def test_a_vector_kept_is_the_very_vector_and_short():
    (vector,) = read(reply([0.1 * i - 3 for i in range(64)]), 1)
    assert np.array_equal(unpack(pack(vector)), vector)
    assert len(pack(vector)) == 172  # 128 bytes, four characters for every three


def test_tokens_are_those_the_reply_names():
    assert tokens(reply([1], usage={"prompt_tokens": 7, "total_tokens": 7})) == 7
    assert tokens(reply([1])) == tokens(b"<html>") == tokens(b"[]") == 0


@contextmanager
def answering(*contents):
    """An endpoint that gives these replies in turn, the last one again and again."""
    left = list(contents)

    async def embed(request):
        return web.Response(body=left.pop(0) if len(left) > 1 else left[0], content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/embeddings", embed)

    async def vectors(texts, **settings):
        async with listening(app) as url:
            model = Model(name="m", kind="embeddings", base_url=url, **settings)
            async with Client({"m": model}, retries=0) as client:
                return await client.embed("m", texts)

    yield lambda texts, **settings: asyncio.run(vectors(texts, **settings))


USED = {"prompt_tokens": 10, "total_tokens": 10}


def test_vectors_of_no_use_are_asked_for_again_and_every_attempt_is_paid():
    with answering(reply([1, 0], usage=USED), reply([1, 0], [0, 1], usage=USED)) as embed:
        done = embed(["one", "two"], price=Price(input=1e6, output=0))
    assert [v.tolist() for v in done.vectors] == [[1, 0], [0, 1]]
    assert (done.usage.calls, done.usage.input_tokens, done.usage.cost) == (2, 20, 20)


def test_vectors_that_stay_of_no_use_are_a_failure_with_its_reason():
    with (
        answering(reply([1, 0], usage=USED)) as embed,
        pytest.raises(CallFailed, match="1 vectors came for 2 texts") as caught,
    ):
        embed(["one", "two"])
    assert (caught.value.code, caught.value.spent.calls) == ("unparseable", 1 + REASKS)
    assert "embedding" in caught.value.raw


@pytest.fixture(scope="module")
def embedder():
    with running() as url:
        yield Model(name="m", kind="embeddings", base_url=url, model="mock-embeddings")


def embed(model, texts):
    async def go():
        async with Client({"m": model}, retries=2) as client:
            return await client.embed("m", texts)

    return asyncio.run(go())


def test_the_mock_models_puts_texts_with_words_in_common_near_each_other(embedder):
    party, feast, rain, again = embed(
        embedder, ["a party at the hall", "the party in the hall", "heavy rain", "a party at the hall"]
    ).vectors
    assert party.shape == (64,)
    assert np.array_equal(party, again)
    assert party @ feast > party @ rain
    assert embed(embedder.model_copy(update={"params": {"dimensions": 8}}), ["rain"]).vectors[0].shape == (8,)
    with pytest.raises(CallFailed, match="none of them empty"):
        embed(embedder, ["rain", ""])
    with pytest.raises(CallFailed, match="does not know “m” as “mock-vivid”"):
        embed(embedder.model_copy(update={"model": "mock-vivid"}), ["rain"])


def test_an_endpoint_in_trouble_is_asked_again():
    from tests.mock.faults import Faults

    with running(faults=Faults(rate_limit=2, malformed=3, retry_after=0.01)) as url:
        model = Model(name="m", kind="embeddings", base_url=url, model="mock-embeddings")
        assert [embed(model, ["rain", "sun"]).usage.calls for _ in range(2)] == [1, 2]


def test_a_model_of_the_other_kind_is_refused_by_name():
    models = {"talker": Model(name="talker"), "embedder": Model(name="embedder", kind="embeddings")}
    assert pick(models, "embedder", None).name == "embedder"
    with pytest.raises(ConfigError, match=r"“embedder” is an embeddings model.*neither talk nor judge"):
        pick(models, "embedder")
    with pytest.raises(ConfigError, match="“talker” is a chat model; vectors need a model"):
        pick(models, "talker", "embeddings")
    with pytest.raises(NotFound, match="Did you mean “embedder”"):
        pick(models, "embeder", "embeddings")

    async def talk():
        async with Client(models) as client:
            await client.complete("embedder", [Message("user", "Hello")])

    with pytest.raises(ConfigError, match="neither talk nor judge"):
        asyncio.run(talk())


def test_doctor_asks_for_vectors_where_that_is_what_a_model_does(embedder):
    talker = embedder.model_copy(update={"model": "mock-bland"})
    found = asyncio.run(
        examine(
            {
                "well": embedder.model_copy(update={"name": "well"}),
                "ill": talker.model_copy(update={"name": "ill"}),
            }
        )
    )
    assert found["well"].wrong == ""
    assert "does not know “ill”" in found["ill"].wrong
    assert "replies" not in found["ill"].wrong
