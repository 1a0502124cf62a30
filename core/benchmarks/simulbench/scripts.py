"""Scripts: the beginning of a dialogue, up to a request that every target model then answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from concord.benchmarks.simulbench.tasks import BENCHMARK, Type, read_stored
from concord.conversation import Conversation, Message
from concord.scenario import Scenario

SCRIPT = "script"

Kind = Literal["LastOnly", "FirstChan", "SubseqChan"]
KINDS: tuple[Kind, ...] = ("LastOnly", "FirstChan", "SubseqChan")
HARD: tuple[Kind, ...] = ("FirstChan", "SubseqChan")
"""The kinds that make up the hard subset: the first challenging turn of a dialogue, and those after it."""


class Script(BaseModel):
    """A history that ends with the user's request of turn `turn` of a dialogue.

    `challenging` is the dialogue's first challenging turn, 0 where there was none (or a file does not say).
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
    history: tuple[Message, ...]
    language: str = "en"
    source: str = ""

    @model_validator(mode="after")
    def _ends_with_a_request(self) -> Script:
        roles = [message.role for message in self.history]
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

    def scenario(self, source: str, origin: str) -> Scenario:
        """As the store keeps it, accepted."""
        body = self.model_dump(mode="json", exclude={"key", "source"})
        return Scenario(BENCHMARK, SCRIPT, self.key, body, "accepted", source, origin)


def kind_of(turn: int, challenging: int) -> Kind:
    """The kind of a script of this turn, from a dialogue with this first challenging turn (0: none)."""
    if not challenging:
        return "LastOnly"
    return "FirstChan" if turn == challenging else "SubseqChan"


def extract(dialogue: Conversation, challenging: int) -> list[Script]:
    """The scripts of a dialogue with this first challenging turn; none of a dialogue without a reply.

    If it is 0: one LastOnly script. Else a FirstChan script, and a SubseqChan script for every later turn.
    """
    turns = dialogue.replied_turns
    if not turns or challenging > turns[-1]:
        return []
    common = {
        "task": dialogue.facets["task"],
        "act": dialogue.context["Task"],
        "type": dialogue.facets["type"],
        "challenging": challenging,
        "dialogue": dialogue.key,
        "language": dialogue.language,
    }
    return [
        Script(
            key=f"{dialogue.key}@{turn}",
            kind=kind_of(turn, challenging),
            turn=turn,
            history=dialogue.messages[: 2 * turn - 1],
            **common,
        )
        for turn in (range(challenging, turns[-1] + 1) if challenging else turns[-1:])
    ]


def scripts_by_key(scenarios: Sequence[Scenario]) -> dict[str, Script]:
    """Scripts of the store by key. Raises ConfigError for an invalid body."""
    return {s.key: read_stored(Script, s) for s in scenarios}
