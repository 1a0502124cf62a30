"""A conversation of two residents: at most eight rounds, then each keeps a summary of their own."""

from __future__ import annotations

from core.benchmarks.stss.mind import Kept, Mind, Neighbour, Now, Self
from core.benchmarks.stss.together import together

ROUNDS = 8
"""A round is an utterance of the one and the reply of the other."""
MINUTES_A_ROUND = 1.0
OPENING = 1
"""The fewest utterances before a conversation can end."""

Messages = list[tuple[str, str]]


async def converse(
    first: tuple[Self, Mind],
    second: tuple[Self, Mind],
    doing: tuple[str, str],
    now: Now,
    rounds: int = ROUNDS,
) -> Messages:
    """What the two say in turn.

    It ends when one is done and the other has replied or says nothing, or after `rounds`.
    """
    said: Messages = []
    speakers = (first, second)
    others = (Neighbour(second[0].name, doing[1]), Neighbour(first[0].name, doing[0]))
    done = [False, False]
    for turn in range(2 * rounds):
        (me, mind), other = speakers[turn % 2], others[turn % 2]
        utterance = await mind.says(me, other, tuple(said), now)
        text = utterance.text.strip()
        if not text:
            break
        said.append((me.name, text))
        done[turn % 2] = utterance.done
        if all(done) or (utterance.done and turn > OPENING):
            break
    return said


async def keep(
    first: tuple[Self, Mind], second: tuple[Self, Mind], doing: tuple[str, str], said: Messages, now: Now
) -> tuple[Kept, Kept]:
    """What each of the two keeps of a conversation."""
    one, other = await together(
        (
            first[1].keeps(first[0], Neighbour(second[0].name, doing[1]), said, now),
            second[1].keeps(second[0], Neighbour(first[0].name, doing[0]), said, now),
        )
    )
    return one, other


def minutes(said: Messages) -> float:
    """How long a conversation takes."""
    return max(1.0, len(said) / 2 * MINUTES_A_ROUND)
