"""Where a trajectory fits a subgoal: by words, place and time, for all residents and moments at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from core.benchmarks.stss.tasks import SocialTask, Subgoal
from core.benchmarks.stss.trajectory import UNSEEN, Talk, Trajectory

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
    found: dict[str, Talk] = {}
    for talk in trajectory.talks:
        partner = talk.partner(task.performer)
        if task.performer not in talk.pair or not task.counts(partner):
            continue
        if before_event(task, talk, trajectory) and about(task, talk):
            found.setdefault(partner, talk)
    return found


def before_event(task: SocialTask, talk: Talk, trajectory: Trajectory) -> bool:
    """Whether a conversation took place before the day of the event; without a time, on the first day."""
    day = task.event_day
    return talk.time.date() < day if day else talk.time.date() == trajectory.times[0].date()


def about(task: SocialTask, talk: Talk) -> bool:
    """Whether somebody says one of the task's keywords; without messages, whether a summary has one."""
    texts = [text for _, text in talk.messages] or list(talk.summary.values())
    return any(words_in(text, task.keywords) for text in texts)
