"""Evidence of a score: where a trajectory fits a subgoal, who did what then, and how others just missed it.

It fits by words, place and time, for all residents and moments at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import numpy as np
import numpy.typing as npt

from concord.benchmarks.stss.tasks import SocialTask, Subgoal
from concord.benchmarks.stss.trajectory import STAMP, UNSEEN, State, Talk, Trajectory

Mask = npt.NDArray[np.bool_]

ONLY_TALK = "conversing about"
"""An action that only talks about the thing; it does not keep an appointment."""


@dataclass(frozen=True, eq=False)
class Fit:
    """How a trajectory fits one subgoal (its number counts from 1).

    `words` are the keywords in each state; `worded` and `placed` are masks over states, `timed` and those of
    residents over moments. Nothing unseen ever fits.
    """

    trajectory: Trajectory
    subgoal: Subgoal
    number: int
    words: tuple[tuple[str, ...], ...]
    worded: Mask
    placed: Mask
    timed: Mask

    def doing(self, name: str) -> Mask:
        """Moments at which the resident's action has a keyword."""
        return self._of(name, self.worded)

    def there(self, name: str) -> Mask:
        """Moments at which the resident is at the location (everywhere if there is none)."""
        return self._of(name, self.placed)

    def matches(self, name: str) -> Mask:
        """Moments at which word, place and time fit."""
        return self._of(name, self.worded & self.placed) & self.timed

    def _of(self, name: str, states: Mask) -> Mask:
        life = self.trajectory.lives[name]
        if not len(states):
            return np.zeros(len(life), dtype=bool)
        fits: Mask = states[life] & (life != UNSEEN)
        return fits


def fits(task: SocialTask, trajectory: Trajectory, *, action_may_name_place: bool = False) -> Iterator[Fit]:
    """A trajectory against each subgoal of a task. Both ends of the window count.

    Keywords match in any case, a location as written or, if allowed, in the action.
    """
    states = trajectory.states
    for number, subgoal in enumerate(task.subgoals, start=1):
        place = subgoal.location or ""
        words = tuple(words_in(state.action, subgoal.keywords) for state in states)
        placed = [
            place in state.place or (action_may_name_place and place.lower() in state.action.lower())
            for state in states
        ]
        timed = [within(time, subgoal) for time in trajectory.times]
        masks = (np.array(mask, dtype=bool) for mask in (list(map(bool, words)), placed, timed))
        yield Fit(trajectory, subgoal, number, words, *masks)


