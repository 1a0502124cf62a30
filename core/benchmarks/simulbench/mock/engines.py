"""Jobs that a mock can really do: from all requests so far to the reply that is right."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from core.benchmarks.simulbench.mock.git import console

Engine = Callable[[Sequence[str]], str]
"""From the requests, without the job's description, to the reply to the last of them."""


CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- "
    "-..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.-"
)
MORSE = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.", CODES.split(), strict=True))


def morse(requests: Sequence[str]) -> str:
    """Puts words into Morse, or Morse into words."""
    quoted = re.search(r"[\"“](.+)[\"”]", requests[-1], re.S)
    text = (quoted[1] if quoted else requests[-1]).strip()
    if re.fullmatch(r"[.\-/ ]+", text):
        letters = {code: letter for letter, code in MORSE.items()}
        return " ".join("".join(letters.get(c, "?") for c in word.split()) for word in text.split(" / "))
    words = ([MORSE[c] for c in word if c in MORSE] for word in text.upper().split())
    return " / ".join(" ".join(word) for word in words if word)


def calculator(requests: Sequence[str]) -> str:
    """Works every line off on one stack and shows it."""
    stack: list[float] = []
    memory: dict[str, float] = {}
    error = ""
    for request in requests:
        before, error = list(stack), ""
        words = request.rpartition(" is ")[2].rstrip(".").split()
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
_ONE: dict[str, Callable[[float], float]] = {"sqrt": math.sqrt, "neg": lambda a: -a}


def _worked(stack: list[float], memory: dict[str, float], words: list[str]) -> str:
    """Do the next word; returns it where that fails."""
    word = words.pop(0)
    try:
        if re.fullmatch(r"-?\d+(?:\.\d+)?", word):
            stack.append(float(word))
        elif word in _TWO:
            b, a = stack.pop(), stack.pop()
            stack.append(_TWO[word](a, b))
        elif word in _ONE:
            stack.append(_ONE[word](stack.pop()))
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


ENGINES: dict[str, Engine] = {
    "Morse": morse,
    "reverse Polish": calculator,
    "type git commands": console,
}
"""By words of the job's description."""
