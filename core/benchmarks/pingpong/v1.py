"""PingPong, version 1: one model plays the user and rates each reply (section 3.3 of the paper).

The paper's people annotated conversations of this version, and version 2's judges rated the same ones: they
may here, too.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from concord.benchmarks.pingpong.play import ASKING, PINGPONG, Setting, settings
from concord.conversation import Conversation, Message, Unit
from concord.llm.prompts import Prompt
from concord.llm.replies import Reason, Reply, Text, Unusable
from concord.questions import between
from concord.rating import Judgement, Rater, Rating
from concord.runs.benchmark import Ask, Expected, InlineJudgement, Materials, Play, Role, due_judgements
from concord.runs.plans import PlayPlan

VERSION = "v1"
LOW = 1
HIGH = 10

Ten = Annotated[int, Field(ge=LOW, le=HIGH)]


class RatedUtterance(Reply):
    """The player's last reply rated (null before the first), reasons before scores; the user's next words."""

    is_refusal_explanation: Reason
    is_refusal: bool
    stay_in_character_explanation: Reason
    stay_in_character_score: Ten | None
    language_fluency_explanation: Reason
    language_fluency_score: Ten | None
    entertainment_explanation: Reason
    entertainment_score: Ten | None
    next_user_utterance: Text


FIELDS = {
    "in_character": "stay_in_character",
    "entertaining": "entertainment",
    "fluency": "language_fluency",
}
"""What version 2 and people call it → what this version calls it."""


def likert(score: int) -> float:
    """A score of 1–10 on the scale of 1–5 of people and version 2, by a straight line: 1 is 1, 10 is 5."""
    return 1 + (score - LOW) * 4 / (HIGH - LOW)


def rates(reply: RatedUtterance) -> None:
    """Whether every score is there. Raises Unusable."""
    if lacking := [name for name in FIELDS.values() if getattr(reply, f"{name}_score") is None]:
        raise Unusable(
            f'"{lacking[0]}_score" must be a whole number from {LOW} to {HIGH}: the player has spoken.'
        )


async def play(ask: Ask, setting: Setting, prompts: Mapping[str, Prompt]) -> Conversation:
    """The dialogue, with the interrogator's ratings in `meta["rated"]`; its last call only rates."""
    messages: list[Message] = []
    rated: list[dict[str, Any]] = []
    for turn in range(1, setting.situation.num_turns + 2):
        prompt = prompts["interrogator"].render(**setting.values, messages=messages)
        check = rates if messages else None
        reply = await ask(f"{turn} interrogator", setting.interrogator, prompt, check)
        if messages:
            rated.append(reply.value.model_dump())
        if turn > setting.situation.num_turns:
            break
        messages.append(Message("user", reply.value.next_user_utterance.strip(), reply.meta))
        messages.append(await setting.reply(ask, turn, prompts["player"], messages))
    hashes = {name: prompts[name].hash for name in ("player", "interrogator")}
    return setting.conversation(PINGPONG_V1.name, messages, {"prompts": hashes, "rated": rated})


def judgement(conversation: Conversation, interrogator: str, prompt: Prompt) -> Judgement:
    """The interrogator's ratings by turn and criterion, on five points. The raw replies are kept."""
    rated = [RatedUtterance.model_validate(rating) for rating in conversation.meta["rated"]]
    ratings = []
    for turn, rating in enumerate(rated, start=1):
        unit = Unit(conversation.key, turn)
        for criterion, name in FIELDS.items():
            score = getattr(rating, f"{name}_score")
            reason = getattr(rating, f"{name}_explanation")
            ratings.append(Rating(unit, criterion, likert(score), f"{score} of {HIGH}. {reason}"))
        ratings.append(Rating(unit, "refusal", int(rating.is_refusal), rating.is_refusal_explanation))
    return Judgement(
        f"{conversation.key}|{interrogator}|{VERSION}|0",
        conversation.key,
        Rater(interrogator, "judge", VERSION),
        tuple(ratings),
        raw=json.dumps(conversation.meta["rated"], ensure_ascii=False),
        prompt=prompt.hash,
    )


def plays(plan: PlayPlan, materials: Materials) -> Iterator[Play]:
    """Every player × character × situation × repeat, rated inline, and by version 2's judges if any."""
    ways = PINGPONG_V1.ways(materials, plan.models.get("judges", ()))
    prompts = {name: PINGPONG_V1.prompt(materials, name, VERSION) for name in ("player", "interrogator")}
    for setting in settings(plan, materials, PINGPONG_V1.name):
        turns = setting.situation.num_turns
        interrogator = setting.interrogator
        rating = partial(judgement, interrogator=interrogator, prompt=prompts["interrogator"])
        yield Play(
            setting.key,
            partial(play, setting=setting, prompts=prompts),
            (Expected(interrogator, turns + 1, 1500, 350), Expected(setting.player, turns, 800, 120)),
            due_judgements(ways, plan.options["judge_repeats"], setting.key),
            InlineJudgement(prompts["interrogator"], rating),
            player=setting.player,
            facets={**setting.facets(), "language": setting.language},
        )


MAPPED = between(1, 5)
"""What an answer of 1–10 is stored on: people's ends, with numbers between their answers."""
ASKING_V1 = replace(
    ASKING,
    criteria=tuple(replace(c, judged=MAPPED) if c.name in FIELDS else c for c in ASKING.criteria),
)

PINGPONG_V1 = replace(
    PINGPONG,
    name="pingpong-v1",
    title="PingPong, version 1",
    description="A player acts a character; one model emulates the user and rates every reply as it goes; "
    "version "
    "2's judges may rate it too.",
    roles=(
        Role("players", "Models that act the characters."),
        Role("interrogator", "Model that plays the user and rates every reply.", multiple=False),
        Role("judges", "Models that rate every turn afterwards, as in version 2.", required=False),
    ),
    options=tuple(option for option in PINGPONG.options if option.name != "version"),
    prompts={**PINGPONG.prompts, "interrogator": RatedUtterance},
    prompts_of=PINGPONG.name,
    judge_version=VERSION,
    asking=ASKING_V1,
    plays=plays,
)
