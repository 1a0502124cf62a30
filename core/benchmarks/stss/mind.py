"""A resident's mind: what it knows, what models are asked for it, and a conversation of two minds.

The generative agent is that of Park et al. (2023), optionally with target-driven planning (TDP, STSS paper).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeVar

from concord.benchmarks.stss.hours import up_to
from concord.benchmarks.stss.memory import Memory, Stream
from concord.benchmarks.stss.schedule import SLEEPING, Day, Wish, habits
from concord.benchmarks.stss.tasks import SocialTask
from concord.benchmarks.stss.thoughts import NOTES, Speech, Summary
from concord.benchmarks.stss.town import Clock, Place, Resident, Town, hour_of
from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm.prompts import Prompt, RenderedPrompt
from concord.llm.replies import Reply, Unusable
from concord.runs.benchmark import Ask

Transcript = Sequence[tuple[str, str]]
"""Who said what so far."""
ROUNDS = 8
"""A round is an utterance and its reply; it takes a minute."""
UNUSABLE_SHARE = 0.1
"""A simulation fails if more of the performer's thoughts than this share had no usable reply."""
OPENING = 1
"""The fewest utterances before a conversation can end."""


@dataclass(frozen=True)
class Now:
    """The world at one step, as everybody in it sees it."""

    town: Town
    clock: Clock
    step: int

    @property
    def time(self) -> datetime:
        """The moment."""
        return self.clock.time(self.step)

    @property
    def label(self) -> str:
        """The moment as the names of calls begin."""
        return f"day {self.clock.day(self.step) + 1} {hour_of(self.clock.minute(self.step))}"


@dataclass(eq=False)
class Self:
    """A resident as its mind sees it. `task` is None for everybody but the performer.

    A mind may store what it needs in `notes`. `thoughts` counts what its model was asked, `unusable` are the
    failures where no reply could be used.
    """

    resident: Resident
    place: Place
    task: SocialTask | None = None
    memory: Stream = field(default_factory=Stream)
    day: Day = ()
    doing: str = SLEEPING
    notes: dict[str, Any] = field(default_factory=dict)
    thoughts: int = 0
    unusable: list[CallFailed] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The resident's name."""
        return self.resident.name

    def remember(self, time: datetime, text: str, importance: int, kind: str) -> None:
        """Add to the memory stream."""
        self.memory.add(Memory(time, text, importance, kind))


class DayPlan(NamedTuple):
    """A day as a mind wishes it: when to get up, what to do. `outline` is stored as a memory."""

    wishes: Sequence[Wish]
    wake: str | None = None
    outline: str = ""


def portrait(me: Self, town: Town) -> str:
    """A persona as prompts show it. “At present” has the performer's task and its target."""
    r = me.resident
    currently = me.resident.currently
    if me.task is not None:
        currently = " ".join(filter(None, [currently, me.task.currently, me.task.criteria]))
    lines = [
        f"Name: {r.name}",
        f"Age: {r.age}",
        f"Character: {r.innate}",
        f"Background: {r.learned}",
        f"At present: {currently}",
        f"Habits: {r.lifestyle}",
        f"Usually up from {r.wakes} to {up_to(r)}",
        f"Home: {r.home}",
    ]
    if r.work:
        lines.append(f"Work: {r.work}, {r.hours[0]} to {r.hours[1]}")
    if r.knows:
        # With their work, so that residents know where to look for them.
        works = {name: town.residents[name].work for name in r.knows}
        workplaces = {name: f", works at {work}" if work else "" for name, work in works.items()}
        lines.append(
            "Knows: "
            + "; ".join(f"{name} ({relation}{workplaces[name]})" for name, relation in r.knows.items())
        )
    return "\n".join(lines)


def places(town: Town, me: Self) -> list[str]:
    """The places to go to: each arena with its objects; of other people's homes only the name."""
    home = me.resident.home.split(":")[0]
    names = []
    for sector in town.sectors.values():
        if sector.kind == "home" and sector.name != home:
            names.append(sector.name)
            continue
        names += [f"{sector.name}:{arena}: {', '.join(things)}" for arena, things in sector.arenas.items()]
    return names


