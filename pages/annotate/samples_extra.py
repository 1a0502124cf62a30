"""Further raters where annotators differ, and second answers once others' answers are seen."""

import streamlit as st

from concord.store import studies as stored
from concord.store.studies import Study
from concord.studies import dealing
from concord.studies.purposes import adjudicate, extra, second
from pages.parts import notice
from pages.parts.session import workspace


def extra_raters(study: Study) -> None:
    """From which difference of answers on a further annotator rates an item."""
    st.caption(
        "If the first annotators of an item differ, a further annotator rates it. Agreement is measured "
        "without extra ratings, because they would bias it."
    )
    rule = extra.rule_of(study) or adjudicate.Rule(0)
    labels = {"": "any question", **{c.name: c.label for c in study.criteria}}
    distance_field, question_field, button = st.columns(3, vertical_alignment="bottom")
    distance_field.number_input(
        "Least difference of answers (0: no extra raters)",
        0.0,
        None,
        float(rule.least),
        key=f"least {study.name}",
    )
    question_field.selectbox(
        "On",
        list(labels),
        list(labels).index(rule.criterion) if rule.criterion in labels else 0,
        format_func=lambda one: labels[one],
        key=f"extra on {study.name}",
    )
    button.button("Save", key="save extra", on_click=_extra_saved, args=(study.name,))


def _extra_saved(name: str) -> None:
    rule = adjudicate.Rule(
        float(st.session_state[f"least {name}"]), str(st.session_state[f"extra on {name}"])
    )
    with notice.writing() as db:
        dealing.deal_study(db, name, extra=rule)
        notice.success(dealing.plan(db, name).balance if rule.least else f"“{name}” has no extra raters.")


def second_answers(study: Study) -> None:
    """Whose scores annotators see once they have answered all items."""
    st.caption(
        "Annotators who have answered all items can see a judge's scores, or the other annotators' "
        "answers, and answer again. Second answers are stored separately."
    )
    with workspace().read() as db:
        judges = second.judges_of(db, study.name)
    judge_shown = second.judge_of(study)
    now = next((label for label, rater in judges.items() if rater == judge_shown), "")
    st.selectbox(
        "Show the scores and reasons of",
        ["", *judges],
        ["", *judges].index(now),
        format_func=lambda one: one or "no judge",
        key=f"reveal {study.name}",
    )
    st.toggle(
        "Show the other annotators' answers, without names, once every annotator has rated all items",
        study.discussion,
        key=f"discuss {study.name}",
    )
    st.warning(
        "Annotators who see them cannot change their first answers and get no further items of this study.",
        icon=":material/lock:",
    )
    st.button("Save", key="save second", on_click=_second_saved, args=(study.name, now))


def _second_saved(name: str, before: str) -> None:
    judge = st.session_state[f"reveal {name}"]
    reveals_others = bool(st.session_state[f"discuss {name}"])
    with notice.writing() as db:
        if judge != before:
            second.show_judge(db, name, judge)
        if reveals_others != stored.get(db, name).discussion:
            second.show_others(db, name, reveals_others)
        sources = [f"the scores of {judge}"] if judge else []
        sources += ["others' answers"] if reveals_others else []
        notice.success(f"Shown after the last item: {' and '.join(sources) or 'nothing'}.")
