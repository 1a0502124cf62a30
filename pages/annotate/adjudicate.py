"""Adjudication: items on which people differ, by a rule, are settled one by one with a reason."""

from dataclasses import replace

import streamlit as st

from concord.errors import not_found
from concord.store import studies as stored
from concord.studies import annotation_flow
from concord.studies.purposes import Look, adjudicate
from concord.studies.purposes.adjudicate import Rule
from pages.desk import component
from pages.desk.shown_answers import ShownAnswersDesk
from pages.parts import notice, person
from pages.parts.address import empty_page, link, listed
from pages.parts.navigation import heading
from pages.parts.people import Researcher
from pages.parts.plain import first_words, plain, quantity
from pages.parts.reports import studies_called
from pages.parts.session import current_visitor, workspace
from pages.parts.table import draw
from pages.parts.transcript import FIRST_WORDS

WORK = "settle"


def page() -> None:
    """Draw the rule and what it names, or the work itself."""
    with workspace().read() as db:
        there = [stored.get(db, name) for name in [*stored.ranked(db), *stored.names(db, pairs=True)]]
    every = [study for study in there if not study.anonymous]
    if st.query_params.get("work") == WORK:
        _work([study.name for study in every])
        return
    # Those with a rule come first.
    names = [study.name for study in sorted(every, key=lambda study: adjudicate.rule_of(study) is None)]
    heading("adjudicate")
    notice.show()
    if not names:
        return empty_page("No study yet.", ("samples", "Draw a sample for annotators"))
    name = listed("Study", "study", names, names[0], format_func=studies_called())
    with workspace().read() as db:
        # What the rule names, and what is settled of it, by whomever.
        look = annotation_flow.look(db, "adjudicate", name, None)
        assert look
        queue = adjudicate.queue_table(db, look)
    who_is = current_visitor()
    settles_only = isinstance(who_is, Researcher) and who_is.role == "adjudicator"
    if not settles_only:
        _rule(look)
    st.markdown(plain(adjudicate.summary(look)))
    if not look.items:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        person.ask()
        left = len(look.items) - len(look.answered_items)
        st.button(
            f"Settle {quantity(left, 'item')}" if left else "Look again",
            type="primary",
            icon=":material/gavel:",
            on_click=person.begin,
            args=(WORK,),
        )
        if not (settles_only or look.study.pairs):
            link("agreement", "Agreement before and after", study=name)
    rows = tuple({**row, "item": first_words(str(row["item"]), FIRST_WORDS)} for row in queue.rows)
    draw(replace(queue, rows=rows, notes=()))


def _rule(look: Look) -> None:
    name = look.study.name
    rule = adjudicate.rule_of(look.study) or Rule()
    criteria = {"": "any criterion"} | {c.name: c.label for c in look.study.criteria}
    with st.form("rule"):
        size, on, go = st.columns([2, 2, 1], vertical_alignment="bottom")
        size.number_input(
            "Least difference between answers", 0.0, value=float(rule.least), step=1.0, key=f"size {name}"
        )
        on.selectbox(
            "On",
            criteria,
            index=[*criteria].index(rule.criterion) if rule.criterion in criteria else 0,
            format_func=lambda one: plain(criteria[one]),
            key=f"on {name}",
        )
        go.form_submit_button("Save the rule", on_click=_set, args=(name,))


def _set(name: str) -> None:
    size, on = (st.session_state[f"{what} {name}"] for what in ("size", "on"))
    with notice.writing() as db:
        adjudicate.set_rule(db, name, Rule(size, on))
        notice.success("The rule is saved.")


def _work(names: list[str]) -> None:
    who = person.reviewer_name()
    study = st.query_params.get("study", "")
    if study not in names:
        raise not_found("study", study, names)
    work = ShownAnswersDesk("adjudicate", study, who)
    with workspace().read() as db:
        fixed = work.fixed(db, f"Adjudication of {study}", "Adjudication")
    component.work(fixed, work.apply, work.moving)


page()
