"""Mock residents' conversations: whom they speak to, what they say, and what they keep of it."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from tests.mock.call import Call
from tests.mock.material import load, pick
from tests.mock.stss import reading
from tests.mock.stss.reading import (
    Affair,
    Persona,
    hears,
    lines,
    own_notes,
    persona_of,
    prompt_of,
)

Thought = dict[str, Any]


PARTNER = re.compile(
    r"^(?:You are talking with|In the same room:|It is .* You have talked with) ([^(,:\n]+)", re.M
)
MANNERS: Mapping[str, Mapping[str, float]] = lines()["manners"]
REMINDED = 0.96
"""How often time and place are named by one with a checklist."""
ENDS = ("pity", "thanks")
"""The answers that end a host's conversation."""
WARMS_UP, CURIOUS, HESITATES = 0.35, 0.5, 0.2
COMES, COMES_FROM_WORK, PERSUADED = 0.85, 0.4, 0.75
"""How often people say yes: when they are free, when they should be at work, after a hesitation."""


@dataclass(frozen=True)
class Meeting:
    """Two people, as the prompt of one of them shows them; `said` is the talk so far, as (speaker, text)."""

    me: Persona
    other: str
    said: Sequence[tuple[str, str]]
    memories: Sequence[str]
    today: str
    reminded: bool
    manner: Mapping[str, float]
    rng: random.Random

    def of(self, speaker: str) -> list[str]:
        """What a speaker said."""
        return [text for name, text in self.said if name == speaker]

    def told(self, speaker: str, *acts: str) -> bool:
        """Whether a speaker has said a line of these lists."""
        pool = [line for act in acts for line in lines()[act]]
        return any(hears(pool, text) is not None for text in self.of(speaker))

    def say(self, pool: Sequence[str], affair: Affair | None = None) -> str:
        """A line of the pool about the affair, a new one if there is any."""
        slots = {**vars(affair), "day": self.spoken(affair.date)} if affair else {}
        before = "\n".join(text for _, text in self.said)
        return pick(pool, self.rng, {**slots, "first": self.other.split()[0] if self.other else ""}, before)

    def spoken(self, day: str) -> str:
        """A date as people say it."""
        if not day:
            return ""
        ahead = (date.fromisoformat(day) - date.fromisoformat(self.today)).days
        return {0: "today", 1: "tomorrow"}.get(ahead, f"on {day}")

    def written(self, found: Mapping[str, str]) -> dict[str, str]:
        """What was heard, with the day as a date."""
        day = found.get("day", "")
        if day in ("today", "tomorrow"):
            day = (date.fromisoformat(self.today) + timedelta(day == "tomorrow")).isoformat()
        return {**found, "date": day.removeprefix("on ")} if day else dict(found)

    def offer(self, host: str) -> Affair | None:
        """What a host has brought up so far, with all that both said of it."""
        affair: Affair | None = None
        for speaker, text in self.said:
            if speaker == host and affair is None:
                for kind, pool in lines()["raise"].items():
                    if affair is None and (found := hears(pool, text)) is not None:
                        raised = Affair("gather" if kind == "join" else kind, host=host)
                        affair = raised.with_(self.written(found))
            elif affair is not None:
                pool = lines()["detail"] + lines()["detail_help"] if speaker == host else lines()["settle"]
                affair = affair.with_(self.written(hears(pool, text) or {}))
        return affair

    def answer(self, speaker: str) -> str:
        """“yes” or “no” if a speaker has answered, else “”."""
        accepted = self.told(speaker, "yes", "settle")
        return "yes" if accepted else "no" if self.told(speaker, "no") else ""

    def asked(self) -> dict[str, str]:
        """Those asked already, with their answers."""
        return {note["whom"]: note["answer"] for note in own_notes(self.memories)}


