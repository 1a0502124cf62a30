"""How a piece of work asks models: the journal where the same call was answered before, else the endpoint.

An answer is counted, with what it cost, and noted in the journal as it arrives.
"""

import asyncio
import hashlib
import json
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from concord import messages as said
from concord.codes import Failure
from concord.configuration import Configuration, Reported, Use
from concord.conversation import Message
from concord.errors import CallFailed, RunStopped
from concord.llm import api_errors, embeddings, labelled, replies
from concord.llm.client import Client, Embedded, billed
from concord.llm.completions import Completion, ReplyDetails
from concord.llm.embeddings import Vector
from concord.llm.handshake import Handshake
from concord.llm.models import Model
from concord.llm.places import JudgedText
from concord.llm.prompts import RenderedPrompt
from concord.llm.replies import Unusable
from concord.rating import NOTHING_SPENT, Spent
from concord.runs import programs
from concord.runs.budget import Budget, most_tokens
from concord.runs.handshakes import Handshakes, Request
from concord.store.runs import NotedCall
from concord.store.writer import obstacle

PROGRAMS = 2
"""How many of one judge that is a program run at once, unless its entry says."""
PATIENCE = 10
"""A model's work ends after this many failures in a row: the rest would fail as well."""
_VECTORS = "_vectors "
"""Prefix of the journal's steps for vectors. They sort first: the last step tells how far a play is."""
_Result = TypeVar("_Result", Completion, Embedded)


class Halt(Protocol):
    """Stops a run for a reason; `broken` if it could not go on."""

    def __call__(self, reason: str, *, broken: bool = False) -> None:
        """Make no new calls."""


class Journal(Protocol):
    """Where answered calls are kept until their work is done: the store of a run, a file of a partition."""

    @property
    def folder(self) -> Path:
        """Where a program that judges is looked for first."""

    async def admit(self) -> None:
        """Wait until a call may be made, called before each. Raises RunStopped if the work has stopped."""

    def note(
        self, work: str, step: str, note: NotedCall, entry: Model, model: Model, handshake: Handshake | None
    ) -> None:
        """Keep an answered call, what it cost, and the handshake that it was.

        `entry` is that of models.toml, `model` what its endpoint takes.
        """

    def spend(self, cost: Spent) -> None:
        """Keep what a call cost that gave no answer."""

    def forget(self, work: str, step: str) -> None:
        """Forget the replies of a step that were all unusable: the next attempt asks again."""

    async def latest(self, model: str) -> Configuration | None:
        """The configuration of a model's results so far."""


class Gathering(Protocol):
    """Takes calls that are answered by batch."""

    async def ask(
        self,
        work: str,
        step: str,
        prompt_hash: str,
        model: str,
        body: Callable[[], Mapping[str, Any]],
        *,
        gathers: bool = True,
    ) -> None:
        """Returns if the call is to be made directly; see `concord.runs.batches.Batches.ask`."""


