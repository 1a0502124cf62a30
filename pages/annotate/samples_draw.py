"""The form that draws a study: conversations, strata, criteria."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from concord.rating import Criterion, criteria_by_name
from concord.rubrics import rubric_store
from concord.store import conversations, ratings
from concord.store import studies as stored
from concord.store.conversations import Filter
from concord.studies import studies
from concord.studies.guidelines import default_guidelines
from pages.parts import notice
from pages.parts.address import empty_page, link, listed
from pages.parts.drafted import FormDraft
from pages.parts.plain import plain, quantity
from pages.parts.session import workspace
from pages.study.run_form import questions

LONGEST_GUIDELINES = 100_000
"""Characters of guidelines written on a page, far below what one message may hold."""
DEFAULT_SIZE = 100
"""Conversations that are offered to be drawn, where there are as many."""
VIEW = "samples view"
STUDIES = "Studies"
FIXED = ("benchmark", "language", "player")


def form() -> None:
    """The form; nothing is drawn until the button is pressed."""
    with workspace().read() as db:
        benchmarks = conversations.values(db)["benchmark"]
        study_in_address = st.query_params.get("study", "") if "draw" in st.query_params else ""
        like_study = stored.get(db, study_in_address) if study_in_address in stored.names(db) else None
    if not benchmarks:
        return empty_page(
            "No conversations to draw from yet.",
            ("import", "Import conversations"),
            ("runs", "Start a run"),
        )
    st.subheader("Conversations to draw", anchor=False)
    begin = Filter(**like_study.sample.filter) if like_study and like_study.sample else Filter()
    draft = FormDraft(f"the form that draws a study{f' like {like_study.name}' if like_study else ''}")
    default = begin.benchmark if begin.benchmark in benchmarks else benchmarks[0]
    draft.address("benchmark", benchmarks)
    benchmark = listed("Conversations of", "benchmark", benchmarks, default)
    draft.set("benchmark", benchmark, default)
    with workspace().read() as db:
        values = conversations.values(db, benchmark)
        criteria = ratings.criteria(db, benchmark)
    conditions = _filter(draft, benchmark, values, begin)
    with workspace().read() as db:
        available = conversations.count(db, conditions)
        left = studies.left_to_draw(db, like_study) if like_study else None
    n, seed = _numbers(draft, available, left or available)
    varied = [name for name, choices in values.items() if name != "benchmark" and len(choices) > 1]
    stratify_by = st.multiselect(
        "Stratify by",
        varied,
        key=draft.field(f"strata of {benchmark}", varied, varied),
        format_func=_heading,
        help="Each combination (stratum) gets the same number of items. If there are more combinations "
        "than items, each single value does. Choose none for a simple random sample.",
    )
    draw: dict[str, Any] = {
        "selection": conditions,
        "seed": seed,
        "strata": stratify_by,
        "not_in": _excluded_studies(draft, study_in_address),
    }
    _keep(draft, criteria, conditions, n, draw)
    draft.keep()


def _excluded_studies(draft: FormDraft, study_in_address: str) -> list[str]:
    """The studies whose conversations stay out, such as a pilot; at first the study to draw more for."""
    with workspace().read() as db:
        study_names = stored.names(db)
    if not study_names:
        return []
    default = [name for name in study_names if name == study_in_address]
    key = draft.field("other studies", default, study_names)
    return st.multiselect("Exclude conversations of", study_names, key=key, placeholder="none")


def _filter(draft: FormDraft, benchmark: str, values: Mapping[str, Sequence[str]], begin: Filter) -> Filter:
    """What is drawn from; at first what `begin` says, where that is of this benchmark."""
    languages = values["language"]
    language = languages[0]
    begin = begin if begin.benchmark == benchmark else Filter(language=language)
    if len(languages) > 1:
        # One language unless all are chosen, because people rate what they can read.
        default = begin.language if begin.language in languages else ""
        key = draft.field(f"language of {benchmark}", default, [*languages, ""])
        look: dict[str, Any] = {"format_func": lambda v: v or "all", "required": True, "key": key}
        language = str(st.segmented_control("Language", [*languages, ""], **look))
    with st.expander("Filter the conversations"):
        names = values["player"]
        default_players = [p for p in begin.players if p in names]
        key = draft.field(f"players of {benchmark}", default_players, names)
        players = st.multiselect("Players", names, placeholder="all", key=key)
        facets = {
            name: tuple(
                st.multiselect(
                    _heading(name),
                    choices,
                    placeholder="all",
                    key=draft.field(
                        f"{name} of {benchmark}",
                        [v for v in begin.facets.get(name, ()) if v in choices],
                        choices,
                    ),
                )
            )
            for name, choices in values.items()
            if name not in FIXED and len(choices) > 1
        }
    return Filter(
        benchmark,
        language if len(languages) > 1 else "",
        tuple(players),
        {k: v for k, v in facets.items() if v},
    )


def _numbers(draft: FormDraft, available: int, left: int) -> tuple[int, int]:
    """How many of the conversations there are, 100 unless fewer are left, and the seed."""
    size_field, seed = st.columns(2)
    default = max(1, min(DEFAULT_SIZE, left))
    hint = f"There are {available}."
    return (
        int(
            size_field.number_input(
                "Conversations", min_value=1, step=10, help=hint, key=draft.field("conversations", default)
            )
        ),
        int(
            seed.number_input(
                "Seed", min_value=0, help="The same seed draws the same sample.", key=draft.field("seed", 0)
            )
        ),
    )


def _keep(
    draft: FormDraft, criteria: Sequence[Criterion], conditions: Filter, n: int, draw: Mapping[str, Any]
) -> None:
    """What is asked, of the benchmark's own criteria or by a rubric; the study's name, and its guidelines."""
    st.subheader("Questions", anchor=False)
    rubric_options = [*([""] if criteria else []), *rubric_store.names(workspace())]
    if not rubric_options:
        st.info(
            "These conversations have no rubric, so there are no questions for annotators. Create a "
            "rubric first."
        )
        link("rubrics", "Create a rubric")
        return
    draft.address("rubric", rubric_options)
    rubric = listed("Questions", "rubric", rubric_options, rubric_options[0], format_func=questions)
    draft.set("rubric", rubric, rubric_options[0])
    setup = _by_rubric(rubric) if rubric else _by_benchmark(draft, criteria, conditions)
    if setup is None:
        return
    study_fields, begin, key = setup
    left, right = st.columns(2, gap="large")
    name = left.text_input(
        "Name of the study", placeholder="pilot-1", max_chars=60, key=draft.field("name", "")
    ).strip()
    overlap = left.number_input(
        "Annotators for each item",
        min_value=0,
        help="0: every annotator rates every item.",
        key=draft.field("annotators for each item", 0),
    )
    title = right.text_input(
        "Title that annotators see", placeholder="the name", max_chars=120, key=draft.field("title", "")
    ).strip()
    # A key for each default text, so that a change of the criteria does not lose what was typed.
    study_fields |= {"title": title, "overlap": int(overlap)}
    study_fields["guidelines"] = editor(begin, key=draft.field(f"guidelines of {key}", begin))
    required = {"a name": name, "a criterion": study_fields.get("ask", True)}
    missing = [field for field, is_filled in required.items() if not is_filled]
    st.button(
        "Create study",
        type="primary",
        icon=":material/check:",
        disabled=bool(missing),
        on_click=_store,
        args=(draft, name, n, {**draw, **study_fields}),
    )
    if missing:
        st.caption(f"Still needed: {', '.join(missing)}.")


def _by_benchmark(
    draft: FormDraft, known: Sequence[Criterion], conditions: Filter
) -> tuple[dict[str, Any], str, str]:
    """The benchmark's criteria that are asked, the guidelines to begin with, and what these are of."""
    by_name = criteria_by_name(known)
    default = [c.name for c in known if c.counted]
    ask = st.multiselect(
        "Criteria",
        list(by_name),
        format_func=lambda c: by_name[c].label,
        wrap=True,
        key=draft.field(f"criteria of {conditions.benchmark}", default, list(by_name)),
    )
    per_turn = st.toggle(
        "Rate every turn instead of the whole conversation", key=draft.field("every turn", False)
    )
    criteria = [by_name[c] for c in ask]
    begin = default_guidelines(
        workspace().folders("data"),
        conditions.benchmark,
        criteria,
        language=conditions.language,
        per_turn=per_turn,
    )
    subject = f"{conditions.benchmark} {conditions.language} {per_turn} {' '.join(ask)}"
    return {"ask": criteria, "per_turn": per_turn}, begin, subject


