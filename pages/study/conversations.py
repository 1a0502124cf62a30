"""Stored conversations: filtered, put in order, read a page at a time; one of them opened, by its address."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from concord.conversation import Conversation
from concord.errors import NotFound
from concord.reports.overview import unreadable_words
from concord.runs.registry import BENCHMARKS, known_or_imported
from concord.scores import marked
from concord.store import conversations, spotchecks, studies
from concord.store.conversations import ConversationSummary, Filter, Order, Sort
from concord.table import Cell, Column, Table
from pages.parts import table
from pages.parts.address import (
    CAME_FROM,
    NEIGHBOURS,
    came_from,
    checked,
    empty_page,
    go,
    link,
    listed,
    page_at,
    read,
    several,
)
from pages.parts.navigation import heading
from pages.parts.plain import excerpt, first_words, plain
from pages.parts.session import sentence, workspace
from pages.study import opened

ORDERS: dict[Order, str] = {
    "newest": "newest",
    "lowest": "lowest score",
    "highest": "highest score",
    "disagreement": "judges differ most",
    "people_gap": "judges and annotators differ most",
    "oldest": "oldest",
    "longest": "most turns",
    "refused": "most refusals seen",
    "failed": "most failed judgements",
}
MAIN_COLUMNS = ("benchmark", "language", "player")
SORTED = (*MAIN_COLUMNS, "turns", "people", "key")
"""Columns by which the whole list can be sorted besides `ORDERS`; facets are others."""
ASCENDING = "ascending"
DESCENDING = "descending"
REQUEST_NAMES = ("benchmark", "order", "text", "refusals", "unreadable", "study", "group")
RESERVED_NAMES = (*MAIN_COLUMNS, *REQUEST_NAMES, "conversation", "page")
"""Names in the address that are not facets: a facet that is called so stands there as “facet-name”."""
FIRST_WORDS = 90
"""Characters of what was asked first in a row of the list."""
PAGE = 50
PAGER = 360
"""Conversations on a page of the list; pixels of the numbers of its pages."""


def page() -> None:
    """Draw the list, or the conversation that the address names."""
    number = st.query_params.get("conversation")
    if number is None:
        st.session_state.pop(CAME_FROM, None)
        _browse()
        return
    _steps(number)
    opened.top(key=f"top of {number}")
    try:
        # More digits than any number in the store has.
        if not number.isdecimal() or len(number) > 15:
            raise NotFound(f"“{number[:40]}” is not a conversation number. Go back to the list.")
        opened.conversation(int(number))
    except NotFound as error:
        sentence(error)


def _browse() -> None:
    heading("conversations")
    with workspace().read() as db:
        if not conversations.count(db):
            ways = (("import", "Import conversations"), ("runs", "Start a run"))
            return empty_page("No conversations yet.", *ways)
    request = _ask()
    conditions = request.wanted
    facets = request.facets
    if request.group:
        return _grouped(request)
    with workspace().read() as db:
        total = conversations.count(db, conditions)
    pages = max(1, math.ceil(total / PAGE))
    if st.session_state.get("page", 1) > pages:
        st.session_state["page"] = pages
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown("**1** conversation" if total == 1 else f"**{total:,}** conversations")
        number = st.pagination(pages, width=PAGER, key="page", bind="query-params") if pages > 1 else 1
    with workspace().read() as db:
        matches = conversations.search(db, conditions, request.order, PAGE, (number - 1) * PAGE)
        if conditions.failed and total:
            st.caption(plain(unreadable_words(*conversations.unreadable(db, conditions))))
        ids = [c.id for c in matches]
        sought = ids if conditions.text else []
        excerpts = {
            conversation_id: _excerpt(conversations.load(db, conversation_id), conditions.text)
            for conversation_id in sought
        }
        judged = spotchecks.checked(db, ids, None) if conditions.benchmark else {}
    if matches:
        if judged:
            label = f"Spot-check these {len(judged)}"
            link("spot-check", label, benchmark=conditions.benchmark, these=" ".join(map(str, judged)))
        rows = _table(matches, facets, excerpts, several=not conditions.benchmark)
        if row := table.draw(rows, key="list", titled=False, selectable=True):
            read(str(row["number"]), "conversations", ids)
    elif total:
        st.info(plain(f"No conversation has a value for the order “{request.words}”. Choose another order."))
    else:
        st.info("No conversation matches these filters. Remove a filter.")


class ListRequest(NamedTuple):
    """What the reader asks for: the filter, the order in words and as the store has it, the groups, and the
    facets that vary among what one can choose from.
    """

    wanted: Filter
    words: str
    order: Order | Sort
    group: str
    facets: list[str]


def _ask() -> ListRequest:
    """The questions above the list."""
    with workspace().read() as db:
        all_values = conversations.values(db)
        names = studies.names(db)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        benchmark = _one("Benchmark", all_values["benchmark"], "benchmark", "all", called=_title)
        with workspace().read() as db:
            values = conversations.values(db, benchmark) if benchmark else all_values
        facets = _facets(values, benchmark) if benchmark else []  # those of several have little in common
        text = st.text_input(
            "Said in the dialogue", type="search", icon=":material/search:", max_chars=500, **_bound("text")
        )
        orders = _orders(values, facets)
        look = {"format_func": lambda code: orders[code][0], "on_change": _first_page}
        words, order = orders[listed("First", "order", list(orders), "newest", always=False, **look)]
        columns = [name for name in MAIN_COLUMNS if len(values[name]) > 1]
        group = listed(
            "Group by",
            "group",
            ["", *columns, *facets],
            "",
            always=False,
            format_func=lambda n: n or "nothing",
        )
        unreadable = st.toggle("Only failed or truncated replies", **_bound("unreadable"))
    keys = {
        "player": "player",
        **{name: f"facet-{name}" if name in RESERVED_NAMES else name for name in facets},
    }
    filters_in_use = {"language", "study", "refusals", *keys.values()} & st.query_params.keys()
    with st.expander("Filters", expanded=bool(filters_in_use), icon=":material/filter_alt:"):
        facet_values = _several({name: values[name] for name in keys}, keys)
        left, middle, right = st.columns(3)
        with left:
            language = _one("Language", values["language"], "language", "any")
        with middle:
            study = _one("In the study", names, "study", "any", always=True)
        with right:
            refusals = st.segmented_control(
                "Refusals, according to judges", ["seen", "none"], **_bound("refusals")
            )
    conditions = Filter(
        benchmark=benchmark,
        language=language,
        players=facet_values.pop("player", ()),
        facets=facet_values,
        refused=None if refusals is None else refusals == "seen",
        failed=True if unreadable else None,
        study=study,
        text=text or "",
    )
    return ListRequest(conditions, words, order, group, facets)


def _orders(
    values: Mapping[str, Sequence[str]], facets: Sequence[str]
) -> dict[str, tuple[str, Order | Sort]]:
    """The orders of the list with their words, by their codes in the address: the usual ones, then every
    column and facet both ways.
    """
    orders: dict[str, tuple[str, Order | Sort]] = {order: (words, order) for order, words in ORDERS.items()}
    columns = [name for name in SORTED if name not in MAIN_COLUMNS or len(values[name]) > 1]
    for name, facet in [*((name, False) for name in columns), *((name, True) for name in facets)]:
        for way in (ASCENDING, DESCENDING):
            code = f"{'facet-' if facet else ''}{name}-{way}"
            orders[code] = f"{name}, {way}", Sort(name, facet, descending=way == DESCENDING)
    return orders


def _grouped(request: ListRequest) -> None:
    """How many conversations have each value of a column or a facet, and their mean scores."""
    column = request.group
    facet = request.group in request.facets
    with workspace().read() as db:
        groups = conversations.groups(db, request.wanted, column, facet=facet)
    if not groups:
        st.info("No conversation matches these filters. Remove a filter.")
        return
    st.caption("Select a row to list its conversations.")
    columns = (
        Column("value", column),
        Column("conversations"),
        Column("final", digits=2, help="Mean over judges, criteria and turns"),
        Column("people", digits=2, help="Mean of people"),
        Column("failed", help="Conversations with an unparseable judgement"),
    )
    rows = [one._asdict() | {"failed": one.failed or None} for one in groups]
    visible = tuple(c for c in columns if any(row[c.name] is not None for row in rows))
    key = f"facet-{column}" if facet and column in RESERVED_NAMES else column

    def listing(row: Mapping[str, Cell]) -> None:
        value = str(row["value"])
        st.session_state["group"] = ""
        st.session_state[key] = value if column in ("benchmark", "language") and not facet else [value]

    groups_table = Table("groups", f"Conversations by {column}", visible, tuple(rows))
    table.draw(groups_table, key="groups", titled=False, select=listing)


def _bound(key: str) -> dict[str, Any]:
    """How a question keeps its answer in the address; another question begins on its first page."""
    return {"key": key, "bind": "query-params", "on_change": _first_page}


def _first_page() -> None:
    st.session_state["page"] = 1


def _facets(values: dict[str, list[str]], benchmark: str) -> list[str]:
    """The facets with more than one value, in the benchmark's own order where it is known."""
    ordered_facets = BENCHMARKS[benchmark].facets if benchmark in BENCHMARKS else ()
    names = [*ordered_facets, *(name for name in values if name not in ordered_facets)]
    return [name for name in names if name not in MAIN_COLUMNS and len(values.get(name, ())) > 1]


