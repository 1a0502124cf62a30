"""What a benchmark is: who takes part, what varies, how it is played, and how it is judged."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from concord.conversation import Conversation
from concord.errors import ConfigError
from concord.llm.embeddings import Vector
from concord.llm.models import Kind
from concord.llm.prompts import Prompt, RenderedPrompt, load_prompt, versions
from concord.llm.replies import Answer, Reply
from concord.rating import Criterion, Judgement, Order, Preference, Rating
from concord.runs.plans import PlayPlan, ProposePlan
from concord.scenario import Scenario


class Ask(Protocol):
    """Asks a model for one piece of work. `step` names the call in it: no step is paid for twice."""

    def __call__(
        self,
        step: str,
        model: str,
        prompt: RenderedPrompt,
        check: Callable[[Any], object] | None = None,
        /,
        *,
        may_be_empty: bool = False,
    ) -> Awaitable[Answer]:
        """A usable answer, or CallFailed. `may_be_empty`: an empty text is a reply, as of a terminal."""

    def embed(self, model: str, texts: Sequence[str], /) -> Awaitable[list[Vector]]:
        """The vectors of a few texts, none of them empty, in one call, or CallFailed. They are not kept."""


@dataclass(frozen=True)
class Materials:
    """Where prompts and data are read from, the workspace's folder first, and its accepted scenarios.

    `stored_conversation` gives the first stored conversation of these keys, None if there is none. `agents`
    gives the user's own agents, by the `module:name` under which models.toml lists them.
    """

    prompts: tuple[Path, ...]
    data: tuple[Path, ...]
    scenarios: Callable[[str, str], Sequence[Scenario]] = lambda _benchmark, _kind: ()
    stored_conversation: Callable[[Sequence[str]], Conversation | None] = lambda _keys: None
    agents: Callable[[], Mapping[str, Any]] = dict


Values = Callable[[Materials, Mapping[str, Any]], Sequence[str]]
"""What there is to choose from, given the materials and the options chosen before."""


@dataclass(frozen=True)
class Role:
    """A part that models take in a run, such as `players`; it may be left empty if it is not required."""

    name: str
    help: str
    multiple: bool = True
    required: bool = True
    kind: Kind = "chat"


@dataclass(frozen=True)
class Option:
    """Something else a run may choose."""

    name: str
    help: str
    kind: Literal["choice", "choices", "count", "switch"]
    default: Any
    values: Values | None = None


def narrowing(name: str, words: str, values: Values) -> Option:
    """An option that narrows a run to what is named."""
    return Option(name, f"Only {words} (default: all).", "choices", (), values)


def prompt_versions(benchmark: str, default: str, name: str = "version", noun: str = "prompts") -> Option:
    """The option that chooses among the versions of a benchmark's prompts."""
    help = f"Version of the {noun}."
    return Option(name, help, "choice", default, lambda m, c: versions(m.prompts, benchmark))


class Expected(NamedTuple):
    """The calls of a piece of work to one model, with a first guess of tokens for each."""

    model: str
    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Asking:
    """How a judge is asked about a conversation, or which of several is better, and how its reply is read.

    `values` gives the template's variables for the conversation, or for the ones shown as A, B …; `read`
    takes the same and the reply (as its schema, or as text where `reply` is None), and gives ratings, a
    preference, or an order. Both raise Unusable: where one cannot be asked about them, and where the reply
    does not cover exactly what was asked. `turns` are those that a reply must have an entry for, which the
    schema then says. `rubric` is that of a pairwise question, which has one of `criteria`; “” for a
    benchmark's own.
    """

    prompt: str
    reply: type[Reply] | None
    criteria: tuple[Criterion, ...]
    values: Callable[..., Mapping[str, Any]]
    read: Callable[..., tuple[Rating, ...] | Preference | Order]
    expected: tuple[int, int] = (2500, 800)
    turns: Callable[..., tuple[int, ...]] = lambda *_conversations: ()
    rubric: str = ""


class Way(NamedTuple):
    """How judges are asked, in one call; `name` ends the keys of their verdicts, where the same are asked
    by another prompt of the same version.
    """

    asking: Asking
    prompt: Prompt
    judges: Sequence[str]
    name: str = ""


class DueJudgement(NamedTuple):
    """A verdict that a judge owes a conversation: a judgement of it or, where `against` names others, shown
    as B, C …, which of them is better. `key` is stable.
    """

    key: str
    judge: str
    prompt: Prompt
    repeat: int
    asking: Asking
    against: tuple[str, ...] = ()


@dataclass(frozen=True)
class InlineJudgement:
    """A judgement made while playing: read from the conversation, without a call of its own.

    It is stored with the conversation; `prompt` is what the judge was asked with.
    """

    prompt: Prompt
    judgement: Callable[[Conversation], Judgement]


