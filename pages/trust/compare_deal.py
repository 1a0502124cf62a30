"""Dealing pairs to people: how many, to whom, and how far everybody is with theirs."""

from collections.abc import Mapping, Sequence

import streamlit as st

from concord.demo.workspace import VISITOR
from concord.store import access
from concord.studies import pairings
from concord.studies.pairings import Standing
from pages.parts import tables, told
from pages.parts.address import link
from pages.parts.session import workspace
from pages.parts.table import draw

Facets = Mapping[str, Sequence[str]]
Chosen = tuple[str, tuple[str, ...], Facets]
"""The study or benchmark, the models and the facets whose pairs are dealt."""
USUAL = 100
"""Pairs offered to be dealt, where there are as many."""
PEOPLE, NUMBER, OVERLAP, SEED = "pairs to", "pairs number", "pairs overlap", "pairs seed"


def section(study: str, players: Sequence[str], facets: Facets, possible: int) -> None:
    """The form, and who has done how much; `possible` pairs of these models and scenarios exist.

    `study` is a study of pairs, or the benchmark whose own question is asked.
    """
    with workspace().read() as db:
        invited = [a.name for a in access.annotators(db) if a.can_enter and not a.simulated]
        standings, remarks = pairings.standings(db, study), pairings.remarks_table(db, study)
    with st.expander("Deal pairs to people", icon=":material/group:", expanded=bool(standings)):
        if not invited:
            st.markdown("People come by a link of their own and compare blind. Nobody is invited yet.")
            link("annotators", "Invite people")
        elif not possible:
            st.markdown("There are no pairs to deal: take two models or more that answered the same scripts.")
        else:
            chosen = (study, tuple(players), facets)
            _form(chosen, possible, invited, [s.person for s in standings])
        if standings:
            _progress(study, standings)
        if remarks.rows:
            draw(remarks)


def _form(chosen: Chosen, possible: int, invited: list[str], have: list[str]) -> None:
    st.caption(
        f"Of {possible:,} pairs, evenly over every two models. "
        "Each person has an order of their own and sides drawn at random. Pairs they have already count."
    )
    who, number, each, seed, go = st.columns([4, 2, 2, 1, 1], vertical_alignment="bottom")
    usual = [n for n in invited if n in have] or [n for n in invited if n != VISITOR]
    people = who.multiselect("To", invited, default=usual, key=PEOPLE)
    _at_most(NUMBER, possible, USUAL)
    number.number_input("Different pairs", 1, possible, key=NUMBER)
    _at_most(OVERLAP, max(1, len(people)), 1)
    each.number_input("People for each pair", 1, max(1, len(people)), key=OVERLAP)
    seed.number_input("Seed", 0, value=0, key=SEED)
    go.button(
        "Deal",
        type="primary",
        disabled=not people,
        key="pairs deal",
        on_click=_dealt,
        args=chosen,
    )


def _at_most(key: str, most: int, usual: int) -> None:
    """Limit the field's value, or its usual one, to what is possible now."""
    st.session_state[key] = min(st.session_state.get(key, usual), most)


def _progress(study: str, standings: list[Standing]) -> None:
    rows = [
        {
            "person": s.person,
            "done": 100 * s.done / s.dealt,
            "pairs": f"{s.done} of {s.dealt}" + (f", {s.skipped} skipped" if s.skipped else ""),
            "minutes": round(s.seconds / 60, 1),
        }
        for s in standings
    ]
    tables.progress(rows, {"person": "Person", "pairs": "Pairs", "minutes": "Minutes"}, "Pairs compared")
    undone = [s.person for s in standings if s.done < s.dealt]
    if undone:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.selectbox("Not through yet", undone, key="pairs of")
            st.button(
                "Take back what they have not compared",
                icon=":material/undo:",
                key="pairs back",
                on_click=_taken_back,
                args=(study, name),
                help="Their answers stay. Dealing again gives the others what was taken back.",
            )


def _dealt(study: str, players: tuple[str, ...], facets: Facets) -> None:
    # Read here and not handed over: a press that follows typing at once would bring what stood there before.
    given = st.session_state
    who, n, overlap, seed = (given[key] for key in (PEOPLE, NUMBER, OVERLAP, SEED))
    with told.writing() as db:
        found = pairings.deal(db, study, who, n, players=players, facets=facets, overlap=overlap, seed=seed)
        told.done("Dealt. " + ", ".join(f"{s.person}: {s.dealt} pairs" for s in found) + ".")


def _taken_back(study: str, name: str) -> None:
    with told.writing() as db:
        taken = pairings.take_back(db, study, name)
        told.done(
            f"{taken} pairs that {name} had not compared were taken back. Deal again to give them to others."
        )