class Thinker(Protocol):
    """An agent architecture: what a resident thinks, given itself, whom it meets, and the world now.

    `me` has its memory, its day, its place, what it is doing, and the task, if it is the performer;
    `me.notes` is its own. `Mind` is the paper's; docs/react_agent.py is one of your own.
    """

    async def prepare(self, me: Self, now: Now) -> None:
        """Before the first day."""

    async def plan(self, me: Self, now: Now) -> DayPlan:
        """At midnight: the day that begins."""

    async def approaches(self, me: Self, partner: Self, now: Now) -> bool:
        """On noticing somebody in the same room: whether to speak to them."""

    async def says(self, me: Self, partner: Self, transcript: Transcript, now: Now) -> Speech:
        """The next utterance; an empty one ends the conversation."""

    async def keeps(self, me: Self, partner: Self, transcript: Transcript, now: Now) -> Summary:
        """After a conversation: what to remember, and whether it changes today."""

    async def revises(self, me: Self, now: Now) -> Sequence[Wish] | None:
        """After a conversation that changes today: the rest of the day; None leaves the plan as it is."""


R = TypeVar("R", bound=Reply)

REMEMBERED = {"outline": 14, "approach": 5, "utterance": 8, "revision": 8}
"""How many memories each thought is given."""


@dataclass(frozen=True)
class Mind:
    """Asks models for each thought, of many residents at once; each thought may change only its `me`.

    `high` is the model for the day's outline, conversations and TDP, `low` for the schedule; of everybody but
    the performer both are the residents'. With `tdp` the performer plans for its task first.
    """

    ask: Ask
    prompts: Mapping[str, Prompt]
    high: str
    low: str
    tdp: bool = False

    async def prepare(self, me: Self, now: Now) -> None:
        """Before the first day: with TDP the performer's three calls, each shown the replies before it.

        All scenes of a task share what this leaves in `me.notes`.
        """
        if self.tdp and me.task is not None:
            for note, (note_step, field) in NOTES.items():
                reply = await self._think(note_step, me, now)
                me.notes[note] = getattr(reply, field) if reply else ""

    async def plan(self, me: Self, now: Now) -> DayPlan:
        """At midnight: the outline of the day, then its actions in places; by habit without usable reply."""
        today = f"{now.time:%A} {now.time:%Y-%m-%d}"
        query = f"{today} plan, promise, invitation, appointment, agreed to meet at {_currently(me)}"
        outline = await self._think("outline", me, now, query)
        if outline is None:
            return DayPlan(habits(me.resident))
        lines = [line.strip() for line in outline.plan if line.strip()]
        steps = await self._think(
            "schedule", me, now, outline=lines, wake=outline.wake, places=places(now.town, me)
        )
        wishes = habits(me.resident) if steps is None else _wishes(steps)
        return DayPlan(wishes, outline.wake, f"My plan for {today}: {'; '.join(lines)}.")

    async def approaches(self, me: Self, partner: Self, now: Now) -> bool:
        """On noticing somebody in the same room: whether to speak to them; no, without a usable reply."""
        situation = f"{partner.name} {partner.doing} {_currently(me)}"
        reply = await self._think(
            "approach", me, now, situation, other=partner, relation=_relation(me, partner)
        )
        return bool(reply and reply.talk)

    async def says(self, me: Self, partner: Self, transcript: Transcript, now: Now) -> Speech:
        """The next utterance. An empty one ends the conversation, as does a reply that is of no use."""
        last = transcript[-1][1] if transcript else ""
        situation = f"{partner.name} {last} {_currently(me)}"
        reply = await self._think(
            "utterance",
            me,
            now,
            situation,
            str(len(transcript)),
            other=partner,
            relation=_relation(me, partner),
            said=transcript,
        )
        return reply or Speech(utterance="", done=True)

    async def keeps(self, me: Self, partner: Self, transcript: Transcript, now: Now) -> Summary:
        """After a conversation: what to remember; that there was one, without a usable reply."""
        reply = await self._think("summary", me, now, other=partner, said=transcript)
        habit = Summary(summary=f"I talked with {partner.name}.", importance=3, changes_today=False)
        return reply.model_copy(update={"summary": reply.summary.strip()}) if reply else habit

    async def revises(self, me: Self, now: Now) -> Sequence[Wish] | None:
        """After a conversation that changes today: the rest of the day; None leaves the plan as it is."""
        latest = me.memory.memories[-1].text if me.memory.memories else ""
        minute = now.clock.minute(now.step)
        rest = [f"{hour_of(a.start)} {a.text} ({a.place})" for a in me.day if a.end > minute]
        reply = await self._think(
            "revision", me, now, latest, rest=rest, latest=latest, places=places(now.town, me)
        )
        return None if reply is None else _wishes(reply)

    async def _think(
        self, name: str, me: Self, now: Now, query: str = "", part: str = "", **values: Any
    ) -> Any:
        """A reply as its schema; None, noted in `unusable`, if there is none. Raises endpoints' failures."""
        model = self.low if name == "schedule" else self.high
        recalled = await me.memory.retrieve(query, now.time, REMEMBERED[name]) if query else []
        rendered = self.prompts[name].render(
            me=portrait(me, now.town),
            name=me.name,
            first_name=me.name.split()[0],
            doing=me.doing,
            place=str(me.place),
            day=f"{now.time:%A} {now.time:%Y-%m-%d}",
            time=f"{now.time:%H:%M}",
            memories=[f"[{m.time:%A %H:%M}] {m.text}" for m in recalled],
            task=me.task,
            **{note: me.notes.get(note, "") for note in NOTES},
            **values,
        )
        step = " ".join(filter(None, [now.label, me.name, name, part]))
        return await self._answer(me, step, model, rendered, CHECKS.get(name))

    async def thinks(
        self, me: Self, now: Now, situation: str, text: str, reply: type[R], **params: Any
    ) -> R | None:
        """A thought of an architecture of one's own: the reply to a prompt; None without a usable one.

        `situation` names the thought, `params` are parameters of the call (temperature 0 unless given).
        Raises the failures of endpoints.
        """
        rendered = RenderedPrompt((Message("user", text),), {"temperature": 0.0, **params}, reply, situation)
        step = f"{now.label} {me.name} {situation} own {me.thoughts}"
        reflection: R | None = await self._answer(me, step, self.high, rendered)
        return reflection

    async def _answer(
        self,
        me: Self,
        step: str,
        model: str,
        rendered: RenderedPrompt,
        check: Callable[[Any], object] | None = None,
    ) -> Any:
        me.thoughts += 1
        try:
            answer = await self.ask(step, model, rendered, check)
        except CallFailed as failure:
            if not failure.code.on_demand:
                raise
            me.unusable.append(failure)
            return None
        return answer.value


