"""Calls per stored judgement over replies of every kind, and scores of those that must give none.

A judge answers each reply of `tests/llm/data` again and again, as a model at temperature 0 does: what is not
read at the first call is asked for thrice, and lost. No endpoint is needed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.aims import reached
from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm import completions, replies
from concord.llm.completions import Completion
from concord.rating import Spent
from tests.llm.test_completions import body
from tests.llm.test_kinds_of_replies import NONE, READ, Asked


def calls(reply: str) -> tuple[int, bool]:
    """How many calls a reply takes that never changes, and whether a judgement is stored of it."""
    made = 0
    completion = completions.read(body({"content": reply}))

    async def call(step: str, messages: Sequence[Message], /) -> Completion:
        nonlocal made
        made += 1
        return Completion(completion.text, completion.cut, Spent(1), details=completion.details)

    try:
        asyncio.run(replies.answer(call, "judge", [Message("user", "Rate it.")], Asked))
    except CallFailed:
        return made, False
    return made, True


def main() -> None:
    """Print the calls per stored judgement and the scores that were made up."""
    read = [calls(reply) for reply in READ.values()]
    stored = sum(judged for _, judged in read)
    made_up = sum(judged for _, judged in map(calls, NONE.values()))
    each = sum(made for made, _ in read) / max(1, stored)
    first = sum(made == 1 for made, _ in read)
    print(
        f"{len(read)} replies to be read: {stored} stored, {first} at the first call, {each:.3f} calls each"
    )
    print(f"{len(NONE)} replies that give no score: {made_up} stored")
    reached("replies", each)
    reached("replies made up", made_up)


if __name__ == "__main__":
    main()
