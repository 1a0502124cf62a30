"""Make a plan ready: its pieces of work, those still to do, and their calls and cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.errors import ConfigError, not_found
from concord.files import callables
from concord.llm.models import Model, load_models, pick
from concord.llm.prompts import Prompt
from concord.llm.replies import UNANSWERED
from concord.rating import Spent
from concord.rubrics import shelf
from concord.rubrics.rubric import Rubric
from concord.rubrics.shelf import Numbered
from concord.runs import renaming
from concord.runs import rubric_judge as judge
from concord.runs.benchmark import (
    Asking,
    Comparing,
    Expected,
    Judging,
    Materials,
    Play,
    comparings,
    judgings,
)
from concord.runs.plans import PROPOSER, ComparePlan, JudgePlan, Plan, PlayPlan, ProposePlan
from concord.runs.registry import BENCHMARKS, get
from concord.scenario import Scenario
from concord.store import comparisons, conversations, pairings, ratings, runs, scenarios
from concord.store.conversations import Filter
from concord.workspace import Workspace

CHUNK = 500


@dataclass(frozen=True)
class Pending:
    """A play with work left: to be played (unless `stored`), and the verdicts on it to be made."""

    play: Play
    stored: bool
    judged: tuple[Judging | Comparing, ...]
    resumed: frozenset[str]
    """The keys with calls in the journal of an interrupted run."""
    failed: int = 0
    """Verdicts that failed before and are left out."""

    @property
    def first(self) -> tuple[str, ...]:
        """The keys of what is made first: the play or, where it is stored, the judgements of it."""
        return self.owed if self.stored or self.play.play is None else (self.play.key,)

    @property
    def owed(self) -> tuple[str, ...]:
        """The keys of its judgements and comparisons."""
        return tuple(j.key for j in self.judged)

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


def materials(workspace: Workspace, *, own_code: bool = False) -> Materials:
    """The prompts, data and accepted scenarios of a workspace.

    `own_code` says that the user named the code to be imported. It is looked for in the workspace, then in
    the current folder.
    """

    def accepted(benchmark: str, kind: str) -> list[Scenario]:
        with workspace.read() as db:
            return scenarios.accepted(db, benchmark, kind)

    def stored(keys: Sequence[str]) -> Conversation | None:
        with workspace.read() as db:
            known = conversations.existing(db, keys)
            return next((conversations.load(db, known[key]) for key in keys if key in known), None)

    bring = partial(callables.bring, folders=(workspace.path, Path.cwd())) if own_code else callables.refused
    return Materials(workspace.folders("prompts"), workspace.folders("data"), accepted, stored, bring)


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
        known = option.values(materials(workspace), chosen) if option.values else ()
        for name in () if not known else [value] if option.kind == "choice" else chosen[option.name]:
            if name not in known:
                raise not_found(option.name.rstrip("s").replace("_", " "), name, known)
    return replace(plan, options=chosen)


@dataclass(frozen=True)
class Job:
    """A plan made ready, with its models; every call of `plays` goes through its pieces again."""

    plan: Plan
    models: Mapping[str, Model]
    plays: Callable[[], Iterator[Play]]
    rubric: Numbered | None = None
    """The rubric that judges rate by; None for the benchmark's own questions."""
    mixed: tuple[str, ...] = ()
    """A sentence for each prompt of which two versions are sent, a half each."""

    def role(self, model: str, prompt: str) -> str:
        """The role in which a model is sent a prompt: its own, of several the first that is sent it."""
        own = [role for role, names in self.plan.models.items() if model in names]
        roles = () if self.rubric else get(self.plan.benchmark).roles
        sent = [role.name for role in roles if prompt in role.prompts]
        return next((role for role in own if role in sent), own[0] if own else "")


def _mixed(plan: PlayPlan, brought: Materials) -> tuple[str, ...]:
    """`Job.mixed` of a plan that plays: of the prompts that its models are sent."""
    benchmark, version = get(plan.benchmark), plan.options.get("version", "")
    asked = (role for role in benchmark.roles if plan.models.get(role.name))
    names = dict.fromkeys(name for role in asked for name in role.prompts if name in benchmark.prompts)
    return tuple(filter(None, (benchmark.prompt(brought, name, version).mixed for name in names)))


