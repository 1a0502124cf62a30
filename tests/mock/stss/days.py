"""Mock residents' days: habits, errands, what they agreed to; and target-driven planning."""

import random
import re
from collections.abc import Iterable, Sequence
from typing import Any

from concord.benchmarks.stss.town import DAY, hour_of, minute_of
from tests.mock.call import Call
from tests.mock.material import load
from tests.mock.stss import reading
from tests.mock.stss.reading import (
    TIME,
    Affair,
    Persona,
    affairs,
    persona_of,
    prompt_of,
    section,
)
from tests.mock.stss.talk import settled, usual_time

OVERSLEEPS, FORGETS, STRAYS = 0.1, 0.12, 0.01
"""How often residents oversleep, forget what they agreed to, plan for a place that does not exist."""

Thought = dict[str, Any]
Entry = tuple[str, str, str]
"""Time, what, where."""


def town() -> dict[str, Any]:
    """The material for days: places and activities."""
    return load("stss", "en", "days")


def outline(call: Call) -> Thought:
    """A day of habits and of what was agreed; on the day before their affair performers visit people."""
    text = prompt_of(call)
    me, day, rng = persona_of(text), reading.day_of(text), call.rng("outline")
    memories = reading.remembered(text)
    wake = later(me.wakes, 180 if rng.random() < OVERSLEEPS else 0)
    entries = _habits(me, wake, rng)
    if me.affair is not None and day < me.affair.date:
        reminded = "Keep in mind for today's plan:" in text
        entries = _with(entries, _rounds(me, me.affair, wake, 8 if reminded else 5, rng))
    if me.affair is not None and day == me.affair.date:
        entries = _with(entries, _own(me, me.affair, memories))
    agreed = {(a.host, a.what): a for a in affairs(memories) if a.answer == "yes" and a.date in ("", day)}
    for affair in agreed.values():
        if rng.random() >= FORGETS:
            entries = _with(entries, [e for e in _agreed(me, affair, rng) if e[0] >= wake])
    plan = [f"{time} {what}{f' at {place}' if place else ''}" for time, what, place in sorted(entries)]
    return {"wake": wake, "plan": plan}


def schedule(call: Call) -> Thought:
    """The entries of the outline, each in the first room of its place."""
    text = prompt_of(call)
    found = (re.match(rf"({TIME}) (.+?)(?: at ([A-Z].*))?$", line) for line in section(text, "The outline"))
    return _actions(call, [(m[1], m[2], m[3] or "") for m in found if m])


def revision(call: Call) -> Thought:
    """The rest of the day as it was, with what has just been agreed."""
    text = prompt_of(call)
    now, rest = reading.hour_of(text), section(text, "The rest of the day as it was planned")
    found = (re.match(rf"({TIME}) (.+) \((.+)\)$", line) for line in rest if "sleeping" not in line)
    entries = [(max(m[1], now), m[2], m[3]) for m in found if m]
    for affair in affairs(re.findall(r"What happened: (.+)$", text, re.M)):
        if affair.answer == "yes":
            agreed = _agreed(persona_of(text), affair, call.rng("revision"))
            entries = _with(entries, [e for e in agreed if e[0] >= now])
    return _actions(call, entries)


def _rounds(me: Persona, affair: Affair, wake: str, stops: int, rng: random.Random) -> list[Entry]:
    """Visits to tell people something: to acquaintances at work, and to places with company."""
    works = [place for place in me.knows.values() if place and place != me.work]
    times = town()["visiting"]
    visited = rng.sample(works, min(len(works), len(times)))
    visits = [*zip(times, visited, strict=False), *town()["rounds"].items()]
    by_time = dict(rng.sample(visits, min(stops, len(visits))))
    if me.knows.get(affair.whom):
        by_time[times[2]] = me.knows[affair.whom]
    return [(time, "going round to talk to people", place) for time, place in by_time.items() if time > wake]


