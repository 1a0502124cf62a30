"""Make a plan ready: its pieces of work, those still to do, and their calls and cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import islice, product
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.errors import ConcordError, ConfigError, check_known, not_found
from concord.files import callables
from concord.llm.models import AGENTS, Kind, Model, load_models, own_code, pick
from concord.llm.replies import Unusable
from concord.rating import Spent
from concord.rubrics import rubric_store
from concord.rubrics.rubric_store import Numbered
from concord.runs import handshakes
from concord.runs import rubric_judge as judge
from concord.runs.benchmark import (
    Benchmark,
    Expected,
    Materials,
    Owed,
    Play,
    Way,
    owed,
)
from concord.runs.plans import ComparePlan, JudgePlan, Plan, PlayPlan, ProposePlan
from concord.runs.registry import get
from concord.scenario import Scenario
from concord.store import comparisons, conversations, ratings, runs, scenarios, studies
from concord.store.conversations import Filter
from concord.workspace import Workspace

CHUNK = 500


@dataclass(frozen=True)
class Pending:
    """A play with work left: to be played (unless `stored`), and the verdicts on it to be made."""

    play: Play
    stored: bool
    judged: tuple[Owed, ...]
    resumed: frozenset[str]
    """The keys with calls in the journal of an interrupted run."""

    @property
    def key(self) -> str:
        """The key of the play."""
        return self.play.key

    @property
    def pieces(self) -> int:
        """Results this will add to the store."""
        return (self.play.play is not None and not self.stored) + len(self.judged)


@dataclass
class Survey:
    """The pieces of a plan (conversations, judgements, comparisons, proposals) and what the rest will cost.

    A stored conversation that the plan only has judged is no piece of it.
    `failed` counts those without a usable reply, which wait for --retry-failed.
    """

    planned: int = 0
    stored: int = 0
    failed: int = 0
    noted: int = 0
    """Calls answered before an interruption: counted in `calls`, but not paid again."""
    calls: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, tuple[float, float]] = field(default_factory=dict)
    cost: float = 0.0
    by_batch: float | None = None
    """The cost with `--batch`; None where no model of the plan has a price of batches."""
    unpriced: set[str] = field(default_factory=set)
    measured: set[str] = field(default_factory=set)
    by_text: set[str] = field(default_factory=set)
    """The judges whose tokens are estimated from the texts of stored conversations."""
    done: dict[tuple[str, ...], tuple[int, int, int]] = field(default_factory=dict)
    """The pieces (planned, stored, failed) of chunks of plays with nothing left, by some of their keys."""

    @property
    def left(self) -> int:
        """Pieces to be made."""
        return self.planned - self.stored - self.failed

    def price(self, paid_in: str = "") -> str:
        """The estimated cost, as `Spent.price` words it."""
        return self.spent.price(paid_in)

    @property
    def spent(self) -> Spent:
        """The estimate as one sum."""
        tokens_in, tokens_out = (round(sum(t[i] for t in self.tokens.values())) for i in (0, 1))
        unpriced = sum(self.calls[name] for name in self.unpriced)
        return Spent(sum(self.calls.values()), tokens_in, tokens_out, self.cost, unpriced=unpriced)


def materials(workspace: Workspace) -> Materials:
    """The prompts, data and accepted scenarios of a workspace."""

    def accepted(benchmark: str, kind: str) -> list[Scenario]:
        with workspace.read() as db:
            return scenarios.accepted(db, benchmark, kind)

    def stored(keys: Sequence[str]) -> Conversation | None:
        with workspace.read() as db:
            there = conversations.existing(db, keys)
            return next((conversations.load(db, there[key]) for key in keys if key in there), None)

    def agents() -> dict[str, Any]:
        places = (workspace.path, Path.cwd())
        named = own_code(workspace.models_path, AGENTS)
        return {name: callables.bring(name, "agent", places) for name in named}

    return Materials(workspace.folders("prompts"), workspace.folders("data"), accepted, stored, agents)


def complete(plan: PlayPlan, models: Mapping[str, Model], workspace: Workspace) -> PlayPlan:
    """The plan with every option. Raises NotFound or ConfigError for a wrong role, model or option."""
    benchmark = get(plan.benchmark)
    for role in benchmark.roles:
        named = plan.models.get(role.name, ())
        if not named and role.required:
            raise ConfigError(
                f"A {benchmark.title} run needs {role.name}: name at least one model of models.toml."
            )
        if len(named) > 1 and not role.many:
            raise ConfigError(f"A {benchmark.title} run takes one model as {role.name}, not {len(named)}.")
        if len(set(named)) < len(named):
            raise ConfigError(f"A model is named twice among the {role.name}.")
        for name in named:
            pick(models, name, role.kind)
    chosen: dict[str, Any] = {}
    for option in benchmark.options:
        value = plan.options.get(option.name, option.default)
        chosen[option.name] = list(value) if option.kind == "choices" else value
        if option.kind == "count" and int(value) < 1:
            raise ConfigError(f"“{option.name}” must be at least 1.")
        values = option.values(materials(workspace), chosen) if option.values else ()
        for name in () if not values else [value] if option.kind == "choice" else chosen[option.name]:
            check_known(option.name.rstrip("s").replace("_", " "), name, values)
    return replace(plan, options=chosen)


@dataclass(frozen=True)
class Job:
    """A plan made ready, with its models; every call of `plays` goes through its pieces again."""

    plan: Plan
    models: Mapping[str, Model]
    plays: Callable[[], Iterator[Play]]
    rubric: Numbered | None = None
    """The rubric that judges rate by; None for the benchmark's questions."""


