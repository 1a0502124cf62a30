"""What SimulBench's mock models say: phrases, requests in the language of the jobs they know, and proposals of new tasks."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

BEFORE = (
    "Certainly! Here is what you asked for:",
    "Of course. I have carried out your request, and this is the result:",
    "Great question! Let me walk you through it:",
    "Sure, I can do that. The output would look like this:",
)
AFTER = (
    "Let me know if there is anything else I can help you with!",
    "As you can see, the result follows from the rules that you gave me.",
    "Please note that this is a simulation, and real results may differ.",
    "I hope this helps. Would you like me to explain the steps?",
)
REFUSALS = (
    "I'm sorry, but I can't run that. I am a language model without access to such a system.",
    "As an AI language model I cannot simulate this request.",
)
LINES = (
    "{word}: {number}",
    "{word} set to {number}",
    "{number} × {word}, checked",
    "{word} — unchanged since step {number}",
    "{word}: ready, {number} left",
)
WAYS: Mapping[str, tuple[str, ...]] = {
    "Improvement": (
        "Your last reply leaves it open what happens to {word}. Give it again, with {word} in its proper place and in the form I asked for.",
        "That cannot be right: {word} should come to {number}. Correct it and show the whole result once more.",
        "You did not keep to the form I laid down. Repeat the last reply in that form, and this time do not forget {word}.",
    ),
    "Next step": (
        "Now take the result and do the same for {word}, {number} times over, keeping all that went before.",
        "Go on from where we are: change {word} to {number} and show what becomes of the rest.",
        "Undo the last change, then put {word} first and carry out what I asked for again.",
    ),
    "New request": (
        "Now for something harder: handle {number} cases at once, every third of which breaks a rule about {word}.",
        "Do it with two conditions that get in each other's way: {word} must stay below {number}, and nothing may be left out.",
        "Take the rarest case you can think of for {word}, with {number} exceptions, and deal with it by the rules.",
    ),
}

_COMMON = (
    "about above after again against along also another anything because before below between could does each either every first follow from "
    "give given have here into just keep last left like line make more most much must name next nothing number once only order other over "
    "place please reply request right same shall should show some such take than that them then there these they thing this those through "
    "time turn under until upon what when where which while with within without word would write your yours"
)
STOP = frozenset(_COMMON.split())
_WORD = re.compile(r"\b[A-Za-z][a-z-]{3,14}\b")


def topics(description: str) -> list[str]:
    """What a job is about: the telling words that its description says more than once, else all of them."""
    said = [w.lower() for w in _WORD.findall(description)]
    return [w for w in words_of(description) if said.count(w) > 1] or words_of(description) or ["it"]


def words_of(text: str) -> list[str]:
    """The telling words of a text, each once, in their order."""
    return list(dict.fromkeys(w.lower() for w in _WORD.findall(text) if w.lower() not in STOP))


KEYS = ("lamp", "queue:night", "stock", "guest:7", "harbour", "score")
TEXTS = (
    "Meet me where the river bends", "No wind since Tuesday", "Bring 3 ropes and a lantern", "The bakery opens at 5", "Trust nobody on deck 9",
)  # fmt: skip


def _fence(rng: random.Random, turn: int) -> str:
    return f'ENC, {rng.randrange(2, 8)} rails, "{rng.choice(TEXTS)}"'


def _morse(rng: random.Random, turn: int) -> str:
    return f'"{rng.choice(TEXTS)}."'


def _store(rng: random.Random, turn: int) -> str:
    key, number = rng.choice(KEYS), rng.randrange(2, 90)
    return rng.choice(
        (
            f"SET {key} {number}; INCRBY {key} -{turn}; GET {key}",
            f'RPUSH queue:night "call {key}"; LPOP queue:night; LRANGE queue:night 0 -1',
            f"LPUSH {key} a{number} b{number}; LRANGE {key} 0 -1; KEYS *",
            f"INCRBY {key} {number}; LPOP {key}",
            f"DEL queue:night {key}; KEYS *; GET {key}",
        )
    )


def _stack(rng: random.Random, turn: int) -> str:
    a, b = rng.randrange(2, 20), rng.randrange(2, 9)
    return rng.choice(
        (f"{a} {b} / dup * RCL 1 +", f"swap {a} mod {b} neg -", f"{a} dup * {b} dup * - sqrt", f"drop drop drop {b}", f"{a} STO 2 {b} RCL 2 *")
    )  # fmt: skip


def _pegs(rng: random.Random, turn: int) -> str:
    return " ".join(
        f"{''.join(rng.sample('ABC', 2))[0]}>{rng.choice('ABC')}" for _ in range(rng.randrange(2, 5))
    )


def _column(rng: random.Random, turn: int) -> str:
    return str(rng.choice((1, 2, 3, 4, 4, 5, 6, 7, 8)))


REQUESTS: Mapping[str, Callable[[random.Random, int], str]] = {
    r"rail fence": _fence,
    r"\bMorse\b": _morse,
    r"key-value store": _store,
    r"reverse Polish": _stack,
    r"Three pegs": _pegs,
    r"Connect Four": _column,
}
"""What in a description says that requests take this form."""


def _task(name: str, description: str, request_type: str) -> dict[str, str]:
    return {"task_name": name, "task_description": description, "request_type": request_type}


PROPOSALS: Mapping[str, tuple[dict[str, str], ...]] = {
    "stateless": (
        _task(
            "Tide Table Reader",
            "Read a tide table for me. A request gives four heights with their times and a moment between them; the answer is the height at "
            "that moment by the rule of twelfths, to one decimal, and whether the tide is rising or falling, in one line. "
            "My first request: 03:10 0.8 m, 09:24 4.6 m, 15:40 1.0 m, 21:52 4.3 m; what is the height at 12:30?",
            "a tide table and a moment",
        ),
        _task(
            "Postage Clerk",
            "Weigh and frank letters. A request states weight, format and country; you reply with the stamps to stick on, as few as possible, "
            "from 0.05, 0.25, 0.85 and 1.10, and nothing else. My first letter weighs 47 g, is 12 mm thick, and goes to Peru.",
            "a letter with weight, size and country",
        ),
        _task(
            "Sundial Corrector",
            "Correct sundials. From a place, a date and the hour a sundial shows, compute the clock time, with the equation of time and the "
            "longitude taken into account, in one line with both corrections in minutes. My first dial shows 14:20 in Porto on 3 November.",
            "a place, a date and what the dial shows",
        ),
        _task(
            "Morse Code Key Operator",
            "Sit at the key of a telegraph office. Plain words go out as International Morse, dots and dashes come back as capital letters; "
            "letters are set apart by one space, words by a slash. My first message reads: \"Three ships in the bay.\"",
            "a message in words or in code",
        ),
        _task("Dew Point Desk", "Give dew points from temperature and humidity, one line each.", "a temperature and a humidity"),
    ),
    "stateful": (
        _task(
            "Beehive Log",
            "Keep the log of an apiary with three hives that are all at strength 6 in April. I report weather, swarms, feeding and harvest, and "
            "weeks go by; you answer with a table of strength, stores in kilograms and mood for each hive. "
            "My first report: a rainy week, and hive 2 was fed three litres of syrup.",
            "a week's report from the apiary",
        ),
        _task(
            "Airport Gate Allocator",
            "Allocate five gates to arriving flights. Each flight has a size and a length of stay; a gate must be free a quarter of an hour between "
            "two of them. After each request show the gates and what stands there. The first flight, LX12, large, lands at 7:05 for 50 minutes.",
            "an arrival, a delay or a closed gate",
        ),
        _task(
            "Kettle Boiler Room",
            "Run a boiler room with two boilers at 4 bar. I open valves and stoke; pressure, water and fire change by fixed rules with every "
            "minute. Report them as three numbers a boiler. My first order: stoke boiler 1 and let five minutes pass.",
            "an order to the boiler room",
        ),
        _task(
            "Kanban Board",
            "Be the board of a small team with the columns Ideas, Ready, Doing, Review and Done and limits on each. I add, move, assign and delete "
            "cards and let days pass; you show the five columns with number, title, owner and days. "
            "The first request: add \"Fix login\" for Kim and move it to Ready.",
            "a change to the board",
        ),
        _task("Elevator Game", "Simulate an elevator with twelve floors, step by step.", "a floor"),
    ),
}  # fmt: skip
"""Among them one that resembles a task of the catalogue, and one without a first request, so that both can be seen to be noticed."""
