"""Read a verdict from a plain text: reasons, and one marked answer in brackets, `[[7]]` or `[[A]]`."""

import re
from itertools import islice
from typing import NamedTuple

from concord.llm.replies import Unusable
from concord.rating import Preference

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
LETTER = re.compile(r"[A-Za-z]")

# A bracket after a word is an index (`row[3]`), one before a parenthesis a link; neither is an answer.
_MARK = re.compile(
    r"(?<![\w\]\[)])(?:\[\[\s{0,9}([^\[\]\n]{1,12}?)\s{0,9}\]\]"
    r"|\[\s{0,9}([^\[\]\n]{1,12}?)\s{0,9}\])(?P<part>[\](])?"
)
_MOST_MARKS = 500
_NEAR = 300
"""Characters before an answer that are looked at."""
_LABEL = re.compile(r"\b(?:rating|score|verdict|answer|turn|winner|decision)(?:\s*is\b)?[\s:=*_`]*$", re.I)
_LONGEST_LABEL = 40
_DECORATION = r"[\s.!*_`:;)\"'”>#]*"
_END = re.compile(rf"{_DECORATION}$")
_LINE_BEGINS = re.compile(r"[ \t*_`\"'“>#(:-]*")
_LINE_ENDS = re.compile(r"[ \t.!*_`:;)\"'”]*(?:\n|\r|$)")
# What ends the clause after a label. “Rating: [[4]] would be harsh” goes on, and is one of the reasons.
_CLAUSE_ENDS = re.compile(r"[*_`\"'”]*[ \t]*(?:[.,;:!()/—–-]|out of\b|\n|\r|$)")
_CLAUSE = re.compile(r"[.!?;:,—–\n]")
_STATED = re.compile(r"[\s*_`:;)\"'”>#]*[.!]")
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
    place at the end does, `possible` that it would be if the reply ended behind it.
    """

    marked: bool
    possible: bool
    plain_end: bool
    twofold: bool
    start: int
    answer: str


def read(text: str, like: re.Pattern[str]) -> BracketedAnswer:
    """The verdict of a reply: the last marked answer in double brackets, else in single ones.

    An answer is marked where it follows a label and ends its clause (“Rating: [[7]]”), stands on a line of
    its own, or ends the reply, with a full stop, in a clause that neither denies nor supposes it. Any other
    is part of the reasons and never taken. A reply may have been cut off behind any answer: two that differ,
    each of which would be the verdict if the reply ended there, are none. Single brackets that hold nothing
    `like` an answer are not looked at; an answer at the end alone counts in single brackets only if no other
    such answer differs. docs/replies.md lists the rules. Raises Unusable.
    """
    marks = [_mark(text, match) for match in islice(_MARK.finditer(text), _MOST_MARKS + 1)]
    if len(marks) > _MOST_MARKS:
        raise Unusable(f"It holds more than {_MOST_MARKS} answers in brackets.")
    if len({m.answer.casefold() for m in marks if m.possible and like.fullmatch(m.answer)}) > 1:
        raise Unusable("It holds several answers in brackets that differ: give one.")
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
    explanation = text[: chosen.start].rstrip()
    if label := _LABEL.search(explanation, max(0, len(explanation) - _LONGEST_LABEL)):
        explanation = explanation[: label.start()]
    explanation = explanation.rstrip(" \n*_`#")
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


def _mark(text: str, match: re.Match[str]) -> _Mark:
    start, after, twofold = match.start(), match.start("part"), match[1] is not None
    after = match.end() if after < 0 else after
    near = text[max(0, start - _NEAR) : start]
    begins = bool(_LINE_BEGINS.fullmatch(near[near.rfind("\n") + 1 :]))
    ends = _LINE_ENDS.match(text, after)
    # A single bracket that begins the last line may be the number of a reason.
    alone = begins and ends is not None and (twofold or ends.end() < len(text))
    label = bool(_LABEL.search(near[-_LONGEST_LABEL:]))
    labelled = label and _CLAUSE_ENDS.match(text, after) is not None
    stated = _STATED.match(text, after) is not None and not _DENIED.search(_CLAUSE.split(near)[-1])
    last = stated and _END.match(text, after) is not None
    whole = match["part"] is None
    return _Mark(
        whole and (labelled or alone or last),
        label or (begins and twofold) or alone or stated,
        last and not (labelled or alone),
        twofold,
        start,
        match[1] or match[2],
    )
