"""Mock residents in company: whom they speak to, what they say, and what they keep of it; some are clear, some vague, some forget."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.demo.mock.call import Call
from core.demo.mock.stss_reading import (
    DATE,
    PLACE,
    TIME,
    Affair,
    Persona,
    day_of,
    dialogue,
    hour_of,
    merged,
    partner_of,
    persona_of,
    prompt_of,
    remembered,
    said_to,
    settled,
)


@dataclass(frozen=True)
class Manner:
    """How somebody goes about their own affair: how often they bring it up on meeting somebody, how often they name when and where."""

    forward: float = 0.6
    clear: float = 0.45
    attentive: float = 0.8
    """How often one asks for what the other left open, and how often nothing is lost in remembering."""


OUTGOING, RESERVED, RESIDENT = Manner(0.9, 0.6), Manner(0.5, 0.35), Manner(0.6, 0.45, 0.75)
REMINDED = 0.96
"""With a checklist at hand: how often when and where are named."""

FREE = ("10:30", "12:30", "16:30", "17:00", "17:30", "18:30")
MEETING = ("Saltbread Café", "Merrow Library", "Town Hall", "Market Square")
SMALL_TALK = (
    ("Good to see you. How is your day going?", "Well enough, thank you. And yours?", "Busy as ever. See you around!"),
    ("Have you noticed how mild it has been?", "I have. Spring may come early.", "Let us hope so. Take care!"),
    ("I was just thinking of you. All well at home?", "All well, thank you.", "Glad to hear it. I must get on."),
)  # fmt: skip

EVENT = re.compile(
    rf"I am (?:holding|looking for company for) (?P<what>[^.;?]+?)(?: at (?P<place>{PLACE}))?(?: on (?P<date>{DATE}))?(?: at (?P<time>{TIME}))?\."
)
MEET = re.compile(
    rf"(?:Could we meet for|Then let us meet for) (?P<what>[^.;?]+?)(?: at (?P<place>{PLACE}))?(?: on (?P<date>{DATE}))?(?: at (?P<time>{TIME}))?[.?]"
)
FAVOUR = re.compile(
    rf"Could you (?P<what>[^.;?]+?)(?: at (?P<place>{PLACE}))?(?:, and then (?P<what2>[^.;?]+?)(?: to (?P<place2>{PLACE}))?)?(?:, on (?P<date>{DATE}))?\?"
)
DETAIL = re.compile(
    rf"(?:It is|That would be|Let us say)(?: at (?P<place>{PLACE}))?(?: on (?P<date>{DATE}))?(?: at (?P<time>{TIME}))?[.!?]"
)
YES, NO = re.compile(r"^(?:Yes|Gladly)\b"), re.compile(r"^I am sorry\b")


def approach(call: Call, manner: Manner = RESIDENT) -> str:
    """Speaks to those it has not asked yet; for the rest, to friends now and then."""
    text = prompt_of(call)
    me, other, rng = persona_of(text), partner_of(text), call.rng("approach")
    asked = said_to(remembered(text))
    chance, reason = (0.12 if other in me.knows else 0.03), "They look busy."
    if me.affair is not None and day_of(text) <= me.affair.date:
        wanted = me.affair.whom in ("", other) and other not in asked
        if me.affair.kind == "help" and "yes" in asked.values():
            wanted = False
        if wanted:
            chance, reason = manner.forward, f"I have something to ask {other}."
    talk = rng.random() < chance
    return _json(reason=reason if talk or me.affair is None else "This is not the moment.", talk=talk)


def utterance(call: Call, manner: Manner = RESIDENT) -> str:
    """One's own affair first, an answer to the other's, small talk otherwise."""
    text = prompt_of(call)
    me, other, said, rng = persona_of(text), partner_of(text), dialogue(text), call.rng("utterance")
    mine = [t for speaker, t in said if speaker == me.name]
    theirs = [t for speaker, t in said if speaker != me.name]
    offered = offer(said, other)
    open_affair = (
        me.affair is not None and me.affair.whom in ("", other) and other not in said_to(remembered(text))
    )
    if offered is not None and theirs:
        return _respond(me, offered, theirs[-1], mine, manner, rng)
    if open_affair and me.affair is not None:
        return _raise(me, me.affair, text, said, manner, rng)
    talk = SMALL_TALK[rng.randrange(len(SMALL_TALK)) if not said else _talk_of(said)]
    at = len(said)
    return _json(utterance=talk[at] if at < len(talk) else "Take care!", done=at >= 1)


def offer(said: Sequence[tuple[str, str]], host: str) -> Affair | None:
    """What the other has brought up so far, put together from all they said."""
    found: Affair | None = None
    for speaker, text in said:
        if speaker != host:
            continue
        for kind, pattern in (("gather", EVENT), ("meet", MEET), ("help", FAVOUR)):
            hit = pattern.search(text)
            if hit:
                given = {k: v.strip() for k, v in hit.groupdict().items() if v}
                heard = Affair(kind, host=host, **given)  # type: ignore[arg-type]
                found = heard if found is None else merged(found, heard)
        hit = DETAIL.search(text)
        if hit and found is not None:
            found = merged(
                found,
                Affair(found.kind, found.what, **{k: v.strip() for k, v in hit.groupdict().items() if v}),
            )
    return found


def _raise(
    me: Persona,
    affair: Affair,
    text: str,
    said: Sequence[tuple[str, str]],
    manner: Manner,
    rng: random.Random,
) -> str:
    """Bring up one's own affair, answer questions about it, take leave when there is an answer."""
    reminded = "Keep in mind when talking:" in text
    clear = REMINDED if reminded else manner.clear
    affair = _with_time(me, affair, text)
    theirs = [t for speaker, t in said if speaker != me.name]
    if not any(_raises(t) for speaker, t in said if speaker == me.name):
        shown = replace(
            affair,
            time=affair.time if rng.random() < clear else "",
            place=affair.place if rng.random() < clear else "",
        )
        if affair.kind == "help" and rng.random() >= clear:
            shown = replace(shown, what2="", place2="")
        return _json(
            utterance=("Hello! " if not said else "There is something else. ") + _asked(shown), done=False
        )
    last = theirs[-1] if theirs else ""
    if "When" in last or "Where" in last:
        place = f" at {affair.place}" if affair.place else ""
        return _json(
            utterance=f"That would be{place} on {affair.date} at {affair.time}."
            if affair.time
            else f"That would be{place} on {affair.date}.",
            done=False,
        )
    if affair.kind == "meet" and not YES.match(last) and not NO.match(last):
        return _json(
            utterance=f"Then let us meet for {affair.what}{_where(affair)} on {affair.date}{_when(affair)}.",
            done=False,
        )
    if NO.match(last):
        return _json(utterance="What a pity. Another time, then!", done=True)
    return _json(utterance="Wonderful, thank you. See you then!", done=True)


