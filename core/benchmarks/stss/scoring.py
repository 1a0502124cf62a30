"""Action-level scores of the STSS paper: pure functions from a task and a trajectory to a score.

Where the paper and its authors' code differ, this follows the paper: who came early and stayed takes part.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import itemgetter

import numpy as np

from concord.benchmarks.stss.evidence import (
    ONLY_TALK,
    Deed,
    Mask,
    apart,
    fits,
    missed,
    near_miss,
    shown,
    stretch,
    told,
)
from concord.benchmarks.stss.tasks import Kind, SocialTask
from concord.benchmarks.stss.trajectory import STAMP, Talk, Trajectory
from concord.errors import ConfigError

OUT_OF_ORDER = 0.5
ELSEWHERE = 0.5
"""The scores of an errand run in the wrong order, and of an appointment kept in two rooms."""

Outcome = tuple[float, Sequence[Deed | None]]
"""A score and its evidence; None for one who was neither told nor near."""
Invited = Mapping[str, Talk]
"""Whom the performer told about the task before the day of the event, with the first such conversation."""


@dataclass(frozen=True)
class Score:
    """A simulation's score, 0 to 1. `conversation_ratio` may exceed 1; it is None for errands."""

    task: str
    kind: Kind
    value: float
    conversation_ratio: float | None
    evidence: tuple[Deed, ...] = ()
    notes: tuple[str, ...] = ()


def score(task: SocialTask, trajectory: Trajectory) -> Score:
    """The score of a task on a trajectory. Raises ConfigError if the trajectory cannot be about the task."""
    notes = check(task, trajectory)
    invited = told(task, trajectory)
    value, evidence = RULES[task.kind](task, trajectory, invited)
    # Errands want no number of people.
    ratio = None if task.kind == "help" or task.wanted < 2 else len(invited) / (task.wanted - 1)
    times = {name: talk.time.strftime(STAMP) for name, talk in invited.items()}
    deeds = tuple(replace(e, told=times.get(e.agent)) for e in evidence if e)
    return Score(task.id, task.kind, value, ratio, deeds, notes)


def check(task: SocialTask, trajectory: Trajectory) -> tuple[str, ...]:
    """Notes for readers of a score. Raises ConfigError where there can be no score."""
    for name in (task.performer, *task.target):
        if name not in trajectory.lives:
            raise ConfigError(
                f"The task “{task.id}” names {name}, who is not in the trajectory. "
                f"It holds: {', '.join(trajectory.residents)}."
            )
    first, last = trajectory.times[0], trajectory.times[-1]
    notes = []
    for subgoal in task.subgoals:
        if subgoal.start is None or subgoal.end is None:
            continue
        if subgoal.end < first:
            raise ConfigError(
                f"The task “{task.id}” has its event at {subgoal.start:%Y-%m-%d %H:%M}, "
                f"before the trajectory begins ({first:%Y-%m-%d %H:%M})."
            )
        if subgoal.start > last:
            notes.append(
                f"The trajectory ends at {last:%Y-%m-%d %H:%M}, "
                f"before the event of {subgoal.start:%Y-%m-%d %H:%M}."
            )
    for name in task.cast:
        if name not in trajectory.lives:
            notes.append(f"{name} belongs to the task and is not in the trajectory.")
    if task.cast:
        talkers = (name for talk in trajectory.talks for name in talk.pair)
        others = [n for n in dict.fromkeys([*trajectory.residents, *talkers]) if not task.counts(n)]
        if others:
            notes.append(f"Left out of “{task.id}”, whose all_chars does not name them: {', '.join(others)}.")
    return tuple(notes)


def attendance(task: SocialTask, trajectory: Trajectory, invited: Invited) -> Outcome:
    """Public and online activities: others who match at any moment, mean over subgoals, ÷ (wanted − 1)."""
    came, evidence = 0, []
    for fit, name in product(fits(task, trajectory), _others(task, trajectory)):
        mask = fit.matches(name)
        came += bool(mask.any())
        took_part = shown(fit, name, mask, counted=True) if mask.any() else None
        evidence.append(took_part or near_miss(fit, name, name in invited))
    return min(1.0, came / len(task.subgoals) / (task.wanted - 1)), evidence


