"""Who came close to taking part and why it did not count: too early, elsewhere, doing something else, asleep."""

from __future__ import annotations

import numpy as np

from core.benchmarks.stss.matching import Fit
from core.benchmarks.stss.trajectory import Talk


def miss(found: Fit, name: str, invited: Talk | None) -> tuple[int | None, str] | None:
    """The moment at which a resident came closest to a subgoal they did not fulfil, and why it did not count.

    None for one who was neither near nor told. `invited` is the conversation in which they were told.
    """
    doing, there, timed = found.doing(name), found.there(name), found.timed
    located = found.subgoal.location is not None
    if (doing & there).any():
        return _out_of_time(found, np.flatnonzero(doing & there))
    if (doing & timed).any():
        moment = int(np.argmax(doing & timed))
        state = found.trajectory.at(name, moment)
        return (
            moment,
            f"did it, but at {state.place if state else 'another place'}, not at {found.subgoal.location}",
        )
    if located and found.subgoal.start is not None and (there & timed).any():
        moment = int(np.argmax(there & timed))
        state = found.trajectory.at(name, moment)
        return moment, f"was there at the time, but “{state.action if state else ''}” has none of the words"
    if invited is None:
        return None
    told = f"was told about it on {invited.time:%Y-%m-%d at %H:%M}"
    if found.subgoal.start is None:
        return None, f"{told}, and never did it"
    if not timed.any():
        return None, f"{told}; the trajectory does not reach the event"
    moment = int(np.argmax(timed))
    state = found.trajectory.at(name, moment)
    if state is None:
        return None, f"{told}; what they did then is not recorded"
    if state.asleep:
        return moment, f"{told}, but was asleep when it began"
    return moment, f"{told}, but was at {state.place or 'another place'}: {state.action}"


def _out_of_time(found: Fit, moments: np.ndarray) -> tuple[int, str]:
    start, end = found.subgoal.start, found.subgoal.end
    assert start is not None  # with no window, word and place together are a match
    assert end is not None
    times = found.trajectory.times
    early = [int(m) for m in moments if times[m] < start]
    late = [int(m) for m in moments if times[m] > end]
    if early and (not late or start - times[early[-1]] <= times[late[0]] - end):
        minutes = (start - times[early[-1]]).total_seconds() / 60
        return early[-1], f"right place, but left {_span(minutes)} before it began"
    minutes = (times[late[0]] - end).total_seconds() / 60
    return late[0], f"right place, but came {_span(minutes)} after it had ended"


def _span(minutes: float) -> str:
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"
