"""A few jobs that a mock can really do: from all requests so far to the reply that is right, or None for a job it does not know."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

Engine = Callable[[Sequence[str]], str]


def right_reply(requests: Sequence[str]) -> str | None:
    """The right reply to the last of these requests (the first one is the job's description); None for a job that is not known."""
    for cue, engine in ENGINES.items():
        if requests and re.search(cue, requests[0], re.I):
            return engine([_first(requests[0]), *requests[1:]])
    return None


def _first(description: str) -> str:
    """The first request, which ends the description."""
    return re.split(r"\bfirst\b", description, flags=re.I)[-1]


def rail_fence(requests: Sequence[str]) -> str:
    """Enciphers or deciphers the slip by the rail fence."""
    slip = requests[-1]
    number, text = re.search(r"(\d+) rails?", slip), re.search(r"[\"“](.+)[\"”]", slip, re.S)
    rails = int(number.group(1)) if number else 0
    letters = re.sub(r"[^A-Z]", "", (text.group(1) if text else "").upper())
    if not 2 <= rails <= 6:
        return "BAD RAILS"
    bounce = [i if i < rails else 2 * rails - 2 - i for i in range(2 * rails - 2)]
    order = sorted(range(len(letters)), key=lambda i: (bounce[i % len(bounce)], i))
    if re.search(r"\bDEC\b", slip):
        plain = dict(zip(order, letters, strict=True))
        coded = "".join(plain[i] for i in range(len(letters)))
    else:
        coded = "".join(letters[i] for i in order)
    return " ".join(coded[i : i + 5] for i in range(0, len(coded), 5))


_CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.-"
)
MORSE = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.", _CODES.split(), strict=True))


def morse(requests: Sequence[str]) -> str:
    """Puts words into Morse, or Morse into words."""
    quoted = re.search(r"[\"“](.+)[\"”]", requests[-1], re.S)
    text = (quoted.group(1) if quoted else requests[-1]).strip()
    if re.fullmatch(r"[.\-/ ]+", text):
        letters = {code: letter for letter, code in MORSE.items()}
        return " ".join("".join(letters.get(c, "?") for c in word.split()) for word in text.split(" / "))
    words = [[MORSE[c] for c in word if c in MORSE] for word in text.upper().split()]
    return " / ".join(" ".join(word) for word in words if word)


def key_value(requests: Sequence[str]) -> str:
    """Replays every command and prints what the last request's commands print."""
    data: dict[str, object] = {}
    printed: list[str] = []
    for request in requests:
        commands = re.findall(
            r"\b((?:SET|GET|DEL|INCRBY|LPUSH|RPUSH|LPOP|LRANGE|KEYS|FLUSH)\b[^\n;]*)",
            request.rstrip(" ."),
            re.I,
        )
        printed = [_stored(data, re.findall(r'"[^"]*"|\S+', command)) for command in commands]
    return "```\n" + ("\n".join(printed) or "(error) ERR unknown command") + "\n```"


def _stored(data: dict[str, object], words: list[str]) -> str:
    name, *rest = words[0].upper(), *(word.strip('"') for word in words[1:])
    key, values = (rest[0] if rest else ""), rest[1:]
    held = data.get(key)
    listed = held if isinstance(held, list) else []
    if (held is not None and not isinstance(held, list) and name in ("LPUSH", "RPUSH", "LPOP", "LRANGE")) or (
        isinstance(held, list) and name in ("GET", "INCRBY")
    ):
        return "(error) WRONGTYPE Operation against a key holding the wrong kind of value"
    if name == "SET" and values:
        data[key] = " ".join(values)
        return "OK"
    if name == "GET":
        return "(nil)" if held is None else f'"{held}"'
    if name == "DEL":
        return f"(integer) {sum(data.pop(k, None) is not None for k in rest)}"
    if (
        name == "INCRBY"
        and values
        and re.fullmatch(r"-?\d+", f"{held or 0}")
        and re.fullmatch(r"-?\d+", values[0])
    ):
        data[key] = int(f"{held or 0}") + int(values[0])
        return f"(integer) {data[key]}"
    if name in ("LPUSH", "RPUSH") and values:
        data[key] = [*reversed(values), *listed] if name == "LPUSH" else [*listed, *values]
        return f"(integer) {len(listed) + len(values)}"
    if name == "LPOP":
        if not listed:
            return "(nil)"
        data[key] = listed[1:]
        return f'"{listed[0]}"'
    if name == "LRANGE":
        return "\n".join(f'{i}) "{item}"' for i, item in enumerate(listed, 1)) or "(empty list)"
    if name == "KEYS":
        return "\n".join(f'{i}) "{k}"' for i, k in enumerate(sorted(data), 1)) or "(empty list)"
    if name == "FLUSH":
        data.clear()
        return "OK"
    return f"(error) ERR wrong number of arguments for '{name.lower()}'"