def company(task: SocialTask, trajectory: Trajectory, invited: Invited) -> Outcome:
    """Companions: others who match at the performer's best moment ÷ (wanted − 1), at most 1.

    A location named in the action counts like the place.
    """
    others, tried = _others(task, trajectory), []
    for fit in fits(task, trajectory, action_may_name_place=True):
        own = fit.matches(task.performer)
        each = {name: fit.matches(name) for name in others}
        together = np.sum(list(each.values()), axis=0) * own if each else np.zeros(len(own), dtype=int)
        moment = int(np.argmax(together))
        value = min(1.0, float(together[moment]) / (task.wanted - 1))
        evidence: list[Deed | None] = []
        if own.any():
            # Where nobody came, the performer's own first moment is shown.
            when = stretch(own, moment if value else int(np.argmax(own)))
            evidence.append(shown(fit, task.performer, when, "the performer", counted=True))
        else:
            evidence.append(near_miss(fit, task.performer, invited=False))
        # Without a fixed time, those who are elsewhere while the performer does it miss it.
        during = own if own.any() and fit.subgoal.start is None else None
        for name, mask in each.items():
            if value and mask[moment]:
                evidence.append(shown(fit, name, stretch(mask, moment), counted=True))
            elif mask.any():
                other = "at the best-attended moment" if value else f"when {task.performer} did"
                evidence.append(shown(fit, name, mask, f"did it, but not {other}", "not together"))
            else:
                evidence.append(near_miss(fit, name, name in invited, during))
        tried.append((value, evidence))
    return max(tried, key=itemgetter(0))


def meeting(task: SocialTask, trajectory: Trajectory, invited: Invited) -> Outcome:
    """Appointment: performer and target do it at one moment, in the same sector and arena 1, elsewhere 0.5.

    “Conversing about” it is not doing it. Of several targets or subgoals the best one counts.
    """
    known = {state.room: i for i, state in enumerate(trajectory.states)}
    rooms = np.array([known[state.room] for state in trajectory.states])
    keeps = np.array([ONLY_TALK not in state.action.lower() for state in trajectory.states], dtype=bool)
    lives, tried = trajectory.lives, []
    for fit, target in product(fits(task, trajectory), task.target):
        pair = (task.performer, target)
        kept = {name: fit.doing(name) & keeps[lives[name]] & fit.timed for name in pair}
        both = kept[task.performer] & kept[target]
        together = both & (rooms[lives[task.performer]] == rooms[lives[target]])
        value = 1.0 if together.any() else ELSEWHERE if both.any() else 0.0
        if value:
            mask = together if value == 1 else both
            why = "" if value == 1 else "at the same time, in different rooms"
            evidence = [shown(fit, name, mask, why, counted=True) for name in pair]
        else:
            evidence = [apart(fit, name, kept[name]) for name in pair]
        tried.append((value, evidence))
    return max(tried, key=itemgetter(0))


def errands(task: SocialTask, trajectory: Trajectory, invited: Invited) -> Outcome:
    """Help: the best other person's share of subgoals done; all done out of order 0.5, all in order 1."""
    parts = list(fits(task, trajectory))
    helpers, evidence = [], []
    for name in _others(task, trajectory):
        masks = [fit.matches(name) for fit in parts]
        done = [bool(mask.any()) for mask in masks]
        if any(done):
            share = sum(done) / len(done)
            helpers.append((name, masks, share if share < 1 or _in_order(masks) else OUT_OF_ORDER))
        elif name in invited:
            evidence.append(missed(parts[0], name, "never did it", "was asked, and did no part of it"))
    best = max((value for _, _, value in helpers), default=0.0)
    for name, masks, value in helpers:
        why = "all done, out of order" if all(m.any() for m in masks) and value < 1 else ""
        for fit, mask in zip(parts, masks, strict=True):
            if mask.any() and value == best:
                evidence.append(shown(fit, name, mask, why, counted=True))
            elif mask.any():
                evidence.append(shown(fit, name, mask, why or "somebody else did more of it"))
            else:
                never = missed(fit, name, "never did it", "did not do this part")
                evidence.append(near_miss(fit, name, invited=False) or never)
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
    return [name for name in trajectory.residents if name != task.performer and task.counts(name)]


def _in_order(masks: Sequence[Mask]) -> bool:
    """Whether each part was done at a moment not before that of the part that precedes it."""
    moment = 0
    for mask in masks:
        later = np.flatnonzero(mask[moment:])
        if not len(later):
            return False
        moment += int(later[0])
    return True
