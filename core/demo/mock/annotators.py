"""Simulated annotators: the people of the demo's study, five in number or as many as one likes, each with a taste of their own.

They are not models and answer no requests. They look at the same surface features as the mock judges, at whole conversations, and they
share an impression of each conversation that no judge has.
"""

from __future__ import annotations

import random
from functools import lru_cache

from core.conversation import Conversation
from core.demo.mock.features import CRITERIA, features_of
from core.demo.mock.reading import read_card
from core.demo.mock.tastes import Taste, answer, blur, leaning

SHARED = 0.5
"""Standard deviation, in points, of what all people see in a conversation and no judge does."""

LIKED = ("own", "voice", "lively", "length", "variety", "repeat", "stock")


@lru_cache(maxsize=256)
def taste_of(annotator_index: int, seed: int = 0) -> Taste:
    """An annotator's taste: bias about −0.6 to 0.6, some who avoid the ends of the scale and some who do not, feature_bias, noise."""
    rng = random.Random(f"annotator|{seed}|{annotator_index}")
    return Taste(
        bias=rng.uniform(-0.6, 0.6),
        gain=rng.uniform(0.95, 1.6),
        halo=rng.uniform(0.1, 0.45),
        likes={name: rng.gauss(0, 0.12) for name in LIKED},
        blur_whole=rng.uniform(0.6, 1.05),
    )


def rate(
    conversation: Conversation, criterion: str, annotator_index: int, seed: int = 0, turn: int | None = None
) -> int:
    """One annotator's answer, 1 to 5, to one criterion about a whole conversation, or about one turn of it in the light of the earlier ones.

    `criterion` is in_character, entertaining or fluency; `refusal` is answered 0 or 1; any other is rated by the mean of the three.
    The same arguments give the same answer. Where there is no reply to rate the answer is the lowest.
    """
    card = "\n\n".join(text for heading, text in conversation.context.items() if not heading.startswith("_"))
    turns = tuple(
        (t.user.content if t.user else "", t.reply.content)
        for t in conversation.turns()
        if t.reply is not None
    )
    features = features_of(turns, read_card(card))
    if turn is not None:
        features = features[turn - 1 : turn]
    if criterion == "refusal":
        return int(any(f.refusal for f in features))
    if not features:
        return 1
    taste = taste_of(annotator_index, seed)
    opinions = [leaning(f, taste) for f in features]
    means = {c: sum(o[c] for o in opinions) / len(opinions) for c in CRITERIA}
    about = f"{seed}|{card}|{turns}|{turn}"
    shared = random.Random(f"people|{about}|{criterion}")
    mood = random.Random(f"mood|{annotator_index}|{about}")
    own = random.Random(f"own|{annotator_index}|{about}|{criterion}")
    points = means.get(criterion, sum(means.values()) / len(means))
    points += blur(shared, SHARED) + blur(mood, 0.6 * taste.blur_whole) + blur(own, 0.8 * taste.blur_whole)
    return answer(points)
