"""Call models as each role will, and say what is wrong and how to repair it."""

import asyncio
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from concord.conversation import Message
from concord.errors import CallFailed, ConcordError
from concord.llm import adapting, replies
from concord.llm.client import Client
from concord.llm.completions import Completion
from concord.llm.models import Model
from concord.llm.schemas import fill
from concord.runs.benchmark import Benchmark, Materials
from concord.runs.planning import check_roles, materials
from concord.runs.registry import BENCHMARKS, get
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
class RoleCall:
    """What a role sends: the prompt's name, its parameters, and the schema of the reply."""

    benchmark: str
    role: str
    prompt: str
    params: Mapping[str, Any]
    reply: type[replies.Reply] | None

    def __str__(self) -> str:
        return f"{self.role} of {self.benchmark} ({self.prompt})"


@dataclass(frozen=True)
class Examined:
    """What calls to a model showed: what is wrong, with the remedy (“” if nothing is), what was seen, and
    what was changed of calls.
    """

    wrong: str = ""
    seen: tuple[str, ...] = ()
    adaptation: str = ""

    @property
    def sentence(self) -> str:
        """What is wrong, or what a model that answers as asked showed."""
        seen = f" ({'; '.join(self.seen)})" if self.seen else ""
        return self.wrong or f"answers as asked{seen}"


def samples(brought: Materials, benchmarks: Iterable[Benchmark]) -> list[RoleCall]:
    """What every role of these benchmarks sends."""
    calls = []
    for benchmark in benchmarks:
        for role in benchmark.roles:
            for name in role.prompts:
                prompt = benchmark.prompt(brought, name)
                calls.append(RoleCall(benchmark.name, role.name, name, prompt.params, prompt.reply))
    return calls


def kinds(every: Iterable[RoleCall], model: Model) -> list[RoleCall]:
    """One of each kind: the names of the parameters and whether there is a schema; the longest of a kind."""
    longest: dict[tuple[frozenset[str], bool], RoleCall] = {}
    for sample in every:
        names = {*sample.params, *model.roles.get(sample.role, {})}
        kind = frozenset(names), sample.reply is not None
        if kind not in longest or _length(sample) > _length(longest[kind]):
            longest[kind] = sample
    return list(longest.values())


def check(
    workspace: Workspace, chosen: Mapping[str, Model], benchmarks: Sequence[str] = ()
) -> dict[str, Examined]:
    """`examine` with one call of each kind that roles send, or what each role of these benchmarks sends."""
    check_roles(chosen.values())
    every = samples(materials(workspace), map(get, benchmarks or BENCHMARKS))
    return asyncio.run(examine(chosen, every, each=bool(benchmarks)))


async def examine(
    models: Mapping[str, Model], every: Sequence[RoleCall] = (), *, each: bool = False
) -> dict[str, Examined]:
    """What calls to each model show. Of `every` call one of each kind is sent, or `each` of them."""
    async with Client(models, retries=1) as client:

        async def one(name: str, model: Model) -> Examined:
            try:
                if model.kind != "chat":
                    await client.embed(name, [TEXT])
                    return Examined()
                sent = every if each else kinds(every, model)
                return Examined("", tuple(await _examined(client, name, sent)))
            except ConcordError as error:
                return Examined(f"{error}{_hint(model, error)}")

        findings = await asyncio.gather(*(one(name, model) for name, model in models.items()))
        adaptations = client.adaptations
    return {
        name: Examined(finding.wrong, finding.seen, adaptations.get(name, ""))
        for name, finding in zip(models, findings, strict=True)
    }


async def _examined(client: Client, name: str, sent: Sequence[RoleCall]) -> list[str]:
    """What was seen of a model that answers as asked. Raises CallFailed."""
    done = await _answered(client, name, RoleCall("", "", "ping", {"max_tokens": 200}, Ping))
    served = done.reported.model
    seen = [f"served as {served}" if served else "it does not say which model it served"]
    for sample in sent:
        try:
            await _answered(client, name, sample)
        except ConcordError as error:
            error.args = (f"As {sample}: {error}",)
            raise
    return [*seen, await _whole(client, name)]


async def _answered(client: Client, name: str, sample: RoleCall) -> Completion:
    """A usable reply to what a role sends, with a short text. Raises CallFailed."""
    schema = replies.json_schema(sample.reply) if sample.reply else None
    request = "Say in one short sentence that you are there."
    if schema is not None:
        example = json.dumps(fill(schema, random.Random(0)))
        request = f"Reply with the JSON object {example} and nothing else."
    last: list[Completion] = []

    async def call(step: str, messages: Sequence[Message], /) -> Completion:
        last[:] = [
            await client.complete(name, messages, params=sample.params, schema=schema, role=sample.role)
        ]
        return last[0]

    await replies.answer(call, "doctor", (SYSTEM, Message("user", request)), sample.reply)
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
            kind="cut",
        )
    return f"prompts of {LENGTH:,} words are read whole" if read else "it does not say how much it read"


def _length(sample: RoleCall) -> int:
    return int(sample.params.get("max_tokens", 0))


def _hint(model: Model, error: ConcordError) -> str:
    """What to change in models.toml, where the failure says so."""
    kind, failure = getattr(error, "kind", ""), f"{error} {getattr(error, 'raw', '')}"
    own = [
        name for name in (*model.params, *(n for of in model.roles.values() for n in of)) if name in failure
    ]
    if kind == "bad_request" and own:
        return f' models.toml sets {own[0]} itself: take it out, or write {own[0]} = "unset".'
    if kind == "bad_request" and "context" in failure:
        return f" Serve it with a longer context: judges are sent {LENGTH:,} tokens and more."
    if kind in ("truncated", "empty") and "length" in failure:
        return " A longer limit leaves room for thinking: params = { max_tokens = 16000 } in models.toml."
    refused = getattr(error, "reason", "") in {f"HTTP {status}" for status in adapting.STATUSES}
    if (kind == "unparsable" or refused) and model.kind == "chat" and model.replies != "text":
        weaker = "json_object" if model.replies == "json_schema" else "text"
        return f' Try replies = "{weaker}" in models.toml.'
    return ""
