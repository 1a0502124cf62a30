"""What a benchmark is: who takes part, what varies, how it is played, and how it is judged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from core.benchmarks.plans import PlayPlan, ProposePlan
from core.conversation import Conversation
from core.errors import ConfigError
from core.llm.embeddings import Vector
from core.llm.models import Kind
from core.llm.prompts import Prompt, RenderedPrompt, load_prompt
from core.llm.replies import Answer, Reply
from core.rating import Criterion, Judgement, Rating
from core.scenario import Scenario


class Ask(Protocol):
    """Asks a model on behalf of one piece of work.

    `step` names the call within it: the same step is never paid for twice.
    """

    def __call__(
        self, step: str, model: str, asked: RenderedPrompt, check: Callable[[Any], object] | None = None, /
    ) -> Awaitable[Answer]:
        """A usable answer, or CallFailed."""

    def embed(self, model: str, texts: Sequence[str], /) -> Awaitable[list[Vector]]:
        """The vectors of a few texts, none of them empty, in one call; or CallFailed.

        Who needs a vector again keeps it.
        """


def _no_scenarios(benchmark: str, kind: str) -> Sequence[Scenario]:
    return ()


@dataclass(frozen=True)
class Materials:
    """Where prompts and data are read from, the workspace's folder first, and its accepted scenarios."""

    prompts: tuple[Path, ...]
    data: tuple[Path, ...]
    scenarios: Callable[[str, str], Sequence[Scenario]] = _no_scenarios


@dataclass(frozen=True)
class Role:
    """A part that models take in a run: `players` (many) or `interrogator` (one).

    One that is not required may be left empty.
    """

    name: str
    help: str
    many: bool = True
    required: bool = True
    kind: Kind = "chat"


@dataclass(frozen=True)
class Option:
    """Something else a run may choose.

    `values` lists what there is to choose from, given the materials and the choices before it.
    """

    name: str
    help: str
    kind: Literal["choice", "choices", "count", "switch"]
    default: Any
    values: Callable[[Materials, Mapping[str, Any]], Sequence[str]] | None = None


@dataclass(frozen=True)
class Expected:
    """The calls of a piece of work to one model, with a first guess of tokens for each."""

    model: str
    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Rubric:
    """How a judge is asked about a conversation and how its reply becomes ratings.

    `values` gives the template's variables; `read` turns the reply (as its schema, or as text where `reply`
    is None) into ratings and raises Unusable where it does not cover exactly the units asked.
    """

    prompt: str
    reply: type[Reply] | None
    criteria: tuple[Criterion, ...]
    values: Callable[[Conversation], Mapping[str, Any]]
    read: Callable[[Conversation, Any], tuple[Rating, ...]]
    expected: tuple[int, int] = (2500, 800)


@dataclass(frozen=True)
class Pairwise:
    """How a judge is asked which of two conversations is better. The reply ends in [[A]], [[B]] or [[C]].

    `values` gives the template's variables for the one shown as A and the one shown as B.
    """

    prompt: str
    values: Callable[[Conversation, Conversation], Mapping[str, Any]]
    expected: tuple[int, int] = (3000, 300)


@dataclass(frozen=True)
class Judging:
    """A judgement to be made: by which model, with which rubric and prompt version. `key` is stable."""

    key: str
    judge: str
    rubric: Rubric
    prompt: Prompt
    repeat: int = 0

    @property
    def expected(self) -> tuple[int, int]:
        """Tokens in and out, as a first guess."""
        return self.rubric.expected


@dataclass(frozen=True)
class Comparing:
    """A comparison to be made: its own conversation is shown as A, the one named `against` as B."""

    key: str
    judge: str
    pairwise: Pairwise
    prompt: Prompt
    against: str
    repeat: int = 0

    @property
    def expected(self) -> tuple[int, int]:
        """Tokens in and out, as a first guess."""
        return self.pairwise.expected


@dataclass(frozen=True)
class InlineJudgement:
    """A judgement made while playing.

    It is read from the conversation and stored with it, without a call of its own.

    `prompt` is what the judge was asked with.
    """

    prompt: Prompt
    judgement: Callable[[Conversation], Judgement]


