"""The form that has a model propose tasks: how many of which type, what it will take, and the button that begins."""

from __future__ import annotations

import streamlit as st

from core.benchmarks.simulbench import proposing
from core.benchmarks.simulbench.proposing import Round
from core.benchmarks.simulbench.tasks import TYPES
from core.errors import ConcordError
from core.llm.models import load_models
from pages.parts.live import live
from pages.parts.plain import plain
from pages.parts.session import sentence, workspace
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
        return f"{name} (simulated)" if models[name].simulated and "stand" not in name else name

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
        _estimate(Round(model, chosen, int(count), int(seed)))
    else:
        st.caption("Choose a model and a type to see what it will take.")


def _estimate(wanted: Round) -> None:
    """What it will take, and the button that begins it."""
    try:
        found = proposing.estimate(workspace(), wanted)
        again = bool(found.failed) and st.toggle(f"Ask again for {found.failed} without a usable reply")
        if again:
            found = proposing.estimate(workspace(), wanted, retry_failed=True)
    except ConcordError as error:
        return sentence(error)
    if not found.left:
        st.info("These were all asked for before. Choose a larger number, or another seed.")
        return
    before = f" ({found.stored} of {found.planned} were answered before)" if found.stored else ""
    tokens = ", ".join(f"about {i + o:,.0f} tokens" for i, o in found.tokens.values())
    price = (
        f"{found.cost:,.2f}" if not found.unpriced else "unknown: models.toml states no price for this model"
    )
    st.markdown(plain(f"{found.left} calls{before}, {tokens}. Estimated cost: {price}."))
    limit = st.number_input(
        "Stop at a cost of", min_value=0.0, value=None, placeholder="no limit", disabled=bool(found.unpriced),
        help="It ends cleanly; what was proposed stays.",
    )  # fmt: skip
    if st.button(f"Ask for {found.left}", type="primary", icon=":material/lightbulb:", width="stretch"):
        run_form.begin(wanted.plan(), max_cost=limit, retry_failed=again)
        st.rerun()