def job(
    workspace: Workspace, plan: Plan, *, own_code: bool = False, programs: Mapping[str, Model] | None = None
) -> Job:
    """Make a plan ready; code of the user's own is imported only if `own_code` (see `materials`).

    `programs` are models that the plan may name beside those of models.toml.

    Raises NotFound or ConfigError, before any call, if it cannot be carried out.
    """
    known = load_models(workspace.models_path) | dict(programs or {})
    if isinstance(plan, JudgePlan) and plan.rubric:
        return _job_by_rubric(workspace, plan, known)
    if isinstance(plan, ComparePlan) and plan.study:
        return _job_of_pairs(workspace, plan, known)
    benchmark, brought = get(plan.benchmark), materials(workspace, own_code=own_code)
    plays: Callable[[], Iterator[Play]]
    mixed: tuple[str, ...] = ()
    match plan:
        case PlayPlan():
            plan = complete(plan, known, workspace)
            plays, mixed = partial(benchmark.plays, plan, brought), _mixed(plan, brought)
        case ProposePlan():
            if benchmark.proposals is None:
                raise ConfigError(f"Nothing is proposed for {benchmark.title}.")
            plays = partial(benchmark.proposals, plan, brought)
        case JudgePlan():
            asked, judges, repeats = _asked(workspace, plan), plan.judges, plan.judge_repeats
            mixed = tuple(prompt.mixed for _, prompt in asked if prompt.mixed)
            plays = partial(
                _judgements, workspace, plan, lambda key: benchmark.judgings(key, judges, asked, repeats)
            )
        case ComparePlan():
            plan = replace(plan, players=tuple(dict.fromkeys(plan.players)))
            prompt = _pairwise_prompt(workspace, plan)
            mixed = (prompt.mixed,) if prompt.mixed else ()
            plays = partial(_comparisons, workspace, plan, prompt)
    kinds = {role.name: role.kind for role in benchmark.roles}
    models = {
        name: pick(known, name, kinds.get(role, "chat"))
        for role, names in plan.models.items()
        for name in names
    }
    check_roles(models.values())
    renaming.refuse_changed(workspace, models)
    return Job(plan, renaming.adapted(workspace, models), plays, mixed=mixed)


def check_roles(models: Iterable[Model]) -> None:
    """Raises NotFound if an entry has parameters for a role that no benchmark has."""
    known = {role.name for benchmark in BENCHMARKS.values() for role in benchmark.roles} | {PROPOSER}
    for model in models:
        for name in model.roles.keys() - known:
            raise not_found(f"role for [models.{model.name}.roles] in models.toml", name, known)


def _job_by_rubric(workspace: Workspace, plan: JudgePlan, known: Mapping[str, Model]) -> Job:
    """A job of judges who rate by a rubric. Its version is settled now: the file may change later."""
    used = shelf.find(workspace, plan.rubric, shelf.number_of(plan.version))
    if not used.rubric.criteria:
        raise ConfigError(
            f"The rubric “{plan.rubric}” asks only which of two is better. Make a study of pairs with "
            "`concord pairs new`, then have them compared with `concord compare STUDY --judges …`."
        )
    plan = replace(plan, version=str(used.version))
    models, told = _judges_by(workspace, used, plan.judges, known)
    plays = partial(_judgements, workspace, plan, _owed_by(used, plan, told))
    return Job(plan, renaming.adapted(workspace, models), plays, used)


def _owed_by(used: Numbered, plan: JudgePlan, told: Sequence[Rubric]) -> Callable[[str], tuple[Judging, ...]]:
    """What the judges of a plan owe a conversation by a rubric, each asked by it as `told`."""
    ways = [(judge.asking(rubric), judge.prompt_of(rubric, used.variant)) for rubric in told]

    def owed(key: str) -> tuple[Judging, ...]:
        return tuple(
            judging
            for name, (asking, prompt) in zip(plan.judges, ways, strict=True)
            for judging in judgings(asking, key, [name], prompt, plan.judge_repeats)
        )

    return owed