def calculator(requests: Sequence[str]) -> str:
    """Works every line off on one stack and shows it."""
    stack: list[float] = []
    memory: dict[str, float] = {}
    error = ""
    for request in requests:
        line = request.partition(" is ")[2] if " is " in request else request
        before, error = list(stack), ""
        words = line.rstrip(".").split()
        while words and not error:
            error = _worked(stack, memory, words)
        if error:
            stack = before
    shown = [f"{len(stack) - i}: {value:.6g}" for i, value in enumerate(stack)]
    return "\n".join(([f"ERR {error}"] if error else []) + (shown or ["(empty)"]))


_TWO: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "mod": lambda a, b: a % b,
}


def _worked(stack: list[float], memory: dict[str, float], words: list[str]) -> str:
    """Do the next word; returns its name where that fails."""
    word = words.pop(0)
    try:
        if re.fullmatch(r"-?\d+(?:\.\d+)?", word):
            stack.append(float(word))
        elif word in _TWO:
            b, a = stack.pop(), stack.pop()
            stack.append(_TWO[word](a, b))
        elif word == "sqrt":
            stack.append(math.sqrt(stack.pop()))
        elif word == "neg":
            stack.append(-stack.pop())
        elif word == "dup":
            stack.append(stack[-1])
        elif word == "drop":
            stack.pop()
        elif word == "swap":
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif word == "clear":
            stack.clear()
        elif word == "STO":
            memory[words.pop(0)] = stack[-1]
        elif word == "RCL":
            stack.append(memory[words.pop(0)])
        else:
            return word
    except (IndexError, KeyError, ValueError, ZeroDivisionError):
        return word
    return ""


def hanoi(requests: Sequence[str]) -> str:
    """Carries out the moves and shows the pegs; an illegal move ends its string."""
    pegs = {"A": [5, 4, 3, 2, 1], "B": [], "C": []}
    made, illegal = 0, ""
    for request in requests:
        illegal = ""
        for source, target in re.findall(r"([ABC])\s*>\s*([ABC])", request):
            if not pegs[source] or (pegs[target] and pegs[target][-1] < pegs[source][-1]):
                illegal = f"{source}>{target} is not allowed"
                break
            pegs[target].append(pegs[source].pop())
            made += 1
    lines = [f"{peg}: {' '.join(map(str, discs))}".rstrip() for peg, discs in pegs.items()]
    return "\n".join([*([illegal] if illegal else []), *lines, f"Moves: {made}"])


def connect_four(requests: Sequence[str]) -> str:
    """Drops X where it is told and O beside it, and shows the board."""
    columns: list[list[str]] = [[] for _ in range(7)]
    answer = ""
    for request in requests:
        found = re.search(r"\b([0-9]+)\b", request)
        column = int(found.group(1)) if found else 0
        if not 1 <= column <= 7 or len(columns[column - 1]) == 6:
            answer = "not possible"
            continue
        columns[column - 1].append("X")
        mine = next(c % 7 for c in range(column, column + 7) if len(columns[c % 7]) < 6)
        columns[mine].append("O")
        answer = str(mine + 1)
    rows = ["".join(c[r] if r < len(c) else "." for c in columns) for r in range(5, -1, -1)]
    return "\n".join([*rows, "1234567", answer])


ENGINES: dict[str, Engine] = {
    r"rail fence": rail_fence,
    r"\bMorse\b": morse,
    r"key-value store": key_value,
    r"reverse Polish": calculator,
    r"Three pegs": hanoi,
    r"Connect Four": connect_four,
}
"""What in a description says that the job is this one."""
