"""Links to hand out: shown once after they are made, with who can open them."""

from collections.abc import Mapping

import streamlit as st

from concord import messages
from concord.codes import Reach
from concord.commands.app import call
from concord.studies.addresses import reach
from pages.parts.plain import plain, with_code
from pages.parts.session import workspace


def keep(of: str, links: Mapping[str, str]) -> None:
    """Keep links, by name, until they are shown."""
    st.session_state[f"links {of}"] = dict(links)


def kept_on(of: str) -> None:
    """Keep those that were shown last in sight, where no new ones were made."""
    st.session_state[f"links {of}"] = st.session_state.get(f"links shown {of}", {})


def show(of: str, says: str) -> bool:
    """Show links that were just made, once; they are stored nowhere. Returns whether there are any."""
    made: dict[str, str] = st.session_state.pop(f"links {of}", {})
    st.session_state[f"links shown {of}"] = made
    if not made:
        return False
    with st.container(border=True):
        st.markdown(says)
        warn(next(iter(made.values())))
        for name, one in made.items():
            st.markdown(plain(name))
            st.code(one, language=None, wrap_lines=True)
        if len(made) > 1:
            st.markdown("All of them")
            st.code("\n".join(f"{name}\t{one}" for name, one in made.items()), language=None)
    return True


def warn(address: str) -> None:
    """Say so where not everybody can open an address, and how to change that."""
    who = reach(address)
    if who is not Reach.ANYWHERE:
        st.warning(with_code(messages.reach(who, call(workspace()))), icon=":material/wifi_off:")
