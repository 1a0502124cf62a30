"""What STSS evaluates: a model as performer in an architecture, among residents by another model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from concord.benchmarks.stss.memory import Vectors
from concord.benchmarks.stss.mind import Mind, Thinker
from concord.llm.prompts import Prompt
from concord.runs.benchmark import Ask

ARCHITECTURES: Mapping[str, bool] = {"GA": False, "GA+TDP": True}
"""The agents of the paper: a generative agent, without and with target-driven planning."""


@dataclass(frozen=True)
class Agent:
    """What is evaluated: a model as performer in an architecture, among `residents` by another model.

    `embeddings` names the model whose vectors give the relevance of memories; “” compares words. `own_mind`
    makes the performer's mind in an architecture of the user's own, `code` is which text of it.
    """

    player: str
    architecture: str
    residents: str
    embeddings: str
    prompts: Mapping[str, Prompt]
    own_mind: Callable[[Ask, Mapping[str, Prompt], str, str], Thinker] | None = None
    code: str = ""

    def minds(self, ask: Ask) -> tuple[Thinker, Thinker]:
        """The performer's mind, and that of everybody else, who is a generative agent, as in the paper."""
        residents_mind = Mind(ask, self.prompts, self.residents, self.residents)
        if self.own_mind is not None:
            return self.own_mind(ask, self.prompts, self.player, self.residents), residents_mind
        tdp = ARCHITECTURES[self.architecture]
        return Mind(ask, self.prompts, self.player, self.residents, tdp), residents_mind

    def vectors(self, ask: Ask) -> Vectors | None:
        """What compares memories by meaning, for one conversation; None where words are compared."""
        return Vectors(ask, self.embeddings) if self.embeddings else None

    def key(self, head: Sequence[str], repeat: int, *conditions: str) -> str:
        """The key of a conversation: what tells it apart, and that the persona names the target."""
        architecture_words = " ".join(filter(None, (self.architecture, self.code)))
        parts = [*head, architecture_words, self.player, self.residents, str(repeat), *conditions]
        return "/".join([*parts, "target named", *([f"by {self.embeddings}"] if self.embeddings else [])])

    def facets(self, town: str) -> dict[str, str]:
        """The facets that it gives a conversation in a town."""
        details = {
            name: text for name, text in (("embeddings", self.embeddings), ("code", self.code)) if text
        }
        return {"architecture": self.architecture, "town": town, "residents": self.residents, **details}

    @property
    def meta(self) -> dict[str, Any]:
        """What a conversation keeps of it."""
        return {
            "prompts": {name: prompt.hash for name, prompt in self.prompts.items()},
            "residents": self.residents,
            "embeddings": self.embeddings,
        }
