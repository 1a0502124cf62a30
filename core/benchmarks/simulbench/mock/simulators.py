"""Mock simulators and the mock user agent: rules that do some jobs right, and go wrong in four manners of
their own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.benchmarks.simulbench.mock.engines import ENGINES
from core.benchmarks.simulbench.mock.reading import asked, dialogue_of, topics, ways, words_of
from core.demo.mock.call import Call
from core.demo.mock.material import load, pick


@dataclass(frozen=True)
class SimulatorManner:
    """How often a simulator goes wrong, and how: a share of replies each."""

    wrong: float
    chats: float
    refuses: float = 0.0
    silent: float = 0.0
    rambles: float = 0.0
    remembers: int = 100
    """How many requests back it knows, at most."""


MANNERS: Mapping[str, SimulatorManner] = {
    "mock-sim-steady": SimulatorManner(wrong=0.08, chats=0.05),
    "mock-sim-chatty": SimulatorManner(wrong=0.18, chats=0.6, rambles=0.04),
    "mock-sim-forgetful": SimulatorManner(wrong=0.25, chats=0.15, remembers=2),
    "mock-sim-hasty": SimulatorManner(wrong=0.5, chats=0.3, refuses=0.07, silent=0.08, rambles=0.05),
}


def lines(name: str = "talk") -> dict[str, Any]:
    """What simulators and the user agent say."""
    return load("simulbench", "en", name)


def right_reply(requests: Sequence[str]) -> str | None:
    """The right reply to the last of these requests (the first is the job's description); None where nobody
    knows it.
    """
    if not requests:
        return None
    description, *later = requests
    for cue, engine in ENGINES.items():
        if re.search(cue, description):
            return engine([re.split(r"\bfirst\b", description, flags=re.I)[-1], *later])
    for script in _scripts(description):
        if not later:
            return str(script["first"])
        for path in script["paths"]:
            if [asked for asked, _ in path["steps"][: len(later)]] == later:
                return str(path["steps"][len(later) - 1][1])
    return None


def _scripts(description: str) -> Iterator[dict[str, Any]]:
    return (script for script in lines("scripts")["scripts"] if script["cue"] in description)


def simulate(call: Call) -> str:
    """The reply of a simulator, in its manner. Later turns are harder: there is more to keep in mind."""
    manner = MANNERS.get(call.model, MANNERS["mock-sim-hasty"])
    requests = [m.content for m in call.messages if m.role == "user"]
    rng, talk, strain = call.rng("simulate"), lines(), 0.6 + 0.25 * len(requests)
    if rng.random() < manner.refuses:
        return str(rng.choice(talk["refusals"]))
    if len(requests) > 1 and rng.random() < manner.silent:
        return ""
    known = [requests[0], *requests[1:][-manner.remembers :]]
    done = right_reply(known) or right_reply(requests) or _plausible(requests, rng)
    if rng.random() < manner.wrong * strain:
        done = _spoilt(done, rng)
    if rng.random() < manner.rambles * strain:
        return "\n".join([done] * (1 + 6000 // max(1, len(done))))
    if rng.random() < manner.chats:
        return f"{rng.choice(talk['before'])}\n\n{done}\n\n{rng.choice(talk['after'])}"
    return done


def _slots(about: Sequence[str], rng: random.Random) -> dict[str, str]:
    word, other = rng.sample([*about, "the rest"], 2)
    numbers = {name: str(rng.randrange(2, top)) for name, top in (("a", 20), ("b", 12))}
    return {"word": word, "other": other, **numbers}


def _plausible(requests: Sequence[str], rng: random.Random) -> str:
    """Something in the form that the description asks for, made of the request's own words: it looks right
    and is not.
    """
    description, request = requests[0], requests[-1]
    about = topics(description)
    # What the request names comes first, then whatever else the job is about.
    about.sort(key=lambda word: word not in words_of(request))
    count = 1 if re.search(r"\b(?:one|single) line\b", description, re.I) else rng.randrange(2, 5)
    shown = [pick(lines()["plausible"], rng, _slots([word], rng) | {"word": word}) for word in about[:count]]
    if re.search(r"\btable\b", description, re.I):
        shown = [
            "| item | state |",
            "| --- | --- |",
            *(f"| {w} | {rng.randrange(2, 60)} |" for w in about[:4]),
        ]
    body = "\n".join(shown)
    return f"```\n{body}\n```" if re.search(r"code block", description, re.I) else body


def _spoilt(text: str, rng: random.Random) -> str:
    """The text with a slip in it: a figure one off, a line lost, two neighbouring words or letters
    swapped.
    """
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    if digits and rng.random() < 0.6:
        at = rng.choice(digits)
        return text[:at] + str((int(text[at]) + rng.choice((1, 2, 7))) % 10) + text[at + 1 :]
    shown = text.split("\n")
    if len(shown) > 3 and rng.random() < 0.7:
        shown.pop(rng.randrange(1, len(shown) - 1))
        return "\n".join(shown)
    swaps = [m for m in re.finditer(r"\b(\w+) (\w+)\b", text) if m[1] != m[2]]
    if swaps:
        pair = rng.choice(swaps)
        return f"{text[: pair.start()]}{pair[2]} {pair[1]}{text[pair.end() :]}"
    at = rng.randrange(max(1, len(text) - 1))
    return (
        text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
        if len(text) > 1
        else text + "?"
    )


def request(call: Call) -> dict[str, Any]:
    """The user agent: a way to go on, and a request in the language of the job where there is a form for
    it.
    """
    prompt, rng = asked(call), call.rng("request")
    offered = ways(prompt) or [("1", "Improvement")]
    number, title = rng.choice(offered[:-1] or offered)
    return {"user": {"strategy": number, "request": _request(dialogue_of(prompt).requests, title, rng)}}


def _request(requests: Sequence[str], way: str, rng: random.Random) -> str:
    description, talk = requests[0] if requests else "", lines()
    slots = _slots(topics(description), rng) | {"text": rng.choice(talk["texts"])}
    said = "\n".join(requests[1:])
    for cue, forms in talk["requests"].items():
        if re.search(cue, description):
            return pick(forms, rng, slots, said)
    paths = [
        [asked for asked, _ in path["steps"]] for script in _scripts(description) for path in script["paths"]
    ]
    done = len(requests) - 1
    if ahead := [path[done] for path in paths if path[:done] == list(requests[1:]) and len(path) > done]:
        return str(rng.choice(ahead))
    return pick(talk["ways"].get(way, talk["ways"]["Next step"]), rng, slots, said)


def propose(call: Call) -> dict[str, Any]:
    """The task generator: one of the proposals that are written down."""
    kind = "stateful" if "**stateful**" in call.asked else "stateless"
    return dict(call.rng("propose").choice(lines("proposals")[kind]))
