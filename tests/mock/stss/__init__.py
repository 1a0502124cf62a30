"""The mock models of STSS: residents in three manners, and judges of goal conditions.

Judges look for the words, times and places in question, and err a little.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from concord.benchmarks.stss import thoughts
from concord.benchmarks.stss.goals import OnConversation, OnSummary
from tests.mock.call import Answer, Call
from tests.mock.stss import days, talk
from tests.mock.stss.reading import TIME, prompt_of, section

MODELS = (*talk.MANNERS,)
PLAIN = "Answer in this form, and write nothing else:"
"""How a prompt asks for labelled lines."""
ERRS = 0.04
"""The share of wrong answers; twice that for a noisy judge."""
BASE = {"naturalness": 5, "rationality": 4, "quality": 4}
LEANING = {"mock-judge-strict": -1, "mock-judge-lenient": 1}


def verdict(call: Call) -> dict[str, Any]:
    """Each condition is met if what it names in quotes or brackets is said; else if any time or place is.

    Only what is asked for is answered: the conversation, the summary, or both at once.
    """
    text, rng = prompt_of(call), call.rng("goals")
    said = "\n".join(section(text, "The conversation"))
    kept = re.search(r"wrote down afterwards:\n((?:.+\n?)*)", text)
    asked = [line.split(": ", 1) for line in section(text, "The conditions") if ": " in line]
    errs = ERRS * (2 if "noisy" in call.model else 1)
    texts = {"answers": said, "own_summary": kept[1] if kept else ""}
    fields = FIELDS[thought_of(call) or "goals"]
    answers = {
        name: [_answer(condition, question, where, rng.random() < errs) for condition, question in asked]
        for name, where in texts.items()
        if name in fields
    }
    if not fields & BASE.keys():
        return answers
    share = sum(a["met"] for a in answers["answers"])
    share /= max(1, len(asked))
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


THOUGHTS: Mapping[str, Callable[[Call], Mapping[str, Any]]] = {
    "outline": days.outline,
    "schedule": days.schedule,
    "revision": days.revision,
    "approach": talk.approach,
    "utterance": talk.utterance,
    "summary": talk.summary,
    "goals": verdict,
    "goals of the summary": verdict,
}
# Each thought by the fields of its reply. A revision has those of a schedule and is told by its prompt.
REPLIES = {name: r for name, r in thoughts.THOUGHTS.items() if name != "revision"} | {
    "goals": OnConversation,
    "goals of the summary": OnSummary,
}
FIELDS = {name: frozenset(reply.model_fields) for name, reply in REPLIES.items()}


def thought_of(call: Call) -> str | None:
    """The thought asked for, by the fields of the schema, or without one by those that the prompt shows."""
    named = frozenset(call.fields) or labels_of(call)

    def asks(wanted: frozenset[str]) -> bool:
        return named == wanted if named else all(f'"{name}":' in call.asked for name in wanted)

    thought = next((thought for thought, wanted in FIELDS.items() if asks(wanted)), None)
    return "revision" if thought == "schedule" and "What happened:" in call.asked else thought


def answer(call: Call) -> Answer:
    """The reply to a request of STSS's prompts; target-driven planning has written ones."""
    thought = thought_of(call)
    written = days.town()["tdp"].get(thought)
    fields = written or (THOUGHTS[thought](call) if thought else None)
    return as_lines(fields) if fields and labels_of(call) else fields


def labels_of(call: Call) -> frozenset[str]:
    """The labels of the lines that a plain prompt asks for; none where JSON is asked for."""
    return frozenset(re.findall(r"^(\w+):", prompt_of(call).partition(PLAIN)[2], re.M))


def as_lines(fields: Mapping[str, Any]) -> str:
    """A reply in words alone, as of a model that cannot write JSON."""
    lines = []
    for name, value in fields.items():
        listed = isinstance(value, list | tuple)
        lines.append(f"{name}:" if listed else f"{name}: {_word(value)}")
        lines += [f"- {_word(item)}" for item in value] if listed else []
    return "\n".join([*lines, "end"])


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return " | ".join(map(_word, value.values()))
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
