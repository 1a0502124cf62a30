"""The handshakes of a run: the first request of each kind to a model finds out what its endpoint takes.

It is a request that the run would make anyway: its answer is used, and costs nothing more. Others of its
model wait for it; then none is sent in another form. What is known is stored: later runs do not ask again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from sqlite_utils import Database

from concord import messages
from concord.codes import Failure
from concord.configuration import Configuration
from concord.conversation import Message
from concord.errors import CallFailed, ConfigError
from concord.llm import handshake
from concord.llm.api_errors import AttemptFailed
from concord.llm.client import Client, request
from concord.llm.completions import Completion
from concord.llm.handshake import Handshake, Shape
from concord.llm.models import Model
from concord.store import configurations
from concord.store import handshakes as stored
from concord.workspace import Workspace

T = TypeVar("T")
Ask = Callable[[Model, bool], Awaitable[T]]
Latest = Callable[[], Awaitable[Configuration | None]]


def known_handshakes(db: Database, entries: Mapping[str, Model]) -> dict[str, Handshake]:
    """What is known of the endpoints of these models, by name, where they were asked before."""
    values = {name: stored.get(db, model.asked_as) for name, model in entries.items() if model.kind == "chat"}
    return {
        name: Handshake.from_dict(values_of_model)
        for name, values_of_model in values.items()
        if values_of_model is not None
    }


def settled_models(workspace: Workspace, entries: Mapping[str, Model]) -> dict[str, Model]:
    """The models with what earlier handshakes settled on."""
    with workspace.read() as db:
        by_name = known_handshakes(db, entries)
    return {name: handshake.settled_model(model, by_name.get(name)) for name, model in entries.items()}


def check_unchanged(workspace: Workspace, entries: Mapping[str, Model]) -> None:
    """Raises ConfigError if a model has results of another configuration than its entry has now."""
    with workspace.read() as db:
        before = configurations.latest(db, entries)
        by_name = known_handshakes(db, entries)
    changes = {name: changed(was, entries[name], by_name.get(name)) for name, was in before.items()}
    names = [name for name, change in changes.items() if change]
    if names:
        raise ConfigError(
            messages.entry_changed(workspace.models_path, names[0], changes[names[0]], others=names[1:])
        )


def changed(was: Configuration, entry: Model, handshake_: Handshake | None) -> list[str]:
    """What is different now from a configuration that results have; nothing where requests are the same."""
    now = handshake.settled_model(entry, handshake_).configuration
    if handshake_ is not None and was.hash in handshake_.extends:
        return []
    return was.changes(now)


class Request(NamedTuple):
    """What is asked of a model, apart from the form in which its endpoint takes it."""

    model: str
    kind: Hashable
    """Requests of a model of one kind have one shape."""
    messages: Sequence[Message]
    params: Mapping[str, Any]
    schema: Mapping[str, Any] | None
    seed: int

    def body(self, model: Model) -> dict[str, Any]:
        """What is sent to a model in its form."""
        return request(model, self.messages, params=self.params, schema=self.schema, seed=self.seed)

    def is_refused(self, model: Model, failure: CallFailed) -> bool:
        """Whether a failure is the endpoint's refusal of a part of what is sent."""
        return isinstance(failure, AttemptFailed) and bool(
            handshake.refused_forms(model, self.body(model), failure)
        )


