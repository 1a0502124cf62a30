"""Make a plan ready: its pieces of work, those still to do, and their calls and cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import islice, permutations, product
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
    DueJudgement,
    Expected,
    Materials,
    Play,
    Way,
    due_judgements,
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
    """A play with work left: to be played (unless `is_stored`), and the verdicts on it to be made."""

    play: Play
    is_stored: bool
    judged: tuple[DueJudgement, ...]
    resumed: frozenset[str]
    """The keys with calls in the journal of an interrupted run."""

    @property
    def key(self) -> str:
        """The key of the play."""
        return self.play.key

    @property
    def pieces(self) -> int:
        """Results this will add to the store."""
        return (self.play.play is not None and not self.is_stored) + len(self.judged)


@dataclass
class Survey:
    """The pieces of a plan (conversations, judgements, comparisons, proposals) and what the rest will cost.

    A stored conversation that the plan only has judged is no piece of it.
    `failed` counts those without a usable reply, which wait for --retry-failed.
    """

    planned: int = 0
    stored_count: int = 0
    failed: int = 0
    noted: int = 0
    """Calls answered before an interruption: counted in `calls`, but not paid again."""
    calls: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, tuple[float, float]] = field(default_factory=dict)
    cost: float = 0.0
    by_batch: float | None = None
    """The cost with `--batch`; None where no model of the plan has a price of batches."""
    unpriced: set[str] = field(default_factory=set)
    measured_models: set[str] = field(default_factory=set)
    by_text: set[str] = field(default_factory=set)
    """The judges whose tokens are estimated from the texts of conversations."""
    counts_by_mark: dict[tuple[str, ...], tuple[int, int, int]] = field(default_factory=dict)
    """The pieces (planned, stored, failed) of chunks of plays with nothing left, by some of their keys."""

    @property
    def left(self) -> int:
        """Pieces to be made."""
        return self.planned - self.stored_count - self.failed

    def price(self, paid_in: str = "") -> str:
        """The estimated cost, as `Spent.price` words it."""
        return self.usage.price(paid_in)

    @property
    def usage(self) -> Spent:
        """The estimate as one sum."""
        tokens_in, tokens_out = (round(sum(t[i] for t in self.tokens.values())) for i in (0, 1))
        unpriced = sum(self.calls[name] for name in self.unpriced)
        return Spent(sum(self.calls.values()), tokens_in, tokens_out, self.cost, unpriced=unpriced)


def materials(workspace: Workspace) -> Materials:
    """The prompts, data and accepted scenarios of a workspace."""

    def accepted(benchmark: str, kind: str) -> list[Scenario]:
        with workspace.read() as db:
            return scenarios.accepted(db, benchmark, kind)

    def stored_conversation(keys: Sequence[str]) -> Conversation | None:
        with workspace.read() as db:
            ids = conversations.existing(db, keys)
            return next((conversations.load(db, ids[key]) for key in keys if key in ids), None)

    def agents() -> dict[str, Any]:
        places = (workspace.path, Path.cwd())
        agent_specs = own_code(workspace.models_path, AGENTS)
        return {name: callables.bring(name, "agent", places) for name in agent_specs}

    return Materials(
        workspace.folders("prompts"), workspace.folders("data"), accepted, stored_conversation, agents
    )


def complete(plan: PlayPlan, models: Mapping[str, Model], workspace: Workspace) -> PlayPlan:
    """The plan with every option. Raises NotFound or ConfigError for a wrong role, model or option."""
    benchmark = get(plan.benchmark)
    for role in benchmark.roles:
        model_names = plan.models.get(role.name, ())
        if not model_names and role.required:
            raise ConfigError(
                f"A {benchmark.title} run needs {role.name}: give at least one model of models.toml."
            )
        if len(model_names) > 1 and not role.multiple:
            raise ConfigError(
                f"A {benchmark.title} run takes one model as {role.name}, not {len(model_names)}."
            )
        if len(set(model_names)) < len(model_names):
            raise ConfigError(f"A model is listed twice among the {role.name}.")
        for name in model_names:
            pick(models, name, role.kind)
    option_values: dict[str, Any] = {}
    for option in benchmark.options:
        value = plan.options.get(option.name, option.default)
        option_values[option.name] = list(value) if option.kind == "choices" else value
        if option.kind == "count" and int(value) < 1:
            raise ConfigError(f"“{option.name}” must be at least 1.")
        values = option.values(materials(workspace), option_values) if option.values else ()
        for name in () if not values else [value] if option.kind == "choice" else option_values[option.name]:
            check_known(option.name.rstrip("s").replace("_", " "), name, values)
    return replace(plan, options=option_values)


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
    rubric_version = _rubric_of(workspace, plan)
    kinds: Mapping[str, Kind] = {}
    plays: Callable[[], Iterator[Play]]
    if isinstance(plan, PlayPlan | ProposePlan):
        benchmark = get(plan.benchmark)
        sources = materials(workspace)
        kinds = {role.name: role.kind for role in benchmark.roles}
        if isinstance(plan, PlayPlan):
            plan = complete(plan, available, workspace)
            plays = partial(benchmark.plays, plan, sources)
        elif benchmark.proposals is None:
            raise ConfigError(f"{benchmark.title} has no proposals.")
        else:
            plays = partial(benchmark.proposals, plan, sources)
    else:
        if not plan.judges:
            raise ConfigError("Give at least one judge.")
        if isinstance(plan, ComparePlan):
            plan = replace(plan, players=tuple(dict.fromkeys(plan.players)))
            ways = _ways(workspace, plan, rubric_version, available)
            plays = partial(_comparisons, workspace, plan, ways)
        else:
            # The rubric's file may change later.
            plan = replace(plan, version=str(rubric_version.version) if rubric_version else plan.version)
            ways = _ways(workspace, plan, rubric_version, available)
            plays = partial(_judgements, workspace, plan, ways)
    models = {
        name: pick(
            available,
            name,
            "program" if rubric_version and _is_program(available, name) else kinds.get(role, "chat"),
        )
        for role, names in plan.models.items()
        for name in names
    }
    handshakes.check_unchanged(workspace, models)
    return Job(plan, models, plays, rubric_version)


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
    rubric_version = rubric_store.find(workspace, plan.rubric, rubric_store.number_of(plan.version))
    if not rubric_version.rubric.criteria:
        raise ConfigError(
            f"The rubric “{plan.rubric}” has only pairwise questions. Create a study of pairs with "
            "`concord study pairs`, then compare them with `concord compare STUDY --judges …`."
        )
    with workspace.read() as db:
        rubric_store.refuse_unknown_facets(db, rubric_version.rubric, plan.benchmark)
    return rubric_version


def _ways(
    workspace: Workspace,
    plan: JudgePlan | ComparePlan,
    rubric_version: Numbered | None,
    available: Mapping[str, Model] | None = None,
) -> list[Way]:
    """How the judges of a plan are asked, call by call. Raises NotFound or ConfigError if they cannot be."""
    if rubric_version is None:
        benchmark = get(plan.benchmark)
        sources = materials(workspace)
        if isinstance(plan, ComparePlan):
            return [_pairwise(workspace, plan, benchmark, sources)]
        if benchmark.asking is None:
            raise ConfigError(f"{benchmark.title} is scored by rules, not by judges.")
        return benchmark.ways(sources, plan.judges, plan.version)
    programs = {name: _is_program(available or {}, name) for name in plan.judges}
    if isinstance(plan, JudgePlan):
        return judge.ways(rubric_version.rubric, rubric_version.variant, programs)
    # A program need not say why.
    plain = replace(rubric_version.rubric, judge=replace(rubric_version.rubric.judge, reasons="none"))
    rubrics = [(name, plain if program else rubric_version.rubric) for name, program in programs.items()]
    return [
        Way(
            judge.pairwise(r, question),
            judge.pair_prompt_of(r, question, rubric_version.variant),
            [name],
            question.name,
        )
        for name, r in rubrics
        for question in r.pairs
    ]


def _pairwise(workspace: Workspace, plan: ComparePlan, benchmark: Benchmark, sources: Materials) -> Way:
    """How the judges compare by the benchmark's question. Raises NotFound or ConfigError."""
    if benchmark.pairwise is None:
        raise ConfigError(f"{benchmark.title} has no prompt for comparing two conversations.")
    if len(plan.players) < 2 and not plan.study:
        raise ConfigError("Give at least two models to compare.")
    with workspace.read() as db:
        players = conversations.values(db, plan.benchmark)["player"]
    check_known(f"{benchmark.title} conversation by", plan.players, players)
    prompt = benchmark.prompt(sources, benchmark.pairwise.prompt, plan.version)
    return Way(benchmark.pairwise, prompt, plan.judges)


