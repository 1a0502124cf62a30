"""Fills a workspace with conversations, three judges' ratings of every turn and a study, quickly and always
the same; no model is asked.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.rating import Criterion, Judgement, Rater, Rating, Spent
from concord.runs.registry import get
from concord.store import conversations, placements, ratings, studies

PLAYERS = {"alder": 4.4, "birch": 3.8, "cedar": 3.2, "dogwood": 3.7}
"""Players and how good they are."""
JUDGES = {"strict": -0.5, "kind": 0.4, "erratic": 0.0}
"""Judges and how they lean."""
PEOPLE = {"Ada": 0.1, "Ben": -0.2, "Cleo": 0.0}
CAST = ("goblin", "teacher", "pilot", "robot")
SCENES = ("greeting", "quarrel", "riddle", "farewell")
REFUSING, FAILING = "dogwood", "erratic"
HOSTILE = "<script>document.title='broken'</script> **bold** ![x](https://example.org/x.png) $x^2$ :red[red]"
"""What a model might say to a page that took its words for markup."""


def fill(
    db: Database,
    *,
    languages: Sequence[str] = ("en",),
    repeats: int = 1,
    turns: int = 2,
    people: bool = True,
    seed: int = 0,
) -> None:
    """Four players × four characters × four situations × repeats, in each language."""
    random_ = random.Random(seed)
    benchmark = get("pingpong")
    ratings.register(db, benchmark.name, benchmark.criteria, refusal=benchmark.refusal)
    ratings.remember_prompt(db, "abc123", benchmark.name, "v2", "judge", "{}")
    ids = []
    for language in languages:
        for conversation in _conversations(language, repeats, turns):
            ids.append(
                conversations.save(db, conversation, Spent(2 * turns, 900, 300, 0.01, 2.0), simulated=True)
            )
            for judge, lean in JUDGES.items():
                ratings.save_judgement(db, _judgement(conversation, judge, lean, benchmark.criteria, random_))
    if people:
        _study(db, ids, [c for c in benchmark.criteria if c.counted], random_)


def _conversations(language: str, repeats: int, turns: int) -> Iterator[Conversation]:
    for repeat in range(repeats):
        for character in CAST:
            for scene in SCENES:
                for player in PLAYERS:
                    said = [f"I am the {character}; this is my answer about the {scene}. " * 3]
                    said.append(
                        HOSTILE
                        if (player, character) == ("birch", "robot")
                        else f"And so the {scene} goes on."
                    )
                    yield Conversation(
                        benchmark="pingpong",
                        key=f"pingpong/v2/{language}/{character}/{scene}/{player}/asker/{repeat}",
                        player=player,
                        messages=tuple(
                            m
                            for t in range(turns)
                            for m in (
                                Message("user", f"Question {t + 1} of the {scene}?"),
                                Message("assistant", said[t % 2]),
                            )
                        ),
                        language=language,
                        facets={"character": character, "situation": scene, "interrogator": "asker"},
                        context={
                            "Character": f"{character.title()}\n\nA {character} of few words.",
                            "_character": {
                                "slug": character,
                                "char_name": character.title(),
                                "system_prompt": f"A {character} of few words.",
                                "summary": f"A {character}.",
                            },
                            "_situation": f"The user comes with a {scene}.",
                        },
                        meta={"prompts": {"player": "def456", "interrogator": "0123ab"}},
                    )


def _judgement(
    conversation: Conversation, judge: str, lean: float, criteria: Sequence[Criterion], random_: random.Random
) -> Judgement:
    rater = Rater(judge, "judge", "v2", simulated=True)
    key, spent = f"{conversation.key}|{judge}|v2|0", Spent(1, 2600, 900, 0.004, 1.5)
    if judge == FAILING and random_.random() < 0.06:
        return Judgement(
            key,
            conversation.key,
            rater,
            failure="No usable reply after 3 attempts: It holds no JSON object.",
            raw="I would rather not rate this. " + HOSTILE,
            prompt="abc123",
            spent=spent,
        )
    refused = conversation.player == REFUSING and random_.random() < 0.2
    given = []
    for turn in conversation.turns():
        for c in criteria:
            if c.counted:
                score = PLAYERS[conversation.player] + lean + random_.gauss(0, 0.7)
                given.append((turn.number, c.name, float(min(5, max(1, round(score))))))
            else:
                given.append((turn.number, c.name, float(refused)))
    return Judgement(
        key,
        conversation.key,
        rater,
        tuple(
            Rating(Unit(conversation.key, t), name, score, f"'{name}': I think {score:g}.")
            for t, name, score in given
        ),
        raw="{}",
        prompt="abc123",
        spent=spent,
    )


def _study(db: Database, ids: Sequence[int], criteria: Sequence[Criterion], random_: random.Random) -> None:
    studies.create(db, studies.Study("first", tuple(criteria), "A first study", overlap=3))
    chosen = ids[::3]
    units = studies.add_units(db, "first", [(i, None, "") for i in chosen])
    for person, lean in PEOPLE.items():
        rater = ratings.rater_id(db, Rater(person, "human", simulated=True))
        placements.assign(db, rater, units)
        for task, conversation in list(zip(assigned(db, rater, "first"), chosen, strict=True))[
            : len(units) if person != "Cleo" else len(units) // 2
        ]:
            player = conversations.listed(db, conversation).player
            for c in criteria:
                score = PLAYERS[player] + lean + random_.gauss(0, 0.8)
                placements.answer(db, rater, task[0], c.name, float(min(5, max(1, round(score)))))
            placements.submit(db, rater, task[0])


def assigned(db: Database, rater: int, study: str) -> list[tuple[int, str, bool]]:
    """An annotator's items in their order: (assignment id, state, flagged)."""
    every = placements.on_desk(db, rater, study)
    return [(placements.find_id(db, rater, unit), state, flagged) for unit, state, flagged in every]
