"""Addresses: what a page shows stands in its address, and links from one page to another carry it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.benchmarks import BENCHMARKS
from core.benchmarks.benchmark import Benchmark
from core.errors import not_found
from pages.parts.navigation import SECTIONS, PageFile
from pages.parts.plain import plain


def asked(name: str, options: Sequence[str], default: str) -> str:
    """The option that the address names; the default, with a warning, if there is no such option."""
    wanted = st.query_params.get(name)
    if wanted is None or wanted in options:
        return wanted or default
    st.warning(plain(not_found(name, wanted, options)), icon=":material/link_off:")
    return default


def shown(name: str, value: str) -> str:
    """Write what is shown into the address; returns it."""
    if st.query_params.get(name) != value:
        st.query_params[name] = value
    return value


def benchmark_chosen(names: Sequence[str], *, fixed: bool = False) -> Benchmark:
    """The benchmark that the address names; to be chosen of several, unless `fixed`."""
    name = asked("benchmark", names, names[0])
    if len(names) > 1 and not fixed:
        name = st.segmented_control(
            "Benchmark", names, default=name, required=True, format_func=lambda n: BENCHMARKS[n].title
        )
    return BENCHMARKS[shown("benchmark", name)]


def of_conversation(number: int) -> str:
    """Where a conversation is read, for the cells of a table of links."""
    return f"/conversations?conversation={number}"


def page_at(address: str) -> PageFile | None:
    """The page with this address, or None."""
    return next((page for pages in SECTIONS.values() for page in pages if page.address == address), None)


def link(address: str, label: str, *, icon: str | None = None, **shown: str | list[str]) -> None:
    """A link to the page with this address; plain words where there is no such page."""
    page = page_at(address)
    if page is None:
        st.markdown(plain(label))
    else:
        st.page_link(page.path, label=plain(label), icon=icon or page.icon, query_params=shown)


def go(address: str, **shown: str | list[str]) -> None:
    """Leave for the page with this address."""
    page = page_at(address)
    if page is not None:
        st.switch_page(page.path, query_params=shown)


def begin_work(work: str, who: str, **chosen: str | Sequence[str]) -> None:
    """Open a person's desk on the same page. Filters are given as of_NAME, which `end_work` restores."""
    for name, value in {"work": work, "as": who, **chosen}.items():
        if value:
            st.query_params[name] = value


def end_work() -> None:
    """Go back to where the work began, with the filters as they were."""
    for name in ("work", "as", "at"):
        st.query_params.pop(name, None)
    for name in [name for name in st.query_params if name.startswith("of_")]:
        kept = st.query_params.get_all(name)
        del st.query_params[name]
        st.query_params[name.removeprefix("of_")] = kept