@dataclass
class Calls:
    """What the pieces of work of a run share to ask models, and what they have spent.

    `models` are as their endpoints take requests; `run` tells the seeds of a retry on demand from others.
    Only the run's event loop changes it.
    """

    run: int
    journal: Journal
    models: Mapping[str, Model]
    retry_failed: bool
    client: Client
    batches: Gathering
    handshakes: Handshakes
    budget: Budget | None
    halt: Halt
    usage: Spent = NOTHING_SPENT
    failing: Counter[str] = field(default_factory=Counter)
    """Failures in a row, by model."""
    answered_models: set[str] = field(default_factory=set)
    """Models whose endpoint has ever answered."""
    stopped: dict[str, str] = field(default_factory=dict)
    """Why no more calls to a model are made."""
    asking: Counter[str] = field(default_factory=Counter)
    """Requests to a model that are under way."""
    forbidden: dict[str, list[asyncio.Future[bool]]] = field(default_factory=dict)
    """Requests to a model that were forbidden before it answered any: whether it answers another one."""
    programs: dict[str, asyncio.Semaphore] = field(default_factory=dict)

    def check_asked(self, model: str) -> None:
        """Raises RunStopped where no more calls to a model are made."""
        if model in self.stopped:
            raise RunStopped(self.stopped[model])

    def stop_model(self, model: str, reason: str) -> None:
        """Make no more calls to a model; the work of others goes on. A run whose models all stopped ends."""
        if model in self.stopped:
            return
        self.stopped[model] = reason
        self.client.stop_model(model)
        self._decide(model, answers=False)
        if self.stopped.keys() >= {
            name for name, model_entry in self.models.items() if model_entry.kind != "program"
        }:
            self.halt(said.models_stopped(self.stopped, others=False), broken=True)

    def has_answered(self, model: str) -> None:
        """An endpoint has answered a request to a model: what it forbade before were single requests."""
        self.failing[model] = 0
        if model not in self.answered_models:
            self.answered_models.add(model)
            self._decide(model, answers=True)

    @contextmanager
    def under_way(self, model: str) -> Iterator[None]:
        """Count a request to a model for the block."""
        self.asking[model] += 1
        try:
            yield
        finally:
            self.asking[model] -= 1
            self._look(model)

    async def answers_others(self, model: str) -> bool:
        """Whether an endpoint that forbade a request answers others: it did, or one that is under way is.

        What it forbids before it has ever answered is the model's (the key, the region, the organisation).
        """
        if model in self.answered_models or model in self.stopped:
            return model in self.answered_models
        decision: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.forbidden.setdefault(model, []).append(decision)
        self._look(model)
        return await decision

    def _look(self, model: str) -> None:
        """Nothing is under way that could still be answered: then the endpoint answers none."""
        if len(self.forbidden.get(model, ())) >= self.asking[model]:
            self._decide(model, answers=False)

    def _decide(self, model: str, *, answers: bool) -> None:
        for decision in self.forbidden.pop(model, []):
            if not decision.done():
                decision.set_result(answers)

    def release(self) -> None:
        """The run has stopped: nothing more is answered."""
        for model in list(self.forbidden):
            self._decide(model, answers=False)


