"""Agent architectures of the user's own, for the performer: what they are, and what guards a simulation.

An architecture is a class with a `name` and the thoughts of `Thinker`, made by `Class(ask, prompts, high,
low)`; `Mind` has all of them, so that a class derived from it overrides what it thinks otherwise. models.toml
lists it: `agents = ["my_agent:Agent"]`.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from concord.benchmarks.stss.agent import ARCHITECTURES
from concord.benchmarks.stss.mind import DayPlan, Now, Self, Thinker, Transcript
from concord.benchmarks.stss.schedule import Wish
from concord.benchmarks.stss.thoughts import Speech, Summary
from concord.codes import Failure
from concord.errors import CallFailed, ConfigError
from concord.llm.embeddings import Vector
from concord.llm.prompts import Prompt, RenderedPrompt
from concord.llm.replies import Answer
from concord.runs.benchmark import Ask, Materials

MOST_CALLS = 30
"""Calls of a model that one thought may make."""
SECONDS = 3600.0
"""How long one thought may take."""
LONGEST = 4_000
MOST_WISHES = 200
"""Characters of an utterance, a summary or an action, and wishes of a day, beyond which it is nonsense."""
NAME = 40
"""Characters of an architecture's name."""

Make = Callable[[Ask, Mapping[str, Prompt], str, str], Thinker]
"""Makes a mind: how to ask, the prompts, the model of its thoughts, and the one of details."""


@dataclass(frozen=True)
class Architecture:
    """An agent architecture by name; `code` tells its source from another one's, “” for the paper's."""

    name: str
    make: Make
    code: str

    def mind(self, ask: Ask, prompts: Mapping[str, Prompt], player: str, residents: str) -> Thinker:
        """A mind whose mistakes fail its simulation. Raises CallFailed, counted, where it cannot be made."""
        counting = Counting(ask)
        try:
            mind = self.make(counting, prompts, player, residents)
        except (Exception, SystemExit) as error:
            kind = type(error).__name__
            raise failure(self.name, player, f"raised {kind}: {error}", kind) from error
        return Guarded(mind, self.name, player, counting)


def own_architectures(materials: Materials) -> dict[str, Architecture]:
    """The user's own architectures by name. Raises ConfigError for one that is none, or named twice."""
    by_name: dict[str, Architecture] = {}
    for spec, agent_class in materials.agents().items():
        name = getattr(agent_class, "name", None) or getattr(agent_class, "__name__", "")
        if not callable(agent_class) or not isinstance(name, str) or not 0 < len(name) <= NAME or "/" in name:
            raise ConfigError(
                f"The agent “{spec}” must be a class with a name of at most {NAME} characters without “/”."
            )
        missing = [method for method in THOUGHTS if not callable(getattr(agent_class, method, None))]
        if inspect.isclass(agent_class) and missing:
            raise ConfigError(
                f"The agent “{spec}” lacks {', '.join(missing)}. Derive it from "
                "concord.benchmarks.stss.mind.Mind, which has them."
            )
        if name in by_name or name in ARCHITECTURES:
            raise ConfigError(f"There is an agent “{name}” already. Give “{spec}” another name.")
        by_name[name] = Architecture(name, agent_class, _source(agent_class))
    return by_name


def names(materials: Materials) -> list[str]:
    """The architectures that can be simulated: the paper's, then the user's own."""
    return [*ARCHITECTURES, *own_architectures(materials)]


THOUGHTS = ("prepare", "plan", "approaches", "says", "keeps", "revises")
"""The methods of a mind."""


def _source(agent_class: Any) -> str:
    try:
        text = inspect.getsource(inspect.getmodule(agent_class) or agent_class)
    except (OSError, TypeError):
        text = repr(agent_class)
    return sha256(text.encode()).hexdigest()[:8]


def failure(name: str, player: str, problem: str, reason: str) -> CallFailed:
    """The failure of a simulation that its architecture is to blame for."""
    message = f"The agent “{name}” {problem}"[:300]
    failed = CallFailed(message, code=Failure.UNPARSEABLE, reason=f"an agent: {reason}")
    failed.model = player
    return failed


class TooManyCalls(Exception):
    """A thought asks models without end."""


@dataclass(eq=False)
class Counting:
    """Asks, counts the calls of one thought, and keeps an endpoint's failure that an agent passes over."""

    ask: Ask
    calls: int = 0
    failure: CallFailed | None = None

    async def __call__(
        self,
        step: str,
        model: str,
        prompt: RenderedPrompt,
        check: Callable[[Any], object] | None = None,
        /,
        *,
        may_be_empty: bool = False,
    ) -> Answer:
        """As `Ask`. Raises TooManyCalls."""
        self._count()
        try:
            options = {"may_be_empty": True} if may_be_empty else {}
            return await self.ask(step, model, prompt, check, **options)
        except CallFailed as failed:
            if not failed.code.on_demand:
                self.failure = failed
            raise

    async def embed(self, model: str, texts: Sequence[str], /) -> list[Vector]:
        """As `Ask`. Raises TooManyCalls."""
        self._count()
        return await self.ask.embed(model, texts)

    def _count(self) -> None:
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise TooManyCalls


