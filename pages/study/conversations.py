"""Stored conversations: filtered, put in order, read a page at a time; one of them opened, by its address."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.errors import NotFound
from core.scores import labels, marked
from core.store import conversations
from core.store.conversations import Found
from core.table import Cell, Column, Table
from pages.parts import table
from pages.parts.address import link
from pages.parts.session import sentence, workspace
from pages.study import conversation_filter, opened
from pages.study.conversation_filter import ORDERS

PAGE = 50
SHOWN = "conversations shown"


def page() -> None:
    """Draw the list, or the conversation that the address names."""
    which = st.query_params.get("conversation")
    if which is None:
        _browse()
        return
    _steps(which)
    try:
        # More digits than any number in the store has.
        if not which.isdecimal() or len(which) > 15:
            raise NotFound(f"“{which[:40]}” is not the number of a conversation. Go back to the list.")
        opened.conversation(int(which))
    except NotFound as error:
        sentence(error)


def _browse() -> None:
    st.title("Conversations", anchor=False)
    with workspace().read() as db:
        if not conversations.count(db):
            st.info("There are no conversations yet. Start a run, or bring some along with `concord import`.")
            return link("runs", "Start a run")
    wanted, order, facets = conversation_filter.ask()
    with workspace().read() as db:
        total = conversations.count(db, wanted)
    pages = max(1, math.ceil(total / PAGE))
    if st.session_state.get("page", 1) > pages:
        st.session_state["page"] = pages
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown("**1** conversation" if total == 1 else f"**{total:,}** conversations")
        number = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    with workspace().read() as db:
        found = conversations.search(db, wanted, order, PAGE, (number - 1) * PAGE)
    st.session_state[SHOWN] = [c.id for c in found]
    if found:
        listed = _table(found, facets, several=not wanted.benchmark)
        table.draw(listed, key="list", select=lambda row: _open(int(str(row["number"]))))
    elif total:
        st.info(f"None of them has what the order “{ORDERS[order]}” goes by. Choose another order.")
    else:
        st.info("No conversation passes these filters. Take one of them away.")


def _table(found: Sequence[Found], facets: Sequence[str], *, several: bool) -> Table:
    """A page of the list; `several` benchmarks are told apart."""
    score = partial(Column, digits=2)
    columns = (
        Column("number", file_only=True),
        *([Column("benchmark")] if several else []),
        Column("player"),
        *(Column(f"facet {name}", name) for name in facets if any(name in c.facets for c in found)),
        Column("language"),
        score("final", help="Mean over judges, criteria and turns"),
        score("spread", help="Distance between the highest and the lowest judge"),
        score("people", help="Mean of people"),
        Column("incomplete", "incomplete judges", help="Judges that lack a score which final needs"),
        Column("refused", "refusals", help="Judges who saw a refusal"),
        Column("failed", help="Judgements that could not be read"),
        Column("turns"),
        Column("created", "stored (UTC)"),
    )
    rows: tuple[dict[str, Cell], ...] = tuple(
        {
            **{"number": c.id, "benchmark": c.benchmark, "player": marked(c.player, c.simulated)},
            **{f"facet {name}": value for name, value in c.facets.items()},
            **{"language": c.language, "final": c.final, "spread": c.spread, "people": c.people},
            "incomplete": ", ".join(labels(c.incomplete, mark_simulated=True).values()),
            **{"refused": c.refused or None, "failed": c.failed or None, "turns": c.turns},
            "created": c.created[:16].replace("T", " "),
        }
        for c in found
    )
    return Table("conversations", "Conversations found", columns, rows)


def _steps(which: str) -> None:
    """Back to the list, and to the neighbours on its page."""
    shown = [str(i) for i in st.session_state.get(SHOWN, ())]
    place = shown.index(which) if which in shown else None
    before = None if not place else shown[place - 1]
    after = None if place is None or place + 1 == len(shown) else shown[place + 1]
    with st.container(horizontal=True):
        st.button("All conversations", icon=":material/arrow_back:", on_click=_close)
        if place is None:  # opened by its address: there is no list whose neighbours one could go to
            return
        for label, icon, to in (("Previous", "chevron_left", before), ("Next", "chevron_right", after)):
            st.button(label, icon=f":material/{icon}:", disabled=to is None, on_click=_open, args=(to,))


def _open(which: int | str) -> None:
    st.query_params["conversation"] = str(which)


def _close() -> None:
    del st.query_params["conversation"]


page()
