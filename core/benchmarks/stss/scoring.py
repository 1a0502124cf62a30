"""Action-level scores of the STSS paper: pure functions from a task and a trajectory to a score.

Where the paper and its authors' code differ, this follows the paper: who came early and stayed takes part.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import product
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from concord.benchmarks.stss.tasks import Kind, SocialTask, Subgoal
from concord.benchmarks.stss.trajectory import STAMP, Talk, Trajectory
from concord.errors import ConfigError

Mask = npt.NDArray[np.bool_]
"""True at some moments of a trajectory, or for some of its states."""
Invited = Mapping[str, Talk]
"""Whom the performer told about the task before the day of the event, with the first such conversation."""

ONLY_TALK = "conversing about"
"""An action that only talks about the thing; it does not keep an appointment."""
OUT_OF_ORDER = 0.5
ELSEWHERE = 0.5
"""The scores of an errand run in the wrong order, and of an appointment kept in two rooms."""


@dataclass(frozen=True)
class Deed:
    """What one resident did about one subgoal (from 1): when and where.

    Of one who did not count it is the moment at which most fitted, “” if nothing did, and `why` says what did
    not. `told` is when the performer first told them before the day of the event, “” if never.
    """

    agent: str
    subgoal: int
    counted: bool
    why: str = ""
    time: str = ""
    action: str = ""
    place: str = ""
    told: str = ""


Outcome = tuple[float, Sequence[Deed]]
"""A score and its evidence: who counted, and how those missed it who were invited or had to be there."""


@dataclass(frozen=True)
class Score:
    """A simulation's score, 0 to 1. `conversation_ratio` may exceed 1; it is None for errands."""

    task: str
    kind: Kind
    value: float
    conversation_ratio: float | None
    evidence: tuple[Deed, ...] = ()
    invited: Invited = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Fit:
    """How a trajectory fits one subgoal (its number counts from 1).

    `worded` and `placed` are masks over states, `timed` and those of residents over moments.
    """

    trajectory: Trajectory
    subgoal: Subgoal
    number: int
    worded: Mask
    placed: Mask
    timed: Mask

    def matches(self, name: str) -> Mask:
        """Moments at which word, place and time fit."""
        mask: Mask = (self.worded & self.placed)[self.trajectory.lives[name]] & self.timed
        return mask

    def deed(
        self, name: str, mask: Mask, why: str = "", *, counted: bool = False, moment: int | None = None
    ) -> Deed:
        """What a resident does at one of the moments of a mask, the first unless another is given."""
        moment = int(np.argmax(mask)) if moment is None else moment
        time, state = self.trajectory.times[moment].strftime(STAMP), self.trajectory.at(name, moment)
        return Deed(name, self.number, counted, why, time, state.action, state.place)

    def part(
        self, name: str, mask: Mask, told: Invited, why: str = "", moment: int | None = None
    ) -> list[Deed]:
        """What one of the others did, if they did it or were told; it counts unless `why` says why not."""
        if mask.any():
            return [self.deed(name, mask, why, counted=not why, moment=moment)]
        return [self.missed(name)] if name in told else []

    def missed(self, name: str) -> Deed:
        """The moment at which most of what the subgoal names fitted, and what did not."""
        life = self.trajectory.lives[name]
        fitting = {"the words": self.worded[life]}
        if self.subgoal.location is not None:
            fitting["the place"] = self.placed[life]
        if self.subgoal.start is not None:
            fitting["the time"] = self.timed
        # Of as many that fit, the time weighs most: it says what was done instead.
        near = 2 * np.sum(list(fitting.values()), axis=0) + fitting.get("the time", 0)
        moment = int(np.argmax(near))
        if not near[moment]:
            return Deed(name, self.number, False, "never did it")
        lacking = [what for what, mask in fitting.items() if not mask[moment]]
        why = f"{' and '.join(lacking)} did not fit" if lacking else "only talked about it"
        return self.deed(name, near > 0, why, moment=moment)


