"""A resident's day as actions without gap or overlap, made from a mind's wishes."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from concord.benchmarks.stss.town import DAY, Place, Resident, Town, hour_of, minute_of

SLEEPING = "sleeping"
RISING = "getting up and ready for the day"
IDLE = "taking a break"
EARLIEST = 4 * 60
LATEST = 13 * 60
"""The earliest and latest minute of getting up."""
SHORTEST = 5
TIME = re.compile(r"^\s*(\d{1,2})[:.h](\d{2})(?::\d{2})?\s*([ap]m)?\s*$", re.I)


class Wish(NamedTuple):
    """What a mind would do: from when (“HH:MM”), for how many minutes, where (in its own words)."""

    start: str
    minutes: int
    action: str
    place: str


class Action(NamedTuple):
    """An action of a day: start in minutes since midnight, duration, text, place."""

    start: int
    minutes: int
    text: str
    place: Place

    @property
    def end(self) -> int:
        """The minute at which it is over."""
        return self.start + self.minutes


Day = tuple[Action, ...]


def arrange(
    wishes: Iterable[Wish],
    resident: Resident,
    town: Town,
    wake: str | None = None,
    earlier: Sequence[Action] = (),
    now: int = 0,
) -> Day:
    """A whole day, midnight to midnight.

    Wishes without a readable time are dropped, the others sorted; a later one cuts the one before short. Gaps
    become breaks, the time outside waking hours is slept at home, an unknown place is the most similar one,
    else home. With `earlier`, what began before `now` stays.
    """
    home = town.home(resident.name)
    rise = _wake(wake, resident)
    bed = minute_of(resident.sleeps)
    begin = max(rise, now)
    planned: list[Action] = []
    for start, wish in sorted(_timed(wishes), key=lambda pair: pair[0]):
        if not begin <= start < bed:
            if start + wish.minutes <= begin or start >= bed or begin >= bed:
                continue
            start, wish = begin, wish._replace(minutes=start + wish.minutes - begin)
        place = town.nearest(wish.place) or home
        if planned and planned[-1].end > start:
            before = planned.pop()
            if before.start < start:
                planned.append(before._replace(minutes=start - before.start))
        planned.append(
            Action(start, min(max(wish.minutes, SHORTEST), bed - start), wish.action.strip(), place)
        )
    past = [a if a.end <= now else a._replace(minutes=now - a.start) for a in earlier if a.start < now]
    if not past:
        past = [Action(0, rise, SLEEPING, home)]
    return _closed(past, planned, bed, home)


def _closed(past: Sequence[Action], planned: Sequence[Action], bed: int, home: Place) -> Day:
    """The day with breaks where nothing is planned, and sleep at the end."""
    day = [*past]
    for action in (*planned, Action(bed, DAY - bed, SLEEPING, home)):
        gap = action.start - day[-1].end
        if gap > 0:
            text, place = (RISING, home) if day[-1].text == SLEEPING else (IDLE, day[-1].place)
            day.append(Action(day[-1].end, gap, text, place))
        start = max(action.start, day[-1].end)
        day.append(action._replace(start=start, minutes=action.end - start))
    return tuple(action for action in day if action.minutes > 0)


def action_at(day: Day, minute: int) -> int:
    """The index of the action that a minute belongs to."""
    return bisect_right(day, minute, key=lambda action: action.start) - 1


def habits(resident: Resident) -> list[Wish]:
    """A resident's usual day: breakfast, work, dinner, an evening at home."""
    wakes = minute_of(resident.wakes)
    bed = minute_of(resident.sleeps)
    opens, closes = (minute_of(t) for t in resident.hours)
    begins = max(opens, wakes + 45)
    dinner = min(max(closes + 60, 18 * 60), bed - 60)
    home = resident.home
    work = resident.work
    wishes = [
        Wish(hour_of(wakes), 45, "having breakfast", home),
        Wish(hour_of(begins), closes - begins if work else 0, "working", work),
        Wish(hour_of(dinner), 45, "having dinner", home),
        Wish(hour_of(dinner + 45), bed - dinner - 45, "spending the evening at home", home),
    ]
    return [w for w in wishes if w.minutes > 0]


def _wake(wake: str | None, resident: Resident) -> int:
    """When a resident gets up: as wished if that is possible, else as usual."""
    minute = None if wake is None else _minute(wake)
    if minute is not None and EARLIEST <= minute <= min(LATEST, minute_of(resident.sleeps) - 60):
        return minute
    return minute_of(resident.wakes)


def _timed(wishes: Iterable[Wish]) -> Iterable[tuple[int, Wish]]:
    """The wishes that say what is done, with their minute of the day; those without a readable one go."""
    for wish in wishes:
        minute = _minute(wish.start)
        if minute is not None and wish.action.strip():
            yield minute, wish


def _minute(text: str) -> int | None:
    """Minutes since midnight of “7:30”, “07:30”, “7:30 pm”; None where it is no time."""
    match = TIME.match(text)
    if not match:
        return None
    hours = int(match[1])
    minutes = int(match[2])
    half = (match[3] or "").lower()
    if half and 1 <= hours <= 12:
        hours = hours % 12 + (12 if half == "pm" else 0)
    total = hours * 60 + minutes
    return total if minutes < 60 and total <= DAY else None
