"""The filter and the order of the list of conversations, which stand in the page's address."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.benchmarks import BENCHMARKS
from core.store import conversations, studies
from core.store.conversations import Filter, Order
from pages.parts.plain import plain
from pages.parts.session import workspace

ORDERS: dict[Order, str] = {
    "newest": "newest",
    "lowest": "lowest score",
    "highest": "highest score",
    "disagreement": "judges furthest apart",
    "people_gap": "judges and people furthest apart",
}
OWN = ("benchmark", "language", "player")
TAKEN = (*OWN, "conversation", "order", "page", "text", "score", "refusals", "unreadable", "study")
"""Names in the address that are not facets: a facet that is called so stands there as “facet-name”."""


def ask() -> tuple[Filter, Order, list[str]]:
    """The filter, the order, and the facets that vary among what one can choose from."""
    with workspace().read() as db:
        known, names = conversations.values(db), studies.names(db)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        benchmark = _one("Benchmark", known["benchmark"], "benchmark", "all")
        text = st.text_input("Said in the dialogue", type="search", icon=":material/search:", **_kept("text"))
        order: Order = st.selectbox("First", list(ORDERS), format_func=ORDERS.__getitem__, **_kept("order"))
    with workspace().read() as db:
        values = conversations.values(db, benchmark) if benchmark else known
    facets = _facets(values, benchmark)
    keys = {"player": "player", **{name: f"facet-{name}" if name in TAKEN else name for name in facets}}
    with st.expander("Filters", icon=":material/filter_alt:"):
        chosen = _several({name: values[name] for name in keys}, keys)
        left, middle, right = st.columns(3)
        with left:
            language = _one("Language", values["language"], "language", "any")
            study = _one("In the study", names, "study", "any", always=True)
        with middle:
            refused = st.segmented_control(
                "Refusals, as judges see them", ["seen", "none"], **_kept("refusals")
            )
            unreadable = st.toggle("Only with failed judgements", **_kept("unreadable"))
        with right:
            final = _score()
    said = f"“{text}”" if text else ""
    _told(chosen | {"language": (language,), "study": (study,), "said": (said,)}, refused, unreadable, final)
    wanted = Filter(
        benchmark=benchmark,
        language=language,
        players=chosen.pop("player", ()),
        facets=chosen,
        final=final,
        refused=None if refused is None else refused == "seen",
        failed=True if unreadable else None,
        study=study,
        text=text or "",
    )
    return wanted, order, facets


def _told(
    chosen: dict[str, tuple[str, ...]],
    refused: str | None,
    unreadable: bool,
    final: tuple[float, float] | None,
) -> None:
    """What is filtered by, in sight also while the filters are folded."""
    parts = [f"{name}: {', '.join(picked)}" for name, picked in chosen.items() if any(picked)]
    parts += [f"refusals {refused}"] if refused else []
    parts += ["with failed judgements"] if unreadable else []
    parts += [f"score {final[0]:g} to {final[1]:g}"] if final else []
    if parts:
        st.caption(plain(" · ".join(parts)))


def _kept(key: str) -> dict[str, Any]:
    """How a question keeps its answer in the address; another question begins on its first page."""
    return {"key": key, "bind": "query-params", "on_change": _first_page}


def _first_page() -> None:
    st.session_state["page"] = 1


def _facets(values: dict[str, list[str]], benchmark: str) -> list[str]:
    """The facets with more than one value, in the benchmark's own order where it is known."""
    known = BENCHMARKS[benchmark].facets if benchmark in BENCHMARKS else ()
    names = [*known, *(name for name in values if name not in known)]
    return [name for name in names if name not in OWN and len(values.get(name, ())) > 1]


def _one(label: str, names: Sequence[str], key: str, whichever: str, *, always: bool = False) -> str:
    """One of the names or none; not asked where there is only one."""
    if len(names) <= 1 and not (always and names):
        return names[0] if names and not always else ""
    return st.selectbox(label, ["", *names], format_func=lambda name: name or whichever, **_kept(key)) or ""


def _several(values: dict[str, list[str]], keys: dict[str, str]) -> dict[str, tuple[str, ...]]:
    names = [name for name, known in values.items() if len(known) > 1]
    chosen = {}
    for start in range(0, len(names), 3):
        for cell, name in zip(st.columns(3), names[start : start + 3], strict=False):
            with cell:
                chosen[name] = tuple(
                    st.multiselect(
                        plain(name.capitalize()), values[name], placeholder="all", **_kept(keys[name])
                    )
                )
    return chosen


def _score() -> tuple[float, float] | None:
    """The range of scores asked for; None for the whole of it, which takes in what nobody judged."""
    with workspace().read() as db:
        span = conversations.final_range(db)
    if span is None or span[0] == span[1]:
        return None
    whole = (math.floor(span[0] * 10) / 10, math.ceil(span[1] * 10) / 10)
    picked: tuple[float, float] = st.slider("Score", *whole, whole, step=0.1, **_kept("score"))
    return None if picked == whole else picked