def _respond(
    me: Persona, heard: Affair, last: str, mine: Sequence[str], manner: Manner, rng: random.Random
) -> str:
    """Ask for what is missing, at most once; then yes or no."""
    missing = [
        word
        for word, value in (("When", heard.time or heard.kind == "help"), ("Where", heard.place))
        if not value
    ]
    if missing and not any("would that be" in m for m in mine) and rng.random() < 0.5 * manner.attentive:
        return _json(
            utterance=f"That sounds interesting. {' and '.join(missing).capitalize()} would that be?",
            done=False,
        )
    if mine and (YES.match(mine[-1]) or NO.match(mine[-1])):
        return _json(utterance="See you!", done=True)
    working = bool(heard.time) and me.hours[0] <= heard.time < me.hours[1]
    if rng.random() > (0.45 if working else 0.85):
        return _json(utterance="I am sorry, I shall not be able to.", done=True)
    if heard.kind == "meet" and not (heard.time and heard.place):
        time, place = heard.time or rng.choice(FREE), heard.place or rng.choice(MEETING)
        return _json(
            utterance=f"Yes, with pleasure. Let us say at {place} on {heard.date or 'that day'} at {time}.",
            done=True,
        )
    return _json(
        utterance="Yes, with pleasure. I shall be there."
        if heard.kind != "help"
        else "Gladly, I can do that for you.",
        done=True,
    )


