"""Action-level scores of the STSS paper: pure functions from a task and a trajectory to a score.

Where the paper and its authors' code differ, this follows the paper: who came early and stayed takes part.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import product
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from concord.benchmarks.stss.tasks import Kind, SocialTask, Subgoal
from concord.benchmarks.stss.trajectory import STAMP, State, Talk, Trajectory
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
    """What one resident did about one subgoal (from 1), when and where.

    Of who did not do it these are of the beginning of its time, “” where it has none. `why` says why it did
    not count, or not wholly. `told` is when the performer first told them before the day of the event, “” if
    never.
    """

    agent: str
    subgoal: int
    counted: bool
    why: str = ""
    time: str = ""
    action: str = ""
    place: str = ""
    told: str = ""


@dataclass(frozen=True)
class Score:
    """A simulation's score, 0 to 1. `conversation_ratio` may exceed 1; it is None for errands.

    Its evidence lists who counted, then who missed it: who did it in vain, was told, or had to be there.
    """

    task: str
    kind: Kind
    value: float
    conversation_ratio: float | None
    evidence: tuple[Deed, ...] = ()
    invited: Invited = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Fit:
    """How a trajectory fits one subgoal (its number counts from 1): of its states, and of its moments."""

    trajectory: Trajectory
    number: int
    states: Mask
    moments: Mask

    def matches(self, name: str) -> Mask:
        """Moments at which word, place and time fit."""
        mask: Mask = self.states[self.trajectory.lives[name]] & self.moments
        return mask

    def deed(self, name: str, mask: Mask, why: str = "", *, counted: bool = True) -> Deed:
        """What a resident does at the first of some moments."""
        moment = int(np.argmax(mask))
        time = self.trajectory.times[moment].strftime(STAMP)
        state = self.trajectory.state_at(name, moment)
        return Deed(name, self.number, counted, why, time, state.action, state.place)


Outcome = tuple[float, Sequence[Deed]]
"""A score, and what counted."""


def fits(task: SocialTask, trajectory: Trajectory) -> list[Fit]:
    """A trajectory against each subgoal of a task. Both ends of the window count.

    Keywords match in any case, a location as written. Companions may name it in the action; where an
    appointment is kept does not matter, but to converse about it is not to keep it.
    """
    parts = []
    for number, subgoal in enumerate(task.subgoals, start=1):
        fitting = [_fits(task.kind, subgoal, state) for state in trajectory.states]
        timed = [in_time(time, subgoal) for time in trajectory.times]
        parts.append(Fit(trajectory, number, np.array(fitting, dtype=bool), np.array(timed, dtype=bool)))
    return parts


def _fits(kind: Kind, subgoal: Subgoal, state: State) -> bool:
    place = subgoal.location or ""
    action = state.action.lower()
    if not says_one_of(subgoal.keywords, action):
        return False
    if kind == "appointment":
        return ONLY_TALK not in action
    return place in state.place or (kind == "companions" and place.lower() in action)


def says_one_of(keywords: tuple[str, ...], text: str) -> bool:
    """Whether the text contains one of the keywords, in any case."""
    return any(word.lower() in text.lower() for word in keywords)


def in_time(time: datetime, subgoal: Subgoal) -> bool:
    """Whether a moment lies in the subgoal's window; true without a window."""
    return subgoal.start is None or subgoal.end is None or subgoal.start <= time <= subgoal.end


def invited(task: SocialTask, trajectory: Trajectory) -> dict[str, Talk]:
    """Whom the performer told about the task before the event's day, with the first such talk."""
    first: dict[str, Talk] = {}
    for talk in trajectory.talks:
        partner = talk.partner(task.performer)
        if task.performer in talk.pair and before_event(task, talk, trajectory) and mentions_task(task, talk):
            first.setdefault(partner, talk)
    return first


def before_event(task: SocialTask, talk: Talk, trajectory: Trajectory) -> bool:
    """Whether a conversation took place before the day of the event; without a time, on the first day."""
    day = task.event_day
    return talk.time.date() < day if day else talk.time.date() == trajectory.times[0].date()


def mentions_task(task: SocialTask, talk: Talk) -> bool:
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
    parts = fits(task, trajectory)
    guests = invited(task, trajectory)
    value, deeds_counted = RULES[task.kind](task, trajectory, parts)
    # Errands want no number of people.
    ratio = None if task.kind == "help" or task.wanted < 2 else len(guests) / (task.wanted - 1)
    times = {name: talk.time.strftime(STAMP) for name, talk in guests.items()}
    deeds = [*deeds_counted, *_missed(task, parts, {deed.agent for deed in deeds_counted}, guests)]
    evidence = tuple(replace(deed, told=times.get(deed.agent, "")) for deed in deeds)
    return Score(task.id, task.kind, value, ratio, evidence, guests)


def covered(task: SocialTask, trajectory: Trajectory) -> SocialTask:
    """The task, where the trajectory reaches the time of one of its subgoals. Raises ConfigError."""
    first = trajectory.times[0]
    last = trajectory.times[-1]
    for subgoal in task.subgoals:
        if subgoal.start is None or subgoal.end is None or (subgoal.start <= last and subgoal.end >= first):
            return task
    raise ConfigError(
        f"The task “{task.id}” is at another time than the trajectory, which lasts from {first} to {last}."
    )


