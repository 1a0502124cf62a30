"""The form of what a desk is sent and of what it reports, the same for every purpose.

The fixed part says what is asked and how (`fixed`); the moving part has the strip of items, the items that
lie ready, and what was refused (`Moving`); all that is done at a desk is a `concord.store.desk.Event`.
"""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.questions import MOST_WORDS
from concord.rating import Criterion
from concord.store import desk
from concord.store.desk import Refusal
from concord.store.placements import REASON

REASONS = (
    "I cannot judge this one",
    "I do not understand the language or the subject",
    "The dialogue is broken or cut off",
    "The content is distressing",
)
AHEAD = 6
"""How many items lie ready in the browser beyond the present one."""
LINE = 200
"""The most open items named to a browser at a time, where there may be thousands; more follow as these are
settled.
"""
BEHIND = 100
"""The most settled items before these that are named as well."""

StripItem = tuple[int | str, str, bool]
"""An item of the strip: its number or name, its state (open, done, skipped), whether it is flagged."""


Take = Callable[[Database, str, Sequence[Any]], tuple[int, list[Refusal]]]
"""Stores the events of a browser, known by its name; returns the number of the last one, and the refusals."""


@dataclass(frozen=True)
class Moving:
    """What changes during the work.

    `strip` names the items in their order, `items` shows those that were asked for, `count` says how many are
    settled and how many there are, where the strip has not all of them.
    """

    strip: Sequence[StripItem]
    items: Sequence[Mapping[str, Any]]
    count: tuple[int, int] | None = None

    def sent(self, refusals: Iterable[Refusal], **annotators: Any) -> dict[str, Any]:
        """As the browser reads it. `annotators`: how somebody reads, their training and the like."""
        count = dict(zip(("done", "all"), self.count, strict=True)) if self.count else None
        return {
            "strip": [[item, state, int(flagged)] for item, state, flagged in self.strip],
            "items": list(self.items),
            "count": count,
            "refused": [vars(refusal) for refusal in refusals],
            **{"elsewhere": {}, "training": None, "finished": None, "notes": {}, "pace": None},
            **annotators,
        }


def sent_by(moving: Callable[[Database, Any], Moving]) -> Callable[..., dict[str, Any]]:
    """What answers a researcher's browser, which is sent nothing but the items."""
    return lambda db, item_ids, refusals: moving(db, item_ids).sent(refusals)


def annotators(db: Database, rater: int) -> dict[str, Any]:
    """What every desk of an annotator is sent: their windows on other devices."""
    return {"elsewhere": desk.in_use(db, rater)}


def moving(
    line: Collection[int],
    finished: Container[int],
    item_ids: Iterable[int | str] | None,
    item: Callable[[int], Mapping[str, Any]],
) -> Moving:
    """What a browser is sent of a line of items, which may be long: the part around the first open ones, and
    the items asked for, as `item` shows them.
    """
    all_items: list[StripItem] = [(one, "done" if one in finished else "open", False) for one in line]
    left = [place for place, (_, state, _) in enumerate(all_items) if state == "open"]
    first_open = left[0] if left else len(all_items)
    end = left[LINE] if len(left) > LINE else len(all_items)
    in_line = {*line}
    items = [item(one) for one in ahead(all_items, item_ids) if isinstance(one, int) and one in in_line]
    count = len(all_items) - len(left), len(all_items)
    return Moving(all_items[max(0, first_open - BEHIND) : end], items, count)


def ahead(strip: Sequence[StripItem], item_ids: Iterable[int | str] | None) -> list[int | str]:
    """The items that a browser asks for; None: those that somebody who arrives needs first."""
    if item_ids is not None:
        return list(item_ids)
    return [item for item, state, _ in strip if state == "open"][: AHEAD + 1]


def fixed(
    desk_name: str,
    purpose: str,
    title: str,
    person: str,
    back: str,
    criteria: Sequence[Mapping[str, Any]],
    *,
    end_text: str,
    empty_text: str = "Nothing to show",
    **settings: Any,
) -> dict[str, Any]:
    """What stays the same during the work. `back` names what lies behind the desk; "" where nothing does.

    `end_text` is said when all items are done, `empty_text` where there are none. Of `settings`: `submits`:
    an item ends with its submission and not with its last answer; `reasons` for which an item may be skipped,
    which goes with flags; `together`: an answer that needs a reason is kept with it only; `raw`: texts are
    shown as they were written, in the type that it names.
    """
    return {
        "desk": desk_name,
        "purpose": purpose,
        "title": title,
        "you": person,
        "back": back,
        "criteria": list(criteria),
        "over": end_text,
        "nothing": empty_text,
        "guidelines": "",
        "reasons": [],
        "ahead": AHEAD,
        "submits": False,
        **settings,
    }


def question(criterion: Criterion, **settings: Any) -> dict[str, Any]:
    """A question as it is asked: the widget that draws it, and the answers that have a key."""
    scale = criterion.scale
    return {
        "name": criterion.name,
        "label": criterion.label,
        "statement": criterion.statement,
        "widget": scale.kind.widget,
        "options": [option._asdict() for option in scale.kind.options(scale)],
        "low": scale.low,
        "high": scale.high,
        "ends": (scale.labels[0], scale.labels[-1]),
        "reason": criterion.reason,
        "required": criterion.required,
        "named": scale.named,
        "sets": scale.sets,
        "when": {name: asdict(condition) for name, condition in criterion.when.items()},
        "explain": asdict(criterion.explain) if criterion.explain else None,
        "most": MOST_WORDS if scale.kind.content else REASON,
        **settings,
    }


def messages(conversation: Conversation, speaker: Callable[[Message], str]) -> list[dict[str, Any]]:
    """The messages of a conversation as they are shown: who spoke (a role, not a name) and what was said."""
    rows = []
    for turn in conversation.turns():
        tools = [message for message in turn.other_messages if message.role == "tool"]
        for message in (turn.user, *tools, turn.reply):
            if message is not None:
                row = {
                    "turn": turn.number,
                    "reply": message is turn.reply,
                    "speaker": speaker(message) + conversation.voice(message),
                }
                row |= {"tool": True} if message.role == "tool" else {}
                rows.append(row | content(message))
    return rows


def content(message: Message) -> dict[str, Any]:
    """What was said in a message, with its images."""
    images = [[text, url] for text, url in message.images.items() if url.startswith("data:image/")]
    return {"text": message.content} | ({"images": images} if images else {})


def as_text(value: Any) -> str:
    """A piece of context as text: lists and mappings as lines."""
    if isinstance(value, Mapping):
        return "\n".join(
            f"**{k}**:{chr(10) if isinstance(v, list | tuple) else ' '}{as_text(v)}" for k, v in value.items()
        )
    if isinstance(value, list | tuple):
        return "\n".join(f"- {as_text(v)}" for v in value)
    return str(value)
