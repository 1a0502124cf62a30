"""What a page shows stands in its address, so that a copied address shows the same."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.errors import not_found
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


def of_conversation(number: int) -> str:
    """Where a conversation is read, for the cells of a table of links."""
    return f"/conversations?conversation={number}"
