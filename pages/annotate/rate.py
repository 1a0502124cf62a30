"""The annotator's desk: their items of one study, or their pairs to compare, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import streamlit as st
from sqlite_utils import Database

from concord.store import access, closings, desk, placements, studies
from concord.store.desk import Refusal
from concord.store.purposes import LOCKING
from concord.store.studies import Study
from concord.studies import annotation_flow, dealing
from concord.studies.translations import translations
from pages.desk import component, form, sent
from pages.desk.form import Take
from pages.desk.shown_answers import ShownAnswersDesk
from pages.parts import theme
from pages.parts.address import checked, empty_page
from pages.parts.people import AnnotatorHere, Researcher
from pages.parts.plain import plain
from pages.parts.session import current_visitor, researching, workspace

KINDS = ("study", *LOCKING)


@dataclass(frozen=True)
class Work:
    """What somebody has to do: a study's items, or the judge's or others' answers to these.

    `kind` names it in the address.
    """

    kind: str
    name: str
    title: str
    done: int
    items: int
    pairs: bool = False


class Unlocked(NamedTuple):
    """What is shown once somebody's own answers are locked: its title, what it is, and the button's words."""

    title: str
    about: str
    button: str


UNLOCKED: dict[str, Unlocked] = {
    "revise": Unlocked(
        "The judge's scores",
        "A language model (a judge) rated the same items. You can see its scores and answer again.",
        "Lock my answers and show the judge's",
    ),
    "discuss": Unlocked(
        "Others' answers",
        "You can see the other annotators' answers, without names, and answer again. They can see your "
        "answers and reasons in the same way.",
        "Lock my answers and show others'",
    ),
}


def page() -> None:
    """The desk, or what to do where there is none to show yet."""
    visitor = current_visitor()
    annotator = _annotator_chosen() if isinstance(visitor, Researcher) else visitor
    if annotator is None:
        return
    with workspace().read() as db:
        works = _works(db, annotator.rater_id)
    if not works:
        st.title("Nothing to rate yet", anchor=False)
        st.write(
            f"Hello {plain(annotator.name)}. You have no items to rate yet. Come back when the researcher "
            "tells you that there are some."
        )
        return
    work = _work_chosen(works, annotator, visitor)
    if work is None:
        return
    if work.kind != "study" and not _locked(work, annotator):
        return
    theme.whole_window()
    back = "Annotators" if isinstance(visitor, Researcher) else ""
    if len(works) > 1:
        back = "Your work"
    if (_rating if work.kind == "study" else _answering_again)(work, annotator, back):
        for parameter in (*KINDS, "as") if len(works) == 1 else KINDS:
            st.query_params.pop(parameter, None)
        st.rerun()


def _works(db: Database, rater: int) -> list[Work]:
    """Everything dealt to somebody; what is shown after a study, once they have rated all of it."""
    rated = [
        Work("study", name, title, finished, items, studies.get(db, name).pairs)
        for name, title, finished, items in placements.studies_of(db, rater)
    ]
    unlocked_works = []
    for study in rated:
        for kind, unlocked in UNLOCKED.items():
            state = annotation_flow.look(db, kind, study.name, rater)
            if state and state.items:
                title = f"{unlocked.title}: {study.title}"
                unlocked_works.append(
                    Work(kind, study.name, title, len(state.answered_items), len(state.items))
                )
    return rated + unlocked_works


def _rating(work: Work, annotator: AnnotatorHere, back: str) -> bool:
    """A study's desk; true when whoever sits there asks to leave it."""
    rater = annotator.rater_id
    with workspace().read() as db:
        study = studies.get(db, work.name)
        numbers = desk.Numbers(db, study.name, rater)
        explained = sent.explained(db, study)
    return _sitting(
        sent.fixed(study, annotator.name, component.name(rater, work.name), back, explained),
        lambda db, client, events: dealing.reported(
            db, study.name, rater, client, map(numbers.meant, events)
        ),
        lambda db, item_ids, refusals: _open(db, rater, study, item_ids, refusals),
        rater,
    )


def _sitting(fixed: dict[str, Any], take: Take, answer: component.Answer, rater: int) -> bool:
    """An annotator's desk; true when whoever sits there asks to leave it."""
    fixed["bare"] = not isinstance(current_visitor(), Researcher)
    words = translations(workspace().folders("data"))
    return component.desk(fixed, take, answer, lambda: _may_sit(rater), words=words)