@dataclass
class Handshakes:
    """What is known in a run of the endpoints of its models, whose `entries` are those of models.toml.

    `models` are the entries as their endpoints take requests. Only the run's event loop changes them.
    """

    entries: Mapping[str, Model]
    by_model: dict[str, Handshake]
    models: dict[str, Model] = field(init=False)
    asks: dict[str, int] = field(default_factory=dict)
    """Requests that a handshake of a model took, where one was made in this run."""
    _answered_kinds: set[Hashable] = field(default_factory=set)
    """Kinds of requests that need no handshake."""
    _busy: dict[str, asyncio.Lock] = field(default_factory=dict)
    _ailing: set[str] = field(default_factory=set)
    """Models whose endpoint failed for another reason while it was asked: their calls do not wait."""

    def __post_init__(self) -> None:
        self.models = {
            name: handshake.settled_model(entry, self.by_model.get(name))
            for name, entry in self.entries.items()
        }

    def lines(self) -> list[str]:
        """What was settled for each model that is not asked as its entry says, a sentence each."""
        changed = {n: handshake.differences(self.entries[n], model) for n, model in self.models.items()}
        return [messages.settled(n, new, self.asks.get(n)) for n, new in changed.items() if new]

    async def answer(
        self,
        asked_request: Request,
        ask: Ask[T],
        latest: Latest,
    ) -> tuple[T, Handshake | None]:
        """What the endpoint answers, and what is to be stored of its handshake where this was one.

        `ask` sends the request in the form of a model; its second argument says whether this is part of a
        handshake. `latest` is the configuration of the model's results so far. Raises CallFailed.
        """
        if self._needs_handshake(asked_request):
            async with self._busy.setdefault(asked_request.model, asyncio.Lock()):
                if self._needs_handshake(asked_request):
                    return await self._ask(asked_request, ask, latest)
        if self._first(asked_request):
            return await self._unguarded(asked_request, ask, latest)
        return await self._ask_again(asked_request, ask), None

    def _needs_handshake(self, asked_request: Request) -> bool:
        """Whether others of its model wait for a request."""
        return self._first(asked_request) and asked_request.model not in self._ailing

    def _first(self, asked_request: Request) -> bool:
        """Whether a request is the first one of its kind, so that it is to be a handshake."""
        if asked_request.kind in self._answered_kinds:
            return False
        known_handshake = self.by_model.get(asked_request.model)
        if known_handshake is not None and known_handshake.covers(self._shape(asked_request)):
            self._answered_kinds.add(asked_request.kind)
            return False
        return True

    def _shape(self, asked_request: Request) -> Shape:
        return handshake.shape(asked_request.body(self.entries[asked_request.model]), asked_request.schema)

    async def _ask(self, asked_request: Request, ask: Ask[T], latest: Latest) -> tuple[T, Handshake]:
        """A handshake."""
        name = asked_request.model
        asks = 0

        async def count_ask(model: Model) -> T:
            nonlocal asks
            asks += 1
            return await ask(model, True)

        try:
            model, answer = await handshake.settle(self.models[name], asked_request.body, count_ask)
        except CallFailed as failure:
            if not failure.code.on_demand and failure.code is not Failure.FORM_REFUSED:
                self._ailing.add(name)
            raise
        after = await self._settle(asked_request, model, latest)
        self.asks[name] = self.asks.get(name, 0) + asks
        return answer, after

    async def _unguarded(
        self, asked_request: Request, ask: Ask[T], latest: Latest
    ) -> tuple[T, Handshake | None]:
        """A request of a new kind to an endpoint that failed meanwhile: others do not wait for it."""
        model = self.models[asked_request.model]
        answer = await ask(model, False)
        is_same = self._first(asked_request) and model is self.models[asked_request.model]
        return answer, await self._settle(asked_request, model, latest) if is_same else None

    async def _settle(self, asked_request: Request, model: Model, latest: Latest) -> Handshake:
        """Note that a request was answered in this form. Raises CallFailed if results have another one."""
        name = asked_request.model
        entry = self.entries[name]
        was = self.models[name]
        before = await latest()
        after = handshake.extended(entry, self.by_model.get(name), model, self._shape(asked_request))
        if model is not was and before is not None and (changes := changed(before, entry, after)):
            raise CallFailed(messages.form_changed(name, changes), code=Failure.FORM_REFUSED)
        self.by_model[name] = after
        self.models[name] = model
        self._answered_kinds.add(asked_request.kind)
        self._ailing.discard(name)
        return after

    async def _ask_again(self, asked_request: Request, ask: Ask[T]) -> T:
        """A request of a kind that was answered before."""
        model = self.models[asked_request.model]
        try:
            return await ask(model, False)
        except AttemptFailed as failure:
            if handshake.refused_part(model, asked_request.body(model), failure) is None:
                raise
            raise handshake.changed_mind(model, failure) from failure


async def answer_of(workspace: Workspace, client: Client, entry: Model, asked_request: Request) -> Completion:
    """A reply outside a run, in the form that the endpoint takes. What a handshake settles on is stored.

    Raises CallFailed.
    """
    with workspace.read() as db:
        shaken = Handshakes({entry.name: entry}, known_handshakes(db, {entry.name: entry}))
        before = configurations.latest(db, [entry.name]).get(entry.name)

    async def ask(form: Model, _shaking: bool) -> Completion:
        return await client.complete(
            entry.name,
            asked_request.messages,
            params=asked_request.params,
            schema=asked_request.schema,
            seed=asked_request.seed,
            form=form,
        )

    async def latest() -> Configuration | None:
        return before

    reply, new = await shaken.answer(asked_request, ask, latest)
    if new is not None:
        with workspace.write() as db:
            stored.put(db, entry.asked_as, new.as_dict())
    return reply
