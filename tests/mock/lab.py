"""A divided study of simulated people, and simulated judges with a planted flaw, for tests and the bench.

Each conversation has a quality that people see with noise. A judge sees it too; one with a flaw takes long
replies for good ones, unless its instructions tell it not to.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.lab import parts, variants
from concord.lab.parts import Parts
from concord.rating import Judgement, Rater, Rating, Spent
from concord.rubrics import rubric_store, writing
from concord.rubrics.rubric_store import Numbered
from concord.store import conversations, ratings, studies, summaries
from concord.workspace import Workspace

STUDY, RUBRIC, BENCHMARK = "shop", "shop", "talks"
CRITERIA = ("helpful", "polite")
PEOPLE = ("Ada", "Ben", "Cleo")
CURE = "Length is no merit"
"""What instructions have to say for the flaw to be repaired."""


def quality(key: str, criterion: str, seed: int) -> float:
    """What a conversation is worth on a criterion, 0 to 1."""
    return random.Random(f"{seed} {key} {criterion}").random()


def length(key: str, seed: int) -> float:
    """How long its reply is, 0 to 1, whatever it is worth."""
    return random.Random(f"{seed} {key} length").random()


def made(workspace: Workspace, *, seed: int = 0, scenarios: int = 30, each: int = 2) -> None:
    """Write the rubric, the conversations and what people answered."""
    folder = rubric_store.folder(workspace)
    folder.mkdir(exist_ok=True)
    criteria = [{"name": n, "statement": f"The reply is {n}.", "scale": "1..5"} for n in CRITERIA]
    content = {"title": "Shop", "criteria": criteria, "judge": {"instructions": "Rate the reply."}}
    (folder / f"{RUBRIC}.toml").write_text(writing.toml(content), encoding="utf-8")
    used = rubric_store.find(workspace, RUBRIC)
    with workspace.write() as db:
        used.publish(db)
        asked = used.rubric.criteria
        studies.create(db, studies.Study(STUDY, asked, "Shop", asked_rubric=used.noted))
        ids, keys = [], []
        for number in range(scenarios * each):
            key = f"{BENCHMARK}/{number // each}/{number % each}"
            words = "long words " * round(40 * length(key, seed))
            whole = Conversation(
                BENCHMARK,
                key,
                f"player-{number % each}",
                (Message("user", f"Problem {number // each}?"), Message("assistant", f"Answer. {words}")),
                facets={"scenario": f"problem-{number // each}"},
            )
            ids.append(conversations.save(db, whole, simulated=True))
            keys.append(key)
        studies.add_units(db, STUDY, [(number, None, "") for number in ids])
        study = studies.study_id(db, STUDY)
        for person in PEOPLE:
            rater = ratings.rater_id(db, Rater(person, "human", simulated=True))
            for number, key in zip(ids, keys, strict=True):
                noise = random.Random(f"{seed} {person} {key}")
                given = [
                    Rating(Unit(key), name, _level(quality(key, name, seed) + noise.gauss(0, 0.12)))
                    for name in CRITERIA
                ]
                ratings.insert(db, number, rater, given, study_id=study)
        summaries.refresh(db, ids)


def divided(workspace: Workspace, seed: int = 0) -> Parts:
    """Divide the study."""
    with workspace.write() as db:
        return parts.divide(db, STUDY, seed=seed)


def answer(
    db: Database,
    used: Numbered,
    keys: Sequence[str],
    model: str = "mock-judge",
    *,
    seed: int = 0,
    flaw: float = 0.8,
    noise: float = 0.12,
    cost: float = 0.001,
) -> None:
    """Have a simulated judge answer conversations by a version, unless it has."""
    spoilt = 0.0 if CURE in used.rubric.judge.instructions else flaw
    rater = Rater(model, "judge", used.variant, simulated=True)
    for key in keys:
        chance = random.Random(f"{seed} {model} {used.variant} {key}")
        given = [
            Rating(
                Unit(key),
                name,
                _level(
                    (1 - spoilt) * quality(key, name, seed)
                    + spoilt * length(key, seed)
                    + chance.gauss(0, noise)
                ),
                "It is long." if length(key, seed) > 0.5 else "It is short.",
            )
            for name in CRITERIA
        ]
        work, spent = f"{key}|{model}|{used.variant}|0", Spent(1, 500, 50, cost, 0.5)
        ratings.save_judgement(db, Judgement(work, key, rater, tuple(given), raw="{}", spent=spent))


def variant(db: Database, of: Parts, base: Numbered, instructions: str, note: str = "") -> Numbered:
    """Keep a variant with these instructions."""
    body = variants.changed(base.rubric, instructions=instructions)
    return variants.keep(db, of, body, parent=base, note=note)


def _level(place: float) -> float:
    return float(min(5, max(1, round(1 + 4 * place))))
