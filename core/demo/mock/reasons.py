"""What a mock judge says for its answers: a quote from the reply, and what it shows."""

from __future__ import annotations

import random
import re

from core.demo.mock.features import Features

LIKERT = {
    1: "strongly disagree",
    2: "disagree",
    3: "neither agree nor disagree",
    4: "agree",
    5: "strongly agree",
}


def quoted(reply: str, *around: str) -> str:
    """A few words of the reply in single quotes: those around the first of `around` that is in it, else its beginning."""
    spoken = reply.split()
    at = next(
        (i for word in around if word for i, w in enumerate(spoken) if word.split()[0].lower() in w.lower()),
        0,
    )
    begin = max(0, at - 2)
    return "'" + re.sub(r"\s+", " ", " ".join(spoken[begin : begin + 7])).strip("'\"“”«»,;:") + "'"


def reason(criterion: str, score: int, f: Features, rng: random.Random) -> str:
    """A half sentence that fits the score and, where there is any, the evidence."""
    good, bad = _points(criterion, f)
    if score >= 4:
        return rng.choice(good or FINE[criterion])
    if score <= 2:
        return rng.choice(bad or POOR[criterion])
    return (
        f"{rng.choice(good or FAIR[criterion])}, but {rng.choice(bad)}"
        if bad
        else rng.choice(FAIR[criterion])
    )


def _points(criterion: str, f: Features) -> tuple[list[str], list[str]]:
    """What speaks for a turn and what against it, by its features."""
    good, bad = [], []
    if f.refusal:
        bad.append("leaves the part instead of playing it")
    if criterion == "in_character":
        if len(f.own_words) >= 2:
            good.append(f"draws on the card itself ({f.own_words[0]}, {f.own_words[-1]})")
        if f.voice > 0.6:
            good.append("speaks in the first person and moves like somebody who is there")
        if f.stock:
            bad.append(f"could be said by any assistant (“{f.stock_phrase}”)")
        if not f.own_words:
            bad.append("has nothing in it that belongs to this character alone")
        if f.repeat > 0.4:
            bad.append("repeats itself as no person would")
    elif criterion == "entertaining":
        if f.lively > 0.5:
            good.append("answers this stranger, with a gesture and something to reply to")
        if f.own_words and f.variety > 0.8:
            good.append(f"brings in something new ({f.own_words[-1]})")
        if f.repeat > 0.25:
            bad.append("has been said almost word for word before")
        if f.echo > 0.35:
            bad.append("only hands the other's words back")
        if f.words < 14:
            bad.append("is too thin to want more of it")
        if f.stock:
            bad.append("is a stock phrase")
    else:
        if not f.slips and f.words > 14:
            good.append("is correctly written and reads easily")
        if f.slips:
            seen = ", ".join(f"“{s}”" for s in dict.fromkeys(f.slips[:2]))
            bad.append(f"has slips such as {seen}")
        if f.repeat > 0.4:
            bad.append("circles in the same words")
        if f.words < 8:
            bad.append("is too short to show command of the language")
    return good, bad


FINE = {
    "in_character": ("keeps to the temper of the card", "fits what the description says"),
    "entertaining": ("has a turn of phrase that I did not expect", "makes me want to read on"),
    "fluency": ("is clean and natural", "shows no mistake worth naming"),
}
FAIR = {
    "in_character": (
        "does not contradict the card and takes little from it",
        "could be the character on a dull day",
    ),
    "entertaining": ("is pleasant enough and soon forgotten", "moves the talk on without surprise"),
    "fluency": ("is understandable, if a little stiff", "is correct but put together from set pieces"),
}
POOR = {
    "in_character": ("does not sound like the description", "has a voice that could be anybody's"),
    "entertaining": ("gives me nothing to answer", "falls flat after a promising start"),
    "fluency": ("sounds assembled rather than spoken", "joins its sentences awkwardly"),
}
