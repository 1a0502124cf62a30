"""Near misses: who almost took part, and how: too early, too late, elsewhere, asleep, at something else."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal, NamedTuple

import numpy as np

from core.benchmarks.stss.matching import Fit, Mask
from core.benchmarks.stss.trajectory import UNSEEN, State

OutOfTime = Literal["too early", "too late", "not together"]
Instead = Literal[
    "elsewhere", "something else", "passed by", "asleep", "only talked", "never did it", "unknown"
]
How = OutOfTime | Instead
NEAR = timedelta(hours=3)
"""An invited resident who was there within this time of the window came early or late, else was elsewhere."""


class Miss(NamedTuple):
    """How a resident missed a subgoal, in a word and in a sentence, and at which moment they were closest."""

    how: How
    why: str
    moment: int | None = None


def miss(found: Fit, name: str, invited: bool, during: Mask | None = None) -> Miss | None:
    """How a resident missed a subgoal they did not fulfil; None for one who was neither invited nor near.

    A resident who only walks through the place is not near. `during` are the moments at which one could have
    joined: the subgoal's, unless others are given (the performer's own, for companions).
    """
    doing, there, timed = found.doing(name), found.there(name), found.timed
    if (doing & there).any():
        closest = _out_of_time(found, np.flatnonzero(doing & there))
        if closest is not None and (not invited or closest[1] <= NEAR):
            return closest[0]
    if (doing & timed).any():
        moment = int(np.argmax(doing & timed))
        state = found.trajectory.at(name, moment)
        where = (state and state.place) or "another place"
        return Miss("elsewhere", f"did it, but at {where}, not at {found.subgoal.location}", moment)
    if during is None and found.subgoal.start is None:
        return Miss("never did it", "never did it") if invited else None
    return _instead(found, name, invited, timed if during is None else during)


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
        why = f"was there at the time, but “{state.action}” has none of the words"
        return Miss("something else", why, moment)
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
    """The state that a resident was in longest (of equals the earlier), and its first moment."""
    life = found.trajectory.lives[name]
    indices, first, counts = np.unique(life[mask], return_index=True, return_counts=True)
    best = max(range(len(indices)), key=lambda i: (counts[i], -first[i]))
    return found.trajectory.states[indices[best]], int(np.flatnonzero(mask)[first[best]])


def _out_of_time(found: Fit, moments: np.ndarray) -> tuple[Miss, timedelta] | None:
    """By how much a resident who did the thing at the place missed the window; None without a window."""
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