class Asker:
    """Asks for one piece of work: the journal where the same call was answered before, else the endpoint."""

    def __init__(self, calls: Calls, work: str, noted: Mapping[str, NotedCall]):
        self.calls = calls
        self.work = work
        self.noted = noted
        self.spent = NOTHING_SPENT
        self.reported: dict[str, Counter[Reported]] = {}
        self.failure: CallFailed | None = None
        """The last reply that stayed unusable."""
        self.last = ("", "", "")
        """The step, the model and the text of the last reply."""
        self.vectors: dict[str, tuple[str, Reported]] = {}
        for step, call in noted.items():
            if step.startswith(_VECTORS):
                self.vectors |= {mark: (v, call.reported) for mark, v in json.loads(call.reply).items()}
                self.spent += call.spent

    def use(self, model: str) -> Use:
        """The configuration of a model, and what its endpoint reported for this piece of work."""
        return Use(self.calls.models[model].configuration, self.reported.get(model, {}))

    async def __call__(
        self,
        step: str,
        model: str,
        prompt: RenderedPrompt,
        check: Callable[[Any], object] | None = None,
        /,
        *,
        may_be_empty: bool = False,
    ) -> replies.Answer:
        """The usable reply to a prompt, as `concord.llm.replies.answer` gives it. Raises CallFailed."""

        entry = self.calls.models[model]
        if entry.kind == "chat":
            prompt = prompt.asked_as(entry.replies)

        async def call(step: str, messages: Sequence[Message], /) -> Completion:
            return await self._call(step, model, messages, prompt)

        try:
            if entry.kind == "program":
                return await self._returned(model, prompt, check)
            return await replies.answer(
                call,
                step,
                prompt.messages,
                prompt.reply,
                check,
                may_be_empty=may_be_empty,
                judged=JudgedText(prompt.judged),
                reader=labelled.read if prompt.labelled else None,
            )
        except CallFailed as failure:
            failure.model = failure.model or model
            self.failure = failure
            if failure.code.on_demand:
                # The next attempt must not read these unusable replies again.
                self.calls.journal.forget(self.work, step)
            raise

    def unexpected(self, error: Exception) -> CallFailed:
        """As `failing`; the last reply is forgotten, so that a retry on demand asks again."""
        self.failure = self.failing(error)
        step = self.last[0]
        self.calls.journal.forget(self.work, step)
        return self.failure

    def failing(self, error: Exception) -> CallFailed:
        """The failure of this work alone, for an error that nobody foresaw, with the last reply.

        Raises the error where it keeps the store from being used at all.
        """
        if obstacle(error):
            raise error
        _, model, text = self.last
        place = traceback.extract_tb(error.__traceback__)[-1]
        place_words = f"{Path(place.filename).name}, line {place.lineno}"
        message = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        failure = CallFailed(
            f"It failed unexpectedly: {message} ({place_words}). Other work continues. Please report it.",
            code=Failure.UNEXPECTED,
            raw=text,
            reason=f"unexpected: {type(error).__name__}",
        )
        failure.model = model
        return failure

    async def _call(
        self,
        step: str,
        model: str,
        messages: Sequence[Message],
        prompt: RenderedPrompt,
    ) -> Completion:
        calls = self.calls
        params = prompt.params
        schema = prompt.schema
        # What its endpoint takes may be found out between two calls: the entry says what is asked.
        configuration = calls.handshakes.entries[model].configuration
        spoken = [(m.role, m.content, *m.images.values()) for m in messages]
        digest = _digest([configuration.hash, spoken, dict(params), schema])
        noted = self.noted.get(step)
        if noted is not None and noted.asked == digest:
            self.spent += noted.spent
            self._count(model, noted.reported)
            calls.answered_models.add(model)
            details = ReplyDetails.from_dict(noted.details)
            self.last = (step, model, noted.reply)
            return Completion(noted.reply, noted.cut, noted.spent, noted.reported, details)
        # A retry on demand must not get the answer that failed.
        seed = int(_digest([self.work, step, calls.run if calls.retry_failed else 0])[:8], 16)
        kind = (model, prompt.name, prompt.reply, bool(prompt.turns), messages[0].role)
        request = Request(model, kind, messages, params, schema, seed)

        async def ask(entry: Model, shaking: bool) -> Completion:
            await calls.batches.ask(
                self.work, step, digest, model, lambda: request.body(entry), gathers=not shaking
            )
            try:
                return await self._with_budget(
                    model,
                    lambda: calls.client.complete(
                        model, messages, params=params, schema=schema, seed=seed, form=entry
                    ),
                    lambda: request.body(entry),
                )
            except CallFailed as failure:
                if not (shaking and request.is_refused(entry, failure)):
                    self._failing(model, failure)
                raise

        async def latest() -> Configuration | None:
            return await calls.journal.latest(model)

        calls.check_asked(model)
        with calls.under_way(model):
            try:
                completion, handshake = await calls.handshakes.answer(request, ask, latest)
            except CallFailed as failure:
                if failure.code is Failure.FORM_REFUSED:
                    self._failing(model, failure)
                raise (await self._single(model, failure)) from None
        self.last = (step, model, completion.text)
        self._count(model, completion.reported)
        note = NotedCall(
            digest,
            completion.text,
            completion.cut,
            completion.usage,
            completion.reported,
            completion.details.as_dict(),
        )
        self._note(step, note, model, handshake)
        return completion

    async def embed(self, model: str, texts: Sequence[str], /) -> list[Vector]:
        """Vectors from the journal or the endpoint. A resumed run may group the texts differently."""
        calls = self.calls
        configuration = calls.handshakes.entries[model].configuration
        marks = [_digest([configuration.hash, text]) for text in texts]
        new = {mark: text for mark, text in zip(marks, texts, strict=True) if mark not in self.vectors}
        if new:
            texts = list(new.values())
            body = {"input": texts}
            calls.check_asked(model)
            with calls.under_way(model):
                try:
                    embedded = await self._with_budget(
                        model, lambda: calls.client.embed(model, texts), lambda: body
                    )
                except CallFailed as failure:
                    self._failing(model, failure)
                    raise (await self._single(model, failure)) from None
            packed = {mark: embeddings.pack(v) for mark, v in zip(new, embedded.vectors, strict=True)}
            self.vectors |= {mark: (vector, embedded.reported) for mark, vector in packed.items()}
            note = NotedCall("", json.dumps(packed), False, embedded.usage, embedded.reported)
            step = _VECTORS + next(iter(new))
            self._note(step, note, model)
        self._count(model, *{self.vectors[mark][1] for mark in marks})
        return [embeddings.unpack(self.vectors[mark][0]) for mark in marks]

    def _note(self, step: str, note: NotedCall, model: str, handshake: Handshake | None = None) -> None:
        """Keep an answered call, what it cost, and the handshake that it was."""
        calls = self.calls
        entry = calls.handshakes.entries[model]
        calls.journal.note(self.work, step, note, entry, calls.models[model], handshake)

    async def _returned(
        self, model: str, prompt: RenderedPrompt, check: Callable[[Any], object] | None
    ) -> replies.Answer:
        """What a program that judges returns; as many run at once as its entry says."""
        calls = self.calls
        entry = self.calls.models[model]
        gate = calls.programs.setdefault(model, asyncio.Semaphore(entry.max_concurrency or PROGRAMS))
        async with gate:
            await calls.journal.admit()
            text = await programs.answer(entry, prompt.program_input, calls.journal.folder)
        self.last = ("", model, text)
        try:
            value = replies.usable(text, prompt.reply, check)
        except Unusable as error:
            message = f"What the program returned cannot be used: {error}"
            raise CallFailed(
                message, code=Failure.UNPARSEABLE, raw=text, reason="a program: not as asked"
            ) from error
        return replies.Answer(text, value, False, NOTHING_SPENT)

    def _count(self, model: str, *reported: Reported) -> None:
        self.reported.setdefault(model, Counter()).update(reported)

    async def _with_budget(
        self,
        model: str,
        call: Callable[[], Awaitable[_Result]],
        request_body: Callable[[], Mapping[str, Any]],
    ) -> _Result:
        """The answer of an endpoint to what is `request_body`; counts what it cost."""
        if self.calls.budget is None:
            return await self._call_endpoint(model, call)
        body = request_body()
        size = billed(json.dumps(body, ensure_ascii=False))
        async with self.calls.budget.reserved(model, size, most_tokens(body)) as reservation:
            try:
                result = await self._call_endpoint(model, call)
            except CallFailed as failure:
                reservation.usage = failure.spent
                raise
            reservation.usage = result.usage
        return result

    async def _call_endpoint(self, model: str, call: Callable[[], Awaitable[_Result]]) -> _Result:
        calls = self.calls
        try:
            result = await call()
        except CallFailed as failure:
            calls.usage += failure.spent
            if failure.spent.calls:
                calls.journal.spend(failure.spent)
            raise
        calls.has_answered(model)
        calls.usage += result.usage
        self.spent += result.usage
        return result

    def _failing(self, model: str, failure: CallFailed) -> None:
        """Count a failure of a model; its work ends where the rest of it would fail as well.

        A refusal of one request says nothing of others.
        """
        calls = self.calls
        if not failure.code.of_endpoint or failure.code is Failure.FORBIDDEN:
            return
        calls.failing[model] += 1
        if failure.code.stops_model or calls.failing[model] >= PATIENCE:
            calls.stop_model(model, str(failure))

    async def _single(self, model: str, failure: CallFailed) -> CallFailed:
        """A failure as what it is of: of the model, or of this request alone where others are answered."""
        if failure.code is not Failure.FORBIDDEN:
            return failure
        if await self.calls.answers_others(model):
            return api_errors.refused_alone(failure, self.calls.models[model])
        self.calls.stop_model(model, str(failure))
        return failure


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:16]
