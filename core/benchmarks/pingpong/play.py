"""PingPong, version 2: a player acts a character, an interrogator plays the user, judges rate every turn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from concord.conversation import Conversation, Message, Unit
from concord.errors import ConfigError
from concord.files import kept_toml, listed_tables, valid
from concord.llm.prompts import Prompt, versions
from concord.llm.replies import Reason, Reply, Text, Unusable
from concord.rating import Rating
from concord.rubrics.shipped import rubric
from concord.runs.benchmark import (
    Ask,
    Asking,
    Benchmark,
    Expected,
    Materials,
    Option,
    Play,
    Role,
    Values,
    due_judgements,
    narrowing,
)
from concord.runs.plans import PlayPlan

RUBRIC = rubric("pingpong", "judge")


NonBlank = Annotated[str, Field(pattern=r"\S")]
"""A text that is not blank."""


class Character(BaseModel):
    """A character card. Templates see these names; `initial_message` is the published name of `greeting`."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    slug: str
    char_name: NonBlank
    system_prompt: NonBlank
    summary: NonBlank
    example_prompt: str = ""
    greeting: str = ""
    source: str = ""
    tags: tuple[str, ...] = ()

    @property
    def initial_message(self) -> str:
        """The greeting."""
        return self.greeting

    @property
    def description(self) -> str:
        """What the judge reads of the character: the name and the card."""
        return f"{self.char_name}\n\n{self.system_prompt}"


class Situation(BaseModel):
    """What the interrogator is up to, for how many turns."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    id: NonBlank
    text: NonBlank
    num_turns: Annotated[int, Field(ge=1, le=50, strict=True)]
    tags: tuple[str, ...] = ()


class NextUtterance(Reply):
    """What the interrogator says next."""

    next_utterance: Text


Likert = Annotated[int, Field(ge=1, le=5)]


class TurnScore(Reply):
    """A judge's verdict on one turn, explanations before scores."""

    turn: int
    is_refusal_explanation: Reason
    is_refusal: bool
    in_character_explanation: Reason
    in_character_score: Likert
    entertaining_explanation: Reason
    entertaining_score: Likert
    fluency_explanation: Reason
    fluency_score: Likert


class Scores(Reply):
    """A judge's verdict on a conversation."""

    scores: list[TurnScore]


OWN_SET = "own"
"""The character set of what ships and of the workspace's own characters and situations."""


def character_sets(folders: Sequence[Path], language: str) -> list[str]:
    """The character sets of a language: `OWN_SET`, and each folder below `sets`."""
    names = {p.name for f in folders for p in (f / "pingpong" / language / "sets").glob("*") if p.is_dir()}
    return [OWN_SET, *sorted(names - {OWN_SET})]


def _folder(data: Path, language: str, set_name: str) -> Path:
    """Where a character set lies below a folder of data."""
    own_folder = data / "pingpong" / language
    return own_folder if set_name == OWN_SET else own_folder / "sets" / set_name


def characters(folders: Sequence[Path], language: str, set_name: str = OWN_SET) -> dict[str, Character]:
    """The characters of a set by slug, the workspace's before those that ship. Raises ConfigError."""
    cards: dict[str, Character] = {}
    for folder in folders:
        for file in sorted((_folder(folder, language, set_name) / "characters").glob("*.toml")):
            if file.stem not in cards:
                cards[file.stem] = valid(Character, {**kept_toml(file), "slug": file.stem}, file)
    return cards


def situations(folders: Sequence[Path], language: str, set_name: str = OWN_SET) -> dict[str, Situation]:
    """The situations of a set by id, the workspace's before those that ship. Raises ConfigError."""
    scenes: dict[str, Situation] = {}
    for folder in folders:
        file = _folder(folder, language, set_name) / "situations.toml"
        for entry in listed_tables(file, "situations"):
            situation = valid(Situation, entry, file)
            scenes.setdefault(situation.id, situation)
    return scenes


def replied(conversation: Conversation) -> tuple[int, ...]:
    """The turns with a reply, which a judge scores."""
    return tuple(turn.number for turn in conversation.turns() if turn.reply is not None)


