"""Read a verdict from a plain text: reasons first, then one answer in brackets, `[[7]]` or `[[A]]`."""

import re
from typing import NamedTuple

from core.llm.replies import Unusable
from core.rating import Verdict

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
LETTER = re.compile(r"[A-Za-z]")

# A bracket after a word is an index (`row[3]`), one before a parenthesis a link; neither is an answer.
_MARK = re.compile(
    r"(?<![\w\]\[)])(?:\[\[\s*([^\[\]\n]{1,12}?)\s*\]\]|\[\s*([^\[\]\n]{1,12}?)\s*\])(?![\](])"
)
_LABEL = re.compile(
    r"\b(?:rating|score|verdict|answer|turn|winner|decision)\s*(?:is)?\s*[:=]?[\s*_`]*$", re.I
)
_LONGEST_LABEL = 40
_END = re.compile(r"[\s.!*_`:;)\"'”]*$")


class BracketedAnswer(NamedTuple):
    """The answer in the brackets, and the text before it."""

    answer: str
    explanation: str


class _Mark(NamedTuple):
    """An answer in brackets; the larger one precedes."""

    last: bool
    labelled: bool
    twofold: bool
    start: int
    answer: str


def read(text: str, like: re.Pattern[str]) -> BracketedAnswer:
    """The verdict of a reply, from the brackets that hold something `like` an answer. Raises Unusable.

    An answer at the end precedes one inside the reasons, a labelled one (“Rating: [[7]]”) a bare one, double
    brackets single ones, a later one an earlier one. A bare `[7]` counts only without the other kinds, at the
    end or if no other `[…]` differs.
    """
    marks = [_mark(text, found) for found in _MARK.finditer(text)]
    marks = [m for m in marks if like.fullmatch(m.answer)]
    chosen = max((m for m in marks if m.twofold or m.labelled), default=None)
    if chosen is None and marks and (marks[-1].last or len({m.answer for m in marks}) == 1):
        chosen = marks[-1]
    if chosen is None:
        raise Unusable("It does not end in one answer in double brackets, such as [[…]].")
    explanation = _LABEL.sub("", text[: chosen.start].rstrip()).rstrip(" \n*_`#")
    return BracketedAnswer(chosen.answer, explanation.strip())


def whole_number(text: str, low: int, high: int) -> tuple[int, str]:
    """The verdict as a whole number from `low` to `high`, with the explanation before it. Raises Unusable."""
    answer, explanation = read(text, NUMBER)
    if not float(answer).is_integer() or not low <= float(answer) <= high:
        raise Unusable(f"The answer in brackets must be a whole number from {low} to {high}, not {answer}.")
    return int(float(answer)), explanation


def preference(text: str) -> tuple[Verdict, str]:
    """The verdict as A, B or C (neither), with the explanation before it. Raises Unusable."""
    answer, explanation = read(text, LETTER)
    match answer.upper():
        case "A" | "B" | "C" as verdict:
            return verdict, explanation
    raise Unusable(f"The answer in brackets must be A, B or C, not {answer}.")


def _mark(text: str, found: re.Match[str]) -> _Mark:
    before = text[max(0, found.start() - _LONGEST_LABEL) : found.start()]
    last, labelled = bool(_END.match(text, found.end())), bool(_LABEL.search(before))
    return _Mark(last, labelled, found[1] is not None, found.start(), found[1] or found[2])