def fits(task: SocialTask, trajectory: Trajectory, *, action_may_name_place: bool = False) -> Iterator[Fit]:
    """A trajectory against each subgoal of a task. Both ends of the window count.

    Keywords match in any case, a location as written or, if allowed, in the action.
    """
    states = trajectory.states
    for number, subgoal in enumerate(task.subgoals, start=1):
        place = subgoal.location or ""
        worded = [says_one_of(subgoal.keywords, state.action) for state in states]
        placed = [
            place in state.place or (action_may_name_place and place.lower() in state.action.lower())
            for state in states
        ]
        timed = [within(time, subgoal) for time in trajectory.times]
        masks = (np.array(mask, dtype=bool) for mask in (worded, placed, timed))
        yield Fit(trajectory, subgoal, number, *masks)


def says_one_of(keywords: tuple[str, ...], text: str) -> bool:
    """Whether the text contains one of the keywords, in any case."""
    return any(word.lower() in text.lower() for word in keywords)


def within(time: datetime, subgoal: Subgoal) -> bool:
    """Whether a moment lies in the subgoal's window; true without a window."""
    return subgoal.start is None or subgoal.end is None or subgoal.start <= time <= subgoal.end


def invited(task: SocialTask, trajectory: Trajectory) -> dict[str, Talk]:
    """Whom the performer told about the task before the event's day, with the first such talk."""
    first: dict[str, Talk] = {}
    for talk in trajectory.talks:
        partner = talk.partner(task.performer)
        if task.performer in talk.pair and before_event(task, talk, trajectory) and about(task, talk):
            first.setdefault(partner, talk)
    return first


def before_event(task: SocialTask, talk: Talk, trajectory: Trajectory) -> bool:
    """Whether a conversation took place before the day of the event; without a time, on the first day."""
    day = task.event_day
    return talk.time.date() < day if day else talk.time.date() == trajectory.times[0].date()


def about(task: SocialTask, talk: Talk) -> bool:
    """Whether somebody says one of the task's keywords."""
    return any(says_one_of(task.keywords, text) for _, text in talk.messages)


def score(task: SocialTask, trajectory: Trajectory) -> Score:
    """The score of a task on a trajectory. Raises ConfigError if somebody of the task is not in it."""
    for name in (task.performer, *task.target):
        if name not in trajectory.lives:
            raise ConfigError(
                f"The task “{task.id}” names {name}, who is not in the trajectory. "
                f"It holds: {', '.join(trajectory.residents)}."
            )
    guests = invited(task, trajectory)
    value, evidence = RULES[task.kind](task, trajectory, guests)
    # Errands want no number of people.
    ratio = None if task.kind == "help" or task.wanted < 2 else len(guests) / (task.wanted - 1)
    times = {name: talk.time.strftime(STAMP) for name, talk in guests.items()}
    deeds = tuple(replace(deed, told=times.get(deed.agent, "")) for deed in evidence)
    return Score(task.id, task.kind, value, ratio, deeds, guests)


def attendance(task: SocialTask, trajectory: Trajectory, told: Invited) -> Outcome:
    """Public and online activities: others who match at any moment, mean over subgoals, ÷ (wanted − 1)."""
    evidence = [
        deed
        for fit, name in product(fits(task, trajectory), _others(task, trajectory))
        for deed in fit.part(name, fit.matches(name), told)
    ]
    came = sum(deed.counted for deed in evidence)
    return min(1.0, came / len(task.subgoals) / (task.wanted - 1)), evidence


