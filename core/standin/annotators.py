"""Simulated annotators: the people of the demo's study, five in number or as many as one likes, each with a taste of their own.

They are not models and answer no requests. They look at the same surface features as the stand-in judges, at whole conversations, and they
share an impression of each conversation that no judge has.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

from core.conversation import Message
from core.standin.features import CRITERIA, features_of
from core.standin.reading import read_card
from core.standin.tastes import Taste, answer, blur, leaning

SHARED = 0.5
"""Standard deviation, in points, of what all people see in a conversation and no judge does."""

LIKED = ("own", "voice", "lively", "length", "variety", "repeat", "stock")


@lru_cache(maxsize=256)
def taste_of(annotator_index: int, seed: int = 0) -> Taste:
    """An annotator's taste: bias about −0.6 to 0.6, some who avoid the ends of the scale and some who do not, leanings, noise."""
    rng = random.Random(f"annotator|{seed}|{annotator_index}")
    return Taste(
        bias=rng.uniform(-0.6, 0.6),
        gain=rng.uniform(0.95, 1.6),
        halo=rng.uniform(0.1, 0.45),
        likes={name: rng.gauss(0, 0.12) for name in LIKED},
        blur_whole=rng.uniform(0.55, 0.95),
    )


def rate(messages: Sequence[Message], card: str, criterion: str, annotator_index: int, seed: int = 0) -> int:
    """One annotator's answer, 1 to 5, to one criterion about a whole conversation (or the part of it given).

    `criterion` is in_character, entertaining or fluency; any other is rated by the mean of the three. The same arguments give the same answer.
    A conversation without replies gets 1.
    """
    turns = _turns(messages)
    if not turns:
        return 1
    taste = taste_of(annotator_index, seed)
    opinions = [leaning(f, taste) for f in features_of(turns, read_card(card))]
    per_criterion = {c: sum(o[c] for o in opinions) / len(opinions) for c in CRITERIA}
    plain = per_criterion.get(criterion, sum(per_criterion.values()) / len(per_criterion))
    shared = random.Random(f"people|{seed}|{card}|{turns}|{criterion}")
    own = random.Random(f"person|{seed}|{annotator_index}|{card}|{turns}|{criterion}")
    mood = random.Random(f"mood|{seed}|{annotator_index}|{card}|{turns}")
    points = (
        plain + blur(shared, SHARED) + blur(mood, taste.blur_whole * 0.6) + blur(own, taste.blur_whole * 0.8)
    )
    return answer(points)


def _turns(messages: Sequence[Message]) -> tuple[tuple[str, str], ...]:
    """(user, reply) pairs; replies before the first user message have an empty one beside them."""
    turns, user = [], ""
    for message in messages:
        if message.role == "user":
            user = message.content
        elif message.role == "assistant":
            turns.append((user, message.content))
            user = ""
    return tuple(turns)