def read_scores(conversation: Conversation, reply: Scores) -> tuple[Rating, ...]:
    """One rating per turn and criterion. Raises Unusable unless the verdict covers the turns played."""
    turns = list(replied(conversation))
    scored_turns = [s.turn for s in reply.scores]
    if scored_turns != turns:
        raise Unusable(
            f'"scores" must hold one entry for each of the turns {turns}, in order; it holds {scored_turns}.'
        )
    return tuple(
        Rating(Unit(conversation.key, s.turn), name, score, explanation)
        for s in reply.scores
        for name, score, explanation in (
            ("in_character", s.in_character_score, s.in_character_explanation),
            ("entertaining", s.entertaining_score, s.entertaining_explanation),
            ("fluency", s.fluency_score, s.fluency_explanation),
            ("refusal", int(s.is_refusal), s.is_refusal_explanation),
        )
    )


def judge_values(conversation: Conversation) -> Mapping[str, Any]:
    """What the judge's template sees: the card and the dialogue, not the situation."""
    if "_character" not in conversation.context:
        raise ConfigError(
            f"“{conversation.key}” has no character card for a judge to read: it was not played here. Judge "
            "those that were, or give your own conversations a benchmark of their own."
        )
    card = Character(**conversation.context["_character"])
    return {
        "character": card,
        "char": {"name": card.char_name, "description": card.description},
        "char_description": card.description,
        "char_summary": card.summary,
        "messages": conversation.messages,
    }


ASKING = Asking(
    RUBRIC.judge.template, Scores, RUBRIC.criteria, judge_values, read_scores, (2600, 900), replied
)


@dataclass(frozen=True)
class Setting:
    """One dialogue to be played: who acts which character for whom, and in which situation."""

    key: str
    player: str
    interrogator: str
    character: Character
    situation: Situation
    language: str
    symmetric: bool
    character_set: str = OWN_SET

    @property
    def values(self) -> dict[str, Any]:
        """What the templates of players and interrogators may use, beside the messages so far."""
        return {
            "character": self.character,
            "char_summary": self.character.summary,
            "char_description": self.character.description,
            "situation": self.situation.text,
            "symmetric": self.symmetric,
        }

    async def reply(self, ask: Ask, turn: int, prompt: Prompt, messages: Sequence[Message]) -> Message:
        """The player's next reply."""
        replied = await ask(
            f"{turn} player", self.player, prompt.render(messages, **self.values, messages=messages)
        )
        return Message("assistant", replied.text.strip(), replied.meta)

    def facets(self, **conditions: str) -> dict[str, str]:
        """What varied; `conditions` are further facets."""
        return {
            "character": self.character.slug,
            "situation": self.situation.id,
            "interrogator": self.interrogator,
            **conditions,
            "symmetric": "yes" if self.symmetric else "no",
            **({"character_set": self.character_set} if self.character_set != OWN_SET else {}),
        }

    def conversation(
        self, benchmark: str, messages: Sequence[Message], meta: Mapping[str, Any], **conditions: str
    ) -> Conversation:
        """The dialogue with what a judge or a reader needs beside it; `conditions` are further facets."""
        return Conversation(
            benchmark=benchmark,
            key=self.key,
            player=self.player,
            messages=tuple(messages),
            language=self.language,
            facets=self.facets(**conditions),
            context={
                "Character": self.character.description,
                "_character": self.character.model_dump(mode="json"),
                "_situation": self.situation.text,
            },
            meta=meta,
        )


async def play(ask: Ask, setting: Setting, prompts: Mapping[str, Prompt]) -> Conversation:
    """The dialogue. The interrogator knows summary and situation, the player the card, or both know all."""
    messages: list[Message] = []
    for turn in range(1, setting.situation.num_turns + 1):
        prompt = prompts["interrogator"].render(**setting.values, messages=messages)
        reply = await ask(f"{turn} interrogator", setting.interrogator, prompt)
        messages.append(Message("user", reply.value.next_utterance.strip(), reply.meta))
        messages.append(await setting.reply(ask, turn, prompts["player"], messages))
    meta = {"prompts": {name: prompts[name].hash for name in ("player", "interrogator")}}
    return setting.conversation(PINGPONG.name, messages, meta, version=prompts["player"].version)