def _title(benchmark: str) -> str:
    return known_or_imported(benchmark).title


def _one(
    label: str,
    names: Sequence[str],
    key: str,
    whichever: str,
    *,
    always: bool = False,
    called: Callable[[str], str] = str,
) -> str:
    """One of the names or none; not asked where there is only one."""
    if len(names) <= 1 and not (always and names):
        checked(key, names)
        return names[0] if names and not always else ""
    look = {"format_func": lambda name: called(name) if name else whichever, "on_change": _first_page}
    return listed(label, key, ["", *names], "", always=False, **look)


def _several(values: dict[str, list[str]], keys: dict[str, str]) -> dict[str, tuple[str, ...]]:
    names = [name for name, choices in values.items() if len(choices) > 1]
    selection = {}
    for start in range(0, len(names), 3):
        for cell, name in zip(st.columns(3), names[start : start + 3], strict=False):
            with cell:
                label = plain(name.capitalize())
                picked = several(label, keys[name], values[name], noun=name, on_change=_first_page)
                selection[name] = tuple(picked)
    return selection


def _table(
    matches: Sequence[ConversationSummary],
    facets: Sequence[str],
    excerpts: Mapping[int, str],
    *,
    several: bool,
) -> Table:
    """A page of the list: the columns that hold something; `several` benchmarks are distinguished."""
    score = partial(Column, digits=2)
    columns = (
        Column("number", file_only=True),
        *([Column("benchmark")] if several else []),
        Column("player"),
        Column("first", "first words"),
        Column("said", "where it is said"),
        score("final", help="Mean over judges, criteria and turns"),
        score("spread", help="Difference between the highest and the lowest judge"),
        score("people", help="Annotators' mean"),
        Column("refused", "refusals", help="Judges who saw a refusal"),
        Column("failed", help="Unparseable judgements"),
        Column("turns"),
        *(Column(f"facet {name}", name) for name in facets),
        Column("language"),
        Column("created", "stored (UTC)"),
        Column("key"),
    )
    rows = tuple(_row(c) | {"said": excerpts.get(c.id)} for c in matches)
    visible = tuple(
        c
        for c in columns
        if c.name in ("number", "said" if excerpts else "")
        or any(row.get(c.name) not in (None, "") for row in rows)
    )
    return Table("conversations", "Conversations found", visible, rows)