def job(workspace: Workspace, plan: Plan, *, programs: Mapping[str, Model] | None = None) -> Job:
    """Make a plan ready.

    `programs` are models that the plan may name beside those of models.toml.

    Raises NotFound or ConfigError, before any call, if it cannot be carried out.
    """
    available = load_models(workspace.models_path) | dict(programs or {})
    used = _rubric_of(workspace, plan)
    kinds: Mapping[str, Kind] = {}
    plays: Callable[[], Iterator[Play]]
    if isinstance(plan, PlayPlan | ProposePlan):
        benchmark, brought = get(plan.benchmark), materials(workspace)
        kinds = {role.name: role.kind for role in benchmark.roles}
        if isinstance(plan, PlayPlan):
            plan = complete(plan, available, workspace)
            plays = partial(benchmark.plays, plan, brought)
        elif benchmark.proposals is None:
            raise ConfigError(f"Nothing is proposed for {benchmark.title}.")
        else:
            plays = partial(benchmark.proposals, plan, brought)
    else:
        if not plan.judges:
            raise ConfigError("Name at least one judge.")
        if isinstance(plan, ComparePlan):
            plan = replace(plan, players=tuple(dict.fromkeys(plan.players)))
            ways = _ways(workspace, plan, used, available)
            plays = partial(_comparisons, workspace, plan, ways)
        else:
            # The rubric's file may change later.
            plan = replace(plan, version=str(used.version) if used else plan.version)
            ways = _ways(workspace, plan, used, available)
            plays = partial(_judgements, workspace, plan, ways)
    models = {
        name: pick(
            available,
            name,
            "program" if used and _is_program(available, name) else kinds.get(role, "chat"),
        )
        for role, names in plan.models.items()
        for name in names
    }
    handshakes.check_unchanged(workspace, models)
    return Job(plan, models, plays, used)


def pieces_each(workspace: Workspace, plan: Plan) -> int:
    """Results that a plan makes for each conversation: the verdicts on it and, unless it is stored, itself.

    0 where it is not about single conversations, or has none. Raises as `job` does.
    """
    if not isinstance(plan, PlayPlan | JudgePlan):
        return 0
    first = next(job(workspace, plan).plays(), None)
    return 0 if first is None else (first.play is not None) + len(first.judged)


def _is_program(models: Mapping[str, Model], name: str) -> bool:
    return name in models and models[name].kind == "program"


def _rubric_of(workspace: Workspace, plan: Plan) -> Numbered | None:
    """The rubric by which a plan has judges asked; None where they are asked a benchmark's own questions.

    Raises NotFound, or ConfigError for one that asks nothing of the kind.
    """
    if isinstance(plan, ComparePlan) and plan.study:
        with workspace.read() as db:
            if plan.study not in (names := studies.names(db, pairs=True)):
                raise not_found("study of pairs", plan.study, names)
            study = studies.get(db, plan.study)
        return rubric_store.find(workspace, study.rubric, study.version) if study.rubric else None
    if not isinstance(plan, JudgePlan) or not plan.rubric:
        return None
    used = rubric_store.find(workspace, plan.rubric, rubric_store.number_of(plan.version))
    if not used.rubric.criteria:
        raise ConfigError(
            f"The rubric “{plan.rubric}” has only pairwise questions. Create a study of pairs with "
            "`concord study pairs`, then compare them with `concord compare STUDY --judges …`."
        )
    with workspace.read() as db:
        rubric_store.refuse_unknown_facets(db, used.rubric, plan.benchmark)
    return used


