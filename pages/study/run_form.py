"""The forms that start a run, made from a benchmark's roles and options, and the estimate of its cost."""

from collections.abc import Sequence
from typing import Any, Unpack

import streamlit as st

from concord.errors import ConcordError
from concord.llm.models import Kind, Model, currency, load_models
from concord.rubrics import rubric_store
from concord.runs import budget, launching, planning, status
from concord.runs.benchmark import Benchmark, Option, Role
from concord.runs.plans import (
    ComparePlan,
    JudgePlan,
    Plan,
    PlayPlan,
    ProposePlan,
    RunOptions,
    Where,
    from_dict,
)
from concord.runs.registry import BENCHMARKS
from concord.scores import marked
from concord.store import conversations, studies
from concord.store import rubrics as stored_rubrics
from concord.store.runs import Progress
from pages.parts.address import empty_page, link, listed
from pages.parts.navigation import own_pages
from pages.parts.plain import plain, quantity
from pages.parts.session import sentence, workspace

PERSISTENT: dict[str, Any] = {"persist_state": "session"}
"""How fields are drawn: what was chosen stays while another tab or page is open."""
MOST_VALUES = 500
"""Of a facet that one can choose among: one with more names conversations rather than conditions."""


def new() -> None:
    """A new run of a benchmark."""
    models = _models()
    if not models:
        return
    benchmark = _benchmark(list(BENCHMARKS), "run")
    st.caption(plain(benchmark.description))
    if pages := own_pages(benchmark.name):
        with st.container(horizontal=True):
            for page in pages:
                link(page.address, page.title)
    models_by_role = {role.name: _role(benchmark, role, models) for role in benchmark.roles}
    with st.expander("Options", expanded=True, icon=":material/tune:"):
        options = _options(benchmark)
    missing = [role.name for role in benchmark.roles if not models_by_role[role.name] and role.required]
    if missing:
        st.info(f"Choose {' and '.join(missing)} to see the size of the run.")
        return
    estimate(PlayPlan(benchmark.name, models_by_role, options), key="run", address=True)


def further_judges() -> None:
    """Judges over the conversations that are stored, or over those of a study alone."""
    models = _models()
    if not models:
        return
    with workspace().read() as db:
        values = conversations.values(db)
        samples = {name: studies.get(db, name).benchmark for name in studies.ranked(db)}
    names = [b.name for b in BENCHMARKS.values() if b.name in values["benchmark"] and b.criteria]
    rubrics = rubric_store.names(workspace())
    if not values["benchmark"]:
        st.info("No conversations to judge yet.")
        return
    if not names and not rubrics:
        st.info(
            "These conversations have no rubric, so there are no questions for judges. Create a rubric first."
        )
        link("rubrics", "Create a rubric")
        return
    rubric = ""
    if rubrics:
        rubric_options = [*([""] if names else []), *rubrics]
        rubric = listed("Questions", "rubric", rubric_options, rubric_options[0], format_func=questions)
    if rubric:
        first = samples.get(st.query_params.get("study", ""), "")
        place = values["benchmark"].index(first) if first in values["benchmark"] else 0
        of = st.selectbox("Conversations", values["benchmark"], place, key="by a rubric")
    else:
        of = _benchmark(names, "judge").name
    judges, repeats = _judges(models, bool(rubric), "further judges")
    study_options = ["", *(name for name, benchmark in samples.items() if benchmark == of)]
    sample = st.selectbox(
        "Only conversations of the study",
        study_options,
        study_options.index(study_in_address)
        if (study_in_address := st.query_params.get("study", "")) in study_options
        else 0,
        format_func=lambda name: name or "all conversations",
    )
    if not judges:
        st.info("Choose judges to see the size of the run.")
        return
    with workspace().read() as db:
        keys = [unit["key"] for unit in studies.units(db, sample)] if sample else []
    conversation_keys = tuple(dict.fromkeys(keys))
    conditions = _conditions_chosen(of)
    version = _rubric_version(rubric) if rubric else _prompt_version(of)
    plan = JudgePlan(of, judges, conditions, version, repeats, rubric, conversation_keys)
    estimate(plan, key="judge", address=True)


