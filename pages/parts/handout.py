"""Links to hand out: shown once after they are made, with who can open them."""

from collections.abc import Mapping

import streamlit as st

from concord import messages
from concord.codes import Reach
from concord.studies.addresses import reach
from pages.parts.plain import plain, with_code
from pages.parts.session import workspace


def keep(purpose: str, links: Mapping[str, str]) -> None:
    """Keep links, by name, until they are shown."""
    st.session_state[f"links {purpose}"] = dict(links)


def kept_on(purpose: str) -> None:
    """Keep those that were shown last in sight, where no new ones were made."""
    st.session_state[f"links {purpose}"] = st.session_state.get(f"links shown {purpose}", {})


def show(purpose: str, says: str) -> bool:
    """Show links that were just made, once; they are stored nowhere. Returns whether there are any."""
    links: dict[str, str] = st.session_state.pop(f"links {purpose}", {})
    st.session_state[f"links shown {purpose}"] = links
    if not links:
        return False
    with st.container(border=True):
        st.markdown(says)
        warn(next(iter(links.values())))
        for name, one in links.items():
            st.markdown(plain(name))
            st.code(one, language=None, wrap_lines=True)
        if len(links) > 1:
            st.markdown("All of them")
            st.code(
                "\n".join(f"{name}\t{one}" for name, one in links.items()), language=None, wrap_lines=True
            )
    return True


def warn(address: str) -> None:
    """Say so where not everybody can open an address, and how to change that."""
    audience = reach(address)
    if audience is not Reach.ANYWHERE:
        st.warning(with_code(messages.reach(audience, workspace().command)), icon=":material/wifi_off:")