def _ways(
    workspace: Workspace,
    plan: JudgePlan | ComparePlan,
    used: Numbered | None,
    available: Mapping[str, Model] | None = None,
) -> list[Way]:
    """How the judges of a plan are asked, call by call. Raises NotFound or ConfigError if they cannot be."""
    if used is None:
        benchmark, brought = get(plan.benchmark), materials(workspace)
        if isinstance(plan, ComparePlan):
            return [_pairwise(workspace, plan, benchmark, brought)]
        if benchmark.asking is None:
            raise ConfigError(f"{benchmark.title} is scored by rules, so judges have nothing to rate.")
        return benchmark.ways(brought, plan.judges, plan.version)
    programs = {name: _is_program(available or {}, name) for name in plan.judges}
    if isinstance(plan, JudgePlan):
        return judge.ways(used.rubric, used.variant, programs)
    # A program need not say why.
    plain = replace(used.rubric, judge=replace(used.rubric.judge, reasons="none"))
    rubrics = [(name, plain if program else used.rubric) for name, program in programs.items()]
    return [
        Way(
            judge.pairwise(r, question),
            judge.pair_prompt_of(r, question, used.variant),
            [name],
            question.name,
        )
        for name, r in rubrics
        for question in r.pairs
    ]


def _pairwise(workspace: Workspace, plan: ComparePlan, benchmark: Benchmark, brought: Materials) -> Way:
    """How the judges compare by the benchmark's question. Raises NotFound or ConfigError."""
    if benchmark.pairwise is None:
        raise ConfigError(f"{benchmark.title} has no prompt for comparing two conversations.")
    if len(plan.players) < 2 and not plan.study:
        raise ConfigError("Name at least two models to compare.")
    with workspace.read() as db:
        players = conversations.values(db, plan.benchmark)["player"]
    check_known(f"{benchmark.title} conversation by", plan.players, players)
    prompt = benchmark.prompt(brought, benchmark.pairwise.prompt, plan.version)
    return Way(benchmark.pairwise, prompt, plan.judges)


def _judgements(workspace: Workspace, plan: JudgePlan, ways: Sequence[Way]) -> Iterator[Play]:
    wanted, last = Filter(benchmark=plan.benchmark, facets=plan.where), 0
    among = frozenset(plan.among)
    # Page by page: judging a large store takes hours, and no read must stay open that long.
    while True:
        with workspace.read() as db:
            keys = conversations.keys_after(db, wanted, last, limit=CHUNK)
        if not keys:
            return
        for _, key in keys:
            if not plan.among or key in among:
                yield Play(key, None, judged=owed(ways, plan.judge_repeats, key))
        last = keys[-1][0]


def _comparisons(workspace: Workspace, plan: ComparePlan, ways: Sequence[Way]) -> Iterator[Play]:
    """What judges owe the pairs in both orders, by the conversation that is shown first.

    A group is put in order once a repeat, and each time shown in another order.
    """
    with workspace.read() as db:
        if plan.study:
            pairs = studies.pairs(db, plan.study)
        else:
            same = get(plan.benchmark).scenario_facet
            pairs = comparisons.pairs(db, plan.benchmark, same, list(plan.players), facets=plan.where)
    by_first: dict[str, list[Owed]] = {}
    groups: dict[str, set[str]] = {}
    ordered = any(criterion.scale.kind.ranks for way in ways for criterion in way.asking.criteria)
    for scenario, _, one, _, other in pairs:
        if ordered:
            groups.setdefault(scenario, set()).update((one, other))
            continue
        for first, second in ((one, other), (other, one)):
            by_first.setdefault(first, []).extend(owed(ways, plan.judge_repeats, first, second))
    for group, n in product(groups.values(), range(plan.judge_repeats)):
        shown = sorted(group, key=lambda key: sha256(f"{n}|{key}".encode()).digest())
        repeats = owed(ways, n + 1, *shown)
        by_first.setdefault(shown[0], []).extend(one for one in repeats if one.repeat == n)
    for first, these in by_first.items():
        yield Play(first, None, judged=tuple(these))