def _says_something(reply: Any) -> None:
    if not reply.utterance.strip() and not reply.done:
        raise Unusable('"utterance" is empty although "done" is false.')


CHECKS: Mapping[str, Callable[[Any], object]] = {"utterance": _says_something}


def _wishes(steps: Any) -> list[Wish]:
    return [Wish(s.start, s.minutes, s.action, s.place) for s in steps.actions]


def _relation(me: Self, partner: Self) -> str:
    return me.resident.knows.get(partner.name, "")


def _currently(me: Self) -> str:
    return me.task.currently if me.task else ""


async def converse(
    first: tuple[Self, Thinker], second: tuple[Self, Thinker], now: Now
) -> list[tuple[str, str]]:
    """What the two say in turn.

    The conversation ends when one is done and the other has replied or says nothing, or after ROUNDS.
    """
    transcript: list[tuple[str, str]] = []
    speakers = (first, second)
    finished_speakers = [False, False]
    for turn in range(2 * ROUNDS):
        (me, mind) = speakers[turn % 2]
        (partner, _) = speakers[1 - turn % 2]
        utterance = await mind.says(me, partner, tuple(transcript), now)
        text = utterance.utterance.strip()
        if not text:
            break
        transcript.append((me.name, text))
        finished_speakers[turn % 2] = utterance.done
        if all(finished_speakers) or (utterance.done and turn > OPENING):
            break
    return transcript


def require_usable(me: Self, share: float = UNUSABLE_SHARE) -> None:
    """Raises CallFailed if more than a share of a mind's thoughts had no usable reply."""
    if len(me.unusable) > share * me.thoughts:
        last = me.unusable[-1]
        failure = CallFailed(
            f"{me.name} had no usable reply to {len(me.unusable)} of {me.thoughts} thoughts, more than "
            f"{share:.0%}: what was done is not what the model wanted. The last: {last}",
            code=last.code,
            raw=last.raw,
            reason=f"unusable thoughts: {last.reason}",
        )
        failure.model = last.model
        raise failure


def minutes(transcript: Transcript) -> float:
    """How long a conversation takes."""
    return max(1.0, len(transcript) / 2)
