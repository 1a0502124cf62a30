"""Toxicity of tasks, scripts and replies by a moderations endpoint."""

import streamlit as st

from concord.benchmarks.simulbench import toxicity
from concord.errors import ConcordError
from concord.llm.models import load_models
from pages.parts import person, table
from pages.parts.address import empty_page
from pages.parts.plain import quantity
from pages.parts.session import sentence, workspace


def draw() -> None:
    """Draw the choice of a model, what is left to score, and the means."""
    st.caption(
        "A moderations endpoint, such as OpenAI's omni-moderation-latest, scores tasks, scripts and replies "
        "from 0 to 1 in six attributes."
    )
    names = [name for name, model in load_models(workspace().models_path).items() if model.kind == "chat"]
    if not names:
        empty_page("No model is named yet.", ("models", "Add a model"))
        return
    likely = next((place for place, name in enumerate(names) if "moderation" in name), None)
    model = st.selectbox(
        "Model",
        names,
        likely,
        placeholder="Choose a model whose endpoint offers moderations",
        key="moderation",
    )
    if model is None:
        return
    left = toxicity.unscored(workspace(), model)
    calls = -(-len(left) // toxicity.BATCH)
    st.markdown(
        f"**{quantity(len(left), 'text')}** without a score, {quantity(calls, 'call')}. "
        "Concord does not know what they cost: OpenAI asks nothing for them."
        if left
        else "Every text has its score."
    )
    if st.button(
        f"Score {quantity(len(left), 'text')}", type="primary", icon=":material/shield:", disabled=not left
    ):
        _score(model)
    table.draw(toxicity.toxicity(workspace(), model))


def _score(model: str) -> None:
    try:
        with st.spinner("Scoring …"), person.as_here():
            toxicity.measure(workspace(), model)
    except ConcordError as error:
        sentence(error)
        st.caption("What was scored before the error is stored.")
        return
    st.rerun()
