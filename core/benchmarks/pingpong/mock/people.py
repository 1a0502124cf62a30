"""Simulated annotators: the people of the demo's study, each with a taste of their own.

They look at the same surface features as the mock judges, and share an impression of each conversation that
no judge has.
"""

from __future__ import annotations

import random
from functools import lru_cache

from core.benchmarks.pingpong.mock.features import CRITERIA, Taste, answer, features_of, noise
from core.benchmarks.pingpong.mock.reading import read_card
from core.conversation import Conversation

SHARED = 0.5
"""Standard deviation, in points, of what all people see in a conversation and no judge does."""
LIKED = ("own", "voice", "lively", "length", "variety", "repeat", "stock")


@lru_cache(maxsize=256)
def taste_of(annotator: int, seed: int = 0) -> Taste:
    """The taste of the annotator of this number."""
    rng = random.Random(f"annotator|{seed}|{annotator}")
    return Taste(
        bias=rng.uniform(-0.6, 0.6),
        gain=rng.uniform(0.95, 1.6),
        halo=rng.uniform(0.1, 0.45),
        likes={name: rng.gauss(0, 0.12) for name in LIKED},
        noise_whole=rng.uniform(0.6, 1.05),
    )


def rate(
    conversation: Conversation, criterion: str, annotator: int, seed: int = 0, turn: int | None = None
) -> int:
    """One annotator's answer, 1 to 5, on a whole conversation, or on one turn in the light of earlier ones.

    A refusal is answered 0 or 1; an unknown criterion by the mean of the three known ones. Where there is no
    reply to rate the answer is the lowest.
    """
    card = "\n\n".join(text for name, text in conversation.context.items() if not name.startswith("_"))
    said = [(t.user.content if t.user else "", t.reply.content) for t in conversation.turns() if t.reply]
    turns = tuple(said)
    features = features_of(turns, read_card(card))
    if turn is not None:
        features = features[turn - 1 : turn]
    if criterion == "refusal":
        return int(any(f.refusal for f in features))
    if not features:
        return 1
    taste = taste_of(annotator, seed)
    opinions = [taste.opinion(f) for f in features]
    means = {c: sum(o[c] for o in opinions) / len(opinions) for c in CRITERIA}
    points = means.get(criterion, sum(means.values()) / len(means))
    about = f"{seed}|{card}|{turns}|{turn}"
    points += noise(random.Random(f"people|{about}|{criterion}"), SHARED)
    points += noise(random.Random(f"mood|{annotator}|{about}"), 0.6 * taste.noise_whole)
    points += noise(random.Random(f"own|{annotator}|{about}|{criterion}"), 0.8 * taste.noise_whole)
    return answer(points)