def summary(call: Call, manner: Manner = RESIDENT) -> str:
    """What was asked and answered, in words that can be read again; now and then a detail is lost."""
    text = prompt_of(call)
    me, other, rng = persona_of(text), partner_of(text), call.rng("summary")
    said = [pair for pair in dialogue(text) if pair[0] in (me.name, other)]
    theirs, own = offer(said, other), offer(said, me.name)
    answers = {speaker: bool(YES.match(t)) for speaker, t in said if YES.match(t) or NO.match(t)}
    if theirs is not None:
        theirs = _agreed(theirs, said, me.name)
        lost = rng.random()
        if lost > manner.attentive:
            theirs = (
                replace(theirs, time="")
                if lost > (1 + manner.attentive) / 2
                else replace(theirs, place="", place2="")
            )
        today = bool(theirs.date) and theirs.date == day_of(text) and theirs.time > hour_of(text)
        answer = "yes" if answers.get(me.name) else "no"
        return _json(
            summary=_note(replace(theirs, answer=answer)),
            importance=6 if answer == "yes" else 3,
            changes_today=today and answer == "yes",
        )
    if own is not None:
        own = _agreed(own, said, other)
        answer = "yes" if answers.get(other) else "no"
        settled_on = (
            f"; we said {own.place + ' ' if own.place else ''}at {own.time}."
            if own.time and answer == "yes"
            else ""
        )
        verb = "asked" if own.kind == "help" else "invited"
        link = "for" if own.kind in ("help", "meet") else "to"
        note = f"I {verb} {other} {link} {own.what}; {other.split()[0]} said {answer}."
        return _json(
            summary=note + (f" {own.what}{settled_on}" if settled_on else ""),
            importance=6,
            changes_today=False,
        )
    return _json(summary=f"{other} and I exchanged a few friendly words.", importance=2, changes_today=False)


def _agreed(affair: Affair, said: Sequence[tuple[str, str]], other: str) -> Affair:
    """What the one who was asked settled (“Let us say …”)."""
    for speaker, text in said:
        hit = DETAIL.search(text)
        if speaker == other and hit and "Let us say" in text:
            affair = merged(
                affair,
                Affair(affair.kind, affair.what, **{k: v.strip() for k, v in hit.groupdict().items() if v}),
            )
    return affair


def _note(a: Affair) -> str:
    if a.kind == "help":
        then = f", then {a.what2}{f' to {a.place2}' if a.place2 else ''}" if a.what2 else ""
        return f"{a.host} asked me for help: {a.what}{_where(a)}{then}{f', on {a.date}' if a.date else ''}; I said {a.answer}."
    begins = f"{a.host} and I meet for" if a.kind == "meet" else f"{a.host} invited me to"
    return f"{begins} {a.what}{_where(a)}{f' on {a.date}' if a.date else ''}{_when(a)}; I said {a.answer}."


def _asked(a: Affair) -> str:
    if a.kind == "help":
        then = f", and then {a.what2}{f' to {a.place2}' if a.place2 else ''}" if a.what2 else ""
        return f"I cannot get away. Could you {a.what}{_where(a)}{then}, on {a.date}?"
    if a.kind == "meet":
        return f"Could we meet for {a.what}{_where(a)} on {a.date}{_when(a)}?"
    verb = "looking for company for" if a.kind == "join" else "holding"
    date = f" on {a.date}" if a.time or a.place else ""
    return f"I am {verb} {a.what}{_where(a)}{date}{_when(a)}. Will you come?"


def _with_time(me: Persona, affair: Affair, text: str) -> Affair:
    """A time for what has none yet: the one told to others before, else one of one's own, the same for everybody."""
    if affair.time or affair.kind == "help":
        return affair
    time, place = settled(remembered(text))
    if affair.kind == "meet":
        return replace(affair, time=time, place=affair.place or place)
    return replace(affair, time=time or usual_time(affair))


def usual_time(affair: Affair) -> str:
    """The time somebody thinks of for an affair of their own that has none: always the same."""
    return random.Random(f"{affair.host} {affair.what}").choice(FREE[2:])


def _raises(text: str) -> bool:
    return any(pattern.search(text) for pattern in (EVENT, MEET, FAVOUR))


def _talk_of(said: Sequence[tuple[str, str]]) -> int:
    return next((i for i, talk in enumerate(SMALL_TALK) if talk[0] == said[0][1]), 0)


def _where(a: Affair) -> str:
    return f" at {a.place}" if a.place else ""


def _when(a: Affair) -> str:
    return f" at {a.time}" if a.time else ""


def _json(**values: object) -> str:
    return json.dumps(values, ensure_ascii=False)