def _conditions_chosen(benchmark: str) -> Where:
    """The conversations that are judged, by language, player and facets; {} for all."""
    with workspace().read() as db:
        values = conversations.values(db, benchmark)
    facets = {
        name: names for name, names in values.items() if name != "benchmark" and 1 < len(names) <= MOST_VALUES
    }
    if not facets:
        return {}
    with st.expander("Only some conversations", icon=":material/filter_list:", key=f"only of {benchmark}"):
        selected = {
            name: st.multiselect(
                name.replace("_", " ").capitalize(), names, placeholder="all", key=f"{benchmark} only {name}"
            )
            for name, names in facets.items()
        }
    return {name: tuple(names) for name, names in selected.items() if names}


def _prompt_version(benchmark: str) -> str:
    """The version of the prompt that judges are asked with; “” for the benchmark's own."""
    names = BENCHMARKS[benchmark].judge_versions(planning.materials(workspace()))
    if len(names) < 2:
        return ""
    version = st.selectbox("Version of the prompt", names, key=f"{benchmark} judged version")
    return "" if version == names[0] else version


def _rubric_version(rubric: str) -> str:
    """The number of a version of the rubric that was used; “” for its file as it is."""
    with workspace().read() as db:
        numbers = [str(version.version) for version in stored_rubrics.versions(db, rubric)]
    if not numbers:
        return ""
    return st.selectbox(
        "Version of the rubric",
        ["", *reversed(numbers)],
        format_func=lambda number: f"version {number}" if number else "the rubric as it is now",
        key=f"{rubric} judged version",
    )


def questions(rubric: str) -> str:
    """Whose questions are asked, in words."""
    return f"the rubric {rubric}" if rubric else "the benchmark's questions"


def judges_of_pairs(benchmark: str, study: str = "", players: Sequence[str] = ()) -> None:
    """Judges over pairs of conversations of a study, or of all these players by the benchmark's question.

    `concord compare` has some of them.
    """
    models = _models()
    if not models:
        return
    judges, repeats = _judges(models, bool(study), "judges of pairs")
    if not judges:
        st.caption("Choose judges to see the size of the run.")
        return
    plan = ComparePlan(benchmark, judges, tuple(players), judge_repeats=repeats, study=study)
    estimate(plan, key="compare")


def _judges(models: dict[str, Model], programs: bool, key: str) -> tuple[tuple[str, ...], int]:
    """Judges, programs among them where a rubric asks, and how often each is asked."""
    candidates = _of_kind(models, "chat") + (_of_kind(models, "program") if programs else [])
    left, right = st.columns([3, 1])
    hint = "Conversations that they have judged are skipped."
    judges = left.multiselect("Judges", candidates, key=key, help=hint, **PERSISTENT)
    repeats = right.number_input(
        "Judgements per judge and conversation", min_value=1, value=1, key=f"repeats of {key}", **PERSISTENT
    )
    return tuple(judges), int(repeats)


def begin(plan: Plan, address: bool = False, **options: Unpack[RunOptions]) -> None:
    """Start a run in a process of its own. With `address` the page then shows this run alone.

    By batch it waits for the answers; where its process ends before, the same run collects them.
    """
    options["wait"] = options.get("batch", False)
    try:
        with st.spinner("Starting …"):
            number = launching.start(workspace(), plan, **options)
    except ConcordError as error:
        st.session_state["refused"] = str(error)
        return
    st.session_state.setdefault("seen running", set[int]()).add(number)
    if address:
        st.query_params["run"] = str(number)


