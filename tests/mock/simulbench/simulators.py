"""What mock models read in SimulBench's prompts, and what mock simulators and user agents reply.

Simulators do some jobs right, and go wrong each in its own manner.
"""

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from concord.conversation import Message
from tests.mock.call import Call
from tests.mock.material import load, pick, pieces

DIALOGUE = re.compile(r"^=== The dialogue(?: so far)? ===$(.*)^=== End of the dialogue ===$", re.M | re.S)
CUT = "(the reply was cut off here by the length limit)"
EMPTY = ("(an empty reply)", "(nothing)")
WORD = re.compile(r"\b[A-Za-z][a-z-]{3,14}\b")
WAY = re.compile(r"^(\d+)\. ([^.\n]+)\. ", re.M)
"""A way to go on that a user agent is offered: its number and title."""


def lines(name: str = "talk") -> dict[str, Any]:
    """What simulators and the user agent say."""
    return load("simulbench", "en", name)


def asked(call: Call) -> str:
    """The prompt that quotes the dialogue; it is not the last message when a bad reply was sent back."""
    quoting = (m.content for m in call.messages if m.role != "assistant" and "=== The dialogue" in m.content)
    return next(quoting, "")


def dialogue_of(text: str) -> list[Message]:
    """The dialogue between its two marks; empty where there is none."""
    found = DIALOGUE.search(text)
    parts = pieces(r"(?m)^(User|Assistant):$", re.sub(r"(?m)^Turn \d+$", "", found[1]) if found else "")
    return [Message("user", part.strip()) if who[1] == "User" else _reply(part) for who, part in parts]


def section(text: str, name: str) -> Message:
    """The reply between `=== Name ===` and `=== End of name ===`."""
    found = re.search(rf"^=== {name} ===\n(.*?)\n?=== End of (?i:{name}) ===", text, re.M | re.S)
    return _reply(found[1] if found else "")


def _reply(quoted: str) -> Message:
    said, cut = quoted.strip("\n"), quoted.rstrip("\n").endswith(CUT)
    text = said.removesuffix(CUT).rstrip("\n") if cut else said
    return Message("assistant", "" if text.strip() in EMPTY else text, {"cut": cut})


def requests_in(dialogue: Sequence[Message]) -> list[str]:
    """What the user said, the job's description first."""
    return [m.content for m in dialogue if m.role == "user"]


def topics(description: str) -> list[str]:
    """What a job is about: the telling words that its description says more than once, else all of them."""
    said = [w.lower() for w in WORD.findall(description)]
    return [w for w in words_of(description) if said.count(w) > 1] or words_of(description) or ["it"]


def words_of(text: str) -> list[str]:
    """The telling words of a text, each once, in their order."""
    said = dict.fromkeys(word.lower() for word in WORD.findall(text))
    return [word for word in said if word not in load("simulbench", "en", "talk")["common"].split()]


def right_reply(requests: Sequence[str]) -> str | None:
    """The right reply to the last request (the first is the job's description); None where it is unknown."""
    if not requests:
        return None
    description, *later = requests
    for first, steps in _paths(description):
        if [asked for asked, _ in steps[: len(later)]] == later:
            return str(steps[len(later) - 1][1]) if later else first
    return None


def _paths(description: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The first reply and the (request, reply) steps of each written path through a job."""
    for script in lines("scripts")["scripts"]:
        if script["cue"] in description:
            yield from ((script["first"], path["steps"]) for path in script["paths"])


def simulate(call: Call) -> str:
    """The reply of a simulator, in its manner. Later turns are harder: there is more to keep in mind."""
    talk = lines()
    manner = talk["manners"].get(call.model, talk["manners"]["mock-sim-hasty"])
    requests = requests_in(call.messages)
    rng, strain = call.rng("simulate"), 0.6 + 0.25 * len(requests)
    if rng.random() < manner["refuses"]:
        return str(rng.choice(talk["refusals"]))
    if len(requests) > 1 and rng.random() < manner["silent"]:
        return ""
    done = right_reply(requests) or _plausible(requests, rng)
    if rng.random() < manner["wrong"] * strain:
        done = _spoilt(done, rng)
    if rng.random() < manner["rambles"] * strain:
        return "\n".join([done] * (1 + 6000 // max(1, len(done))))
    if rng.random() < manner["chats"]:
        return f"{rng.choice(talk['before'])}\n\n{done}\n\n{rng.choice(talk['after'])}"
    return done


def _slots(about: Sequence[str], rng: random.Random) -> dict[str, str]:
    word, other = rng.sample([*about, "the rest"], 2)
    return {"word": word, "other": other, "a": str(rng.randrange(2, 20)), "b": str(rng.randrange(2, 12))}


def _plausible(requests: Sequence[str], rng: random.Random) -> str:
    """Something in the form that the description asks for, of the request's own words: it looks right."""
    description, request = requests[0], requests[-1]
    # What the request names comes first, then whatever else the job is about.
    about = sorted(topics(description), key=lambda word: word not in words_of(request))
    count = 1 if re.search(r"\b(?:one|single) line\b", description, re.I) else rng.randrange(2, 5)
    shown = [pick(lines()["plausible"], rng, _slots([word], rng) | {"word": word}) for word in about[:count]]
    if re.search(r"\btable\b", description, re.I):
        rows = (f"| {word} | {rng.randrange(2, 60)} |" for word in about[:4])
        shown = ["| item | state |", "| --- | --- |", *rows]
    body = "\n".join(shown)
    return f"```\n{body}\n```" if "code block" in description.lower() else body


def _spoilt(text: str, rng: random.Random) -> str:
    """The text with a slip: a figure off, a line lost, two neighbouring words or letters swapped."""
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    if digits and rng.random() < 0.6:
        at = rng.choice(digits)
        return text[:at] + str((int(text[at]) + rng.choice((1, 2, 7))) % 10) + text[at + 1 :]
    shown = text.split("\n")
    if len(shown) > 3 and rng.random() < 0.7:
        shown.pop(rng.randrange(1, len(shown) - 1))
        return "\n".join(shown)
    if swaps := [m for m in re.finditer(r"\b(\w+) (\w+)\b", text) if m[1] != m[2]]:
        pair = rng.choice(swaps)
        return f"{text[: pair.start()]}{pair[2]} {pair[1]}{text[pair.end() :]}"
    if len(text) < 2:
        return text + "?"
    at = rng.randrange(len(text) - 1)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def request(call: Call) -> dict[str, Any]:
    """The user agent: a way to go on, and a request that a written path or a form gives."""
    prompt, rng = asked(call), call.rng("request")
    offered = WAY.findall(prompt.partition("Ways to go on:")[2]) or [("1", "Improvement")]
    number, way = rng.choice(offered[:-1] or offered)
    description, *later = requests_in(dialogue_of(prompt)) or [""]
    paths = [[said for said, _ in steps] for _, steps in _paths(description)]
    ahead = [p[len(later)] for p in paths if p[: len(later)] == later and len(p) > len(later)]
    if not ahead:
        ways = lines()["ways"].get(way, lines()["ways"]["Next step"])
        ahead = [pick(ways, rng, _slots(topics(description), rng), "\n".join(later))]
    return {"user": {"strategy": number, "request": rng.choice(ahead)}}


def propose(call: Call) -> dict[str, Any]:
    """The task generator: one of the proposals that are written down."""
    kind = "stateful" if "**stateful**" in call.asked else "stateless"
    return dict(call.rng("propose").choice(lines("proposals")[kind]))