def _by_rubric(name: str) -> tuple[dict[str, Any], str, str] | None:
    """The same of a rubric, which says what is asked, of what, and how; None where it asks of pairs."""
    rubric = rubric_store.find(workspace(), name)
    if not rubric.rubric.criteria:
        st.info("This rubric only asks which of two is better. Create a study of pairs.")
        link("comparisons", "Comparisons")
        return None
    st.caption(
        f"{plain(rubric.variant)}: {quantity(len(rubric.rubric.criteria), 'question')} about the "
        f"{rubric.rubric.unit.replace('-', ' ')}. Creating the study freezes this version."
    )
    return {"rubric": rubric}, rubric.rubric.guidance, f"the rubric {name} {rubric.rubric.hash}"


def editor(text: str, *, key: str, on_change: Callable[[], None] | None = None) -> str:
    """An editor of guidelines, with a preview; the session's state may have another text at its key."""
    st.session_state.setdefault(key, text)
    write, read = st.tabs(["Guidelines", "As annotators read them"])
    edited = write.text_area(
        "Guidelines in Markdown",
        height=320,
        max_chars=max(LONGEST_GUIDELINES, len(st.session_state[key])),
        key=key,
        on_change=on_change,
        label_visibility="collapsed",
    )
    with read.container(border=True):
        st.markdown(edited)
    return edited


def _store(draft: FormDraft, name: str, n: int, arguments: Mapping[str, Any]) -> None:
    with notice.writing() as db:
        study = studies.draw_study(db, name, studies.StudyDraw(n, **arguments))
        draft.discard(db)
        units = len(stored.units(db, name))
        notice.success(f"Study “{study.name}” created: {units} items. Next, assign it to annotators.")
        st.session_state.pop("study", None)
        st.query_params.pop("draw", None)
        st.query_params["study"] = name
        st.session_state[VIEW] = STUDIES


def _heading(name: object) -> str:
    return plain(str(name).replace("_", " ").capitalize())