def described(run: Progress) -> str:
    """What a run is of, in a line."""
    try:
        plan = from_dict(run.plan)
    except ConcordError:
        return f"{run.benchmark} · a plan that cannot be read"
    benchmark = BENCHMARKS.get(plan.benchmark)
    title = benchmark.title if benchmark else plan.benchmark
    models = "; ".join(f"{role}: {', '.join(names)}" for role, names in plan.models.items() if names)
    match plan:
        case PlayPlan(options=options):
            details = f", {options['language']}" if options.get("language") else ""
        case JudgePlan(where=where, rubric=rubric):
            rubric_words = f", by the rubric {rubric}" if rubric else ""
            details = f" (stored conversations{rubric_words})" + _conditions(where)
        case ComparePlan(study="", players=players, where=where):
            details = f" (comparisons of {', '.join(players)})" + _conditions(where)
        case ComparePlan(study=study):
            details = f" (the study of pairs {study})"
        case ProposePlan():
            details = " (proposals)"
    return f"{title}{details} · {models}"


def _conditions(conditions: Where) -> str:
    return "".join(f", {name}: {', '.join(values)}" for name, values in conditions.items())


def _models() -> dict[str, Model]:
    models = load_models(workspace().models_path)
    if not models:
        empty_page(
            "No models yet. To import existing conversations, you need none.",
            ("models", "Add a model"),
            ("import", "Import conversations"),
        )
    return models


def _of_kind(models: dict[str, Model], kind: Kind) -> list[str]:
    """The names of the models that can take a role."""
    return [name for name, model in models.items() if model.kind == kind]


def preset() -> None:
    """Choose what the address names, for both forms: a benchmark, and values of its options.

    They leave the address with that: from here on the form is the reader's.
    """
    name = st.query_params.get("benchmark", "")
    if name not in BENCHMARKS:
        return
    st.session_state["run benchmark"] = st.session_state["judge benchmark"] = name
    for option in BENCHMARKS[name].options:
        if values := st.query_params.get_all(option.name):
            if option.kind == "choices":
                st.session_state[_option_key(name, option)] = list(values)
            elif option.kind == "choice":
                st.session_state[_option_key(name, option)] = values[0]
            elif option.kind == "count" and values[0].isdecimal() and len(values[0]) < 10:
                st.session_state[_option_key(name, option)] = max(1, int(values[0]))
            del st.query_params[option.name]
    del st.query_params["benchmark"]


def _option_key(benchmark: str, option: Option) -> str:
    return f"{benchmark} option {option.name}"


def _benchmark(names: list[str], key: str) -> Benchmark:
    field = f"{key} benchmark"
    if st.session_state.get(field) not in names:
        st.session_state[field] = names[0]
    if len(names) == 1:
        return BENCHMARKS[names[0]]
    name = st.segmented_control(
        "Benchmark",
        names,
        required=True,
        format_func=lambda n: plain(BENCHMARKS[n].title),
        key=field,
        **PERSISTENT,
    )
    return BENCHMARKS[name]


def _role(benchmark: Benchmark, role: Role, models: dict[str, Model]) -> tuple[str, ...]:
    label = role.name.replace("_", " ").capitalize()

    def model_label(name: str) -> str:
        return marked(name, models[name].simulated)

    candidates = _of_kind(models, role.kind)
    if not candidates and not role.required:
        return ()
    settings = {
        "help": role.help,
        "key": f"{benchmark.name} {role.name}",
        "format_func": model_label,
        **PERSISTENT,
    }
    if role.multiple:
        return tuple(st.multiselect(label, candidates, **settings))
    hint = "Choose a model" if role.required else "None"
    one = st.selectbox(label, candidates, index=None, placeholder=hint, **settings)
    return (one,) if one else ()


def _options(benchmark: Benchmark) -> dict[str, Any]:
    materials = planning.materials(workspace())
    values: dict[str, Any] = {}
    cells = st.columns(2)
    for place, option in enumerate(benchmark.options):
        with cells[place % 2]:
            values[option.name] = _option(
                benchmark, option, list(option.values(materials, values)) if option.values else []
            )
    return values


