"""Addresses: what a page shows stands in its address, and links from one page to another carry it."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

import streamlit as st

from concord.errors import not_found
from concord.runs.benchmark import Benchmark
from concord.runs.registry import known_or_imported
from pages.parts.navigation import SECTIONS, PageFile
from pages.parts.plain import plain

_BROKEN = ":material/link_off:"
CAME_FROM = "page from which the conversation was opened"
PAGE = "the page that was drawn last"


T = TypeVar("T")


def bound_value(
    name: str,
    default: T,
    draw: Callable[[str], T],
    *,
    read: Callable[[str], T | None],
    encode: Callable[[T], str] = str,
    always: bool = False,
    is_drawn: bool = True,
) -> T:
    """The value of a widget; it stands in the address unless it is the usual one (`always`: then too).

    `draw` draws the widget, whose key in the session's state is `name`. What the address says holds where it
    has changed since: by a link, back or forward; not where the widget has, as the browser may not have the
    address of the run before yet. `read` gives None, and the reader a warning, for a value that there is not.
    A widget of a closed popover is not `is_drawn`: made later in the browser it would begin with a default of
    its own. Its value is the one that the address says. A widget with the usual value follows where that is
    another now, as of another study.
    """
    state = st.session_state
    address_key = f"address of {name}"
    last = f"last {name}"
    before = f"usual {name}"
    in_address = st.query_params.get(name)
    value: T | None
    has_changed = name in state and last in state and state[name] != state[last]
    moved = in_address is None and not has_changed and state.get(before, default) != default
    if (
        not is_drawn
        or name not in state
        or moved
        or (state.get(address_key) != in_address and not has_changed)
    ):
        value = default if in_address is None else read(in_address)
        if value is None:
            st.warning(plain(f"There is no {name} “{in_address}”."), icon=_BROKEN)
    else:  # as the reader left it; where the options are others now, it may be none of them
        value = read(encode(state[name]))
        if value is None and last in state:  # nor is it where the browser still shows their words of before
            value = read(encode(state[last]))
    start = default if value is None else value
    if not is_drawn:
        return start
    if name not in state or state[name] != start:
        state[name] = start
    result = draw(name)
    if result == default and not always:
        st.query_params.pop(name, None)
    elif in_address != encode(result):
        st.query_params[name] = encode(result)
    state[address_key] = st.query_params.get(name)
    state[last] = result
    state[before] = default
    return result


def arrived(page: str) -> None:
    """Forget the `bound_value` widgets of another page: a widget of the same name here is another one."""
    state = st.session_state
    if state.get(PAGE) != page:
        state[PAGE] = page
        for last in [str(key) for key in state if str(key).startswith("last ")]:
            state.pop(last.removeprefix("last "), None)


def checked(name: str, options: Collection[str], noun: str = "") -> bool:
    """Whether all that the address says of `name` is among the options; else the reader is told.

    Called before a widget that is bound to the address, which drops what it does not offer. `noun` is the
    word for it, where `name` is none.
    """
    wrong = [value for value in st.query_params.get_all(name) if value and value not in options]
    for value in wrong:
        st.warning(plain(not_found(noun or name, value, options)), icon=_BROKEN)
    return not wrong


def one_of(options: Sequence[str]) -> Callable[[str], str | None]:
    """Reads one of the options for `bound_value`."""
    return lambda value: value if value in options else None


def choice(
    label: str,
    name: str,
    options: Sequence[str],
    default: str,
    widget: Callable[..., Any] = st.segmented_control,
    is_drawn: bool = True,
    **look: Any,
) -> str:
    """One of the options, chosen on the page; it stands in the address.

    `widget` may be `st.pills`; `is_drawn` is as in `bound_value`.
    """

    def draw(key: str) -> str:
        return str(widget(label, options, required=True, wrap=True, key=key, **look))

    return bound_value(name, default, draw, read=one_of(options), always=True, is_drawn=is_drawn)


def listed(
    label: str, name: str, options: Sequence[str], default: str, *, always: bool = True, **look: Any
) -> str:
    """As `choice`, from a list that unfolds; `always` is as in `bound_value`."""

    def draw(key: str) -> str:
        return str(st.selectbox(label, options, key=key, **look))

    return bound_value(name, default, draw, read=one_of(options), always=always)


def several(label: str, name: str, options: Sequence[str], *, noun: str = "", **look: Any) -> list[str]:
    """Some of the options, chosen on the page; the address holds them. `noun` is as in `checked`."""
    checked(name, options, noun)
    look = {"placeholder": "all", **look}
    return st.multiselect(label, options, key=name, bind="query-params", **look)


SEVERAL = "|"
"""What stands between several codes in the address."""


def several_of(
    label: str, name: str, options: Sequence[str], words: Callable[[str], str], **look: Any
) -> list[str]:
    """As `several`, of codes: the address has them, the reader sees their `words`."""

    def draw(key: str) -> list[str]:
        look.setdefault("placeholder", "all")
        return st.multiselect(label, options, key=key, format_func=words, **look)

    def read(text: str) -> list[str] | None:
        codes = text.split(SEVERAL)
        return codes if set(codes) <= {*options} else None

    return bound_value(name, list[str](), draw, read=read, encode=SEVERAL.join)


def benchmark_chosen(names: Sequence[str], *, fixed: bool = False) -> Benchmark:
    """The benchmark that the address names; to be chosen of several, unless `fixed`."""
    titles = {name: known_or_imported(name).title for name in names}
    is_drawn = len(names) > 1 and not fixed
    look = {"format_func": titles.__getitem__}
    return known_or_imported(choice("Benchmark", "benchmark", names, names[0], is_drawn=is_drawn, **look))


def of_conversation(number: int) -> str:
    """Where a conversation is read, for the cells of a table of links."""
    return f"/conversations?conversation={number}"


def page_at(address: str) -> PageFile | None:
    """The page with this address, or None."""
    return next((page for pages in SECTIONS.values() for page in pages if page.address == address), None)


def link(address: str, label: str, *, icon: str | None = None, **parameters: str | list[str]) -> None:
    """A link to the page with this address; plain words where there is no such page."""
    page = page_at(address)
    if page is None:
        st.markdown(plain(label))
    else:
        st.page_link(page.path, label=plain(label), icon=icon or page.icon, query_params=parameters)


def empty_page(message: str, *ways: tuple[str, str]) -> None:
    """What a page says that has nothing to show, with the ways on: addresses and their words."""
    st.info(message)
    with st.container(horizontal=True):
        for address, label in ways:
            link(address, label)


def go(address: str, /, **parameters: str | list[str]) -> None:
    """Leave for the page with this address."""
    page = page_at(address)
    if page is not None:
        st.switch_page(page.path, query_params=parameters)


NEIGHBOURS = "conversations of the list"
"""Where the session keeps the numbers of the list from which a conversation was opened, in their order."""


def read(number: int | str, address: str, neighbours: Sequence[int | str] = ()) -> None:
    """Leave the page with this address for a conversation, which offers the way back to what is shown now.

    `neighbours` are the conversations of the list, for Previous and Next.
    """
    st.session_state[NEIGHBOURS] = [str(one) for one in dict.fromkeys(neighbours)]
    st.session_state[CAME_FROM] = address, {name: st.query_params.get_all(name) for name in st.query_params}
    go("conversations", conversation=str(number))


def came_from() -> tuple[str, dict[str, list[str]]]:
    """The page from which the reader came to a conversation, and what it showed; at first the list."""
    address, parameters = st.session_state.get(CAME_FROM, ("conversations", {}))
    return address, parameters


def returned(address: str) -> None:
    """Show again what the page with this address showed when the reader left it for a conversation.

    `st.switch_page` leaves the address of the conversation in the browser's history as one of this page.
    """
    page_left, parameters = came_from()
    if st.query_params.pop("conversation", None) is not None and page_left == address:
        st.query_params.update(parameters)


def end_work() -> None:
    """Go back to where the work began."""
    for name in ("work", "as", "these"):
        st.query_params.pop(name, None)