def _open(
    db: Database, rater: int, study: Study, item_ids: Sequence[int] | None, refusals: Sequence[Refusal]
) -> dict[str, Any]:
    """The items of a study that is not closed. What was reported is stored before this is asked."""
    closings.refuse_closed(db, study.name)
    return sent.moving(db, rater, study, item_ids, refusals)


def _locked(work: Work, annotator: AnnotatorHere) -> bool:
    """Whether others' answers are shown already; else what that means is said, and a button shows them."""
    kind = UNLOCKED[work.kind]
    rater = annotator.rater_id
    with workspace().read() as db:
        if placements.has_seen(db, rater, work.name, [work.kind]):
            return True
    st.title(plain(work.title), anchor=False)
    st.write(f"{kind.about} After this you cannot change your first answers.")
    with st.container(horizontal=True):
        if st.button(kind.button, type="primary"):
            workspace().change(lambda db: annotation_flow.begin(db, work.kind, work.name, rater))
            st.rerun()
        if st.button("Your work", icon=":material/arrow_back:"):
            st.query_params.pop(work.kind, None)
            st.rerun()
    return False


def _answering_again(work: Work, annotator: AnnotatorHere, back: str) -> bool:
    """The desk of what others answered; true when whoever sits there asks to leave it."""
    shown_answers = ShownAnswersDesk(work.kind, work.name, annotator.name)
    rater = annotator.rater_id
    with workspace().read() as db:
        fixed = shown_answers.fixed(db, work.title, back)
    return _sitting(
        fixed,
        component.taking(shown_answers.desk, shown_answers.apply),
        lambda db, item_ids, refusals: shown_answers.moving(db, item_ids).sent(
            refusals, **form.annotators(db, rater)
        ),
        rater,
    )


def _may_sit(rater: int) -> bool:
    """Whether whoever is here may sit at this person's desk."""
    visitor = current_visitor()
    return researching() or (isinstance(visitor, AnnotatorHere) and visitor.rater_id == rater)


def _annotator_chosen() -> AnnotatorHere | None:
    """The person whose desk a researcher has opened (`?as=name`); never a simulated annotator."""
    with workspace().read() as db:
        people = {a.name: (a, _works(db, a.id)) for a in access.annotators(db) if not a.simulated}
    people = {name: (a, works) for name, (a, works) in people.items() if works}
    selected = people.get(st.query_params.get("as", ""))
    if selected is not None:
        return AnnotatorHere(selected[0].id, selected[0].name)
    st.title("Rate", anchor=False)
    checked("as", people, "annotator with items")
    st.write("Annotators rate here; each opens their own link. Researchers can open any annotator's desk.")
    if not people:
        empty_page("No annotator has items to rate yet.", ("samples", "Draw and assign a sample"))
    for person, works in people.values():
        if _choice(
            person.name, sum(w.done for w in works), sum(w.items for w in works), f"sit {person.id}", "Rate"
        ):
            st.query_params["as"] = person.name
            st.rerun()
    return None


def _work_chosen(works: list[Work], annotator: AnnotatorHere, visitor: object) -> Work | None:
    for work in works:
        if st.query_params.get(work.kind) == work.name:
            return work
    if len(works) == 1:
        return works[0]
    st.title("Your work" if visitor is annotator else f"Work of {plain(annotator.name)}", anchor=False)
    for work in works:
        if _choice(work.title, work.done, work.items, f"open {work.kind} {work.name}", _doing(work)):
            st.query_params[work.kind] = work.name
            st.rerun()
    if visitor is not annotator and st.button("Annotators", icon=":material/arrow_back:"):
        st.query_params.pop("as", None)
        st.rerun()
    return None


def _doing(work: Work) -> str:
    if work.kind != "study":
        return "See them"
    return "Compare" if work.pairs else "Rate"


def _choice(title: str, finished: int, items: int, key: str, doing: str) -> bool:
    """A line one can choose: what, how far it is, a button."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(title)}**  \n{finished} of {items} done", width="stretch")
        return st.button(doing if finished < items else "Look again", key=key, type="primary")


page()
