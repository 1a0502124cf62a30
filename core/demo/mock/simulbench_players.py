"""Mock simulators and the mock user agent of SimulBench: rules that do some jobs right, and go wrong in four manners of their own."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from core.demo.mock import simulbench_talk as talk
from core.demo.mock.call import Call
from core.demo.mock.simulbench_engines import right_reply
from core.demo.mock.simulbench_reading import asked, dialogue_of, history_of, ways


@dataclass(frozen=True)
class Manner:
    """How often a simulator goes wrong, and how: a share of replies each. `remembers` is how many requests back it knows, at most."""

    wrong: float
    chats: float
    refuses: float = 0.0
    silent: float = 0.0
    rambles: float = 0.0
    remembers: int = 100


STEADY = Manner(wrong=0.08, chats=0.05)
CHATTY = Manner(wrong=0.18, chats=0.6, rambles=0.04)
FORGETFUL = Manner(wrong=0.25, chats=0.15, remembers=2)
HASTY = Manner(wrong=0.5, chats=0.3, refuses=0.07, silent=0.08, rambles=0.05)


def simulator(manner: Manner) -> Callable[[Call], str]:
    """A persona that simulates whatever it is told to, in its manner."""

    def reply(call: Call) -> str:
        return _reply(call, manner)

    return reply


def _reply(call: Call, manner: Manner) -> str:
    requests = history_of(call)
    rng = call.rng("simulate")
    # Later turns are harder: there is more to keep in mind.
    strain = 0.6 + 0.25 * len(requests)
    if rng.random() < manner.refuses:
        return rng.choice(talk.REFUSALS)
    if len(requests) > 1 and rng.random() < manner.silent:
        return ""
    known = [requests[0], *requests[1:][-manner.remembers :]]
    done = right_reply(known) or _plausible(requests, rng)
    if rng.random() < manner.wrong * strain:
        done = _spoilt(done, rng)
    if rng.random() < manner.rambles * strain:
        return "\n".join([done] * (1 + 6000 // max(1, len(done))))
    if rng.random() < manner.chats:
        return f"{rng.choice(talk.BEFORE)}\n\n{done}\n\n{rng.choice(talk.AFTER)}"
    return done


def _plausible(requests: tuple[str, ...], rng: random.Random) -> str:
    """Something in the form that the description asks for, made of the request's own words: it looks right and is not."""
    description, request = requests[0], requests[-1]
    about = talk.topics(description)
    rng.shuffle(about)
    # What the request names comes first, then whatever else the job is about.
    words = sorted(about, key=lambda word: word not in talk.words_of(request))
    lines = [
        rng.choice(talk.LINES).format(word=word, number=rng.randrange(2, 60))
        for word in words[: rng.randrange(2, 5)]
    ]
    if re.search(r"\btable\b", description, re.I):
        lines = [
            "| item | state |",
            "| --- | --- |",
            *(f"| {word} | {rng.randrange(2, 60)} |" for word in words[:4]),
        ]
    if re.search(r"\b(?:one|single) line\b", description, re.I):
        lines = lines[:1]
    body = "\n".join(lines)
    return f"```\n{body}\n```" if re.search(r"code block", description, re.I) else body


def _spoilt(text: str, rng: random.Random) -> str:
    """The text with a slip in it: a figure one off, two characters swapped, a line lost."""
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    if digits and rng.random() < 0.6:
        at = rng.choice(digits)
        return text[:at] + str((int(text[at]) + rng.choice((1, 2, 7))) % 10) + text[at + 1 :]
    lines = text.split("\n")
    if len(lines) > 3 and rng.random() < 0.5:
        lines.pop(rng.randrange(1, len(lines) - 1))
        return "\n".join(lines)
    if len(text) < 2:
        return text + "?"
    at = rng.randrange(len(text) - 1)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def request(call: Call) -> str:
    """The user agent: a way to go on, and a request in the language of the job where there is a form for it."""
    prompt = asked(call)
    dialogue, rng = dialogue_of(prompt), call.rng("request")
    offered = ways(prompt) or [("1", "Improvement")]
    number, title = rng.choice(offered[:-1] or offered)
    reply = {"user": {"strategy": number, "request": _request(dialogue.requests, title, rng)}}
    return json.dumps(reply, ensure_ascii=False)


def _request(requests: tuple[str, ...], way: str, rng: random.Random) -> str:
    description = requests[0] if requests else ""
    for cue, make in talk.REQUESTS.items():
        if re.search(cue, description, re.I):
            return make(rng, len(requests))
    pool = talk.WAYS.get(way, talk.WAYS["Next step"])
    return rng.choice(pool).format(word=rng.choice(talk.topics(description)), number=rng.randrange(2, 40))


def propose(call: Call) -> str:
    """The task generator: one of the proposals that are written down; now and then one that resembles a known task or lacks its first request."""
    rng = call.rng("propose")
    stateful = "**stateful**" in call.asked
    return json.dumps(rng.choice(talk.PROPOSALS["stateful" if stateful else "stateless"]), ensure_ascii=False)