def left(
    workspace: Workspace,
    work: Iterable[Play],
    *,
    retry_failed: bool = False,
    survey: Survey | None = None,
    earlier: Survey | None = None,
) -> Iterator[Pending]:
    """What is planned and not stored, counted into `survey`; reads the store once per CHUNK plays.

    Pieces that had no usable reply are left out unless `retry_failed`, a play with its judgements. Chunks of
    which a survey `earlier` found nothing left are not looked at again.
    """
    counted = survey or Survey()
    rest = iter(work)
    while chunk := list(islice(rest, CHUNK)):
        mark = (chunk[0].key, chunk[len(chunk) // 2].key, chunk[-1].key, str(len(chunk)))
        before = counted.planned, counted.stored, counted.failed
        if earlier is not None and mark in earlier.done:
            planned, stored, failed = earlier.done[mark]
            counted.planned, counted.stored = before[0] + planned, before[1] + stored
            counted.failed = before[2] + failed
            continue
        with workspace.read() as db:
            pending_plays = pending(db, chunk, counted, retry_failed=retry_failed)
        if not pending_plays:
            after = counted.planned, counted.stored, counted.failed
            planned, stored, failed = (now - then for now, then in zip(after, before, strict=True))
            counted.done[mark] = planned, stored, failed
        yield from pending_plays


def pending(
    db: Database, plays: Sequence[Play], counted: Survey, *, retry_failed: bool = False
) -> list[Pending]:
    """What `left` finds of some plays."""
    keys, owed = [p.key for p in plays], [j.key for p in plays for j in p.judged]
    stored_keys = conversations.existing(db, keys).keys() | scenarios.proposed(db, keys)
    answered = ratings.answered(db, owed)
    failed: set[str] = set()
    if not retry_failed:
        failed = (runs.failed(db, keys) - stored_keys) | ratings.failed(db, owed)
    begun, settled = runs.works_noted(db, keys + owed), answered | failed
    pending_plays = []
    for play in plays:
        stored, own = play.key in stored_keys, play.play is not None
        counted.planned += own + len(play.judged)
        counted.stored += (own and stored) + sum(j.key in answered for j in play.judged)
        if play.key in failed:
            counted.failed += own + len(play.judged)
            continue
        counted.failed += sum(j.key in failed for j in play.judged)
        todo = tuple(j for j in play.judged if j.key not in settled)
        if todo or (own and not stored):
            resumed = begun.keys() & {play.key, *(j.key for j in todo)}
            counted.noted += sum(begun[key] for key in resumed)
            pending_plays.append(Pending(play, stored, todo, frozenset(resumed)))
    return pending_plays


def survey(workspace: Workspace, job: Job, *, retry_failed: bool = False) -> Survey:
    """What a run would do and cost, by what a judge took per call of this prompt, else of others, else by the
    texts of stored conversations, else by a first guess.
    """
    result = Survey()
    lengths = PromptLengths(workspace)
    with workspace.read() as db:
        by_judge = ratings.tokens_by_judge(db)
    for item in left(workspace, job.plays(), retry_failed=retry_failed, survey=result):
        for e in () if item.stored else item.play.expected:
            _add(result, e, None)
        for j in item.judged:
            measured = by_judge.get((j.judge, j.prompt.hash)) or by_judge.get((j.judge, ""))
            expected = Expected(j.judge, 1, *j.asking.expected)
            if item.stored and not measured and (length := lengths.tokens(item.key, j)):
                result.by_text.add(j.judge)
                expected = Expected(j.judge, 1, length, min(expected.output_tokens, _reply_tokens(j)))
            _add(result, expected, measured)
    by_batch, offered = 0.0, False
    for name, tokens in result.tokens.items():
        model, (given, tokens_out) = job.models[name], map(round, tokens)
        result.cost += model.cost(given, tokens_out)
        by_batch += model.cost(given, tokens_out, batch=model.batch)
        offered |= model.batch and model.price is not None and model.price.batch is not None
        if model.price is None:
            result.unpriced.add(name)
    result.by_batch = by_batch if offered else None
    return result


CHARACTERS_A_TOKEN = 4
"""Of a text in English; a text in another script has fewer."""
SAMPLED = 40
"""Conversations whose prompts are filled to see how long they are."""


class PromptLengths:
    """How many tokens a judge's prompt about a stored conversation has, on average, from some of them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lengths: dict[str, list[int]] = {}

    def tokens(self, key: str, verdict: Owed) -> int:
        """Tokens of a judge's prompt; 0 where it cannot be filled with a conversation alone."""
        lengths = self._lengths.setdefault(verdict.prompt.hash, [])
        if verdict.against:
            return 0
        if len(lengths) < SAMPLED:
            with self._workspace.read() as db, suppress(ConcordError, Unusable):
                prompt = verdict.prompt.render(**verdict.asking.values(conversations.load(db, key)))
                lengths.append(sum(len(message.content) for message in prompt.messages))
        return round(sum(lengths) / len(lengths) / CHARACTERS_A_TOKEN) if lengths else 0


def _reply_tokens(verdict: Owed) -> int:
    """Tokens of a judge's reply: a sentence and an answer to each question."""
    return 40 + 60 * len(verdict.asking.criteria)


def _add(survey: Survey, e: Expected, measured: tuple[float, float] | None) -> None:
    if measured:
        survey.measured.add(e.model)
    per_call = measured or (e.input_tokens, e.output_tokens)
    before = survey.tokens.get(e.model, (0.0, 0.0))
    survey.tokens[e.model] = (before[0] + e.calls * per_call[0], before[1] + e.calls * per_call[1])
    survey.calls[e.model] = survey.calls.get(e.model, 0) + e.calls
