"""Call models as each role will, and say what is wrong and how to repair it."""

import asyncio
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from concord import messages
from concord.codes import Failure
from concord.configuration import Configuration
from concord.conversation import Message
from concord.errors import CallFailed, ConcordError, ConfigError
from concord.llm import handshake, replies
from concord.llm.client import Client
from concord.llm.completions import Completion
from concord.llm.models import Model
from concord.llm.prompts import Prompt
from concord.llm.schemas import fill
from concord.rubrics import reading, rubric_store
from concord.rubrics.rubric import Rubric
from concord.runs import handshakes, rubric_judge
from concord.runs.benchmark import Materials
from concord.runs.handshakes import Handshakes, Request
from concord.runs.planning import materials
from concord.runs.registry import BENCHMARKS
from concord.store import configurations, runs
from concord.store import handshakes as stored
from concord.workspace import SHIPPED, Workspace

SYSTEM = Message("system", "You check connections.")
TEXT = "A check of the connection."
"""The text whose vector is asked of a model of kind “embeddings”."""
WORDS = ("paper", "river", "stone", "window", "garden", "letter", "winter", "candle")
TURNS = (1, 2)
"""The turns that replies about each turn are asked for."""
LENGTH = 3000
"""Words of the long prompt. No tokenizer makes fewer tokens of them; judges are sent about as many."""


