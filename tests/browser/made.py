"""A workspace with a rated study, made from a seed: conversations of players of different quality, judges
with a bias each, people with noise.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from concord.conversation import Conversation, Message, Unit
from concord.questions import LIKERT_5, YES_NO
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.store import access, conversations, placements, ratings, studies
from concord.store.studies import Study
from concord.workspace import Workspace
from tests.annotated import Annotation, import_annotations

ASKED = (
    Criterion("in_character", "The reply fits the character.", title="In character"),
    Criterion("entertaining", "The reply is a pleasure to read.", title="Entertaining"),
    Criterion("fluency", "The language is that of a native writer.", title="Fluency"),
)
JUDGED = (*ASKED, Criterion("refusal", "The player refuses.", YES_NO, title="Refusal", counted=False))
PLAYERS = ("amber", "birch", "cedar", "dune", "ember", "flint")
# A judge's slope, level, noise, and how it sees each criterion: the last one answers nearly always the same.
JUDGES = {
    "judge-keen": (0.9, 0.3, 0.5),
    "judge-mild": (0.5, 1.1, 0.5),
    "judge-flat": (0.12, 1.6, 0.25),
}
PEOPLE = ("Ada", "Bo", "Chi", "Dee", "Eve")


def make(
    folder: Path, *, items: int = 250, people: int = 5, overlap: int = 0, judges: int = 3, seed: int = 1
) -> Workspace:
    """A workspace whose study “made” has `items` conversations; everybody rated everything unless `overlap`
    says how many each.
    """
    workspace = Workspace.open(folder)
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 0.6, (items, 1)) + rng.normal(0, 0.5, (items, len(ASKED)))
    with workspace.write() as db:
        ratings.register(db, "pingpong", JUDGED, refusal="refusal")
        studies.create(db, Study("made", ASKED, title="Made for the tests", overlap=overlap))
        units = []
        for item in range(items):
            player = PLAYERS[item % len(PLAYERS)]
            quality[item] += 0.35 * (item % len(PLAYERS)) - 0.8
            conversation = _conversation(item, player)
            number = conversations.save(db, conversation, simulated=True)
            units.append((number, None, player))
            for name, (slope, level, noise) in list(JUDGES.items())[:judges]:
                ratings.save_judgement(
                    db,
                    _judgement(
                        conversation,
                        Rater(name, "judge", simulated=True),
                        quality[item],
                        slope,
                        level,
                        noise,
                        rng,
                        item,
                    ),
                )
        unit_ids = studies.add_units(db, "made", units)
        given = []
        for number, name in enumerate(PEOPLE[:people]):
            access.invite(db, name)
            rater = access.annotator_id(db, name)
            mine = [i for i in range(items) if not overlap or (i + number) % people < overlap]
            placements.assign(db, rater, [unit_ids[i] for i in mine])
            for i in mine:
                spread = 0.55 + 0.15 * number
                given += [
                    Annotation(
                        Rating(Unit(_key(i)), c.name, _likert(3.2 + quality[i, k] + rng.normal(0, spread))),
                        name,
                        seconds=float(rng.gamma(4, 3)),
                    )
                    for k, c in enumerate(ASKED)
                ]
        import_annotations(db, "made", given)
    return workspace


def _key(item: int) -> str:
    return f"made/{item}"


def _conversation(item: int, player: str) -> Conversation:
    return Conversation(
        "pingpong",
        _key(item),
        player,
        tuple(
            message
            for turn in (1, 2)
            for message in (
                Message("user", f"Question {turn} of dialogue {item}?"),
                Message("assistant", f"Answer {turn} of *{player}* in dialogue {item}."),
            )
        ),
        facets={"character": f"character-{item % 8}", "situation": f"situation-{item // 8 % 8}"},
    )


def _judgement(
    conversation: Conversation,
    judge: Rater,
    quality: np.ndarray,
    slope: float,
    level: float,
    noise: float,
    rng: np.random.Generator,
    item: int,
) -> Judgement:
    given = []
    for turn in (1, 2):
        unit = Unit(conversation.key, turn)
        given += [
            Rating(unit, c.name, _likert(3 + level + slope * q + rng.normal(0, noise)))
            for c, q in zip(ASKED, quality, strict=True)
        ]
        given.append(Rating(unit, "refusal", float(item % 40 == 7 and turn == 2)))
    return Judgement(f"{conversation.key}|{judge.name}", conversation.key, judge, tuple(given))


def _likert(value: float) -> float:
    return float(np.clip(np.round(value), LIKERT_5.low, LIKERT_5.high))
