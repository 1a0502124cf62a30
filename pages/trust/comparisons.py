"""Models compared two by two: wins, position bias, strengths, agreement; and people comparing."""

from collections.abc import Sequence

import streamlit as st

from concord.errors import ConcordError
from concord.reports.leaderboards import MOCKS
from concord.rubrics import rubric_store
from concord.runs.benchmark import Benchmark
from concord.runs.registry import BENCHMARKS, known_or_imported
from concord.store import comparisons as stored
from concord.store import conversations, tables
from concord.store import studies as stored_studies
from concord.store.comparisons import OWN, PairQuestion
from concord.store.studies import Study
from concord.studies import comparisons, pairings
from concord.studies.comparisons import Compared
from pages.parts import notice, table
from pages.parts.address import benchmark_chosen, choice, empty_page, link
from pages.parts.charts import forest
from pages.parts.drafted import FormDraft
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import workspace
from pages.study import run_form, run_watch

RESAMPLES = 1000
RUBRIC = "rubric"
SOURCE = "whose"
MODELS = "models"
NUMBER = "number"
SEED = "seed"
NAME = "name"
"""The fields of the form that makes a study of pairs."""


@st.cache_resource(max_entries=16, show_spinner="Measuring …")
def _compared(
    folder: str,
    stamp: object,
    name: str,
    question: PairQuestion,
) -> Compared:
    """The tables; anew when the store has changed."""
    with workspace().read() as db:
        return comparisons.compared(db, name, question=question, resamples=RESAMPLES)


def page() -> None:
    """Draw the results, then how more people and judges compare."""
    heading("comparisons")
    notice.show()
    with workspace().read() as db:
        benchmarks = conversations.values(db)["benchmark"]
        compared = stored.compared_benchmarks(db)
        studies = {name: stored_studies.get(db, name) for name in stored_studies.names(db, pairs=True)}
    names = _benchmarks_offered(benchmarks, compared)
    name = ""
    if studies:
        name = st.selectbox(
            "Study of pairs",
            [*studies, *([""] if names else [])],
            key="pairs",
            bind="query-params",
            format_func=lambda study_name: (
                plain(studies[study_name].title) if study_name else "the benchmark's question"
            ),
        )
    if name:
        _of_study(studies[name])
    elif names:
        _of_benchmark(benchmark_chosen(names))
    else:
        empty_page(
            "Nothing to compare yet. Generate conversations of two models on the same scripts, or create a "
            "study of pairs.",
            ("import", "Import conversations"),
            ("runs", "Start a run"),
        )
    if benchmarks:
        _draw(benchmarks)


def _benchmarks_offered(benchmarks: Sequence[str], compared: Sequence[str]) -> list[str]:
    """The benchmarks with a question of their own about pairs, and others that were compared."""
    with_question = [b.name for b in BENCHMARKS.values() if b.pairwise is not None and b.name in benchmarks]
    return [*with_question, *(name for name in compared if name not in BENCHMARKS)]


def _of_benchmark(benchmark: Benchmark) -> None:
    """A benchmark's own question: all answers to it, and judges who compare."""
    with workspace().read() as db:
        players = conversations.values(db, benchmark.name)["player"]
        stamp = tables.stamp(db)
    _figures(stamp, benchmark.name)
    if benchmark.pairwise is not None:
        _judges(benchmark.name, players=players)


def _of_study(study: Study) -> None:
    """A study of pairs: what is asked, the figures, then the way to its people and judges."""
    with workspace().read() as db:
        group_count = len({unit["key"] for unit in stored_studies.units(db, study.name)})
        stamp = tables.stamp(db)
    rubric_words = f" ({plain(study.rubric)} v{study.version})" if study.rubric else ""
    st.markdown(
        f"**{plain(study.title)}** · {group_count:,} {study.counting_unit} of {plain(study.benchmark)} "
        "· asked: "
        + ", ".join(plain(question.label) for question in study.criteria)
        + f"{rubric_words} · {plain(study.source)}, seed {study.seed}"
    )
    _figures(stamp, study.name)
    link("samples", "Assign to annotators, follow, close", study=study.name)
    _judges(study.benchmark, study.name)


def _judges(benchmark: str, study: str = "", players: Sequence[str] = ()) -> None:
    """Where judges are sent to compare, and the runs that do."""
    run_watch.draw(benchmark)
    with st.expander("Let judges compare", icon=":material/gavel:"):
        run_form.judges_of_pairs(benchmark, study, players)


