"""Call models as each role will, and say what is wrong and how to repair it."""

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from concord.codes import Failure
from concord.conversation import Message
from concord.errors import CallFailed, ConcordError
from concord.llm import replies
from concord.llm.client import Client
from concord.llm.completions import Completion
from concord.llm.models import Model
from concord.llm.prompts import Prompt
from concord.llm.schemas import fill
from concord.runs.benchmark import Materials
from concord.runs.planning import materials
from concord.runs.registry import BENCHMARKS
from concord.workspace import Workspace


class Ping(replies.Reply):
    """The smallest reply there is."""

    ok: bool


SYSTEM = Message("system", "You check connections.")
TEXT = "A check of the connection."
"""The text whose vector is asked of a model of kind “embeddings”."""
WORDS = ("paper", "river", "stone", "window", "garden", "letter", "winter", "candle")
LENGTH = 3000
"""Words of the long prompt. No tokenizer makes fewer tokens of them; judges are sent about as many."""


@dataclass(frozen=True)
class Examined:
    """What calls to a model showed: what is wrong, with the remedy (“” if nothing is), and what was seen."""

    wrong: str = ""
    seen: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What is wrong, or what a model that answers as asked showed."""
        seen = f" ({'; '.join(self.seen)})" if self.seen else ""
        return self.wrong or f"answers as asked{seen}"


def samples(brought: Materials) -> list[Prompt]:
    """The longest prompt of each kind that benchmarks send.

    A kind is told by the names of its parameters and by whether its reply has a schema.
    """
    longest: dict[tuple[frozenset[str], bool], Prompt] = {}
    for benchmark in BENCHMARKS.values():
        for name in benchmark.prompts:
            prompt = benchmark.prompt(brought, name)
            kind = frozenset(prompt.params), prompt.reply is not None
            if kind not in longest or _length(prompt.params) > _length(longest[kind].params):
                longest[kind] = prompt
    return list(longest.values())


def check(workspace: Workspace, models: Mapping[str, Model]) -> dict[str, Examined]:
    """What calls to each model show, one of each kind that roles send."""
    return asyncio.run(examine(models, samples(materials(workspace))))


async def examine(models: Mapping[str, Model], sent: Sequence[Prompt] = ()) -> dict[str, Examined]:
    """What calls to each model show, one as by each of these prompts and one as long as a judge's prompt."""
    async with Client(models, retries=1) as client:

        async def one(name: str, model: Model) -> Examined:
            try:
                if model.kind != "chat":
                    await client.embed(name, [TEXT])
                    return Examined()
                return Examined("", tuple(await _seen(client, name, sent)))
            except ConcordError as error:
                return Examined(f"{error}{_hint(model, error)}")

        findings = await asyncio.gather(*(one(name, model) for name, model in models.items()))
    return dict(zip(models, findings, strict=True))


async def _seen(client: Client, name: str, sent: Sequence[Prompt]) -> list[str]:
    """What was seen of a model that answers as asked. Raises CallFailed."""
    served = (await _answered(client, name, {"max_tokens": 200}, Ping)).reported.model
    for prompt in sent:
        try:
            await _answered(client, name, prompt.params, prompt.reply)
        except ConcordError as error:
            error.args = (f"In calls of {prompt.benchmark} ({prompt.name}): {error}",)
            raise
    seen = f"served as {served}" if served else "it does not say which model it served"
    return [seen, await _whole(client, name)]


async def _answered(
    client: Client, name: str, params: Mapping[str, Any], reply: type[replies.Reply] | None
) -> Completion:
    """A usable reply to a short text, with what a role sends beside it. Raises CallFailed."""
    schema = replies.json_schema(reply) if reply else None
    request = "Say in one short sentence that you are there."
    if schema is not None:
        example = json.dumps(fill(schema, random.Random(0)))
        request = f"Reply with the JSON object {example} and nothing else."
    last: list[Completion] = []

    async def call(step: str, messages: Sequence[Message], /) -> Completion:
        last[:] = [await client.complete(name, messages, params=params, schema=schema)]
        return last[0]

    await replies.answer(call, "doctor", (SYSTEM, Message("user", request)), reply)
    return last[0]


async def _whole(client: Client, name: str) -> str:
    """Says that a prompt as long as a judge's is read whole. Raises CallFailed if it is refused or cut."""
    chance = random.Random(0)
    text = " ".join(chance.choice(WORDS) for _ in range(LENGTH))
    question = Message("user", f"{text}\n\nHow many different words are these? Reply with a number.")
    done = await client.complete(name, (question,), params={"max_tokens": 200})
    read = done.spent.input_tokens
    if 0 < read < LENGTH:
        raise CallFailed(
            f"It answered a prompt of {LENGTH:,} words, but read only {read:,} tokens of it. Serve it with a "
            "longer context: a judge who sees half a conversation rates it all the same.",
            code=Failure.CONTEXT_EXCEEDED,
        )
    return f"prompts of {LENGTH:,} words are read whole" if read else "it does not say how much it read"


def _length(params: Mapping[str, Any]) -> int:
    return int(params.get("max_tokens", 0))


def _hint(model: Model, error: ConcordError) -> str:
    """What to change in models.toml, where the failure says so."""
    code, failure = getattr(error, "code", None), f"{error} {getattr(error, 'raw', '')}"
    if code is Failure.BAD_REQUEST and "context" in failure:
        return f" Serve it with a longer context: judges are sent {LENGTH:,} tokens and more."
    if code in (Failure.TRUNCATED, Failure.EMPTY) and "length" in failure:
        return " A longer limit leaves room for thinking: params = { max_tokens = 16000 } in models.toml."
    if code is Failure.UNPARSEABLE and model.replies != "text":
        weaker = "json_object" if model.replies == "json_schema" else "text"
        return f' Try replies = "{weaker}" in models.toml.'
    return ""