def _judgements(workspace: Workspace, plan: JudgePlan, ways: Sequence[Way]) -> Iterator[Play]:
    selection = Filter(benchmark=plan.benchmark, facets=plan.where)
    last = 0
    keys_of_plan = frozenset(plan.among)
    # Page by page: judging a large store takes hours, and no read must stay open that long.
    while True:
        with workspace.read() as db:
            keys = conversations.keys_after(db, selection, last, limit=CHUNK)
        if not keys:
            return
        for _, key in keys:
            if not plan.among or key in keys_of_plan:
                yield Play(key, None, judged=due_judgements(ways, plan.judge_repeats, key))
        last = keys[-1][0]


def _comparisons(workspace: Workspace, plan: ComparePlan, ways: Sequence[Way]) -> Iterator[Play]:
    """What judges owe the pairs in both orders, by the conversation that is shown first.

    A group is put in order once a repeat, and each time shown in another order.
    """
    with workspace.read() as db:
        if plan.study:
            pairs = studies.pairs(db, plan.study)
        else:
            scenario_facet = get(plan.benchmark).scenario_facet
            pairs = comparisons.pairs(
                db, plan.benchmark, scenario_facet, list(plan.players), facets=plan.where
            )
    by_first: dict[str, list[DueJudgement]] = {}
    groups: dict[str, set[str]] = {}
    ordered = any(criterion.scale.kind.ranks for way in ways for criterion in way.asking.criteria)
    for pair in pairs:
        if ordered:
            groups.setdefault(pair.scenario, set()).update((pair.first_key, pair.second_key))
            continue
        for first, second in permutations((pair.first_key, pair.second_key)):
            by_first.setdefault(first, []).extend(due_judgements(ways, plan.judge_repeats, first, second))
    for group, n in product(groups.values(), range(plan.judge_repeats)):
        order = sorted(group, key=lambda key: sha256(f"{n}|{key}".encode()).digest())
        repeats = due_judgements(ways, n + 1, *order)
        by_first.setdefault(order[0], []).extend(one for one in repeats if one.repeat == n)
    for first, judgements in by_first.items():
        yield Play(first, None, judged=tuple(judgements))


