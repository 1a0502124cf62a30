"""Mock judges of goal conditions: they look for the words, dates and places in question, and err a little."""

from __future__ import annotations

import json
import re

from core.demo.mock.call import Call
from core.demo.mock.stss_reading import TIME, prompt_of, section

ERRS = 0.04
"""How often an answer is the wrong one; twice as often for a judge called noisy."""


def verdict(call: Call) -> str:
    """Each condition: met where what it names in quotes or brackets is said; two conditions on settling look for any hour, any place."""
    text = prompt_of(call)
    said = "\n".join(section(text, "The conversation"))
    kept = "\n".join(line for line in _after(text, "wrote down afterwards:"))
    asked = [line.split(": ", 1) for line in section(text, "The conditions") if ": " in line]
    rng = call.rng("goals")
    errs = ERRS * (2 if "noisy" in call.model else 1)
    answers = {
        name: [_answer(condition, question, where, rng.random() < errs) for condition, question in asked]
        for name, where in (("conversation", said), ("own_summary", kept))
    }
    share = sum(bool(a["met"]) for a in answers["conversation"]) / max(1, len(asked))
    leaning = -1 if "strict" in call.model else 1 if "lenient" in call.model else 0
    marks = {
        name: max(0, min(10, round(base + 3 * share + leaning + rng.gauss(0, 0.8))))
        for name, base in (("naturalness", 5), ("rationality", 4), ("quality", 4))
    }
    return json.dumps({**answers, **marks}, ensure_ascii=False)


def _answer(condition: str, question: str, text: str, wrong: bool) -> dict[str, object]:
    named = re.search(r"“([^”]+)”|\(([^)]+)\)", question)
    wanted = (named[1] or named[2]).strip("“”") if named else ""
    if condition == "time" or condition.endswith("_time"):
        hour = re.search(TIME, wanted)
        found = re.search(hour[0] if hour else TIME, text)
    elif wanted:
        found = re.search(re.escape(wanted.split(",")[0].split("”")[0]), text, re.I)
    else:
        found = re.search(r"\bat [A-Z]\w+", text)
    met = bool(found) != wrong
    quote = found[0] if found else "nothing"
    return {"condition": condition, "explanation": f"'{quote}' is what there is of it.", "met": met}


def _after(text: str, ending: str) -> list[str]:
    found = re.search(rf"{re.escape(ending)}\n((?:.+\n?)*)", text)
    return found[1].splitlines() if found else []