def _figures(stamp: object, name: str) -> None:
    """The figures, by one question at a time."""
    try:
        results = _compared(str(workspace().path), stamp, name, OWN)
        if len(results.questions) > 1:
            labels = [" ".join(filter(None, q)) or "the benchmark's question" for q in results.questions]
            label = choice("Question", "question", labels, labels[0], format_func=plain)
            question = results.questions[labels.index(label)]
            results = _compared(str(workspace().path), stamp, name, question)
    except ConcordError as error:
        st.info(plain(error))
    else:
        _show(results)


def _show(results: Compared) -> None:
    """Which model wins, in a picture; then the tables."""
    names = results.raters
    labels = {n: f"people ({results.basis['people']})" if n == comparisons.PEOPLE else n for n in names}
    default = comparisons.ALL_JUDGES if comparisons.ALL_JUDGES in names else names[0]
    rater = choice("As seen by", "rater", names, default, format_func=lambda name: plain(labels[name]))
    if words := comparisons.verdict(results, rater):
        st.subheader(plain(words), anchor=False)
    if results.basis["simulated"]:
        st.caption(f":orange-badge[mock] {MOCKS}")
    result_tables = {
        result_table.name: result_table for result_table in comparisons.result_tables(results, rater)
    }
    if strengths := result_tables.get("strengths"):
        players = [str(row["player"]) for row in strengths.rows]
        rows = list(zip(players, strengths.estimates("strength"), strict=True))
        if any(figure.defined for _, figure in rows):
            forest(rows, "Strength by model", "Strength, 95% interval")
            st.caption(plain(strengths.columns[-1].help))
    table.fold("The figures in tables", [*result_tables.values()], "tables of comparisons")
    if "agreement" not in result_tables:
        st.caption("No comparisons yet.")


def _draw(benchmarks: Sequence[str]) -> None:
    """The form that makes a study of pairs by a rubric; `benchmarks` are the names of the stored
    conversations.
    """
    with st.expander("Create a study of pairs", icon=":material/difference:"):
        st.caption(
            "A pair is two models' conversations of the same scenario or prompt; all pairs of models occur "
            "equally often. Annotators compare them blind; judges compare them in both orders. The "
            "question comes from a rubric with a criterion of type pairwise, or from the benchmark. With a "
            "criterion of type ranking, annotators put all models' conversations of a scenario in order."
        )
        draft = FormDraft("new pairs")
        left, right = st.columns(2)
        benchmark_name = left.selectbox(
            "Conversations",
            benchmarks,
            format_func=lambda name: known_or_imported(name).title,
            key=draft.field(SOURCE, benchmarks[0], benchmarks),
        )
        benchmark = BENCHMARKS.get(benchmark_name)
        benchmark_question = [""] if benchmark and benchmark.pairwise else []
        rubrics = [*benchmark_question, *rubric_store.of_pairs(workspace())]
        if not rubrics:
            link("rubrics", "Create a rubric")
            return
        left.selectbox(
            "Asked",
            rubrics,
            format_func=lambda name: name or "the benchmark's question",
            key=draft.field(RUBRIC, rubrics[0], rubrics),
        )
        with workspace().read() as db:
            players = conversations.values(db, benchmark_name)["player"]
        left.multiselect("Models", players, placeholder="all", key=draft.field(MODELS, [], players))
        right.number_input("Pairs, or groups, at most", 0, key=draft.field(NUMBER, 100), help="0: all.")
        right.number_input("Seed", 0, key=draft.field(SEED, 0), help="The same seed draws the same pairs.")
        name = st.text_input(
            "Name of the study", key=draft.field(NAME, ""), max_chars=60, placeholder="side-by-side-1"
        ).strip()
        st.button(
            "Create study of pairs",
            type="primary",
            key="new pairs",
            disabled=not name,
            on_click=_make_study,
            args=(draft,),
        )
        draft.keep()


def _make_study(draft: FormDraft) -> None:
    # Read here and not handed over: a press that follows typing at once would bring what stood there before.
    values = {name: draft.value(name) for name in (RUBRIC, SOURCE, MODELS, NUMBER, SEED, NAME)}
    name = values[NAME].strip()
    with notice.writing() as db:
        rubric = rubric_store.find(workspace(), values[RUBRIC]) if values[RUBRIC] else None
        settings = {"players": values[MODELS], "seed": values[SEED], "overlap": 1}
        available = pairings.count(db, rubric, values[SOURCE], values[MODELS])
        n = min(values[NUMBER] or available, available)
        study = pairings.new(db, name, rubric, values[SOURCE], n, **settings)
        draft.discard(db)
        st.session_state["pairs"] = study.name
        notice.success(
            f"Study “{plain(study.name)}” created: {n} {study.counting_unit}. Assign it to annotators, "
            "or let "
            "judges compare it."
        )


page()