def left(
    workspace: Workspace,
    work: Iterable[Play],
    *,
    retry_failed: bool = False,
    survey: Survey | None = None,
    earlier: Survey | None = None,
) -> Iterator[Pending]:
    """What is planned and not stored, counted into `survey`; reads the store once per CHUNK plays.

    Pieces that had no usable reply are excluded unless `retry_failed`, a play with its judgements. Chunks of
    which a survey `earlier` found nothing left are not looked at again.
    """
    running = survey or Survey()
    rest = iter(work)
    while chunk := list(islice(rest, CHUNK)):
        mark = (chunk[0].key, chunk[len(chunk) // 2].key, chunk[-1].key, str(len(chunk)))
        before = running.planned, running.stored_count, running.failed
        if earlier is not None and mark in earlier.counts_by_mark:
            planned, stored_before, failed = earlier.counts_by_mark[mark]
            running.planned = before[0] + planned
            running.stored_count = before[1] + stored_before
            running.failed = before[2] + failed
            continue
        with workspace.read() as db:
            pending_plays = pending(db, chunk, running, retry_failed=retry_failed)
        if not pending_plays:
            after = running.planned, running.stored_count, running.failed
            planned, stored_before, failed = (
                now - earlier_count for now, earlier_count in zip(after, before, strict=True)
            )
            running.counts_by_mark[mark] = planned, stored_before, failed
        yield from pending_plays


def pending(
    db: Database, plays: Sequence[Play], running: Survey, *, retry_failed: bool = False
) -> list[Pending]:
    """What `left` finds of some plays."""
    keys = [p.key for p in plays]
    due_keys = [j.key for p in plays for j in p.judged]
    stored_keys = conversations.existing(db, keys).keys() | scenarios.proposed(db, keys)
    answered_keys = ratings.answered_keys(db, due_keys)
    failed: set[str] = set()
    if not retry_failed:
        failed = (runs.failed(db, keys) - stored_keys) | ratings.failed_keys(db, due_keys)
    works_begun = runs.works_noted(db, keys + due_keys)
    works_finished = answered_keys | failed
    pending_plays = []
    for play in plays:
        is_stored = play.key in stored_keys
        has_play = play.play is not None
        running.planned += has_play + len(play.judged)
        running.stored_count += (has_play and is_stored) + sum(j.key in answered_keys for j in play.judged)
        if play.key in failed:
            running.failed += has_play + len(play.judged)
            continue
        running.failed += sum(j.key in failed for j in play.judged)
        todo = tuple(j for j in play.judged if j.key not in works_finished)
        if todo or (has_play and not is_stored):
            resumed = works_begun.keys() & {play.key, *(j.key for j in todo)}
            running.noted += sum(works_begun[key] for key in resumed)
            pending_plays.append(Pending(play, is_stored, todo, frozenset(resumed)))
    return pending_plays


def survey(workspace: Workspace, job: Job, *, retry_failed: bool = False) -> Survey:
    """What a run would do and cost, by what a judge took per call of this prompt, else of others, else by the
    texts that are there (stored conversations, or what is known of one to be made), else by a first guess.
    """
    result = Survey()
    lengths = PromptLengths(workspace, job.plan.benchmark)
    with workspace.read() as db:
        by_judge = ratings.tokens_by_judge(db)
    for item in left(workspace, job.plays(), retry_failed=retry_failed, survey=result):
        for e in () if item.is_stored else item.play.expected:
            _add(result, e, None)
        for j in item.judged:
            measured_tokens = by_judge.get((j.judge, j.prompt.hash)) or by_judge.get((j.judge, ""))
            expected = Expected(j.judge, 1, *j.asking.expected)
            if not measured_tokens and (length := lengths.tokens(item, j)):
                result.by_text.add(j.judge)
                expected = Expected(j.judge, 1, length, min(expected.output_tokens, _reply_tokens(j)))
            _add(result, expected, measured_tokens)
    by_batch = 0.0
    has_batch_price = False
    for name, tokens in result.tokens.items():
        model = job.models[name]
        (tokens_in, tokens_out) = map(round, tokens)
        result.cost += model.cost(tokens_in, tokens_out)
        by_batch += model.cost(tokens_in, tokens_out, batch=model.batch)
        has_batch_price |= model.batch and model.price is not None and model.price.batch is not None
        if model.price is None:
            result.unpriced.add(name)
    result.by_batch = by_batch if has_batch_price else None
    return result


CHARACTERS_A_TOKEN = 4
"""Of a text in English; a text in another script has fewer."""
SAMPLED = 40
"""Conversations whose prompts are filled to see how long they are."""


class PromptLengths:
    """How many tokens a judge's prompt about a conversation has, on average, from some of them.

    Of a conversation that is to be made: from its outline and the expected reply, else from stored ones of
    the same benchmark.
    """

    def __init__(self, workspace: Workspace, benchmark: str) -> None:
        self._workspace = workspace
        self._benchmark = benchmark
        self._lengths: dict[tuple[str, bool], list[float]] = {}

    def tokens(self, item: Pending, verdict: DueJudgement) -> int:
        """Tokens of a judge's prompt; 0 where it cannot be filled with a conversation alone."""
        if verdict.against:
            return 0
        is_outline = not item.is_stored and item.play.outline is not None
        place = verdict.prompt.hash, is_outline
        if place not in self._lengths and not is_outline and not item.is_stored:
            self._lengths[place] = list(self._of_stored(verdict))
        lengths = self._lengths.setdefault(place, [])
        if len(lengths) < SAMPLED and is_outline and item.play.outline is not None:
            replies = sum(e.calls * e.output_tokens for e in item.play.expected)
            with suppress(ConcordError, Unusable):
                lengths.append(_length(verdict, item.play.outline()) + replies * CHARACTERS_A_TOKEN)
        elif len(lengths) < SAMPLED and item.is_stored:
            with self._workspace.read() as db, suppress(ConcordError, Unusable):
                lengths.append(_length(verdict, conversations.load(db, item.key)))
        return round(sum(lengths) / len(lengths) / CHARACTERS_A_TOKEN) if lengths else 0

    def _of_stored(self, verdict: DueJudgement) -> Iterator[int]:
        """The lengths of the prompt about stored conversations of the benchmark."""
        with self._workspace.read() as db:
            for _, key in conversations.keys_after(db, Filter(self._benchmark), limit=SAMPLED):
                with suppress(ConcordError, Unusable):
                    yield _length(verdict, conversations.load(db, key))


def _length(verdict: DueJudgement, conversation: Conversation) -> int:
    """Characters of a judge's prompt about a conversation."""
    prompt = verdict.prompt.render(**verdict.asking.values(conversation))
    return sum(len(message.content) for message in prompt.messages)


def _reply_tokens(verdict: DueJudgement) -> int:
    """Tokens of a judge's reply: a sentence and an answer to each question."""
    return 40 + 60 * len(verdict.asking.criteria)


def _add(survey: Survey, e: Expected, measured_tokens: tuple[float, float] | None) -> None:
    if measured_tokens:
        survey.measured_models.add(e.model)
    per_call = measured_tokens or (e.input_tokens, e.output_tokens)
    before = survey.tokens.get(e.model, (0.0, 0.0))
    survey.tokens[e.model] = (before[0] + e.calls * per_call[0], before[1] + e.calls * per_call[1])
    survey.calls[e.model] = survey.calls.get(e.model, 0) + e.calls