def settings(plan: PlayPlan, materials: Materials, *head: str) -> Iterator[Setting]:
    """Every repeat × character × situation × player of a plan; their keys begin with `head`."""
    options = plan.options
    interrogator = plan.one("interrogator")
    language = options["language"]
    symmetric = options["symmetric"]
    set_name = options["character_set"]
    cast = characters(materials.data, language, set_name)
    scenes = situations(materials.data, language, set_name)
    for repeat, character, situation, player in product(
        range(options["repeats"]),
        [cast[name] for name in options["characters"] or cast],
        [scenes[name] for name in options["situations"] or scenes],
        plan.models["players"],
    ):
        place = language if set_name == OWN_SET else f"{language} {set_name}"
        parts = (*head, place, character.slug, situation.id, player, interrogator, str(repeat))
        key = "/".join((*parts, "symmetric") if symmetric else parts)
        yield Setting(key, player, interrogator, character, situation, language, symmetric, set_name)


def plays(plan: PlayPlan, materials: Materials) -> Iterator[Play]:
    """Every player × character × situation × repeat of the plan, with the judgements they are owed."""
    options = plan.options
    ways = PINGPONG.ways(materials, plan.models.get("judges", ()), options["version"])
    prompts = {name: PINGPONG.prompt(materials, name, options["version"]) for name in PINGPONG.prompts}
    for setting in settings(plan, materials, PINGPONG.name, options["version"]):
        turns = setting.situation.num_turns
        yield Play(
            setting.key,
            partial(play, setting=setting, prompts=prompts),
            (Expected(setting.interrogator, turns, 700, 50), Expected(setting.player, turns, 800, 120)),
            due_judgements(ways, options["judge_repeats"], setting.key),
            player=setting.player,
            facets={**setting.facets(version=options["version"]), "language": setting.language},
        )


def _names_of(read: Callable[[Sequence[Path], str, str], Mapping[str, Any]]) -> Values:
    """What there is to choose from in the chosen set of the chosen language."""
    return lambda materials, options: list(
        read(materials.data, options["language"], options["character_set"])
    )


def _languages(materials: Materials, options: Mapping[str, Any]) -> Sequence[str]:
    return sorted({p.name for f in materials.data for p in (f / "pingpong").glob("*") if p.is_dir()})


def _versions(materials: Materials, options: Mapping[str, Any]) -> Sequence[str]:
    # Version 1 is a benchmark of its own (v1.py): its interrogator is its judge as well.
    return [v for v in versions(materials.prompts, "pingpong") if v != "v1"]


PINGPONG = Benchmark(
    name="pingpong",
    title="PingPong",
    description="A player acts a character; an interrogator emulates a user in a situation; a panel of "
    "judges "
    "rates every turn.",
    roles=(
        Role("players", "Models that act the characters."),
        Role("interrogator", "Model that plays the user.", multiple=False),
        Role("judges", "Models that rate every turn.", required=False),
    ),
    options=(
        Option("language", "Language of characters and situations.", "choice", "en", _languages),
        Option(
            "character_set",
            "The set of characters and situations: the shipped ones and your own, or an imported set.",
            "choice",
            OWN_SET,
            lambda m, c: character_sets(m.data, c["language"]),
        ),
        narrowing("characters", "these characters", _names_of(characters)),
        narrowing("situations", "these situations", _names_of(situations)),
        Option("repeats", "Conversations per player, character and situation.", "count", 1),
        Option("judge_repeats", "Times each judge rates a conversation (for test-retest).", "count", 1),
        Option("symmetric", "Show card and situation to both sides.", "switch", False),
        Option("version", "Version of the prompts.", "choice", "v2", _versions),
    ),
    prompts={"player": None, "interrogator": NextUtterance, "judge": Scores},
    version="v2",
    asking=ASKING,
    facets=("character", "situation", "interrogator", "version", "symmetric", "character_set"),
    items=("character", "situation"),
    refusal="refusal",
    plays=plays,
    speakers=("User", "Player"),
)