def _option(benchmark: Benchmark, option: Option, choices: list[str]) -> Any:
    label = option.name.replace("_", " ").capitalize()
    field = _option_key(benchmark.name, option)
    settings = {"help": option.help, "key": field, **PERSISTENT}
    match option.kind:
        case "choice":
            if st.session_state.get(field) not in choices:
                st.session_state[field] = option.default if option.default in choices else choices[0]
            return st.selectbox(label, choices, **settings)
        case "choices":
            current = st.session_state.get(field, option.default)
            st.session_state[field] = [n for n in current if n in choices]
            return st.multiselect(label, choices, placeholder="all", **settings)
        case "count":
            st.session_state.setdefault(field, int(option.default))
            return int(st.number_input(label, min_value=1, **settings))
        case "switch":
            return st.toggle(label, value=bool(option.default), **settings)


def estimate(plan: Plan, key: str, *, address: bool = False) -> None:
    """The estimate of a plan, and the button that starts it; `address` as for `begin`."""
    try:
        job = planning.job(workspace(), plan)
        for model in job.models.values():
            model.key()
        with st.spinner("Reading stored results …"):
            survey = planning.survey(workspace(), job)
    except ConcordError as error:
        sentence(error)
        return
    with st.container(border=True):
        st.markdown(
            f"**{quantity(survey.left, 'result')} to generate** ({survey.planned:,} planned; "
            f"{survey.stored_count:,} stored already"
            + (f"; {survey.failed:,} failed before" if survey.failed else "")
            + ")"
            + (", each a conversation or a judgement" if isinstance(plan, PlayPlan) else "")
        )
        if not survey.left and not survey.failed:
            further = "more proposals or another seed" if isinstance(plan, ProposePlan) else "more repeats"
            st.caption(f"All results of this plan are stored. Choose something else above, or {further}.")
        for line in status.calls(survey):
            st.caption(plain(line))
        left, right = st.columns(2, vertical_alignment="bottom")
        paid_in = currency(workspace().models_path)
        left.metric(
            "Estimated cost",
            survey.price(plain(paid_in)),
            help="Estimated from the tokens of earlier calls; without earlier calls, it can be wrong by a "
            "factor of ten. "
            + ("" if paid_in else "In the currency of the prices in models.toml (setting `currency`)."),
        )
        limit = right.number_input(
            plain(f"Stop at a cost of ({paid_in})" if paid_in else "Stop at a cost of"),
            min_value=0.0,
            value=None,
            placeholder="no limit",
            key=f"{key} limit",
            help="The run stops at this cost and can be resumed. The cost of earlier runs of the same plan "
            "is included.",
            **PERSISTENT,
        )
        if survey.unpriced:
            names = ", ".join(sorted(survey.unpriced))
            st.caption(plain(f"models.toml has no price of {names}."))
        unlimited = limit is not None and _unpriced(job)
        retry = bool(survey.failed) and st.toggle("Retry calls without a usable reply", key=f"{key} retry")
        batch = bool(survey.calls) and st.toggle(
            "Use the Batch API"
            if survey.by_batch is None
            else f"Use the Batch API (about {survey.by_batch:,.2f} {plain(paid_in)}".rstrip() + ")",
            key=f"{key} batch",
            help="The endpoint answers each batch of calls within a day. The run waits for the answers. If "
            "you stop the run, resume it to collect them.",
            **PERSISTENT,
        )
        is_started = st.button(
            "Start",
            type="primary",
            icon=":material/play_arrow:",
            key=f"{key} start",
            disabled=not (survey.left or retry) or unlimited,
            width="stretch",
        )
    if is_started:
        begin(plan, address, max_cost=limit, retry_failed=retry, batch=batch)
        st.rerun()


def _unpriced(job: planning.Job) -> bool:
    """Say why no spending limit can be kept; whether that is so."""
    try:
        budget.check_priced(job.models.values())
    except ConcordError as error:
        sentence(error)
        return True
    return False