IN_VAIN: Mapping[Kind, str] = {
    "companions": "did it, but not at the best moment",
    "appointment": "did it, but not when the other did",
    "help": "another resident did more of it",
}
"""Why what somebody did does not count. Who takes part in a public or an online activity counts always."""


def _missed(
    task: SocialTask, parts: Sequence[Fit], scored_names: Container[str], invited_names: Invited
) -> Iterator[Deed]:
    """Who did it in vain, was told and did not do it, or had to be there and was not."""
    expected_people = (
        (task.performer, *task.target) if task.kind in ("companions", "appointment") else task.target
    )
    for name in parts[0].trajectory.residents:
        if name in scored_names or (name == task.performer and name not in expected_people):
            continue
        if tried := next((fit for fit in parts if fit.matches(name).any()), None):
            yield tried.deed(name, tried.matches(name), IN_VAIN[task.kind], counted=False)
        elif name in expected_people or name in invited_names:
            first = parts[0]
            reason = "did not do it there and then"
            # What they did instead, where the event has a time.
            timed = first.moments.any() and not first.moments.all()
            yield (
                first.deed(name, first.moments, reason, counted=False)
                if timed
                else Deed(name, 1, False, reason)
            )


def attendance(task: SocialTask, trajectory: Trajectory, parts: Sequence[Fit]) -> Outcome:
    """Public and online activities: others who match at any moment, mean over subgoals, ÷ (wanted − 1)."""
    came = [
        fit.deed(name, mask)
        for fit, name in product(parts, _residents(task, trajectory))
        if (mask := fit.matches(name)).any()
    ]
    return min(1.0, len(came) / len(parts) / (task.wanted - 1)), came


def company(task: SocialTask, trajectory: Trajectory, parts: Sequence[Fit]) -> Outcome:
    """Companions: others who match at the performer's best moment ÷ (wanted − 1), at most 1."""
    tried: list[Outcome] = []
    for fit in parts:
        performer_mask = fit.matches(task.performer)
        masks = {name: fit.matches(name) for name in _residents(task, trajectory)}
        overlap = (
            np.sum(list(masks.values()), axis=0) * performer_mask
            if masks
            else np.zeros(len(performer_mask), dtype=int)
        )
        best = np.arange(len(performer_mask)) == np.argmax(overlap)
        value = min(1.0, float(overlap.max()) / (task.wanted - 1))
        present = [
            name for name, mask in ((task.performer, performer_mask), *masks.items()) if (mask & best).any()
        ]
        tried.append((value, [fit.deed(name, best) for name in present] if value else []))
    return max(tried, key=itemgetter(0))


def meeting(task: SocialTask, trajectory: Trajectory, parts: Sequence[Fit]) -> Outcome:
    """Appointment: performer and target do it at one moment, in the same sector and arena 1, elsewhere 0.5.

    Of several targets or subgoals the best one counts.
    """
    room_number = {state.room: i for i, state in enumerate(trajectory.states)}
    rooms = np.array([room_number[state.room] for state in trajectory.states])
    lives = trajectory.lives
    tried = list[Outcome]()
    for fit, target in product(parts, task.target):
        pair = (task.performer, target)
        matching = fit.matches(task.performer) & fit.matches(target)
        same_room = matching & (rooms[lives[task.performer]] == rooms[lives[target]])
        if same_room.any():
            tried.append((1.0, [fit.deed(name, same_room) for name in pair]))
        elif matching.any():
            reason = "at the same time, in different rooms"
            tried.append((ELSEWHERE, [fit.deed(name, matching, reason) for name in pair]))
    return max(tried, key=itemgetter(0), default=(0.0, []))


def errands(task: SocialTask, trajectory: Trajectory, parts: Sequence[Fit]) -> Outcome:
    """Help: the best other person's share of subgoals done; all done out of order 0.5, all in order 1."""
    tried: list[Outcome] = []
    for name in _residents(task, trajectory):
        masks = [fit.matches(name) for fit in parts]
        share = sum(bool(mask.any()) for mask in masks) / len(masks)
        disordered = share == 1 and not _in_order(masks)
        reason = "all done, out of order" if disordered else ""
        deeds = [fit.deed(name, mask, reason) for fit, mask in zip(parts, masks, strict=True) if mask.any()]
        tried.append((OUT_OF_ORDER if disordered else share, deeds))
    best = max((value for value, _ in tried), default=0.0)
    return best, [deed for value, deeds in tried if value == best for deed in deeds]


Rule = Callable[[SocialTask, Trajectory, Sequence[Fit]], Outcome]

RULES: dict[Kind, Rule] = {
    "public": attendance,
    "online": attendance,
    "companions": company,
    "appointment": meeting,
    "help": errands,
}


def _residents(task: SocialTask, trajectory: Trajectory) -> list[str]:
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