def named(workspace: Workspace, plan: PlayPlan | JudgePlan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The conversations of a stored plan with the judgements they are owed, by key.

    The plan's models need not be in models.toml any more. Raises NotFound or ConfigError where its prompts,
    rubric or data are gone.
    """
    if isinstance(plan, JudgePlan):
        if plan.rubric:
            used = shelf.find(workspace, plan.rubric, shelf.number_of(plan.version))
            owed = _owed_by(used, plan, [used.rubric] * len(plan.judges))
        else:
            owed = partial(
                get(plan.benchmark).judgings,
                judges=plan.judges,
                asked=_asked(workspace, plan),
                repeats=plan.judge_repeats,
            )
        plays = _judgements(workspace, plan, owed)
    else:
        plays = get(plan.benchmark).plays(plan, materials(workspace))
    for play in plays:
        judged = [one.key for one in play.judged]
        if play.inline:
            version = play.inline.prompt.version
            judged += [f"{play.key}|{one}|{version}|0" for names in plan.models.values() for one in names]
        yield play.key, tuple(judged)


def _judges_by(
    workspace: Workspace, used: Numbered, judges: Sequence[str], known: Mapping[str, Model]
) -> tuple[dict[str, Model], list[Rubric]]:
    """The models of judges who answer by a rubric, and the rubric as each is asked by it."""
    if not judges:
        raise ConfigError("Name at least one judge.")
    models = {name: pick(known, name, None) for name in judges}
    models = {
        name: pick(known, name, "program" if m.kind == "program" else "chat") for name, m in models.items()
    }
    check_roles(models.values())
    renaming.refuse_changed(workspace, models)
    # A program need not say why.
    plain = replace(used.rubric, judge=replace(used.rubric.judge, reasons="none"))
    return models, [plain if models[name].kind == "program" else used.rubric for name in judges]


def _job_of_pairs(workspace: Workspace, plan: ComparePlan, known: Mapping[str, Model]) -> Job:
    """A job of judges who compare the pairs of a study in both orders, each question in a call of its own."""
    with workspace.read() as db:
        study, pairs = pairings.study(db, plan.study), pairings.pairs(db, plan.study)
        if not pairs:
            raise not_found("study of pairs", plan.study, [each.name for each in pairings.studies(db)])
    used = shelf.find(workspace, study.rubric, study.version)
    models, told = _judges_by(workspace, used, plan.judges, known)
    ways = [
        (name, judge.pairwise(rubric, question), judge.pair_prompt_of(rubric, question, used.variant))
        for name, rubric in zip(plan.judges, told, strict=True)
        for question in rubric.pairs
    ]

    def owed(first: str, second: str) -> Iterator[Comparing]:
        for name, pairwise, prompt in ways:
            yield from comparings(pairwise, first, second, [name], prompt, plan.judge_repeats)

    keys = [(one, other) for _, _, one, _, other in pairs]
    return Job(plan, renaming.adapted(workspace, models), partial(_both_orders, keys, owed), used)


def _both_orders(
    pairs: Sequence[tuple[str, str]], owed: Callable[[str, str], Iterable[Comparing]]
) -> Iterator[Play]:
    """What judges owe these pairs in both orders, by the conversation that is shown first."""
    found: dict[str, list[Comparing]] = {}
    for one, other in pairs:
        for first, second in ((one, other), (other, one)):
            found.setdefault(first, []).extend(owed(first, second))
    for first, these in found.items():
        yield Play(first, None, judged=tuple(these))


def _judgements(
    workspace: Workspace, plan: JudgePlan, owed: Callable[[str], tuple[Judging, ...]]
) -> Iterator[Play]:
    wanted, last = Filter(benchmark=plan.benchmark, facets=plan.where), 0
    # Page by page: judging a large store takes hours, and no read must stay open that long.
    while True:
        with workspace.read() as db:
            keys = conversations.keys_after(db, wanted, last, limit=CHUNK)
        if not keys:
            return
        for _, key in keys:
            yield Play(key, None, judged=owed(key))
        last = keys[-1][0]


def _comparisons(workspace: Workspace, plan: ComparePlan, prompt: Prompt) -> Iterator[Play]:
    benchmark = get(plan.benchmark)
    with workspace.read() as db:
        found = comparisons.pairs(
            db, plan.benchmark, benchmark.scenario_facet, list(plan.players), facets=plan.where
        )
    pairwise = benchmark.pairwise
    assert pairwise is not None, "it has a prompt"

    def owed(first: str, second: str) -> tuple[Comparing, ...]:
        return comparings(pairwise, first, second, plan.judges, prompt, plan.judge_repeats)

    yield from _both_orders([(one, other) for _, _, one, _, other in found], owed)


def _asked(workspace: Workspace, plan: JudgePlan) -> tuple[tuple[Asking, Prompt], ...]:
    """What the judges are asked, call by call. Raises NotFound or ConfigError if they cannot be asked."""
    benchmark = get(plan.benchmark)
    if benchmark.asking is None:
        raise ConfigError(f"{benchmark.title} is scored by rule: there is nothing for a judge to rate.")
    if not plan.judges:
        raise ConfigError("Name at least one judge.")
    return benchmark.asked(materials(workspace), plan.version)


def _pairwise_prompt(workspace: Workspace, plan: ComparePlan) -> Prompt:
    """What the judges are asked with. Raises NotFound or ConfigError if they cannot be asked."""
    benchmark = get(plan.benchmark)
    if benchmark.pairwise is None:
        raise ConfigError(f"{benchmark.title} has no prompt for comparing two conversations.")
    if not plan.judges:
        raise ConfigError("Name at least one judge.")
    if len(plan.players) < 2:
        raise ConfigError("Name at least two models to compare.")
    with workspace.read() as db:
        known = conversations.values(db, plan.benchmark)["player"]
    for name in plan.players:
        if name not in known:
            raise not_found(f"{benchmark.title} conversation by", name, known)
    return benchmark.prompt(materials(workspace), benchmark.pairwise.prompt, plan.version)


def left(
    workspace: Workspace,
    work: Iterable[Play],
    *,
    retry_failed: bool = False,
    survey: Survey | None = None,
    known: Survey | None = None,
) -> Iterator[Pending]:
    """What is planned and not stored, counted into `survey`; reads the store once per CHUNK plays.

    Pieces that had no usable reply are left out unless `retry_failed`, a play with its judgements. Chunks of
    which a survey `known` from before found nothing left are not looked at again.
    """
    counted = survey or Survey()
    rest = iter(work)
    while chunk := list(islice(rest, CHUNK)):
        mark = (chunk[0].key, chunk[len(chunk) // 2].key, chunk[-1].key, str(len(chunk)))
        before = counted.planned, counted.stored, counted.failed
        if known is not None and mark in known.done:
            planned, stored, failed = known.done[mark]
            counted.planned, counted.stored = before[0] + planned, before[1] + stored
            counted.failed = before[2] + failed
            continue
        with workspace.read() as db:
            found = pending(db, chunk, counted, retry_failed=retry_failed)
        if not found:
            after = counted.planned, counted.stored, counted.failed
            planned, stored, failed = (now - then for now, then in zip(after, before, strict=True))
            counted.done[mark] = planned, stored, failed
        yield from found


def pending(
    db: Database, plays: Sequence[Play], counted: Survey, *, retry_failed: bool = False
) -> list[Pending]:
    """What `left` finds of some plays."""
    keys, owed = [p.key for p in plays], [j.key for p in plays for j in p.judged]
    known = conversations.existing(db, keys).keys() | scenarios.proposed(db, keys)
    answered = ratings.answered(db, owed)
    failed: set[str] = set()
    if not retry_failed:
        failed = (runs.failed(db, keys, UNANSWERED) - known) | ratings.failed(db, owed)
    begun, settled = runs.works_noted(db, keys + owed), answered | failed
    found = []
    for play in plays:
        stored, own = play.key in known, play.play is not None
        counted.planned += own + len(play.judged)
        counted.stored += (own and stored) + sum(j.key in answered for j in play.judged)
        if play.key in failed:
            counted.failed += own + len(play.judged)
            continue
        unread = sum(j.key in failed for j in play.judged)
        counted.failed += unread
        todo = tuple(j for j in play.judged if j.key not in settled)
        if todo or (own and not stored):
            resumed = begun.keys() & {play.key, *(j.key for j in todo)}
            counted.noted += sum(begun[key] for key in resumed)
            found.append(Pending(play, stored, todo, frozenset(resumed), unread))
    return found


def survey(workspace: Workspace, job: Job, *, retry_failed: bool = False) -> Survey:
    """What a run would do and cost, by what a judge took per call of this prompt, else by a first guess."""
    found = Survey()
    with workspace.read() as db:
        by_judge = ratings.tokens_by_judge(db)
    for item in left(workspace, job.plays(), retry_failed=retry_failed, survey=found):
        for e in () if item.stored else item.play.expected:
            _add(found, e, None)
        for j in item.judged:
            measured = by_judge.get((j.judge, j.prompt.hash)) if isinstance(j, Judging) else None
            _add(found, Expected(j.judge, 1, *j.expected), measured)
    by_batch, offered = 0.0, False
    for name, tokens in found.tokens.items():
        model, (given, made) = job.models[name], map(round, tokens)
        found.cost += model.cost(given, made)
        by_batch += model.cost(given, made, batch=model.batch)
        offered |= model.batch and model.price is not None and model.price.batch is not None
        if model.price is None:
            found.unpriced.add(name)
    found.by_batch = by_batch if offered else None
    return found


def _add(found: Survey, e: Expected, measured: tuple[float, float] | None) -> None:
    if measured:
        found.measured.add(e.model)
    per_call = measured or (e.input_tokens, e.output_tokens)
    before = found.tokens.get(e.model, (0.0, 0.0))
    found.tokens[e.model] = (before[0] + e.calls * per_call[0], before[1] + e.calls * per_call[1])
    found.calls[e.model] = found.calls.get(e.model, 0) + e.calls
