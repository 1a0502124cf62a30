"""What a plan comes to: the pieces of work, which of them are stored, and what the rest will take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from core.benchmarks import get
from core.benchmarks.benchmark import Comparing, Expected, Judging, Materials, Plan, Play
from core.errors import ConfigError, not_found
from core.llm.models import Model, load_models, pick
from core.rating import Spent
from core.scenario import Scenario
from core.store import comparisons, conversations, ratings, runs, scenarios
from core.workspace import Workspace

CHUNK = 500


@dataclass(frozen=True)
class Pending:
    """One conversation with work left: to be played (`stored` False), and judgements and comparisons to be made of it."""

    play: Play
    stored: bool
    judged: tuple[Judging | Comparing, ...]
    resumed: frozenset[str]
    """The keys with calls in the journal from a run that was interrupted."""

    @property
    def pieces(self) -> int:
        """Results this will add to the store."""
        return (not self.stored) + len(self.judged)


@dataclass
class Survey:
    """A plan against the store. A piece is one conversation, judgement or comparison; `failed` ones wait for --retry-failed."""

    planned: int = 0
    stored: int = 0
    failed: int = 0
    noted: int = 0
    """Calls that were answered before an interruption: they are among `calls`, and are not paid again."""
    calls: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, tuple[float, float]] = field(default_factory=dict)
    cost: float = 0.0
    unpriced: set[str] = field(default_factory=set)
    measured: set[str] = field(default_factory=set)

    @property
    def left(self) -> int:
        """Pieces to be made."""
        return self.planned - self.stored - self.failed

    @property
    def spent(self) -> Spent:
        """The estimate as one sum."""
        tokens = self.tokens.values()
        return Spent(
            sum(self.calls.values()),
            round(sum(t[0] for t in tokens)),
            round(sum(t[1] for t in tokens)),
            self.cost,
        )


def materials(workspace: Workspace) -> Materials:
    """The prompts, data and accepted scenarios a workspace sees."""

    def accepted(benchmark: str, kind: str) -> list[Scenario]:
        with workspace.read() as db:
            return scenarios.accepted(db, benchmark, kind)

    return Materials(workspace.folders("prompts"), workspace.folders("data"), accepted)


def complete(plan: Plan, models: Mapping[str, Model], workspace: Workspace) -> Plan:
    """The plan with every option filled in. Raises NotFound or ConfigError for a role, model or option that cannot be."""
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
                raise not_found(option.name.rstrip("s"), name, known)
    return replace(plan, options=chosen)


@dataclass(frozen=True)
class Job:
    """What a run is given: a plan as it is stored, and the conversations it comes to, anew each time they are asked for."""

    benchmark: str
    plan: Mapping[str, Any]
    models: Mapping[str, Model]
    plays: Callable[[], Iterator[Play]]


def job(workspace: Workspace, plan: Plan) -> Job:
    """A plan made ready: every option filled in, every model known. Raises NotFound or ConfigError before anything is paid for."""
    models = load_models(workspace.models_path)
    if plan.options.get("stored_only"):
        return _judging_job(workspace, plan, models)
    if plan.options.get("compare"):
        return _comparing_job(workspace, plan, models)
    full = complete(plan, models, workspace)
    benchmark, brought = get(plan.benchmark), materials(workspace)
    return Job(plan.benchmark, full.as_dict(), _named(full, models), lambda: benchmark.plays(full, brought))


def _judging_job(workspace: Workspace, plan: Plan, models: Mapping[str, Model]) -> Job:
    """Further judges over the conversations that are stored: options `language`, `version`, `judge_repeats`."""
    full = replace(
        plan, options={"stored_only": True, "language": "", "version": "", "judge_repeats": 1, **plan.options}
    )
    options, benchmark, judges = full.options, get(plan.benchmark), tuple(_named(full, models))
    if benchmark.rubric is None:
        raise ConfigError(f"{benchmark.title} is scored by rule: there is nothing for a judge to rate.")
    prompt = benchmark.prompt(materials(workspace), benchmark.rubric.prompt, options["version"])
    if not judges:
        raise ConfigError("Name at least one judge.")

    def plays() -> Iterator[Play]:
        last = 0
        while True:
            # A page at a time, the connection given back in between: judging a large store takes hours.
            with workspace.read() as db:
                keys = conversations.keys_after(
                    db, plan.benchmark, last, language=options["language"], limit=CHUNK
                )
            if not keys:
                return
            for _, key in keys:
                yield Play(key, None, (), benchmark.judgings(key, judges, prompt, options["judge_repeats"]))
            last = keys[-1][0]

    return Job(plan.benchmark, full.as_dict(), _named(full, models), plays)


def _comparing_job(workspace: Workspace, plan: Plan, models: Mapping[str, Model]) -> Job:
    """Judges compare the stored conversations of these players two by two, each pair in both orders: options `players`, `facets`, `version`,
    `judge_repeats`. Players need not be in models.toml: what they said is stored."""
    full = replace(
        plan, options={"compare": True, "players": (), "facets": {}, "version": "", "judge_repeats": 1, **plan.options}
    )  # fmt: skip
    options, benchmark, judges = full.options, get(plan.benchmark), tuple(_named(full, models))
    if benchmark.pairwise is None:
        raise ConfigError(f"{benchmark.title} has no prompt for comparing two conversations.")
    if not judges:
        raise ConfigError("Name at least one judge.")
    players = list(dict.fromkeys(options["players"]))
    if len(players) < 2:
        raise ConfigError("Name at least two models to compare.")
    prompt = benchmark.prompt(materials(workspace), benchmark.pairwise.prompt, options["version"])
    with workspace.read() as db:
        known = conversations.values(db, plan.benchmark)["player"]
    for name in players:
        if name not in known:
            raise not_found(f"{benchmark.title} conversation by", name, known)

    def plays() -> Iterator[Play]:
        with workspace.read() as db:
            found = comparisons.pairs(
                db, plan.benchmark, benchmark.scenario_facet, players, facets=options["facets"]
            )
        owed: dict[str, list[Comparing]] = {}
        for _, _, one, _, other in found:
            for first, second in ((one, other), (other, one)):
                asked = benchmark.comparings(first, second, judges, prompt, options["judge_repeats"])
                owed.setdefault(first, []).extend(asked)
        for first, these in owed.items():
            yield Play(first, None, (), tuple(these))

    return Job(plan.benchmark, full.as_dict(), _named(full, models), plays)


def _named(plan: Plan, models: Mapping[str, Model]) -> dict[str, Model]:
    kinds = {role.name: role.kind for role in get(plan.benchmark).roles}
    return {
        name: pick(models, name, kinds.get(role, "chat"))
        for role, names in plan.models.items()
        for name in names
    }


def left(
    workspace: Workspace, work: Iterable[Play], *, retry_failed: bool = False, survey: Survey | None = None
) -> Iterator[Pending]:
    """What is planned minus what is stored. Counts into `survey` on the way; reads the store once per few hundred conversations."""
    counted = survey if survey is not None else Survey()
    rest = iter(work)
    while chunk := list(islice(rest, CHUNK)):
        owed = [j.key for p in chunk for j in p.judged]
        with workspace.read() as db:
            known = conversations.existing(db, [p.key for p in chunk])
            answered = ratings.answered(db, owed) | comparisons.answered(db, owed)
            failed = ratings.failed(db, owed) | comparisons.failed(db, owed)
            begun = runs.works_noted(db, [p.key for p in chunk] + owed)
        skip = answered if retry_failed else answered | failed
        for play in chunk:
            stored = play.key in known
            todo = tuple(j for j in play.judged if j.key not in skip)
            counted.planned += 1 + len(play.judged)
            counted.stored += stored + sum(j.key in answered for j in play.judged)
            counted.failed += 0 if retry_failed else sum(j.key in failed for j in play.judged)
            if todo or not (stored or play.play is None):
                resumed = begun.keys() & {play.key, *(j.key for j in todo)}
                counted.noted += sum(begun[key] for key in resumed)
                yield Pending(play, stored, todo, frozenset(resumed))


def survey(workspace: Workspace, job: Job, *, retry_failed: bool = False) -> Survey:
    """What a run would do and cost, before it does. A judge's tokens per call are those this workspace measured, else the benchmark's guess."""
    found = Survey()
    with workspace.read() as db:
        by_judge = ratings.tokens_by_judge(db)
    for item in left(workspace, job.plays(), retry_failed=retry_failed, survey=found):
        for e in () if item.stored else item.play.expected:
            _add(found, e, None)
        for j in item.judged:
            measured = by_judge.get(j.judge) if isinstance(j, Judging) else None
            _add(found, Expected(j.judge, 1, *j.expected), measured)
    for name, (tokens_in, tokens_out) in found.tokens.items():
        found.cost += job.models[name].cost(round(tokens_in), round(tokens_out))
        if job.models[name].price is None:
            found.unpriced.add(name)
    return found


def _add(found: Survey, e: Expected, measured: tuple[float, float] | None) -> None:
    if measured:
        found.measured.add(e.model)
    per_call = measured or (e.input_tokens, e.output_tokens)
    before = found.tokens.get(e.model, (0.0, 0.0))
    found.tokens[e.model] = (before[0] + e.calls * per_call[0], before[1] + e.calls * per_call[1])
    found.calls[e.model] = found.calls.get(e.model, 0) + e.calls
