"""The part of a page that registers a study, or one of pairs, before people rate it."""

import streamlit as st

from concord.files import file_name
from concord.llm.families import model_names
from concord.store import registrations
from concord.studies import registration
from pages.parts import told
from pages.parts.plain import plain
from pages.parts.session import workspace


def section(name: str) -> None:
    """Fix sample, texts, guidelines, questions, judges and plan, and what was fixed before."""
    with workspace().read() as db:
        entries, answers = registrations.every(db, name), registrations.answers(db, name)
    with st.expander("Pre-registration", icon=":material/verified:"):
        for entry in entries:
            st.caption(plain(f"{entry.line}."))
        if holds := registrations.binding(entries):
            st.download_button(
                "What was registered (JSON)",
                holds.document,
                f"{file_name(name)}-registration.json",
                on_click="ignore",
                icon=":material/download:",
            )
        st.caption(
            "Fixes the sample, its texts, guidelines, questions, judges and this plan under one hash. The "
            "report of agreement says what differs later, and whether planned tests are reached."
        )
        st.text_area("Analysis plan (TOML)", registration.EXAMPLE, height=260, key="plan", max_chars=20_000)
        st.text_input("Judges, separated by commas", key="plan judges", max_chars=2000)
        late = False
        if answers:
            late = st.checkbox(f"Register late: people have given {answers} answers already", key="late")
        st.button(
            "Register",
            key="register",
            disabled=bool(answers) and not late,
            on_click=_registered,
            args=(name, late),
        )


def _registered(name: str, late: bool) -> None:
    with told.writing() as db:
        plan = registration.read_plan(st.session_state["plan"])
        judges = [one.strip() for one in st.session_state["plan judges"].split(",") if one.strip()]
        models = model_names(workspace().models_path)
        entry = registration.register(db, name, plan, judges=judges, late=late, models=models)
        told.done(f"The study “{name}” is registered. SHA-256 {entry.sha256}.")
