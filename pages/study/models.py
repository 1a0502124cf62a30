"""Models: what models.toml says of each, and a test of any."""

import streamlit as st

from concord.errors import ConcordError, ConfigError
from concord.llm import presets
from concord.llm.models import Model, currency, load_models
from concord.runs import examining
from pages.parts.address import link, listed
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import sentence, workspace
from pages.parts.table import draw


def page() -> None:
    """Draw the page."""
    heading("models")
    try:
        models = load_models(workspace().models_path)
        table = presets.listed(models.values(), currency(workspace().models_path))
    except ConfigError as error:
        sentence(error)
        return
    if models:
        draw(table, titled=False)
        names = list(models)
        _test(models[listed("Model", "model", names, names[0])])
        with st.container(horizontal=True):
            link("runs", "Start a run")
            link("runs", "Have judges rate stored conversations", judge="true")
    else:
        st.info("No model is named yet.")
    st.caption(
        "`concord models add` writes an entry of the workspace's models.toml, which has every setting."
    )


def _test(model: Model) -> None:
    """Some small calls, as `concord doctor` makes them, and what they show."""
    if model.kind == "program":
        st.caption("A program is tried when it judges.")
    elif st.button("Test", icon=":material/network_check:", help="About ten small calls, paid for."):
        try:
            with st.spinner("Calling …"):
                result = examining.check(workspace(), {model.name: model})[model.name]
        except ConcordError as error:
            sentence(error)
            return
        (st.error if result.wrong else st.success)(plain(f"{model.name}: {result.sentence}"))
        for note in result.notes:
            st.caption(plain(f"What you have not run so far: {note}"))


page()