def meeting_of(call: Call) -> Meeting:
    """The meeting in a prompt."""
    text = prompt_of(call)
    me, partner = persona_of(text), PARTNER.search(text)
    other = partner[1].strip() if partner else ""
    said = [pair for pair in reading.dialogue(text) if pair[0] in (me.name, other)]
    reminded = "Keep in mind when talking:" in text
    manner = MANNERS.get(call.model, MANNERS["mock-resident"])
    memories, today = reading.remembered(text), reading.day_of(text)
    return Meeting(me, other, said, memories, today, reminded, manner, call.rng("company"))


def approach(call: Call) -> Thought:
    """Speak to those not asked yet; to others now and then."""
    meeting = meeting_of(call)
    me, other, affair = meeting.me, meeting.other, meeting.me.affair
    chance, reason = (0.12 if other in me.knows else 0.03), "They look busy."
    if affair is not None and meeting.today <= affair.date:
        settled = affair.kind == "help" and "yes" in meeting.asked().values()
        if affair.whom in ("", other) and other not in meeting.asked() and not settled:
            chance, reason = meeting.manner["forward"], f"I have something to ask {other}."
    talk = meeting.rng.random() < chance
    return {"reason": reason if talk or affair is None else "This is not the moment.", "talk": talk}


def utterance(call: Call) -> Thought:
    """An answer to the other's affair, the own affair, or small talk."""
    meeting = meeting_of(call)
    affair, other = meeting.me.affair, meeting.other
    offered = meeting.offer(other)
    if offered is not None:
        said, done = _respond(meeting, offered)
    elif affair is not None and affair.whom in ("", other) and other not in meeting.asked():
        said, done = _bring_up(meeting, _with_time(affair, meeting.memories))
    else:
        said, done = _chat(meeting)
    return {"utterance": said, "done": done}


def _bring_up(meeting: Meeting, affair: Affair) -> tuple[str, bool]:
    """Bring up the own affair, answer questions about it, take leave after an answer."""
    talk, rng, me = lines(), meeting.rng, meeting.me.name
    if meeting.offer(me) is None:
        greeting = "" if meeting.of(me) else meeting.say(talk["greet"]) + " "
        if not meeting.said and rng.random() < WARMS_UP:
            return greeting + meeting.say(talk["warm_up"]), False
        clear = REMINDED if meeting.reminded else meeting.manner["clear"]
        hidden = [slot for slot in ("time", "place") if rng.random() >= clear]
        if affair.kind == "help" and rng.random() >= clear:
            hidden += ["what2", "place2"]
        shown = replace(affair, **dict.fromkeys(hidden, ""))
        said = [meeting.say(talk["lead_in"]), meeting.say(talk["raise"][affair.kind], shown)]
        return greeting + " ".join(said), False
    last = (meeting.of(meeting.other) or [""])[-1]
    for act, answer in talk["host"].items():
        if hears(talk[act], last) is not None:
            pool = talk.get(f"{answer}_{affair.kind}", talk[answer])
            return meeting.say(pool, affair), answer in ENDS
    for question in talk["curious"]:
        if hears(question["asks"], last) is not None:
            return meeting.say(question["says"]), False
    return meeting.say(talk["bye"]), True