@dataclass(frozen=True)
class Guarded:
    """A mind of the user's own: what it raises, and what is no thought, fails its simulation and is counted.

    A failure of an endpoint stays that: the simulation waits for the next run. Python cannot stop a thought
    that computes without end and awaits nothing.
    """

    mind: Thinker
    name: str
    player: str
    counter: Counting = field(compare=False)

    async def prepare(self, me: Self, now: Now) -> None:
        """As `Thinker`. Raises CallFailed."""
        await self._call_mind("prepare", lambda: self.mind.prepare(me, now), me)

    async def plan(self, me: Self, now: Now) -> DayPlan:
        """As `Thinker`. Raises CallFailed."""
        day = await self._call_mind("plan", lambda: self.mind.plan(me, now), me)
        wake_is_text = isinstance(day, DayPlan) and isinstance(day.wake, str | None)
        if not wake_is_text or not _is_text(day.outline) or not _are_wishes(day.wishes):
            raise self._nonsense("plan", "a DayPlan of Wishes")
        return DayPlan([Wish(*wish) for wish in day.wishes], day.wake, day.outline)

    async def approaches(self, me: Self, partner: Self, now: Now) -> bool:
        """As `Thinker`. Raises CallFailed."""
        talks = await self._call_mind(
            "approaches", lambda: self.mind.approaches(me, partner, now), me, partner
        )
        if not isinstance(talks, bool):
            raise self._nonsense("approaches", "True or False")
        return talks

    async def says(self, me: Self, partner: Self, transcript: Transcript, now: Now) -> Speech:
        """As `Thinker`. Raises CallFailed."""
        speech = await self._call_mind(
            "says", lambda: self.mind.says(me, partner, transcript, now), me, partner
        )
        if not isinstance(speech, Speech) or not _is_text(speech.utterance):
            raise self._nonsense("says", f"a Speech of at most {LONGEST:,} characters")
        return speech

    async def keeps(self, me: Self, partner: Self, transcript: Transcript, now: Now) -> Summary:
        """As `Thinker`. Raises CallFailed."""
        summary = await self._call_mind(
            "keeps", lambda: self.mind.keeps(me, partner, transcript, now), me, partner
        )
        if not isinstance(summary, Summary) or not _is_text(summary.summary):
            raise self._nonsense("keeps", f"a Summary of at most {LONGEST:,} characters")
        return summary

    async def revises(self, me: Self, now: Now) -> Sequence[Wish] | None:
        """As `Thinker`. Raises CallFailed."""
        wishes = await self._call_mind("revises", lambda: self.mind.revises(me, now), me)
        if wishes is None:
            return None
        if not _are_wishes(wishes):
            raise self._nonsense("revises", "None or Wishes")
        return [Wish(*wish) for wish in wishes]

    async def _call_mind(self, name: str, think: Callable[[], Awaitable[Any]], *people: Self) -> Any:
        """What a thought returns. Raises CallFailed for whatever else it does."""
        before = [_senses(person) for person in people]
        self.counter.calls = 0
        self.counter.failure = None
        try:
            async with asyncio.timeout(SECONDS):
                returned = await think()
        except CallFailed as failed:
            if not failed.code.on_demand:
                raise
            raise self._failure(f"had no usable reply in `{name}`: {failed}", "no usable reply") from failed
        except TooManyCalls as error:
            raise self._endless(name) from error
        except TimeoutError as error:
            raise self._failure(f"took longer than {SECONDS:g} s in `{name}`.", "timeout") from error
        except (Exception, SystemExit) as error:
            kind = type(error).__name__
            raise self._failure(f"raised {kind} in `{name}`: {error}", kind) from error
        if self.counter.failure is not None:
            raise self.counter.failure
        if self.counter.calls > MOST_CALLS:
            raise self._endless(name)
        if before != [_senses(person) for person in people]:
            raise self._failure(f"changed the world in `{name}`, not its mind.", "the world changed")
        return returned

    def _failure(self, problem: str, reason: str) -> CallFailed:
        return failure(self.name, self.player, problem, reason)

    def _endless(self, name: str) -> CallFailed:
        return self._failure(f"asked more than {MOST_CALLS} times in `{name}`.", "too many calls")

    def _nonsense(self, name: str, expectation: str) -> CallFailed:
        return self._failure(f"must return {expectation} from `{name}`.", f"nonsense from {name}")


def _senses(person: Self) -> tuple[Any, ...]:
    """What a mind is told of the world, and may not change."""
    return person.resident, person.place, person.task, person.day, person.doing


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST


def _are_wishes(value: Any) -> bool:
    """Whether it is a list of wishes, as `Wish` or as its four values."""
    if not isinstance(value, list | tuple) or len(value) > MOST_WISHES:
        return False
    return all(isinstance(wish, tuple) and len(wish) == 4 and _is_wish(*wish) for wish in value)


def _is_wish(start: Any, minutes: Any, action: Any, place: Any) -> bool:
    lasts = isinstance(minutes, int) and not isinstance(minutes, bool) and 0 < minutes <= 1440
    return lasts and all(map(_is_text, (start, action, place)))