def _excerpt(conversation: Conversation, text: str) -> str:
    """Where a conversation first says what is sought."""
    return next(filter(None, (excerpt(message.content, text) for message in conversation.messages)), "")


def _row(c: ConversationSummary) -> dict[str, Cell]:
    return {
        "number": c.id,
        "benchmark": c.benchmark,
        "player": marked(c.player, c.simulated),
        **{f"facet {name}": value for name, value in c.facets.items()},
        "first": first_words(c.first, FIRST_WORDS),
        "key": c.key,
        "language": c.language,
        "final": c.final,
        "spread": c.spread,
        "people": c.people,
        "refused": c.refused or None,
        "failed": c.failed or None,
        "turns": c.turns,
        "created": c.created[:16].replace("T", " "),
    }


def _steps(number: str) -> None:
    """Back to where it was opened, to the list, and to the neighbours of the list that it was opened from."""
    address, list_parameters = came_from()
    page = None if address == "conversations" else page_at(address)
    neighbours = [str(i) for i in st.session_state.get(NEIGHBOURS, ())]
    place = neighbours.index(number) if number in neighbours else None
    before = None if not place else neighbours[place - 1]
    after = None if place is None or place + 1 == len(neighbours) else neighbours[place + 1]
    with st.container(horizontal=True, vertical_alignment="center"):
        if page is not None:
            link(address, f"Back to {page.title}", icon=":material/arrow_back:", **list_parameters)
        icon = None if page is not None else ":material/arrow_back:"
        if st.button("All conversations", icon=icon):
            go("conversations", **(list_parameters if page is None else {}))
        if place is None:  # opened by its address: there is no list whose neighbours one could go to
            return
        for label, way, target in (("Previous", "left", before), ("Next", "right", after)):
            icon = f":material/chevron_{way}:"
            st.button(label, icon=icon, disabled=target is None, on_click=_open, args=(target,), shortcut=way)


def _open(number: int | str) -> None:
    st.query_params["conversation"] = str(number)


page()
