"""A conversation of two residents: they speak in turn, at most eight rounds."""

from __future__ import annotations

from core.benchmarks.stss.mind import Mind, Now, Self

ROUNDS = 8
"""A round is an utterance and its reply; it takes a minute."""
OPENING = 1
"""The fewest utterances before a conversation can end."""

Messages = list[tuple[str, str]]


async def converse(first: tuple[Self, Mind], second: tuple[Self, Mind], now: Now) -> Messages:
    """What the two say in turn.

    The conversation ends when one is done and the other has replied or says nothing, or after ROUNDS.
    """
    said: Messages = []
    speakers = (first, second)
    done = [False, False]
    for turn in range(2 * ROUNDS):
        (me, mind), (other, _) = speakers[turn % 2], speakers[1 - turn % 2]
        utterance = await mind.says(me, other.seen, tuple(said), now)
        text = utterance.text.strip()
        if not text:
            break
        said.append((me.name, text))
        done[turn % 2] = utterance.done
        if all(done) or (utterance.done and turn > OPENING):
            break
    return said


def minutes(said: Messages) -> float:
    """How long a conversation takes."""
    return max(1.0, len(said) / 2)
