"""Mock judges of goal conditions: they look for the words, times and places in question, and err a little."""

from __future__ import annotations

import re
from typing import Any

from core.benchmarks.stss.mock.reading import TIME, prompt_of, section
from core.demo.mock.call import Call

ERRS = 0.04
"""The share of wrong answers; twice that for a noisy judge."""
BASE = {"naturalness": 5, "rationality": 4, "quality": 4}
LEANING = {"mock-judge-strict": -1, "mock-judge-lenient": 1}


def verdict(call: Call) -> dict[str, Any]:
    """Each condition is met if what it names in quotes or brackets is said; else if any time or place is."""
    text, rng = prompt_of(call), call.rng("goals")
    said = "\n".join(section(text, "The conversation"))
    kept = re.search(r"wrote down afterwards:\n((?:.+\n?)*)", text)
    asked = [line.split(": ", 1) for line in section(text, "The conditions") if ": " in line]
    errs = ERRS * (2 if "noisy" in call.model else 1)
    answers = {
        name: [_answer(condition, question, where, rng.random() < errs) for condition, question in asked]
        for name, where in (("conversation", said), ("own_summary", kept[1] if kept else ""))
    }
    share = sum(a["met"] for a in answers["conversation"]) / max(1, len(asked))
    means = {name: base + 3 * share + LEANING.get(call.model, 0) for name, base in BASE.items()}
    marks = {name: max(0, min(10, round(mean + rng.gauss(0, 0.8)))) for name, mean in means.items()}
    return {**answers, **marks}


def _answer(condition: str, question: str, text: str, wrong: bool) -> dict[str, Any]:
    named = re.search(r"“([^”]+)”|\(([^)]+)\)", question)
    wanted = (named[1] or named[2]).strip("“”") if named else ""
    if condition.endswith("time"):
        hour = re.search(TIME, wanted)
        found = re.search(hour[0] if hour else TIME, text)
    elif wanted:
        found = re.search(re.escape(re.split("[,”]", wanted)[0]), text, re.I)
    else:
        found = re.search(r"\bat [A-Z]\w+", text)
    reason = f"'{found[0]}' is said." if found else "Nothing of the kind is said."
    return {"condition": condition, "explanation": reason, "met": bool(found) != wrong}
