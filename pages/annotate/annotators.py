"""Annotators: invite people by link, withdraw links, see how they rate."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from concord.errors import NotAllowed
from concord.store import access, acts, departures, exclusions, placements
from concord.store import studies as stored
from concord.store.access import Annotator
from concord.store.audit import moment
from concord.studies import annotation_flow, person, quality, running, studies
from concord.table import Column, Table, record
from pages.parts import handout, notice
from pages.parts.address import checked, link, listed, read, returned
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.reports import studies_called
from pages.parts.session import opened_at, workspace
from pages.parts.table import draw

QUALITY = "Annotation quality"
"""The heading of a section, and the title of its first table."""


def page() -> None:
    """Draw the page."""
    returned("annotators")
    heading("annotators")
    notice.show()
    _links()
    _invite()
    with workspace().read() as db:
        people = access.annotators(db)
    if not people:
        return
    st.subheader("All annotators", anchor=False)
    _table(people)
    _one(people)
    _trust()


def _links() -> None:
    """Links just made, and what comes next."""
    says = (
        "**Copy each link now and give it to its annotator.** It is shown only now. Anyone with a link can "
        "rate as its annotator."
    )
    if handout.show("annotators", says):
        chosen = st.query_params.get("study")
        link("samples", "Assign them a sample", **({"study": chosen} if chosen else {}))


def _invite() -> None:
    with st.form("invite", clear_on_submit=True):
        st.subheader("Invite", anchor=False)
        names, more = st.columns(2)
        names.text_area("Names, one a line", key="names", height=150, max_chars=20_000)
        more.text_input("Address of this app for annotators", opened_at(), key="address", max_chars=2000)
        more.number_input("Days until the link expires (0: never)", 0, None, access.LINK_DAYS, key="days")
        handout.warn(opened_at())
        st.form_submit_button("Create links", type="primary", on_click=_invited)


def _table(people: list[Annotator]) -> None:
    with workspace().read() as db:
        labels = access.labels(db)
    rows = tuple(
        {
            **record(a),
            "link": a.link,
            "until": moment(a.expires) if a.can_enter else None,
            "items": f"{a.done} of {a.items}" if a.items else "no items",
            "minutes": a.seconds / 60,
            "used": moment(a.used),
            "labels": ", ".join(labels.get(a.name, ())),
        }
        for a in people
    )
    labelled = any(row["labels"] for row in rows)
    columns = (
        *map(Column, ("name", "link")),
        *((Column("labels", "languages and skills"),) if labelled else ()),
        Column("until", "link expires (UTC)"),
        *map(Column, ("items", "skipped")),
        Column("minutes", "minutes at work", digits=0),
        Column("used", "last used (UTC)"),
        Column("source", "from"),
        Column("simulated"),
    )
    draw(Table("annotators", "Annotators", columns, rows), titled=False)


def _one(people: list[Annotator]) -> None:
    """What can be done about one person."""
    with st.container(border=True):
        names = {a.name: a for a in people}
        checked("annotator", names)
        name = st.selectbox("Annotator", names, key="annotator", bind="query-params")
        chosen = names[name]
        with st.container(horizontal=True):
            st.button(
                "Renew the link",
                icon=":material/key:",
                on_click=_make,
                args=([name], opened_at()),
                help=f"Create a new link for {access.LINK_DAYS} days. The old link stops working and its "
                "browser is signed out.",
            )
            st.button(
                "Withdraw the link",
                icon=":material/block:",
                disabled=not chosen.can_enter,
                on_click=_withdraw,
                args=(name,),
                help="The link stops working and its browser is signed out. Ratings stay.",
            )
        _labels(name)


def _labels(name: str) -> None:
    """The languages and skills of an annotator, by which items can be assigned."""
    with workspace().read() as db:
        labels = access.labels(db)
    have = list(labels.get(name, ()))
    choices = sorted({label for own in labels.values() for label in own})
    field, button = st.columns([4, 1], vertical_alignment="bottom")
    field.multiselect(
        "Languages and skills",
        choices,
        have,
        accept_new_options=True,
        key=f"labels of {name}",
        placeholder="none",
        help="A study can assign a conversation only to annotators with its language or group.",
    )
    button.button("Save", key="save labels", on_click=_labelled, args=(name,))


def _labelled(name: str) -> None:
    with notice.writing() as db:
        access.set_labels(db, name, st.session_state[f"labels of {name}"])
        notice.success(f"The languages and skills of {name} are saved.")


def _trust() -> None:
    """How a study's annotators rate, test–retest and gold items, and what was decided about them."""
    with workspace().read() as db:
        names = [name for name in stored.ranked(db) if access.items_of(db, name)]
    if not names:
        return
    st.subheader(QUALITY, anchor=False)
    name = listed("Study", "study", names, names[0], format_func=studies_called())
    with workspace().read() as db:
        tables_of = annotation_flow.tables(db, name)
        signs = quality.signs(db, name)
        done = acts.of_study(db, name)
    flags = [*signs.warnings, *signs.suspicions]
    for flag in flags:
        st.warning(plain(flag.text), icon=":material/speed:")
    if not flags:
        st.caption(
            "No annotator stands out: none was too fast, gave one answer to all items or missed gold "
            f"items. Speed and equal answers are checked from {quality.FEWEST_ITEMS} items on."
        )
    for of in (signs.table, *tables_of):
        draw(of, titled=of.title != QUALITY)
    if not tables_of:
        st.caption("No annotator has submitted a repeat or a gold item yet. Add them on Samples.")
        link("samples", "Repeats and gold items", study=name)
    _one_of_study(name)
    if done:
        with st.expander("Decisions about this study", icon=":material/history:"):
            for act in done:
                st.caption(plain(act.sentence))