@dataclass(frozen=True)
class Play:
    """One conversation to be made, and what judges owe it; or one scenario to be proposed.

    `play` is None where the conversation must be stored already.
    """

    key: str
    play: Callable[[Ask], Awaitable[Conversation | Scenario]] | None
    expected: tuple[Expected, ...] = ()
    judged: tuple[Judging | Comparing, ...] = ()
    inline: InlineJudgement | None = None


@dataclass(frozen=True)
class Benchmark:
    """A benchmark as all other code sees it. Only its own slice knows its name."""

    name: str
    title: str
    paper: str
    about: str
    languages: tuple[str, ...]
    roles: tuple[Role, ...]
    options: tuple[Option, ...]
    prompts: Mapping[str, type[Reply] | None]
    """Its prompts by name, each with the schema of its replies; None for replies as text."""
    version: str
    rubric: Rubric | None
    """What judges and people are asked; None if scores follow by rule."""
    facets: tuple[str, ...]
    """What varies between conversations, the most important first."""
    plays: Callable[[PlayPlan, Materials], Iterator[Play]]
    pairwise: Pairwise | None = None
    """How two conversations of one scenario are compared; None if they are not."""
    proposals: Callable[[ProposePlan, Materials], Iterator[Play]] | None = None
    """The calls that propose scenarios; None if a model proposes none."""
    stage: Callable[[str], str] | None = None
    """How far a play has come, from the name of its latest step; None for short plays."""
    check_trajectory: Callable[[Mapping[str, Any]], None] | None = None
    """Raises if a stored trajectory cannot be read; None if conversations have no trajectory."""
    prompts_of: str = ""
    """The benchmark whose folder of prompts this one shares; its own if empty."""
    judge_version: str = ""
    """The version of the prompt whose judges a leaderboard averages; `version` if empty."""
    reported: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Agreement as the paper reports it, by language: label → figure."""

    # Facets and criteria with a meaning for other code; “” where the benchmark has none.
    items: tuple[str, ...] = ()
    """The facets that tell its items apart. All others are conditions: a table says which it mixes."""
    scenario_facet: str = ""
    """Names the scenario. Only conversations of the same scenario are compared."""
    interrogator_facet: str = ""
    """Names the model that played the user."""
    ending_facet: str = ""
    """Says how the last reply ended: whole, cut, empty or refusal."""
    spotcheck_facets: tuple[str, ...] = ()
    """The facets by which spot-checks and comparisons are filtered and grouped."""
    refusal: str = ""
    """The criterion, rated 0 or 1, that says the player refused to take part."""

    # How conversations are shown.
    speakers: tuple[str, str] = ("User", "Model")
    """The parts in a dialogue as annotators see them, never a name."""
    last_reply_only: bool = False
    """Whether judges rate the last reply alone. The replies before it may be another model's."""
    preformatted: bool = False
    """Whether replies are terminals, boards and the like, which need a fixed-width font."""

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """What judges and people are asked."""
        return self.rubric.criteria if self.rubric else ()

    def prompt(self, materials: Materials, name: str, version: str = "") -> Prompt:
        """One of the benchmark's prompts, of its own version unless another is named."""
        return load_prompt(
            materials.prompts,
            self.prompts_of or self.name,
            version or self.version,
            name,
            self.prompts[name],
            self.version,
        )

    def judgings(
        self, conversation: str, judges: Sequence[str], prompt: Prompt, repeats: int = 1
    ) -> tuple[Judging, ...]:
        """The judgements that these judges owe a conversation; none where nothing is judged."""
        rubric = self.rubric
        if rubric is None:
            return ()
        return tuple(
            Judging(f"{conversation}|{judge}|{prompt.version}|{repeat}", judge, rubric, prompt, repeat)
            for judge in judges
            for repeat in range(repeats)
        )

    def comparings(
        self, first: str, second: str, judges: Sequence[str], prompt: Prompt, repeats: int = 1
    ) -> tuple[Comparing, ...]:
        """The comparisons of the one as A with the other as B that these judges owe.

        Raises ConfigError where there is no pairwise prompt.
        """
        if self.pairwise is None:
            raise ConfigError(f"{self.title} has no prompt for comparing two conversations.")
        return tuple(
            Comparing(
                f"{first}|{second}|{judge}|{prompt.version}|{repeat}",
                judge,
                self.pairwise,
                prompt,
                second,
                repeat,
            )
            for judge in judges
            for repeat in range(repeats)
        )
