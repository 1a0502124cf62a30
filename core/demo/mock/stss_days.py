"""Mock residents' days: habits, errands, what they remember having agreed to; some oversleep. And target-driven planning."""

from __future__ import annotations

import json
import random
import re

from core.demo.mock.call import Call
from core.demo.mock.stss_reading import (
    TIME,
    Affair,
    Persona,
    affairs,
    day_of,
    hour_of,
    persona_of,
    prompt_of,
    remembered,
    section,
    settled,
)
from core.demo.mock.stss_talk import usual_time

OVERSLEEPS, FORGETS = 0.1, 0.12
LUNCH = ("Saltbread Café", "Market Square", "Saltbread Café", "Merrow Market", "Fern Park")
EVENING = ("Gull & Lantern", "Fern Park", "Regal Cinema", "Gull & Lantern")
ROUNDS = (("08:00", "Saltbread Café"), ("10:30", "Market Square"), ("12:15", "Saltbread Café"), ("14:00", "Merrow Library"),
          ("15:30", "Merrow Market"), ("17:15", "Fern Park"), ("18:30", "Gull & Lantern"))  # fmt: skip
"""Where one meets people when one wants to tell them something."""
VISITING = ("09:15", "10:00", "11:15", "13:30", "14:45")
"""When one looks in on acquaintances at work."""
GUESSED = ("11:00", "15:00", "20:00")
NOWHERE = "the old mill beyond the hills"
"""A place that does not exist: now and then somebody plans to be there, as models do."""

Entry = tuple[str, str, str]
"""Time, what, where."""


def outline(call: Call) -> str:
    """A day of habit with what was agreed for it; who has an affair of their own goes among people the day before."""
    text = prompt_of(call)
    me, day, memories, rng = persona_of(text), day_of(text), remembered(text), call.rng("outline")
    late = rng.random() < OVERSLEEPS
    wake = _later(me.wakes, 180 if late else 0)
    entries = _habits(me, wake, rng)
    reminded = "Keep in mind for today's plan:" in text
    if me.affair is not None and day < me.affair.date:
        entries = _with(entries, _rounds(me, wake, 8 if reminded else 5, rng))
    if me.affair is not None and day == me.affair.date:
        entries = _with(entries, _own(me, me.affair, memories))
    agreed = {(a.host, a.what): a for a in affairs(memories) if a.answer == "yes" and a.date in ("", day)}
    for affair in agreed.values():
        if rng.random() >= FORGETS:
            entries = _with(entries, [e for e in _agreed(me, affair, rng) if e[0] >= wake])
    plan = [f"{time} {what}{f' at {place}' if place else ''}" for time, what, place in sorted(entries)]
    return json.dumps({"wake": wake, "plan": plan}, ensure_ascii=False)


def schedule(call: Call) -> str:
    """The outline's entries, each in the first room of its place."""
    text = prompt_of(call)
    me, rng = persona_of(text), call.rng("schedule")
    entries = [entry for line in section(text, "The outline") if (entry := _read(line))]
    return _actions(me, entries, _rooms(text), rng)


def revision(call: Call) -> str:
    """The rest of the day as it was, with what has just been agreed."""
    text = prompt_of(call)
    me, rng, now = persona_of(text), call.rng("revision"), hour_of(text)
    entries = [
        (max(found[1], now), found[2], found[3])
        for line in section(text, "The rest of the day as it was planned")
        if (found := re.match(rf"({TIME}) (.+) \((.+)\)$", line)) and "sleeping" not in found[2]
    ]
    latest = re.search(r"What happened: (.+)$", text, re.M)
    for affair in affairs([latest[1]] if latest else []):
        if affair.answer == "yes":
            entries = _with(entries, [e for e in _agreed(me, affair, rng) if e[0] >= now])
    return _actions(me, entries, _rooms(text), rng)


def tdp_plan(call: Call) -> str:
    """Three steps: tell people, say when and where, be there."""
    affair = persona_of(prompt_of(call)).affair
    what = affair.what if affair else "the task"
    steps = [
        f"Go where people are and tell as many as possible about {what}.",
        "Say clearly what it is about, on which day, at what time and at which place.",
        "Ask everyone for a clear answer, and be there in time.",
    ]
    return json.dumps({"steps": steps}, ensure_ascii=False)


def tdp_day(call: Call) -> str:
    """Go among people, be there."""
    return json.dumps(
        {
            "reminder": "Spend the day before where people are; on the day itself be at the place before the time."
        }
    )


def tdp_talk(call: Call) -> str:
    """What, when, where, and an answer."""
    items = [
        "Say what it is",
        "Name the date and the exact time",
        "Name the place",
        "Ask for a clear yes or no",
    ]
    return json.dumps({"items": items})


def _rounds(me: Persona, wake: str, stops: int, rng: random.Random) -> list[Entry]:
    """Where one goes to tell people something: to acquaintances at their work, and where there is company."""
    works = [place for place in me.knows.values() if place and place != me.work]
    visits = [*zip(VISITING, rng.sample(works, min(len(works), len(VISITING))), strict=False), *ROUNDS]
    by_time = dict(rng.sample(visits, min(stops, len(visits))))
    if me.affair is not None and me.knows.get(me.affair.whom):
        by_time[VISITING[2]] = me.knows[me.affair.whom]
    return [(time, "going round to talk to people", place) for time, place in by_time.items() if time > wake]


