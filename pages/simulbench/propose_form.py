"""The form that has a model propose tasks: how many of which type, the estimate, and the button that starts
the run.
"""

from __future__ import annotations

import streamlit as st

from core.benchmarks.plans import ProposePlan
from core.benchmarks.simulbench.tasks import STORED, TYPES
from core.llm.models import load_models
from core.scores import marked
from pages.parts.plain import plain
from pages.parts.session import live, workspace
from pages.study import run_form

MOST = 500


@st.dialog("Propose tasks")
def dialog() -> None:
    """Open it over the page; it closes when it has begun."""
    live(_draw)()


def _draw() -> None:
    models = {name: m for name, m in load_models(workspace().models_path).items() if m.kind == "chat"}
    if not models:
        st.info(f"No model is configured. Add a \\[models.NAME\\] table to {plain(workspace().models_path)}.")
        return

    def shown(name: str) -> str:
        return marked(name, models[name].simulated)

    st.caption("Each call shows the model five tasks in use, drawn at random, and asks for one more.")
    model = st.selectbox("Model", list(models), index=None, format_func=shown, placeholder="Choose a model")
    types = st.pills("Types", TYPES, selection_mode="multi", default=TYPES, format_func=str.capitalize)
    left, right = st.columns(2)
    count = left.number_input(
        "Of each type", 1, MOST, 5, help="A larger number goes on where a smaller one ended."
    )
    seed = right.number_input("Seed", 0, value=0, help="Another seed draws other examples.")
    if model and types:
        chosen = tuple(type for type in TYPES if type in types)
        run_form.estimate(ProposePlan(STORED, model, chosen, int(count), int(seed)), key="propose")
    else:
        st.caption("Choose a model and a type to see what it will take.")