@dataclass(frozen=True)
class Examination:
    """What calls to a model showed: what is wrong, with the remedy (“” if nothing is), and what was seen.

    `settings` are those of models.toml by which its endpoint takes requests, where they differ from its
    entry; `notes` are what roles of benchmarks need that the workspace has not used so far.
    """

    wrong: str = ""
    observations: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What is wrong, or what a model that answers showed."""
        observation_words = f" ({'; '.join(self.observations)})" if self.observations else ""
        form = "; ".join(messages.forms(self.settings)) if self.settings else "answers as asked"
        return self.wrong or f"{form}{observation_words}"


def samples(sources: Materials) -> list[Prompt]:
    """The longest prompt of each kind that benchmarks send.

    A kind is told by the names of its parameters and by whether its reply has a schema.
    """
    return _longest(
        benchmark.prompt(sources, name) for benchmark in BENCHMARKS.values() for name in benchmark.prompts
    )


def _longest(prompts: Iterable[Prompt]) -> list[Prompt]:
    longest: dict[tuple[frozenset[str], bool], Prompt] = {}
    for prompt in prompts:
        kind = frozenset(prompt.params), prompt.reply is not None
        if kind not in longest or _length(prompt.params) > _length(longest[kind].params):
            longest[kind] = prompt
    return list(longest.values())


def workspace_prompts(workspace: Workspace) -> list[Prompt]:
    """What the workspace's rubrics ask judges, and what roles of the benchmarks are sent that it has run.

    Where it has neither: what judges are asked by a usual rubric. Rubrics with a mistake are excluded.
    """
    prompts: list[Prompt] = []
    for name in rubric_store.names(workspace):
        with suppress(ConfigError):
            rubric_version = rubric_store.find(workspace, name)
            prompts += _prompts_of(rubric_version.rubric, rubric_version.variant)
    sources = materials(workspace)
    with workspace.read() as db:
        run = {one.plan.get("benchmark") for one in runs.recent(db) if not one.plan.get("rubric")}
    for benchmark in BENCHMARKS.values():
        if benchmark.name in run:
            prompts += _longest(benchmark.prompt(sources, name) for name in benchmark.prompts)
    return prompts or _prompts_of(reading.read(EXAMPLE_RUBRIC), "v1")


EXAMPLE_RUBRIC = SHIPPED / "data" / "examples" / "support.toml"
"""The rubric that a workspace without one is taken to use."""


def _prompts_of(rubric: Rubric, variant: str) -> list[Prompt]:
    """The prompts by which judges are asked by a rubric."""
    prompts_ = [rubric_judge.prompt_of(rubric, variant)] if rubric.criteria else []
    return prompts_ + [rubric_judge.pair_prompt_of(rubric, pair, variant) for pair in rubric.pairs]


def check(
    workspace: Workspace, models: Mapping[str, Model], *, fresh: bool = False
) -> dict[str, Examination]:
    """What calls to each model show, first those that the workspace's own work makes.

    What endpoints take is kept for later runs; `fresh` asks them as if nothing were known.
    """
    with workspace.read() as db:
        before = {} if fresh else handshakes.known_handshakes(db, models)
        results = configurations.latest(db, models)
    shaken = Handshakes(models, before)
    examinations = asyncio.run(
        examine(models, workspace_prompts(workspace), samples(materials(workspace)), shaken, results)
    )
    with workspace.write() as db:
        for name, handshake_ in shaken.by_model.items():
            if not examinations[name].wrong:
                stored.put(db, models[name].asked_as, handshake_.as_dict())
    return examinations


async def examine(
    models: Mapping[str, Model],
    main_prompts: Sequence[Prompt] = (),
    sample_prompts: Sequence[Prompt] = (),
    shaken: Handshakes | None = None,
    results: Mapping[str, Configuration] | None = None,
) -> dict[str, Examination]:
    """What calls to each model show, one as by each of these prompts and one as long as a judge's prompt.

    What `sample_prompts` need and an endpoint refuses is a note. `shaken` is what is known of the endpoints,
    to which what was found out is added; `results` are the configurations that results have.
    """
    handshakes_ = shaken or Handshakes(models, {})
    async with Client(models, retries=1) as client:

        async def one(name: str, model: Model) -> Examination:
            try:
                if model.kind != "chat":
                    await client.embed(name, [TEXT])
                    return Examination()
                examiner = _Examiner(client, model, handshakes_, (results or {}).get(name))
                observations = tuple(await examiner.observe(main_prompts))
                settings = handshake.differences(model, handshakes_.models[name])
                return Examination("", observations, settings, tuple(await examiner.notes(sample_prompts)))
            except ConcordError as error:
                return Examination(f"{error}{_hint(handshakes_.models[name], error)}")

        findings = await asyncio.gather(*(one(name, model) for name, model in models.items()))
    return dict(zip(models, findings, strict=True))


@dataclass
class _Examiner:
    """Calls one model in the form that its endpoint takes."""

    client: Client
    model: Model
    shaken: Handshakes
    result: Configuration | None

    async def observe(self, prompts: Sequence[Prompt]) -> list[str]:
        """What was seen of a model that answers as asked. Raises CallFailed."""
        served = (await self.answer("ping", {"max_tokens": 200}, None)).reported.model
        for prompt in prompts:
            try:
                await self.answer(_label(prompt), prompt.params, prompt.reply)
            except ConcordError as error:
                error.args = (f"In calls of {_label(prompt)}: {error}",)
                raise
        serving = f"served as {served}" if served else "it does not say which model it served"
        return [serving, await self.whole_document()]

    async def notes(self, prompts: Sequence[Prompt]) -> list[str]:
        """What other roles need that the endpoint refuses, a sentence each. Nothing of it is kept."""
        name = self.model.name
        notes = []
        for prompt in prompts:
            handshake_of_model = {name: self.shaken.by_model[name]} if name in self.shaken.by_model else {}
            examiner = replace(self, shaken=Handshakes({name: self.model}, handshake_of_model), result=None)
            try:
                await examiner.answer(_label(prompt), prompt.params, prompt.reply)
            except ConcordError as error:
                notes.append(f"{_label(prompt)}: {error}")
                continue
            differences_ = handshake.differences(self.shaken.models[name], examiner.shaken.models[name])
            if differences_:
                notes.append(f"{_label(prompt)}: {'; '.join(messages.forms(differences_))}")
        return notes

    async def answer(
        self, kind: str, params: Mapping[str, Any], reply: type[replies.Reply] | None
    ) -> Completion:
        """A usable reply to a short text, with what a role sends beside it. Raises CallFailed."""
        schema = replies.json_schema(reply, TURNS) if reply else None
        request = "Say in one short sentence that you are there."
        if schema is not None:
            example = json.dumps(fill(schema, random.Random(0)))
            request = f"Reply with the JSON object {example} and nothing else."
        last: list[Completion] = []

        async def call(step: str, messages: Sequence[Message], /) -> Completion:
            last[:] = [await self.ask(Request(self.model.name, kind, messages, params, schema, 0))]
            return last[0]

        await replies.answer(call, "doctor", (SYSTEM, Message("user", request)), reply)
        return last[0]

    async def ask(self, request: Request) -> Completion:
        """What the endpoint answers, in the form that it takes. Raises CallFailed."""

        async def ask(form: Model, _shaking: bool) -> Completion:
            return await self.client.complete(
                request.model, request.messages, params=request.params, schema=request.schema, form=form
            )

        async def latest() -> Configuration | None:
            return self.result

        return (await self.shaken.answer(request, ask, latest))[0]

    async def whole_document(self) -> str:
        """Says that a prompt as long as a judge's is read whole. Raises CallFailed if it is not."""
        chance = random.Random(0)
        text = " ".join(chance.choice(WORDS) for _ in range(LENGTH))
        question = Message("user", f"{text}\n\nHow many different words are these? Reply with a number.")
        params = {"max_tokens": 200}
        completion = await self.ask(Request(self.model.name, "whole", (question,), params, None, 0))
        read = completion.usage.input_tokens
        if 0 < read < LENGTH:
            raise CallFailed(
                f"It answered a prompt of {LENGTH:,} words, but read only {read:,} tokens of it.",
                code=Failure.CONTEXT_EXCEEDED,
            )
        return f"prompts of {LENGTH:,} words are read whole" if read else "it does not say how much it read"


def _label(prompt: Prompt) -> str:
    return f"{prompt.benchmark} ({prompt.name})"


def _length(params: Mapping[str, Any]) -> int:
    return int(params.get("max_tokens", 0))


def _hint(model: Model, error: ConcordError) -> str:
    """What to change in models.toml, where the failure says so."""
    code = getattr(error, "code", None)
    failure = f"{error} {getattr(error, 'raw', '')}"
    if code is Failure.CONTEXT_EXCEEDED or (code is Failure.BAD_REQUEST and "context" in failure):
        return f" Serve it with a longer context: judges are sent {LENGTH:,} tokens and more."
    if code in (Failure.TRUNCATED, Failure.EMPTY) and "length" in failure:
        return " A longer limit leaves room for thinking: params = { max_tokens = 16000 } in models.toml."
    if code is Failure.UNPARSEABLE and model.replies != "text":
        weaker = "json_object" if model.replies == "json_schema" else "text"
        return f' Try replies = "{weaker}" in models.toml.'
    return ""
