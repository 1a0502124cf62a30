"""The form that makes a study of pairs by a rubric: whose conversations and how many."""

from collections.abc import Sequence

import streamlit as st

from concord.rubrics import shelf
from concord.runs.registry import BENCHMARKS
from concord.store import conversations
from concord.studies import pairings
from pages.parts import notice
from pages.parts.address import link
from pages.parts.plain import plain
from pages.parts.session import workspace

RUBRIC, WHOSE, MODELS, NUMBER, SEED, NAME = (
    f"new pairs {name}" for name in ("rubric", "whose", "models", "number", "seed", "name")
)


def section(known: Sequence[str]) -> None:
    """The form; `known` are the names of the stored conversations."""
    with st.expander("Make a study of pairs", icon=":material/difference:"):
        st.caption(
            "Two players' conversations of one scenario or prompt, evenly over every two players. People "
            "compare them blind at their desk, judges in both orders. A rubric with a criterion of the type "
            "pairwise says which question is asked; some benchmarks have one of their own. One of the type "
            "ranking has all players' conversations of a scenario put in order, and counts groups."
        )
        left, right = st.columns(2)
        left.selectbox("Conversations", known, key=WHOSE)
        benchmark = BENCHMARKS.get(st.session_state[WHOSE])
        own = [""] if benchmark and benchmark.pairwise else []
        rubrics = [*own, *shelf.of_pairs(workspace())]
        if not rubrics:
            link("rubrics", "Make a rubric")
            return
        left.selectbox(
            "Asked", rubrics, format_func=lambda name: name or "the benchmark's own question", key=RUBRIC
        )
        with workspace().read() as db:
            players = conversations.values(db, st.session_state[WHOSE])["player"]
        left.multiselect("Models", players, placeholder="all", key=MODELS)
        right.number_input("Pairs, or groups, at most", 0, value=100, key=NUMBER, help="0: all there are.")
        right.number_input("Seed", 0, value=0, key=SEED, help="The same seed draws the same pairs.")
        name = st.text_input(
            "Name of the study", key=NAME, max_chars=60, placeholder="side-by-side-1"
        ).strip()
        st.button("Make it", type="primary", key="new pairs", disabled=not name, on_click=_made)


def _made() -> None:
    # Read here and not handed over: a press that follows typing at once would bring what stood there before.
    given = st.session_state
    name = given[NAME].strip()
    with notice.writing() as db:
        used = shelf.find(workspace(), given[RUBRIC]) if given[RUBRIC] else None
        how = {"players": given[MODELS], "seed": given[SEED], "overlap": 1}
        there = pairings.count(db, used, given[WHOSE], given[MODELS])
        n = min(given[NUMBER] or there, there)
        study = pairings.new(db, name, used, given[WHOSE], n, **how)
        st.session_state["pairs"] = study.name
        notice.done(
            f"The study “{plain(study.name)}” is made: {n} {study.counted}. Deal it to people, or have "
            "judges compare it."
        )