@dataclass(frozen=True)
class Play:
    """One conversation to be made, and what judges owe it; or one scenario to be proposed.

    `play` is None where the conversation must be stored already. `player` and `facets` (with its language)
    are those of the conversation, so that one that could not be made is counted where it belongs. `outline`
    gives the conversation with empty replies, where its other texts are known before it is made.
    """

    key: str
    play: Callable[[Ask], Awaitable[Conversation | Scenario]] | None
    expected: tuple[Expected, ...] = ()
    judged: tuple[DueJudgement, ...] = ()
    inline: InlineJudgement | None = None
    player: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)
    outline: Callable[[], Conversation] | None = None


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark as all other code sees it. Only its own slice knows its name."""

    name: str
    title: str
    description: str
    facets: tuple[str, ...]
    """What varies between conversations, the most important first."""
    roles: tuple[Role, ...] = ()
    options: tuple[Option, ...] = ()
    prompts: Mapping[str, type[Reply] | None] = field(default_factory=dict)
    """Its prompts by name, each with the schema of its replies; None for replies as text."""
    version: str = ""
    asking: Asking | None = None
    """How judges are asked; None if scores follow by rule."""
    plays: Callable[[PlayPlan, Materials], Iterator[Play]] = lambda _plan, _materials: iter(())
    further: tuple[Asking, ...] = ()
    """What the same judges are asked beside it, in calls of their own; each is a judgement of its own."""
    pairwise: Asking | None = None
    """How two conversations of one scenario are compared; None if they are not."""
    proposals: Callable[[ProposePlan, Materials], Iterator[Play]] | None = None
    """The calls that propose scenarios; None if a model proposes none."""
    check_trajectory: Callable[[Mapping[str, Any]], None] | None = None
    """Raises if a stored trajectory cannot be read; None if conversations have no trajectory."""
    prompts_of: str = ""
    """The benchmark whose folder of prompts this one shares; its own if empty."""
    judge_version: str = ""
    """The version of the prompt whose judges a leaderboard averages; `version` if empty."""

    # Facets and criteria with a meaning for other code; “” where the benchmark has none.
    items: tuple[str, ...] = ()
    """The facets that tell its items apart. All others are conditions: a table says which it mixes."""
    evaluated: tuple[str, ...] = ()
    """The facets that with the player tell what is evaluated: a table has a row for each."""
    scenario_facet: str = ""
    """Names the scenario. Only conversations of the same scenario are compared."""
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
    def player_noun(self) -> str:
        """What a reader calls who is evaluated: a player, if models have that role here, else a model."""
        return "player" if any(role.name == "players" for role in self.roles) else "model"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """What judges and people are asked."""
        return tuple(criterion for asking in self._askings for criterion in asking.criteria)

    @property
    def _askings(self) -> tuple[Asking, ...]:
        return (self.asking, *self.further) if self.asking else ()

    def prompt(self, materials: Materials, name: str, version: str = "") -> Prompt:
        """One of the benchmark's prompts, of its own version unless another is named.

        What a version lacks comes from the benchmark's own.
        """
        folder = self.prompts_of or self.name
        own_version = self.version
        return load_prompt(
            materials.prompts, folder, version or own_version, name, self.prompts[name], own_version
        )

    def judge_versions(self, materials: Materials) -> list[str]:
        """The versions that ask judges in other words than the benchmark's own, which comes first.

        A version that cannot be read is among them, so that choosing it says why.
        """
        if self.asking is None:
            return []
        hashes = {self._judge_hash(materials, self.version): self.version}
        for version in versions(materials.prompts, self.prompts_of or self.name):
            hashes.setdefault(self._judge_hash(materials, version) or version, version)
        return list(hashes.values())

    def _judge_hash(self, materials: Materials, version: str) -> str:
        """The hash of a version of the judge's prompt; “” for one that cannot be read."""
        try:
            return self.prompt(materials, self.asking.prompt, version).hash if self.asking else ""
        except ConfigError:
            return ""

    def ways(self, materials: Materials, judges: Sequence[str], version: str = "") -> list[Way]:
        """How a version of the prompt (the benchmark's own, unless one is named) asks judges, call by call.

        None where nothing is judged.
        """
        return [
            Way(asking, prompt, judges, "" if asking is self.asking else prompt.name)
            for asking in self._askings
            for prompt in [self.prompt(materials, asking.prompt, version)]
        ]


def due_judgements(ways: Sequence[Way], repeats: int, *keys: str) -> tuple[DueJudgement, ...]:
    """The verdicts that judges owe a conversation, or several, the one shown as A first."""
    pair = "|".join(keys)
    against = keys[1:]
    return tuple(
        DueJudgement(
            f"{pair}|{judge}|{way.prompt.version}|{n}{f'|{way.name}' if way.name else ''}",
            judge,
            way.prompt,
            n,
            way.asking,
            against,
        )
        for way in ways
        for judge, n in product(way.judges, range(repeats))
    )
