"""Jobs that a mock can really do: from all requests so far to the reply that is right."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from core.benchmarks.simulbench.mock.git import console

Engine = Callable[[Sequence[str]], str]
"""From the requests, without the job's description, to the reply to the last of them."""

CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.-"
)
MORSE = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.", CODES.split(), strict=True))
LETTERS = {code: letter for letter, code in MORSE.items()}


def morse(requests: Sequence[str]) -> str:
    """Puts words into Morse, or Morse into words."""
    quoted = re.search(r"[\"“](.+)[\"”]", requests[-1], re.S)
    text = (quoted[1] if quoted else requests[-1]).strip()
    if re.fullmatch(r"[.\-/ ]+", text):
        return " ".join("".join(LETTERS.get(c, "?") for c in word.split()) for word in text.split(" / "))
    words = ([MORSE[c] for c in word if c in MORSE] for word in text.upper().split())
    return " / ".join(" ".join(word) for word in words if word)


OPERATIONS: dict[str, tuple[int, Callable[..., list[float]]]] = {
    "+": (2, lambda a, b: [a + b]),
    "-": (2, lambda a, b: [a - b]),
    "*": (2, lambda a, b: [a * b]),
    "/": (2, lambda a, b: [a / b]),
    "mod": (2, lambda a, b: [a % b]),
    "swap": (2, lambda a, b: [b, a]),
    "sqrt": (1, lambda a: [math.sqrt(a)]),
    "neg": (1, lambda a: [-a]),
    "dup": (1, lambda a: [a, a]),
    "drop": (1, lambda a: []),
}
"""By word: how many numbers it takes from the stack, and what it puts back."""


def calculator(requests: Sequence[str]) -> str:
    """Works off every line on one stack and shows it. A line with an error leaves the stack as it was."""
    stack: list[float] = []
    memory: dict[str, float] = {}
    error = ""
    for request in requests:
        before, error = list(stack), ""
        words = request.rpartition(" is ")[2].rstrip(".").split()
        while words and not error:
            word = words.pop(0)
            try:
                _work(word, words, stack, memory)
            except (IndexError, KeyError, ValueError, ZeroDivisionError):
                error, stack = word, before
    shown = [f"{len(stack) - i}: {value:.6g}" for i, value in enumerate(stack)]
    return "\n".join(([f"ERR {error}"] if error else []) + (shown or ["(empty)"]))


def _work(word: str, rest: list[str], stack: list[float], memory: dict[str, float]) -> None:
    if word == "clear":
        stack.clear()
    elif word == "STO":
        memory[rest.pop(0)] = stack[-1]
    elif word == "RCL":
        stack.append(memory[rest.pop(0)])
    elif word in OPERATIONS:
        takes, operation = OPERATIONS[word]
        operands = [stack.pop() for _ in range(takes)][::-1]
        stack.extend(operation(*operands))
    else:
        stack.append(float(word))


ENGINES: dict[str, Engine] = {
    "Morse": morse,
    "reverse Polish": calculator,
    "type git commands": console,
}
"""By words of the job's description."""
