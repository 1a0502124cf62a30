"""Trees of messages: each way from the root to a message that nothing follows is a dialogue."""

from collections.abc import Mapping, Sequence
from typing import Any

from concord.exchange.row_paths import first


def flat_replies(message: Any, parent: Any) -> list[Mapping[str, Any]]:
    """A message and those in its replies, each with its place and its parent's."""
    flat = list[Mapping[str, Any]]()
    left = [(message, parent)]
    while left:
        one, parent_number = left.pop()
        if isinstance(one, Mapping):
            flat.append({**one, "id": len(flat), "parent": parent_number})
            replies = one.get("replies")
            left += [
                (reply, len(flat) - 1) for reply in reversed(replies if isinstance(replies, list) else [])
            ]
    return flat


def threads_of(messages: Sequence[Mapping[str, Any]], method: str) -> list[Mapping[str, Any]]:
    """Each way through a tree of messages from its root to a message that nothing follows.

    Of replies to choose from each is an end, and the chosen one is followed too.
    """
    parent_of = dict[Any, Any]()
    by_id = dict[Any, Any]()
    number: Any
    parent: Any
    question = chosen_number = None
    for place, message in enumerate(messages):
        if method == "unchosen":
            user = message.get("role") == "user"
            number = place
            parent = chosen_number if user else question
            question = place if user else question
            chosen_number = chosen_number if user or message.get("if_chosen") is False else place
        else:
            number = str(first(message, ("message_id", "messageId", "id", "uuid")))
            parent = str(first(message, _PARENT))
        by_id[number] = message
        parent_of[number] = parent
    followed = set(parent_of.values())
    threads = list[Mapping[str, Any]]()
    for end in by_id:
        if by_id[end].get("role") == "user" if method == "unchosen" else end in followed:
            continue
        way = list[Any]()
        number = end
        while number in by_id and len(way) < len(by_id):
            way.append(by_id[number].get("message", by_id[number]) if method == "parent" else by_id[number])
            number = parent_of[number]
        threads.append({"messages": [e for e in reversed(way) if isinstance(e, Mapping)], "last": by_id[end]})
    return threads


_PARENT = ("parent_id", "parent", "parentId", "parentMessageId", "parent_message_uuid")
LINKS = (
    "message_id",
    "messageId",
    "message_tree_id",
    "id",
    *_PARENT[:4],
    "replies",
    "children",
    "childrenIds",
    "if_chosen",
)
"""What says where in a tree a message stands."""