def _respond(meeting: Meeting, heard: Affair) -> tuple[str, bool]:
    """Ask for a missing time or place, then out of curiosity; then say yes or no."""
    talk, rng, me = lines(), meeting.rng, meeting.me
    if meeting.answer(me.name):
        return meeting.say(talk["bye"]), True
    no_time, no_place = not heard.time and heard.kind != "help", not heard.place and not heard.online
    asked = meeting.told(me.name, "when_where", "when", "where")
    if (no_time or no_place) and not asked and rng.random() < 0.6 * meeting.manner["attentive"]:
        act = "when_where" if no_time and no_place else "when" if no_time else "where"
        return meeting.say(talk[act]), False
    own = "\n".join(meeting.of(me.name))
    unasked = (q for q in talk["curious"] if heard.kind in q["kinds"] and hears(q["asks"], own) is None)
    open_questions = [ask for question in unasked for ask in question["asks"]]
    if open_questions and len(meeting.said) < 10 and rng.random() < CURIOUS:
        return meeting.say(open_questions), False
    hesitated = meeting.told(me.name, "hesitate")
    if not hesitated and rng.random() < HESITATES:
        return meeting.say(talk["hesitate"]), False
    at_work = bool(heard.time) and me.hours[0] <= heard.time < me.hours[1]
    comes = PERSUADED if hesitated else COMES_FROM_WORK if at_work else COMES
    if rng.random() > comes:
        return meeting.say(talk["no"]), False
    if heard.kind == "meet" and not (heard.time and heard.place):
        days = load("stss", "en", "days")
        time = heard.time or rng.choice(days["free"])
        place = heard.place or rng.choice(days["meeting"])
        return meeting.say(talk["settle"], replace(heard, time=time, place=place)), False
    return meeting.say(talk["yes"]), False


def _chat(meeting: Meeting) -> tuple[str, bool]:
    """The next line of the small talk that is going on, or the first of another."""
    said, threads = [text for _, text in meeting.said], [thread["lines"] for thread in lines()["threads"]]
    if not said:
        return meeting.rng.choice(threads)[0], False
    if hears(lines()["warm_up"], said[-1]) is not None:
        return meeting.say(lines()["warm_back"]), False
    for thread in threads:
        if said[0] == thread[0] and len(said) < len(thread):
            return thread[len(said)], len(said) == len(thread) - 1
    return meeting.say(lines()["bye"]), True


def summary(call: Call) -> Thought:
    """What somebody keeps of a talk: who asked what and what was settled; sometimes without time or place."""
    meeting = meeting_of(call)
    me, other, notes = meeting.me.name, meeting.other, lines()["notes"]
    theirs, own = meeting.offer(other), meeting.offer(me)
    if theirs is not None:
        answer = meeting.answer(me) or "no"
        kept = replace(theirs, answer=answer)
        lost = meeting.rng.random()
        if lost > meeting.manner["attentive"]:
            half = lost > (1 + meeting.manner["attentive"]) / 2
            kept = replace(kept, time="") if half else replace(kept, place="", place2="")
        now, today = reading.hour_of(prompt_of(call)), theirs.date == meeting.today
        return {
            "summary": pick(notes[kept.kind], meeting.rng, vars(kept)),
            "importance": 6 if answer == "yes" else 3,
            "changes_today": answer == "yes" and today and theirs.time > now,
        }
    pool, slots = notes["chat"], {"host": other}
    if own is not None:
        answer = meeting.answer(other) or "no"
        pool = notes["own"]
        slots = {"whom": other, "first": other.split()[0], "what": own.what, "answer": answer}
        if answer == "yes" and own.time and own.kind == "meet":
            slots |= {"place": own.place or "no place", "time": own.time}
    said = pick(pool, meeting.rng, slots)
    return {"summary": said, "importance": 2 if own is None else 6, "changes_today": False}


def _with_time(affair: Affair, memories: Sequence[str]) -> Affair:
    """The affair with a time: the one told to others before, else the usual one."""
    if affair.time or affair.kind == "help":
        return affair
    time, place = settled(memories)
    if affair.kind == "meet":
        return replace(affair, time=time, place=affair.place or place)
    return replace(affair, time=time or usual_time(affair))


def settled(memories: Sequence[str]) -> tuple[str, str]:
    """The time and place that were settled for the own affair; empty without any."""
    last = next((note for note in reversed(own_notes(memories)) if note.get("time")), {})
    return last.get("time", ""), last.get("place", "")


def usual_time(affair: Affair) -> str:
    """The time that the host of an affair always proposes where it has none."""
    return str(random.Random(f"{affair.host} {affair.what}").choice(load("stss", "en", "days")["free"][2:]))
