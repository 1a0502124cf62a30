"""The link of a study for the annotators of a crowd platform, with its terms and places."""

from collections.abc import Mapping, Sequence

import streamlit as st

from concord.store import closings, crowds
from concord.store.crowds import Crowd, Platform
from concord.store.studies import Study
from concord.studies import crowd
from pages.parts import handout, notice
from pages.parts.plain import quantity
from pages.parts.session import opened_at, workspace
from pages.parts.table import draw

CROWD = "a crowd's link"

PLATFORMS: Mapping[Platform, str] = {"prolific": "Prolific", "mturk": "MTurk"}


def crowd_link(study: Study) -> None:
    """The link, its places and terms, and what workers are paid."""
    st.caption(
        "One link for the annotators of a crowd platform. Each annotator who opens it gets a share of the "
        "items, and a completion code at the end. Concord sends nothing to the platform."
    )
    with workspace().read() as db:
        link = crowds.of_study(db, study.name)
        people = crowds.workers(db, study.name)
        payments = crowd.payments(db, study.name)
        closed = closings.is_closed(db, study.name)
    address: tuple[str, str] | None = st.session_state.get(CROWD)
    if address and address[0] == study.name:
        st.markdown(
            "**Copy this address to the platform now.** It is shown only now. Anyone with it can rate."
        )
        handout.warn(address[1])
        st.code(address[1], language=None, wrap_lines=True)
    if link is not None:
        _places(study, link, people)
    _terms(study, link or Crowd(study.name, "prolific", 20, 20, 120), new=link is None, closed=closed)
    if people:
        draw(payments)


def _places(study: Study, terms: Crowd, people: Sequence[crowds.Worker]) -> None:
    """How many places of the link are taken, and how many are free again."""
    states = [one.state for one in people]
    overdue = [one for one in people if one.state == "timed out" and not one.returned]
    occupied = sum(1 for one in people if not one.returned)
    st.markdown(
        f"{occupied} of {quantity(terms.quota, 'place')} taken: {states.count('at work')} at work, "
        f"{states.count('finished')} finished. Freed: {len(people) - occupied}."
    )
    if overdue:
        st.button(
            f"Free the places of {quantity(len(overdue), 'person', 'people')} whose time ran out",
            on_click=_freed,
            args=(study.name,),
        )


def _freed(name: str) -> None:
    with notice.writing() as db:
        freed = crowd.free(db, name)
        notice.success(f"{quantity(len(freed), 'place')} freed. Answers stay.")


CODES = {
    "code": ("Code for completion", "Empty: each annotator gets their own code."),
    "failed_code": ("Code after missed attention checks", "Empty: the completion code."),
    "screen_out_code": ("Code for screen-out", "For annotators who fail the training. Empty: no code."),
}


def _terms(study: Study, terms: Crowd, *, new: bool, closed: bool) -> None:
    key = f"crowd {study.name}"
    platforms = list(PLATFORMS)
    columns = st.columns(4)
    columns[0].selectbox(
        "Platform",
        platforms,
        platforms.index(terms.platform),
        format_func=PLATFORMS.__getitem__,
        key=f"{key} platform",
    )
    for column, name, label in (
        (columns[1], "quota", "Annotators"),
        (columns[2], "items", "Items per annotator"),
        (columns[3], "minutes", "Minutes per annotator"),
    ):
        column.number_input(label, 1, None, getattr(terms, name), key=f"{key} {name}")
    columns = st.columns(4)
    for column, (name, (label, says)) in zip(columns, CODES.items(), strict=False):
        column.text_input(label, getattr(terms, name), max_chars=40, key=f"{key} {name}", help=says)
    columns[3].number_input(
        "Missed attention checks",
        1,
        None,
        terms.misses,
        key=f"{key} misses",
        help="Number of missed attention checks from which this code is shown.",
    )
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    left.text_input("Address of this app for annotators", opened_at(), max_chars=2000, key=f"{key} address")
    right.button(
        "Create link" if new else "Make a new link",
        disabled=closed,
        on_click=_make_link,
        args=(study.name,),
        help="A new link replaces the old one. Annotators who used the old link keep their items.",
    )


def _make_link(name: str) -> None:
    key = f"crowd {name}"
    state = st.session_state
    quota, items, minutes, misses = (
        int(state[f"{key} {field}"]) for field in ("quota", "items", "minutes", "misses")
    )
    code, failed, screened = (str(state[f"{key} {field}"]).strip() for field in CODES)
    platform: Platform = state[f"{key} platform"]
    terms = Crowd(name, platform, quota, items, minutes, code, failed, screened, misses)
    with notice.writing() as db:
        st.session_state[CROWD] = name, crowd.open_link(db, terms, state[f"{key} address"])
        notice.success("The link is made. Copy it below.")