def _habits(me: Persona, wake: str, rng: random.Random) -> list[Entry]:
    entries: list[Entry] = [(wake, "having breakfast", me.home)]
    opens, closes = max(me.hours[0], _later(wake, 45)), me.hours[1]
    if me.work and opens < closes:
        entries.append((opens, "working", me.work))
        lunch = "12:30" if opens < "12:00" and closes > "13:30" else ""
        if lunch and rng.random() < 0.65:
            entries += [(lunch, "having lunch", rng.choice(LUNCH)), (_later(lunch, 50), "working", me.work)]
    after = max(closes, _later(wake, 60)) if me.work else "10:00"
    if after < "18:00" and rng.random() < 0.55:
        entries.append(
            (
                after,
                "doing errands",
                rng.choice(("Market Square", "Merrow Market", "Saltbread Café", "Post Office")),
            )
        )
    dinner = max("18:00", _later(after, 60))
    if dinner < me.sleeps:
        entries.append((dinner, "having dinner", me.home))
    evening = _later(dinner, 50)
    if evening < me.sleeps:
        out = rng.random() < 0.35 and me.sleeps >= "22:00"
        entries.append((evening, "spending the evening", rng.choice(EVENING) if out else me.home))
    return entries


def _own(me: Persona, affair: Affair, memories: list[str]) -> list[Entry]:
    """One's own event, at the time it was announced for."""
    time, place = settled(memories)
    if affair.kind == "help":
        return []
    if affair.kind == "meet":
        return [(time, affair.what, place)] if time else []
    start = affair.time or time or usual_time(affair)
    verb = "holding" if affair.kind == "gather" else "enjoying"
    return [
        (start, f"{verb} {affair.what}", affair.place or me.home),
        (_later(start, 120), "tidying up", affair.place or me.home),
    ]


def _agreed(me: Persona, a: Affair, rng: random.Random) -> list[Entry]:
    """What one has agreed to; one who does not know when, or where, guesses or lets it be."""
    if a.kind == "help":
        if not a.place:
            return []
        first: Entry = ("16:15" if me.hours[1] <= "16:15" else me.hours[1], a.what, a.place)
        return [first, (_later(first[0], 40), a.what2, a.place2)] if a.what2 and a.place2 else [first]
    time = a.time or (rng.choice(GUESSED) if rng.random() < 0.4 else "")
    online = "online" in a.what or "stream" in a.what
    place = a.place or (me.home if online else rng.choice(LUNCH) if rng.random() < 0.3 else "")
    if not time or not place:
        return []
    what = a.what if a.kind == "meet" else f"taking part in {a.what}"
    return [
        (time, what, place),
        (_later(time, 60 if a.kind == "meet" else 90), "walking home slowly", me.home),
    ]


def _with(entries: list[Entry], added: list[Entry]) -> list[Entry]:
    """The entries with others put in; what falls into the same half hour gives way."""
    if not added:
        return entries
    taken = [_minutes(time) for time, _, _ in added]
    kept = [e for e in entries if all(abs(_minutes(e[0]) - t) >= 30 for t in taken)]
    first, last = min(taken), max(taken)
    during = [e for e in kept if first < _minutes(e[0]) < last and len(added) == 2]
    return [e for e in kept if e not in during] + added


def _actions(me: Persona, entries: list[Entry], rooms: dict[str, str], rng: random.Random) -> str:
    entries = sorted(entries)
    ends = [*(e[0] for e in entries[1:]), me.sleeps][: len(entries)]
    actions = []
    for (time, what, place), end in zip(entries, ends, strict=True):
        room = (
            NOWHERE
            if rng.random() < 0.01
            else rooms.get(place.split(":")[0], place)
            if ":" not in place
            else place
        )
        actions.append(
            {"start": time, "minutes": max(5, _minutes(end) - _minutes(time)), "action": what, "place": room}
        )
    if not actions:
        actions = [{"start": me.wakes, "minutes": 60, "action": "having breakfast", "place": me.home}]
    return json.dumps({"actions": actions}, ensure_ascii=False)


def _rooms(text: str) -> dict[str, str]:
    """The first room of each sector in the list of places, with its first thing."""
    found: dict[str, str] = {}
    for line in section(text, "The places of the town (sector:arena: objects)"):
        sector, _, rest = line.partition(":")
        arena, _, things = rest.partition(":")
        found.setdefault(sector, f"{sector}:{arena}:{things.split(',')[0].strip()}" if arena else sector)
    return found


def _read(line: str) -> Entry | None:
    found = re.match(rf"({TIME}) (.+?)(?: at ([A-Z].*))?$", line)
    return (found[1], found[2], found[3] or "") if found else None


def _minutes(time: str) -> int:
    return int(time[:2]) * 60 + int(time[3:])


def _later(time: str, minutes: int) -> str:
    total = min(23 * 60 + 59, _minutes(time) + minutes)
    return f"{total // 60:02}:{total % 60:02}"