def _habits(me: Persona, wake: str, rng: random.Random) -> list[Entry]:
    def some(what: str) -> str:
        return str(rng.choice(town()[what]))

    entries: list[Entry] = [(wake, some("breakfast"), me.home)]
    opens, closes = max(me.hours[0], later(wake, 45)), me.hours[1]
    if me.work and opens < closes:
        entries.append((opens, some("work"), me.work))
        if opens < "12:00" and closes > "13:30" and rng.random() < 0.65:
            entries += [("12:30", some("midday"), some("lunch")), ("13:20", some("work"), me.work)]
    after = max(closes, later(wake, 60)) if me.work else "10:00"
    if after < "18:00" and rng.random() < 0.55:
        entries.append((after, some("shopping"), some("errands")))
    dinner = max("18:00", later(after, 60))
    if dinner < me.sleeps:
        entries.append((dinner, some("supper"), me.home))
    evening = later(dinner, 50)
    if evening < me.sleeps:
        out = rng.random() < 0.35 and me.sleeps >= "22:00"
        what, place = (some("out"), some("evening")) if out else (some("leisure"), me.home)
        entries.append((evening, what, place))
    return entries


def _own(me: Persona, affair: Affair, memories: Sequence[str]) -> list[Entry]:
    """The performer's own event, at the time it was announced for."""
    time, place = settled(memories)
    if affair.kind == "help":
        return []
    if affair.kind == "meet":
        return [(time, affair.what, place)] if time else []
    start, place = affair.time or time or usual_time(affair), affair.place or me.home
    verb = "holding" if affair.kind == "gather" else "enjoying"
    return [(start, f"{verb} {affair.what}", place), (later(start, 120), "tidying up", place)]


def _agreed(me: Persona, a: Affair, rng: random.Random) -> list[Entry]:
    """What was agreed to; a missing time or place is guessed, or the affair is dropped."""
    if a.kind == "help":
        if not a.place:
            return []
        first: Entry = (max("16:15", me.hours[1]), a.what, a.place)
        return [first, (later(first[0], 40), a.what2, a.place2)] if a.what2 and a.place2 else [first]
    time = a.time or (rng.choice(town()["guessed"]) if rng.random() < 0.4 else "")
    guess = me.home if a.online else rng.choice(town()["lunch"]) if rng.random() < 0.3 else ""
    place = a.place or guess
    if not time or not place:
        return []
    if a.kind == "meet":
        return [(time, a.what, place), (later(time, 60), "walking home slowly", me.home)]
    return [(time, f"taking part in {a.what}", place), (later(time, 90), "walking home slowly", me.home)]


def _with(entries: list[Entry], added: list[Entry]) -> list[Entry]:
    """The entries with others put in, which replace those within half an hour."""
    taken = [minute_of(time) for time, _, _ in added]
    kept = [e for e in entries if all(abs(minute_of(e[0]) - t) >= 30 for t in taken)]
    if len(added) == 2:
        kept = [e for e in kept if not min(taken) < minute_of(e[0]) < max(taken)]
    return kept + added


def _actions(call: Call, entries: Iterable[Entry]) -> Thought:
    text, rng = prompt_of(call), call.rng("actions")
    me, rooms = persona_of(text), _rooms(text)
    entries = sorted(entries) or [(me.wakes, "having breakfast", me.home)]
    ends = [*(time for time, _, _ in entries[1:]), max(me.sleeps, later(entries[-1][0], 5))]
    actions = []
    for (time, what, place), end in zip(entries, ends, strict=True):
        room = town()["nowhere"] if rng.random() < STRAYS else rooms.get(place, place)
        minutes = max(5, minute_of(end) - minute_of(time))
        actions.append({"start": time, "minutes": minutes, "action": what, "place": room})
    return {"actions": actions}


def _rooms(text: str) -> dict[str, str]:
    """The first room of each sector in the list of places, with its first object."""
    found: dict[str, str] = {}
    for line in section(text, "The places of the town (sector:arena: objects)"):
        sector, _, rest = line.partition(":")
        arena, _, things = rest.partition(":")
        found.setdefault(sector, f"{sector}:{arena}:{things.split(',')[0].strip()}" if arena else sector)
    return found


def later(time: str, minutes: int) -> str:
    """A time of day some minutes later, before midnight."""
    return hour_of(min(DAY - 1, minute_of(time) + minutes))
