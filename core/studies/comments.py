"""Annotators' comments, and the words of a dialogue that they quote, as places in its messages."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.store import comments, conversations

MOST = 20
"""Quotations of one comment that are looked for."""
ENDS = 5
"""Closing marks that are tried for one opening mark: what is quoted may hold quotation marks itself."""

_OPENING = re.compile(r"(?:(?P<turn>\d{1,6})\s*:\s*)?(?P<mark>[“«\"])")
_CLOSING = {"“": "”", "«": "»", '"': '"'}
# A desk shows Markdown: the marks of it are not in what was selected there.
_BETWEEN = r"[*_`~]*\s+[\s*_`~#>|-]*"


class Span(NamedTuple):
    """Words quoted from a message: the turn, the role of who said them, and their first and last character.

    `text` is message.content[start:end].
    """

    turn: int
    role: str
    start: int
    end: int
    text: str


def spans(comment: str, conversation: Conversation) -> tuple[Span, ...]:
    """Where the words between quotation marks of a comment stand in the dialogue, each once, in its order.

    After “3:” they are sought in turn 3 alone, as the desk quotes selected words; else in all turns. Of words
    that occur several times the first place is taken, in a turn the reply's. White space and the marks of
    Markdown between words do not count. What is quoted and not found is no span.
    """
    places: dict[Span, None] = {}
    for turn, quoted in _quoted(comment):
        span = next((span for words in quoted if (span := _find(words, turn, conversation))), None)
        if span is not None:
            places[span] = None
    return tuple(places)


def _quoted(comment: str) -> Iterator[tuple[int | None, list[str]]]:
    """The turn and what may be quoted at each opening mark: the longest first."""
    left = MOST
    for line in comment.splitlines():
        at = 0
        while left and (opening := _OPENING.search(line, at)):
            left -= 1
            begin, closing = opening.end(), _CLOSING[opening["mark"]]
            ends = [i for i, sign in enumerate(line[begin:], begin) if sign == closing][:ENDS]
            if not ends:
                at = begin
                continue
            yield int(opening["turn"]) if opening["turn"] else None, [line[begin:end] for end in ends[::-1]]
            at = ends[0] + 1


def _find(words: str, turn: int | None, conversation: Conversation) -> Span | None:
    parts = words.split()
    if not parts:
        return None
    pattern = re.compile(_BETWEEN.join(map(re.escape, parts)))
    for one in conversation.turns():
        if turn not in (None, one.number):
            continue
        for message in (one.reply, one.user):
            if message is not None and (hit := pattern.search(message.content)):
                return Span(one.number, message.role, hit.start(), hit.end(), hit[0])
    return None


def comment_rows(db: Database, study: str, *, with_excluded: bool = False) -> Iterator[dict[str, Any]]:
    """Comments of a study's annotators and why they skipped items; the words they quote as JSON.

    Raises NotFound.
    """
    remarks = comments.of_study(db, study, with_excluded=with_excluded)
    about = {one.conversation_id: conversations.load(db, one.conversation_id) for one in remarks if one.text}
    for one in remarks:
        quoted = spans(one.text, about[one.conversation_id]) if one.text else ()
        yield {
            **{name: getattr(one, name) for name in ("kind", "item_id", "turn", "rater", "state")},
            "rater_type": "human",
            "skipped_because": one.reason,
            "comment": one.text,
            "spans": json.dumps([span._asdict() for span in quoted], ensure_ascii=False),
        }