def _one_of_study(study: str) -> None:
    """What can be done about one annotator of a study, and what they answered."""
    with workspace().read() as db:
        names = person.annotators(db, study)
        excluded = exclusions.excluded(db, study)
        left = departures.departed(db, study)
        waiting = [name for name in names if placements.untrained(db, study, access.annotator_id(db, name))]
    if not names:
        return
    st.subheader("One annotator", anchor=False)
    with st.container(border=True):
        name = listed("Annotator of this study", "person", names, names[0], always=False)
        if name in excluded:
            st.info(plain(excluded[name].sentence), icon=":material/person_off:")
        with st.container(horizontal=True):
            if name in excluded:
                _act("Include again", "person_add", INCLUDED, running.include, study, name)
            else:
                _act("Exclude from figures", "person_off", EXCLUDED, exclusions.exclude, study, name)
            if name not in left:
                _act("Take items back", "move_up", BACK, running.reassign, study, name)
            if name in waiting:
                _act("Admit without training", "how_to_reg", ADMITTED, running.admit, study, name)
        if name in left:
            st.caption(
                "Their items went to other annotators. To undo this, assign items to them again on Samples."
            )
            link("samples", "Assign items", study=study)
        _read_answers(study, name)


EXCLUDED = "Their ratings stay stored but are excluded from all figures. You can include them again."
INCLUDED = "Their ratings are included in the figures again. Both decisions stay in the audit log."
BACK = "Items that they have not begun go to other annotators. Their submitted items stay."
ADMITTED = "The study opens to them without passing the training."
"""What follows from an act about an annotator."""


def _act(label: str, icon: str, says: str, act: Callable[..., Any], study: str, name: str) -> None:
    """A button that asks for the reason first, which is kept."""
    with st.popover(label, icon=f":material/{icon}:"):
        st.write(says)
        key = f"reason {label} {study} {name}"
        st.text_input("Reason", max_chars=1000, key=key, help="Stored with the time and your name.")
        st.button(f"{label}: {plain(name)}", on_click=_acted, args=(label, key, act, study, name))


def _acted(label: str, key: str, act: Callable[..., Any], study: str, name: str) -> None:
    reason = str(st.session_state.get(key, ""))
    with notice.writing() as db:
        outcome = act(db, study, name, reason)
        notice.success(
            outcome
            if isinstance(outcome, str)
            else f"{label}: {name}, in the study “{study}”. It is recorded."
        )
        st.session_state.pop(key, None)


def _read_answers(study: str, name: str) -> None:
    """Their answers beside others', read only; a row leads to the conversation."""
    section = st.expander(
        f"Answers of {plain(name)}", icon=":material/reviews:", key=f"answers {study}", on_change="rerun"
    )
    if not section.open:
        return
    with section:
        with workspace().read() as db:
            table = person.answers_of(db, study, name)
        st.caption("The largest differences come first. Select a row to read the conversation.")
        row = draw(table, titled=False, max_height=560, selectable=True)
        if row is not None:
            read(str(row["conversation"]), "annotators", [str(one["conversation"]) for one in table.rows])


def _invited() -> None:
    # Where nobody is invited, the links of those before stay in sight.
    handout.kept_on("annotators")
    names = list(
        dict.fromkeys(name.strip() for name in st.session_state["names"].splitlines() if name.strip())
    )
    with workspace().read() as db:
        known = {a.name for a in access.annotators(db) if a.can_enter}
    if again := [name for name in names if name in known]:
        # A second link would close the first, which is somebody's way to their desk.
        notice.failure(
            NotAllowed(
                f"{', '.join(again)} can sign in already, so no one was invited. If a link was lost, renew "
                "it below."
            )
        )
    elif names:
        _make(names, st.session_state["address"], st.session_state["days"])


def _make(names: list[str], address: str, days: int = access.LINK_DAYS) -> None:
    with notice.writing() as db:
        handout.keep("annotators", studies.invite(db, names, address, days))


def _withdraw(name: str) -> None:
    with notice.writing() as db:
        access.revoke(db, name, "annotator")
        notice.success(f"The link of {name} no longer works. Ratings stay.")


page()