def words_in(text: str, keywords: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the keywords that the text contains, in any case."""
    lower = text.lower()
    return tuple(word for word in keywords if word.lower() in lower)


def within(time: datetime, subgoal: Subgoal) -> bool:
    """Whether a moment lies in the subgoal's window; true without a window."""
    if subgoal.start is None or subgoal.end is None:
        return True
    return subgoal.start <= time <= subgoal.end


def told(task: SocialTask, trajectory: Trajectory) -> dict[str, Talk]:
    """Whom of the cast the performer told about the task before the event's day, with the first such talk."""
    first: dict[str, Talk] = {}
    for talk in trajectory.talks:
        partner = talk.partner(task.performer)
        if task.performer not in talk.pair or not task.counts(partner):
            continue
        if before_event(task, talk, trajectory) and about(task, talk):
            first.setdefault(partner, talk)
    return first


def before_event(task: SocialTask, talk: Talk, trajectory: Trajectory) -> bool:
    """Whether a conversation took place before the day of the event; without a time, on the first day."""
    day = task.event_day
    return talk.time.date() < day if day else talk.time.date() == trajectory.times[0].date()


def about(task: SocialTask, talk: Talk) -> bool:
    """Whether somebody says one of the task's keywords; without messages, whether a summary has one."""
    texts = [text for _, text in talk.messages] or list(talk.summary.values())
    return any(words_in(text, task.keywords) for text in texts)


OutOfTime = Literal["too early", "too late", "not together"]
Instead = Literal[
    "elsewhere", "something else", "passed by", "asleep", "only talked", "never did it", "unknown"
]
How = OutOfTime | Instead
NEAR = timedelta(hours=3)
"""An invited resident who was there within this time of the window came early or late, else was elsewhere."""


@dataclass(frozen=True)
class Deed:
    """One resident and one subgoal (from 1): what was done when, where, with which words; or why not.

    `told` is when the performer first told them before the day of the event, or None.
    """

    agent: str
    subgoal: int
    counted: bool
    time: str | None = None
    until: str | None = None
    action: str = ""
    place: str = ""
    words: tuple[str, ...] = ()
    why: str = ""
    how: How | None = None
    told: str | None = None


def stretch(mask: Mask, moment: int) -> Mask:
    """The unbroken stretch of a mask around a moment that is in it."""
    before = np.flatnonzero(~mask[:moment])
    after = np.flatnonzero(~mask[moment:])
    first = int(before[-1]) + 1 if len(before) else 0
    last = moment + int(after[0]) if len(after) else len(mask)
    unbroken = np.zeros_like(mask)
    unbroken[first:last] = True
    return unbroken


def shown(
    fit: Fit, name: str, mask: Mask, why: str = "", how: How | None = None, *, counted: bool = False
) -> Deed:
    """The first unbroken stretch of a mask."""
    first = int(np.argmax(mask))
    last = int(np.flatnonzero(stretch(mask, first))[-1])
    return _evidence(fit, name, first, last, counted, why, how)


def missed(fit: Fit, name: str, how: How, why: str, moment: int | None = None) -> Deed:
    """How a resident missed a subgoal, and at which moment they were closest."""
    if moment is None:
        return Deed(name, fit.number, False, why=why, how=how)
    return _evidence(fit, name, moment, moment, False, why, how)


def _evidence(fit: Fit, name: str, first: int, last: int, counted: bool, why: str, how: How | None) -> Deed:
    """What a resident did where at a moment at which they were seen, up to another."""
    index = fit.trajectory.lives[name][first]
    action, place = fit.trajectory.states[index]
    time, until = (fit.trajectory.times[moment].strftime(STAMP) for moment in (first, last))
    return Deed(name, fit.number, counted, time, until, action, place, fit.words[index], why, how)


def apart(fit: Fit, name: str, mask: Mask) -> Deed:
    """How one of two missed an appointment; `mask` are the moments at which they kept it."""
    if mask.any():
        return shown(fit, name, mask, "did it, but not when the other did", "not together")
    doing = fit.doing(name)
    if (doing & fit.timed).any():
        return shown(fit, name, doing & fit.timed, "only talked about it", "only talked")
    if doing.any():
        start = fit.subgoal.start
        early = start is not None and fit.trajectory.times[int(np.argmax(doing))] < start
        return shown(fit, name, doing, "did it, but at another time", "too early" if early else "too late")
    return missed(fit, name, "never did it", "never did it")


def near_miss(fit: Fit, name: str, invited: bool, during: Mask | None = None) -> Deed | None:
    """How a resident missed a subgoal they did not fulfil; None if neither invited nor near.

    A resident who only walks through the place is not near. `during` are the moments at which one could have
    joined: the subgoal's, unless others are given (the performer's own, for companions).
    """
    doing, there, timed = fit.doing(name), fit.there(name), fit.timed
    if (doing & there).any():
        closest = _out_of_time(fit, name, np.flatnonzero(doing & there))
        if closest is not None and (not invited or closest[1] <= NEAR):
            return closest[0]
    if (doing & timed).any():
        moment = int(np.argmax(doing & timed))
        state = fit.trajectory.at(name, moment)
        where = (state and state.place) or "another place"
        return missed(
            fit, name, "elsewhere", f"did it, but at {where}, not at {fit.subgoal.location}", moment
        )
    if during is None and fit.subgoal.start is None:
        return missed(fit, name, "never did it", "never did it") if invited else None
    return _instead(fit, name, invited, timed if during is None else during)


def _instead(fit: Fit, name: str, invited: bool, during: Mask) -> Deed | None:
    """What was done instead at the moments at which one could have joined in."""
    life, states = fit.trajectory.lives[name], fit.trajectory.states
    seen = during & (life != UNSEEN)
    walking = np.array([state.on_the_way for state in states], dtype=bool)[life]
    there = seen & fit.there(name) & ~walking if fit.subgoal.location is not None else np.zeros_like(seen)
    if there.any():
        state, moment = _mostly(fit, name, there)
        if state.asleep:
            return missed(fit, name, "asleep", "was there, and asleep", moment)
        why = f"was there at the time, but “{state.action}” has none of the words"
        return missed(fit, name, "something else", why, moment)
    if not invited:
        return None
    if not seen.any():
        why = "what they did then is not recorded" if during.any() else "the trajectory does not reach it"
        return missed(fit, name, "unknown", why)
    stayed = seen & ~walking
    state, moment = _mostly(fit, name, stayed if stayed.any() else seen)
    if state.asleep:
        began = moment == int(np.argmax(during))
        return missed(
            fit, name, "asleep", f"was asleep {'when it began' if began else 'for most of it'}", moment
        )
    was = f"at {state.place or 'another place'}: {state.action}"
    passed = seen & fit.there(name) & walking
    if fit.subgoal.location is not None and passed.any():
        first = int(np.argmax(passed))
        time = fit.trajectory.times[first]
        return missed(
            fit, name, "passed by", f"only passed by on the way, at {time:%H:%M}; was mostly {was}", first
        )
    return missed(fit, name, "elsewhere", f"was {was}", moment)


def _mostly(fit: Fit, name: str, mask: Mask) -> tuple[State, int]:
    """The state that a resident was in longest (of equals the earlier), and its first moment."""
    life = fit.trajectory.lives[name]
    indices, first, counts = np.unique(life[mask], return_index=True, return_counts=True)
    best = max(range(len(indices)), key=lambda i: (counts[i], -first[i]))
    return fit.trajectory.states[indices[best]], int(np.flatnonzero(mask)[first[best]])


def _out_of_time(fit: Fit, name: str, moments: np.ndarray) -> tuple[Deed, timedelta] | None:
    """By how much a resident who did the thing at the place missed the window; None without a window."""
    start, end = fit.subgoal.start, fit.subgoal.end
    if start is None or end is None:
        return None
    times: tuple[datetime, ...] = fit.trajectory.times
    early = [int(m) for m in moments if times[m] < start]
    late = [int(m) for m in moments if times[m] > end]
    if early and (not late or start - times[early[-1]] <= times[late[0]] - end):
        away = start - times[early[-1]]
        return missed(
            fit, name, "too early", f"right place, but left {_span(away)} before it began", early[-1]
        ), away
    away = times[late[0]] - end
    return missed(
        fit, name, "too late", f"right place, but came {_span(away)} after it had ended", late[0]
    ), away


def _span(away: timedelta) -> str:
    minutes = away.total_seconds() / 60
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"
