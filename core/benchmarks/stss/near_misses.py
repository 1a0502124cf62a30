"""Who came close to taking part and how they missed: too early, too late, elsewhere, asleep, there and doing something else."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal, NamedTuple

import numpy as np

from core.benchmarks.stss.matching import Fit, Mask
from core.benchmarks.stss.trajectory import UNSEEN, State

How = Literal[
    "too early", "too late", "not together", "elsewhere", "something else", "passed by", "asleep", "only talked", "never did it", "unknown"
]  # fmt: skip
NEAR = timedelta(hours=3)
"""Somebody invited who was at the right place this long before or after is said to have mistaken the time; beyond it, what they did instead is told."""


class Miss(NamedTuple):
    """How a resident missed a subgoal, in a word and in a sentence, and the moment (its index) at which they came closest."""

    how: How
    why: str
    moment: int | None = None


def miss(found: Fit, name: str, invited: bool, during: Mask | None = None) -> Miss | None:
    """How a resident missed a subgoal they did not fulfil; None for one who was neither invited nor near.

    Whoever only walks through the place is not near. `during` are the moments at which one could have joined in: those of the
    subgoal, unless others are given (the performer's own, for companions); with neither there is nothing to have missed in particular.
    """
    doing, there, timed = found.doing(name), found.there(name), found.timed
    if (doing & there).any():
        closest = _out_of_time(found, np.flatnonzero(doing & there))
        if closest is not None and (not invited or closest[1] <= NEAR):
            return closest[0]
    if (doing & timed).any():
        moment = int(np.argmax(doing & timed))
        where = _state(found, name, moment).place or "another place"
        return Miss("elsewhere", f"did it, but at {where}, not at {found.subgoal.location}", moment)
    if during is None and found.subgoal.start is not None:
        during = timed
    if during is None:
        return Miss("never did it", "never did it") if invited else None
    return _instead(found, name, invited, during)


def _instead(found: Fit, name: str, invited: bool, during: Mask) -> Miss | None:
    """What was done instead at the moments at which one could have joined in."""
    life, states = found.trajectory.lives[name], found.trajectory.states
    seen = during & (life != UNSEEN)
    walking = np.array([state.on_the_way for state in states], dtype=bool)[life]
    there = seen & found.there(name) & ~walking if found.subgoal.location is not None else np.zeros_like(seen)
    if there.any():
        state, moment = _mostly(found, name, there)
        if state.asleep:
            return Miss("asleep", "was there, and asleep", moment)
        return Miss(
            "something else", f"was there at the time, but “{state.action}” has none of the words", moment
        )
    if not invited:
        return None
    if not seen.any():
        why = "what they did then is not recorded" if during.any() else "the trajectory does not reach it"
        return Miss("unknown", why)
    stayed = seen & ~walking
    state, moment = _mostly(found, name, stayed if stayed.any() else seen)
    if state.asleep:
        began = moment == int(np.argmax(during))
        return Miss("asleep", f"was asleep {'when it began' if began else 'for most of it'}", moment)
    was = f"at {state.place or 'another place'}: {state.action}"
    passed = seen & found.there(name) & walking
    if found.subgoal.location is not None and passed.any():
        first = int(np.argmax(passed))
        time = found.trajectory.times[first]
        return Miss("passed by", f"only passed by on the way, at {time:%H:%M}; was mostly {was}", first)
    return Miss("elsewhere", f"was {was}", moment)


def _mostly(found: Fit, name: str, mask: Mask) -> tuple[State, int]:
    """The state a resident was in at most of some moments (the earlier one of equals), and the first of these moments."""
    life = found.trajectory.lives[name]
    indices, first, counts = np.unique(life[mask], return_index=True, return_counts=True)
    best = max(range(len(indices)), key=lambda i: (counts[i], -first[i]))
    return found.trajectory.states[indices[best]], int(np.flatnonzero(mask)[first[best]])


def _state(found: Fit, name: str, moment: int) -> State:
    state = found.trajectory.at(name, moment)
    assert state is not None  # nothing unseen ever fits
    return state


def _out_of_time(found: Fit, moments: np.ndarray) -> tuple[Miss, timedelta] | None:
    """By how much somebody missed the window who did the thing at the place; None where there is no window."""
    start, end = found.subgoal.start, found.subgoal.end
    if start is None or end is None:
        return None
    times: tuple[datetime, ...] = found.trajectory.times
    early = [int(m) for m in moments if times[m] < start]
    late = [int(m) for m in moments if times[m] > end]
    if early and (not late or start - times[early[-1]] <= times[late[0]] - end):
        away = start - times[early[-1]]
        return Miss("too early", f"right place, but left {_span(away)} before it began", early[-1]), away
    away = times[late[0]] - end
    return Miss("too late", f"right place, but came {_span(away)} after it had ended", late[0]), away


def _span(away: timedelta) -> str:
    minutes = away.total_seconds() / 60
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"
