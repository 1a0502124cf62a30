"""Read a verdict from a plain text: reasons, and one marked answer in brackets, `[[7]]` or `[[A]]`."""

import re
from typing import NamedTuple

from concord.llm.replies import Unusable
from concord.rating import Preference

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
_DECORATION = r"[\s.!*_`:;)\"'”>#]*"
_END = re.compile(rf"{_DECORATION}$")
_LINE_BEGINS = re.compile(r"[ \t*_`\"'“>#(:-]*")
_LINE_ENDS = re.compile(r"[ \t.!*_`:;)\"'”]*(?:\n|\r|$)")
# What ends the clause after a label. “Rating: [[4]] would be harsh” goes on, and is one of the reasons.
_CLAUSE_ENDS = re.compile(r"[*_`\"'”]*[ \t]*(?:[.,;:!()/—–-]|out of\b|\n|\r|$)")
_CLAUSE = re.compile(r"[^.!?;:,—–\n]*$")
_DENIED = re.compile(
    r"\b(?:not|never|no|nor|cannot|\w+n['’]t|(?<!I )would|could|might|should|не|нет|ни|бы)\b", re.I
)
"""Words of a clause that denies or supposes its answer (“I would not give it a [[9]]”)."""


class BracketedAnswer(NamedTuple):
    """The answer in the brackets, and the text before it."""

    answer: str
    explanation: str


class _Mark(NamedTuple):
    """An answer in brackets. `marked` says that its place makes it the verdict, `plain_end` that only its
    place at the end does.
    """

    marked: bool
    plain_end: bool
    twofold: bool
    start: int
    answer: str


def read(text: str, like: re.Pattern[str]) -> BracketedAnswer:
    """The verdict of a reply: the last marked answer in double brackets, else in single ones.

    An answer is marked where it follows a label and ends its clause (“Rating: [[7]]”), stands on a line of
    its own, or ends the reply in a clause that neither denies nor supposes it. Any other is part of the
    reasons and never taken. Single brackets that hold nothing `like` an answer are not looked at; an answer
    at the end alone counts in single brackets only if no other such answer differs. docs/replies.md lists
    the rules. Raises Unusable.
    """
    marks = [_mark(text, found) for found in _MARK.finditer(text)]
    double = [m for m in marks if m.twofold and m.marked]
    single = [m for m in marks if not m.twofold and like.fullmatch(m.answer)]
    if len({m.answer for m in single}) > 1:
        single = [m for m in single if not m.plain_end]
    single = [m for m in single if m.marked]
    if not double and not single:
        raise Unusable("It does not end in one answer in double brackets, such as [[…]].")
    chosen = (double or single)[-1]
    if not like.fullmatch(chosen.answer):
        raise Unusable(f"The answer in brackets cannot be “{chosen.answer}”.")
    explanation = _LABEL.sub("", text[: chosen.start].rstrip()).rstrip(" \n*_`#")
    return BracketedAnswer(chosen.answer, explanation.strip())


def whole_number(text: str, low: int, high: int) -> tuple[int, str]:
    """The verdict as a whole number from `low` to `high`, with the explanation before it. Raises Unusable."""
    answer, explanation = read(text, NUMBER)
    if not float(answer).is_integer() or not low <= float(answer) <= high:
        raise Unusable(f"The answer in brackets must be a whole number from {low} to {high}, not {answer}.")
    return int(float(answer)), explanation


def preference(text: str) -> Preference:
    """The verdict as A, B or C (neither), with the explanation before it. Raises Unusable."""
    answer, explanation = read(text, LETTER)
    match answer.upper():
        case "A" | "B" | "C" as verdict:
            return Preference(verdict, explanation)
    raise Unusable(f"The answer in brackets must be A, B or C, not {answer}.")


def _mark(text: str, found: re.Match[str]) -> _Mark:
    before, after = text[: found.start()], found.end()
    line = before[before.rfind("\n") + 1 :]
    labelled = bool(_LABEL.search(before[-_LONGEST_LABEL:]) and _CLAUSE_ENDS.match(text, after))
    alone = bool(_LINE_BEGINS.fullmatch(line) and _LINE_ENDS.match(text, after))
    clause = _CLAUSE.search(line)
    denied = clause is not None and _DENIED.search(clause[0])
    last = bool(_END.match(text, after)) and not denied
    return _Mark(
        labelled or alone or last,
        last and not (labelled or alone),
        found[1] is not None,
        found.start(),
        found[1] or found[2],
    )
