"""Read a verdict from a plain text: reasons, and one marked answer in brackets, `[[7]]` or `[[A]]`."""

import re
from itertools import islice
from typing import NamedTuple

from concord.llm.places import JudgedText, closes, introduced, leading, refuses
from concord.llm.replies import NOTHING_JUDGED, Unusable
from concord.llm.thinking import LONGEST, visible_reply
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
_END = re.compile(r"[\s.!*_`:;#]*$")
_LINE_BEGINS = re.compile(r"[ \t*_`#:-]*")
_LINE_ENDS = re.compile(r"[ \t.!*_`:;]*(?:\n|\r|$)")
_BEFORE_LABEL = re.compile(
    r"[ \t*_#-]*(?:(?:and|so|thus|therefore|hence|overall|finally|in conclusion|in summary|my|our|the|final|"
    r"overall|own|quality|first|challenging|preferred|better|i give (?:it|this) (?:a|the))[ \t,:*_]*){0,5}",
    re.I,
)
"""What a line may begin with before the label of its verdict."""
_QUOTED = re.compile(r"""[`"'“”‘’«»„(][ \t]*(?:\w+[ \t]*[:=]?[ \t]*){0,2}$""")
"""A quotation or a bracket that opened right before a verdict and its label."""
# What ends the clause after a label. “Rating: [[4]] would be harsh” goes on, and is one of the reasons.
_CLAUSE_ENDS = re.compile(r"[*_`\"'”]*[ \t]*(?:[.,;:!()/—–-]|out of\b|\n|\r|$)")
_CLAUSE = re.compile(r"[.!?;:,—–\n]")
_SENTENCE_END = re.compile(r"[\s*_`:;#]*[.!]")
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


def read(text: str, like: re.Pattern[str], judged: JudgedText = NOTHING_JUDGED) -> BracketedAnswer:
    """The verdict of a reply: the last marked answer in double brackets, else in single ones.

    An answer is marked where its label begins a line or the answer ends the reply, and ends its clause
    (“Rating: [[7]]”), where it stands on a line of its own, or where it ends the reply, with a full stop, in
    a clause that neither denies nor supposes it. Any other is part of the reasons and never taken; so is one
    in quotes, one that stands with its label in the `judged` text, and one behind which the judge says that
    it does not rate. A reply may have been cut off behind any answer: two that differ, each of which would be
    the verdict if the reply ended there, are none. Single brackets that hold nothing `like` an answer are not
    looked at; an answer at the end alone counts in single brackets only if no other such answer differs.
    docs/replies.md lists the rules. Raises Unusable.
    """
    if len(text) > LONGEST:
        raise Unusable(f"It is longer than {LONGEST:,} characters.")
    parts = visible_reply(text, judged=True)
    body = leading(parts.text)
    draft_body = leading(parts.draft)
    marks = _marks(body, judged)
    drafts = _marks(draft_body, judged)
    possible = {m.answer.casefold() for m in (*marks, *drafts) if m.possible and like.fullmatch(m.answer)}
    if len(possible) > 1:
        raise Unusable("It holds several answers in brackets that differ: give one.")
    double = [m for m in marks if m.twofold and m.marked]
    single = [m for m in marks if not m.twofold and like.fullmatch(m.answer)]
    if len({m.answer for m in single}) > 1:
        single = [m for m in single if not m.plain_end]
    single = [m for m in single if m.marked]
    if not double and not single:
        raise Unusable("It does not end in one answer in double brackets, such as [[…]].")
    mark = (double or single)[-1]
    if not like.fullmatch(mark.answer):
        raise Unusable(f"The answer in brackets cannot be “{mark.answer}”.")
    explanation = body[: mark.start].rstrip()
    if label := _LABEL.search(explanation, max(0, len(explanation) - _LONGEST_LABEL)):
        explanation = explanation[: label.start()]
    explanation = explanation.rstrip(" \n*_`#")
    return BracketedAnswer(mark.answer, explanation.strip())


def _marks(text: str, judged: JudgedText) -> list[_Mark]:
    """The answers in brackets of a text, without those that are only quoted. Raises Unusable for too many."""
    matches = list(islice(_MARK.finditer(text), _MOST_MARKS + 1))
    if len(matches) > _MOST_MARKS:
        raise Unusable(f"It holds more than {_MOST_MARKS} answers in brackets.")
    last_refusal = refuses(text[matches[-1].end() :]) if matches else False
    return [mark for match in matches if (mark := _mark(text, match, judged, denied=last_refusal))]


def whole_number(text: str, low: int, high: int, judged: JudgedText = NOTHING_JUDGED) -> tuple[int, str]:
    """The verdict as a whole number from `low` to `high`, with the explanation before it. Raises Unusable."""
    answer, explanation = read(text, NUMBER, judged)
    if not float(answer).is_integer() or not low <= float(answer) <= high:
        raise Unusable(f"The answer in brackets must be a whole number from {low} to {high}, not {answer}.")
    return int(float(answer)), explanation


def preference(text: str, judged: JudgedText = NOTHING_JUDGED) -> Preference:
    """The verdict as A, B or C (neither), with the explanation before it. Raises Unusable."""
    answer, explanation = read(text, LETTER, judged)
    match answer.upper():
        case "A" | "B" | "C" as verdict:
            return Preference(verdict, explanation)
    raise Unusable(f"The answer in brackets must be A, B or C, not {answer}.")


def _mark(text: str, match: re.Match[str], judged: JudgedText, *, denied: bool) -> _Mark | None:
    """What an answer in brackets is by its place; None where it is only quoted."""
    start = match.start()
    after = match.start("part")
    twofold = match[1] is not None
    after = match.end() if after < 0 else after
    near = text[max(0, start - _NEAR) : start]
    line = near[near.rfind("\n") + 1 :]
    label_match = _LABEL.search(near[-_LONGEST_LABEL:])
    begins = bool(_LINE_BEGINS.fullmatch(line))
    ends = _LINE_ENDS.match(text, after)
    at_end = _END.match(text, after) is not None or closes(text, after)
    label = near[len(near) - len(label_match[0]) :] if label_match else ""
    first = start <= _NEAR and not text[: start - len(label)].strip(" \t\n*_`#-")
    repeated = not (first and at_end) and judged.holds(label + match[0].rstrip("]([") + "]]"[: 1 + twofold])
    if not first and (repeated or _QUOTED.search(line) or line.lstrip().startswith(">") or introduced(near)):
        return None
    # A single bracket that begins the last line may be the number of a reason.
    alone = begins and ends is not None and (twofold or ends.end() < len(text))
    clause = label_match is not None and (at_end or _CLAUSE_ENDS.match(text, after) is not None)
    opens = _BEFORE_LABEL.fullmatch(line[: len(line) - len(label)]) is not None if "\n" not in label else True
    labelled = clause and (opens or at_end)
    is_statement = _SENTENCE_END.match(text, after) is not None and not _DENIED.search(
        _CLAUSE.split(near)[-1]
    )
    last = is_statement and at_end
    is_complete = match["part"] is None and not repeated
    return _Mark(
        is_complete and (labelled or alone or last) and not (denied and not (first and at_end)),
        label_match is not None or (begins and twofold) or alone or is_statement,
        last and not (labelled or alone),
        twofold,
        start,
        match[1] or match[2],
    )
