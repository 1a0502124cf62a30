"""The annotator's desk: their items of one study, one after the other."""

from __future__ import annotations

import hashlib

import streamlit as st

from core.errors import ConcordError, NotAllowed
from core.store import access, desk, studies
from pages.parts import theme
from pages.parts.desk import component, sent
from pages.parts.people import AnnotatorHere, Researcher
from pages.parts.plain import plain
from pages.parts.session import here, workspace


def page() -> None:
    """The desk, or what to do where there is none to show yet."""
    who = here()
    if isinstance(who, Researcher):
        annotator = _annotator_chosen()
    else:
        annotator = who
    if annotator is None:
        return
    with workspace().read() as db:
        mine = studies.studies_of(db, annotator.rater_id)
    if not mine:
        st.title("Nothing to rate yet", anchor=False)
        st.write(
            f"Hello {plain(annotator.name)}. No items lie on your desk. Come back when you are told that there are some."
        )
        return
    name = _study_chosen(mine, annotator, who)
    if name is None:
        return
    theme.whole_window()
    with workspace().read() as db:
        study = studies.get(db, name)
    desk_id = _desk_id(annotator.rater_id, name)
    back = "Studies" if len(mine) > 1 else "Annotators" if isinstance(who, Researcher) else ""
    if component.desk(sent.fixed(study, annotator.name, desk_id, back)):
        for parameter in ("study", "as") if len(mine) == 1 else ("study",):
            st.query_params.pop(parameter, None)
        st.rerun()
    _exchange(annotator.rater_id, study, desk_id)


@st.fragment
def _exchange(rater: int, study: studies.Study, desk_id: str) -> None:
    """Take in what the desk reports and answer it; all that runs while somebody rates."""
    try:
        who = here()
        if not (isinstance(who, Researcher) or (isinstance(who, AnnotatorHere) and who.rater_id == rater)):
            raise NotAllowed("This desk is not yours any more. Open your link again.")
        report = component.report(desk_id)
        marks: dict[str, int] = {}
        refused: list[desk.Refusal] = []
        if report and any(report["boxes"].values()):
            with workspace().write() as db:
                for client, events in report["boxes"].items():
                    marks[client], no = desk.apply(db, rater, client, events)
                    refused += no
        with workspace().read() as db:
            data = sent.moving(db, rater, study, report["want"] if report else None, refused)
        data |= {"desk": desk_id, "seen": report["k"] if report else 0, "marks": marks}
    except ConcordError as error:
        data = {"desk": desk_id, "closed": str(error)}
    component.link(desk_id, data)


def _annotator_chosen() -> AnnotatorHere | None:
    """The researcher may sit down at the desk of a person (`?as=name`); nobody rates as a simulated annotator."""
    with workspace().read() as db:
        people = {a.name: a for a in access.annotators(db) if a.items and not a.stand_in}
    chosen = people.get(st.query_params.get("as", ""))
    if chosen is not None:
        return AnnotatorHere(chosen.id, chosen.name)
    st.title("Rate", anchor=False)
    st.write(
        "This is where annotators work. They come by their own link; here you may sit down at anybody's desk."
    )
    if not people:
        st.info("Nobody has items to rate yet. Draw a sample and deal it to annotators first.")
    for person in people.values():
        if _choice(person.name, person.done + person.skipped, person.items, f"sit {person.id}"):
            st.query_params["as"] = person.name
            st.rerun()
    return None


def _study_chosen(mine: list[tuple[str, str, int, int]], annotator: AnnotatorHere, who: object) -> str | None:
    names = [name for name, *_ in mine]
    asked = st.query_params.get("study")
    if asked in names:
        return asked
    if len(mine) == 1:
        return names[0]
    st.title("Your studies" if who is annotator else f"Studies of {plain(annotator.name)}", anchor=False)
    for name, title, done, items in mine:
        if _choice(title, done, items, f"open {name}"):
            st.query_params["study"] = name
            st.rerun()
    if who is not annotator and st.button("Annotators", icon=":material/arrow_back:"):
        st.query_params.pop("as", None)
        st.rerun()
    return None


def _choice(title: str, done: int, items: int, key: str) -> bool:
    """A line one can choose: what, how far it is, a button."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(title)}**  \n{done} of {items} done", width="stretch")
        return st.button("Rate" if done < items else "Look again", key=key, type="primary")


def _desk_id(rater: int, study: str) -> str:
    """A name for this desk in the browser's memory that tells nothing."""
    return hashlib.sha256(f"{workspace().path}\n{rater}\n{study}".encode()).hexdigest()[:16]


page()