def company(task: SocialTask, trajectory: Trajectory, told: Invited) -> Outcome:
    """Companions: others who match at the performer's best moment ÷ (wanted − 1), at most 1.

    A location named in the action counts like the place.
    """
    performer, others, tried = task.performer, _others(task, trajectory), []
    for fit in fits(task, trajectory, action_may_name_place=True):
        own = fit.matches(performer)
        each = {name: fit.matches(name) for name in others}
        together = np.sum(list(each.values()), axis=0) * own if each else np.zeros(len(own), dtype=int)
        moment = int(np.argmax(together))
        value = min(1.0, float(together[moment]) / (task.wanted - 1))
        if own.any():
            at = moment if value else None
            evidence = [fit.deed(performer, own, "the performer", counted=True, moment=at)]
        else:
            evidence = [fit.missed(performer)]
        why = f"did it, but not {'at the best-attended moment' if value else f'when {performer} did'}"
        for name, mask in each.items():
            there = value and mask[moment]
            evidence += fit.part(name, mask, told, "" if there else why, moment if there else None)
        tried.append((value, evidence))
    return max(tried, key=itemgetter(0))


def meeting(task: SocialTask, trajectory: Trajectory, told: Invited) -> Outcome:
    """Appointment: performer and target do it at one moment, in the same sector and arena 1, elsewhere 0.5.

    “Conversing about” it is not doing it. Of several targets or subgoals the best one counts.
    """
    known = {state.room: i for i, state in enumerate(trajectory.states)}
    rooms = np.array([known[state.room] for state in trajectory.states])
    keeps = np.array([ONLY_TALK not in state.action.lower() for state in trajectory.states], dtype=bool)
    lives, tried = trajectory.lives, []
    for fit, target in product(fits(task, trajectory), task.target):
        pair = (task.performer, target)
        kept = {name: (fit.worded & keeps)[lives[name]] & fit.timed for name in pair}
        both = kept[task.performer] & kept[target]
        together = both & (rooms[lives[task.performer]] == rooms[lives[target]])
        value = 1.0 if together.any() else ELSEWHERE if both.any() else 0.0
        if value:
            why = "" if value == 1 else "at the same time, in different rooms"
            mask = together if value == 1 else both
            evidence = [fit.deed(name, mask, why, counted=True) for name in pair]
        else:
            apart = "did it, but not when the other did"
            evidence = [
                fit.deed(name, kept[name], apart) if kept[name].any() else fit.missed(name) for name in pair
            ]
        tried.append((value, evidence))
    return max(tried, key=itemgetter(0))


def errands(task: SocialTask, trajectory: Trajectory, told: Invited) -> Outcome:
    """Help: the best other person's share of subgoals done; all done out of order 0.5, all in order 1."""
    parts = list(fits(task, trajectory))
    helpers, evidence = [], []
    for name in _others(task, trajectory):
        masks = [fit.matches(name) for fit in parts]
        share = sum(bool(mask.any()) for mask in masks) / len(masks)
        if share:
            helpers.append((name, masks, share if share < 1 or _in_order(masks) else OUT_OF_ORDER))
        elif name in told:
            evidence.append(Deed(name, 1, False, "was asked, and did no part of it"))
    best = max((value for _, _, value in helpers), default=0.0)
    for name, masks, value in helpers:
        why = "all done, out of order" if all(m.any() for m in masks) and value < 1 else ""
        for fit, mask in zip(parts, masks, strict=True):
            if mask.any():
                less = "" if value == best else "somebody else did more of it"
                evidence.append(fit.deed(name, mask, why or less, counted=not less))
            else:
                evidence.append(fit.missed(name))
    return best, evidence


Rule = Callable[[SocialTask, Trajectory, Invited], Outcome]

RULES: dict[Kind, Rule] = {
    "public": attendance,
    "online": attendance,
    "companions": company,
    "appointment": meeting,
    "help": errands,
}


def _others(task: SocialTask, trajectory: Trajectory) -> list[str]:
    return [name for name in trajectory.residents if name != task.performer]


def _in_order(masks: Sequence[Mask]) -> bool:
    """Whether each part was done at a moment not before that of the part that precedes it."""
    moment = 0
    for mask in masks:
        later = np.flatnonzero(mask[moment:])
        if not len(later):
            return False
        moment += int(later[0])
    return True
