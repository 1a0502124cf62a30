"""Scripts: the beginning of a dialogue, up to a request that every target model then answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.benchmarks.simulbench.tasks import STORED, TYPES, Type
from core.conversation import Conversation, Message
from core.errors import ConfigError
from core.scenario import Scenario

SCRIPT = "script"

Kind = Literal["LastOnly", "FirstChan", "SubseqChan"]
KINDS: tuple[Kind, ...] = ("LastOnly", "FirstChan", "SubseqChan")
HARD: tuple[Kind, ...] = ("FirstChan", "SubseqChan")
"""The kinds that make up the hard subset: the first challenging turn of a dialogue, and those after it."""


class Said(BaseModel):
    """One utterance of a script."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    role: Literal["user", "assistant"]
    content: str
    meta: dict[str, Any] = {}


class Script(BaseModel):
    """A history that ends with the user's request of turn `turn`, and why that turn was chosen.

    `challenging` is the first challenging turn of the dialogue it was cut from, 0 where there was none (or a
    file does not say). `dialogue` names that dialogue.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)
    key: str
    task: str
    act: str
    type: Type
    kind: Kind
    turn: Annotated[int, Field(ge=1)]
    challenging: Annotated[int, Field(ge=0)]
    dialogue: str
    history: tuple[Said, ...]
    language: str = "en"
    source: str = ""

    @model_validator(mode="after")
    def _ends_with_a_request(self) -> Script:
        roles = [said.role for said in self.history]
        if not roles or roles[-1] != "user":
            raise ValueError("the history must end with the user's request")
        if roles != ["user", "assistant"] * (len(roles) // 2) + ["user"]:
            raise ValueError("user and assistant must take turns, the user first")
        if len(roles) != 2 * self.turn - 1:
            raise ValueError(
                f"turn {self.turn} needs a history of {2 * self.turn - 1} messages, not {len(roles)}"
            )
        if self.challenging > self.turn or (self.kind in HARD) != (self.challenging > 0):
            raise ValueError(
                f"a {self.kind} script of turn {self.turn} cannot be challenging from turn {self.challenging}"
            )
        return self

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history as it is sent."""
        return tuple(Message(said.role, said.content, said.meta) for said in self.history)

    def body(self) -> dict[str, Any]:
        """As the store keeps it."""
        return self.model_dump(mode="json", exclude={"key", "source"})


def extract(dialogue: Conversation, challenging: int) -> list[Script]:
    """The scripts of a dialogue with this first challenging turn.

    If it is 0: one LastOnly script. Else a FirstChan script, and a SubseqChan script for every later turn.

    A dialogue without a reply gives none.
    """
    turns = [t.number for t in dialogue.turns() if t.reply is not None]
    if not turns or challenging > turns[-1]:
        return []
    chosen = range(challenging, turns[-1] + 1) if challenging else turns[-1:]
    return [
        Script.model_validate(
            {
                "key": f"{dialogue.key}@{turn}",
                "task": dialogue.facets["task"],
                "act": dialogue.context["Task"],
                "type": dialogue.facets["type"],
                "kind": "LastOnly"
                if not challenging
                else "FirstChan"
                if turn == challenging
                else "SubseqChan",
                "turn": turn,
                "challenging": challenging,
                "dialogue": dialogue.key,
                "history": [_said(message) for message in dialogue.messages[: 2 * turn - 1]],
                "language": dialogue.language,
            }
        )
        for turn in chosen
    ]


def _said(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": message.content, "meta": dict(message.meta)}


def counts(scripts: Sequence[Script]) -> dict[str, dict[str, int]]:
    """The number of scripts: kind → type → number, every kind and type in their order."""
    found = Counter((script.kind, script.type) for script in scripts)
    return {kind: {type: found[kind, type] for type in TYPES} for kind in KINDS}


def stored(scenarios: Sequence[Scenario]) -> dict[str, Script]:
    """Scripts of the store by key. Raises ConfigError for an invalid body."""
    return {s.key: script_of(s) for s in scenarios}


def script_of(scenario: Scenario) -> Script:
    """A stored script. Raises ConfigError for an invalid body."""
    try:
        return Script(**{**scenario.body, "key": scenario.key, "source": scenario.source})
    except (ValidationError, TypeError) as error:
        raise ConfigError(f"The stored script “{scenario.key}” cannot be used: {error}") from error


def scenario_of(script: Script, source: str, by: str) -> Scenario:
    """A script as it is stored, accepted."""
    return Scenario(STORED, SCRIPT, script.key, script.body(), "accepted", source, by)
