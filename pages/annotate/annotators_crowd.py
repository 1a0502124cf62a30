"""The part of the page Annotators about crowd platforms: a study's link, who came by it, payments."""

from typing import get_args

import streamlit as st

from concord.errors import StudyError
from concord.store import crowds
from concord.store.crowds import Crowd, Platform
from concord.studies import crowd
from pages.parts import notice
from pages.parts.session import workspace
from pages.parts.table import draw

NAMES = {"prolific": "Prolific", "mturk": "Mechanical Turk"}


def crowd_link(studies: list[str], here: str) -> None:
    """Make a study's link or close it, and what is owed to those who came. `here` is the app's address."""
    made: str = st.session_state.pop("crowd link", "")
    with st.expander("Crowd platforms", icon=":material/groups:", expanded=bool(made)):
        if made:
            st.markdown("**Give this address to the platform only.** It is shown this once.")
            st.code(made, language=None, wrap_lines=True)
        name = st.selectbox("Study for a crowd platform", studies, key="crowd study")
        with workspace().read() as db:
            link, came = crowds.of_study(db, name), crowds.workers(db, name)
        if link:
            state = "takes nobody new" if link.closed else "is open"
            st.caption(
                f"The {NAMES[link.platform]} link {state}: {link.quota} people, {link.items} items each, "
                f"{link.minutes} minutes. A new link replaces it; whoever came keeps their desk."
            )
        now = link or Crowd(name, "prolific", 20, 20, 120, "")
        platforms = get_args(Platform)
        with st.container(horizontal=True):
            st.selectbox(
                "Platform",
                platforms,
                platforms.index(now.platform),
                format_func=NAMES.__getitem__,
                key=f"crowd platform {name}",
            )
            for label, value, key in (
                ("People", now.quota, "people"),
                ("Items each", now.items, "items"),
                ("Minutes", now.minutes, "minutes"),
            ):
                st.number_input(label, 1, 100_000, value, key=f"crowd {key} {name}")
        st.text_input(
            "Completion code (empty: everybody has one)", now.code, key=f"crowd code {name}", max_chars=40
        )
        st.text_input("Where they reach this app", here, key="crowd address", max_chars=2000)
        with st.container(horizontal=True):
            st.button("Make the link", key="crowd open", on_click=_opened, args=(name,))
            if link and not link.closed:
                st.button("Let nobody new in", key="crowd close", on_click=_closed, args=(name,))
        if came:
            with st.container(horizontal=True):
                hourly = st.number_input("For an hour at work", 0.0, key="crowd hourly")
                per_item = st.number_input("For each item", 0.0, key="crowd per item")
                currency = st.text_input("Currency", key="crowd currency", max_chars=10)
            with workspace().read() as db:
                draw(crowd.payments(db, name, hourly=hourly, per_item=per_item, currency=currency))


def _opened(name: str) -> None:
    def asked(key: str) -> str:
        return str(st.session_state[f"crowd {key} {name}"])

    with notice.writing() as db:
        platform = st.session_state[f"crowd platform {name}"]
        people, items, minutes = (int(asked(key)) for key in ("people", "items", "minutes"))
        made = Crowd(name, platform, people, items, minutes, asked("code").strip())
        address = str(st.session_state["crowd address"]).strip()
        if not address.startswith(("http://", "https://")):
            raise StudyError("The address of the app begins with http:// or https://.")
        st.session_state["crowd link"] = crowd.open_link(db, made, address)
        notice.done(f"The study “{name}” has a new link.")


def _closed(name: str) -> None:
    with notice.writing() as db:
        crowd.close_link(db, name, "by the page Annotators")
        notice.done("The link lets nobody new in. Whoever came goes on.")
