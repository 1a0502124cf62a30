"""Models: what models.toml says of each; the owner adds entries, and any can be tested."""

from typing import Any

import streamlit as st

from concord.errors import ConcordError, ConfigError, NotAllowed
from concord.llm import presets
from concord.llm.models import Model, currency, load_models
from concord.runs import examining
from concord.store import audit
from pages.parts import notice
from pages.parts.address import link, listed
from pages.parts.navigation import heading
from pages.parts.people import Researcher
from pages.parts.plain import plain, with_code
from pages.parts.session import here, sentence, workspace
from pages.parts.table import draw

NEW = "new model …"
TEXTS = ("base_url", "model", "api_key_env", "family")


def page() -> None:
    """Draw the page."""
    heading("models")
    notice.show()
    try:
        models = load_models(workspace().models_path)
        table = presets.listed(models.values(), currency(workspace().models_path))
    except ConfigError as error:
        sentence(error)
        return
    if models:
        draw(table, titled=False)
    offered = [*models, NEW] if _owner() else list(models)
    if not offered:
        st.info("No model is named yet. The owner of the workspace adds them.")
        return
    name = listed("Model", "model", offered, offered[0])
    model = models.get(name)
    if model is not None:
        _test(model)
        with st.container(horizontal=True):
            link("runs", "Start a run with it")
            link("runs", "Have judges rate stored conversations", judge="true")
            link("import", "Import conversations")
    elif _owner():
        _form()
    st.caption("The owner adds models; the workspace's models.toml has every setting, and changes them.")


def _owner() -> bool:
    who = here()
    return isinstance(who, Researcher) and who.role == "owner"


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


def _form() -> None:
    """The settings of a new entry that most endpoints need; the file has the others."""
    kinds = presets.presets(workspace().folders("data"))
    with st.form("new model", enter_to_submit=False):
        left, right = st.columns(2, gap="large")
        left.text_input("Name", key="entry name", max_chars=60)
        right.selectbox(
            "Kind of endpoint",
            sorted(kinds, key=lambda name: (name != "openai", name)),
            key="entry kind",
            help="\n".join(f"- **{plain(kind.name)}**: {with_code(kind.about)}" for kind in kinds.values()),
        )
        for place, name, label, about in (
            (left, "model", "What the endpoint calls it", ""),
            (right, "base_url", "Base URL", "Empty: that of the kind of endpoint."),
            (left, "api_key_env", "Environment variable with the key", "Its name. No key is written here."),
            (right, "family", "Family", "Such as gpt or llama: do judges prefer their own?"),
        ):
            place.text_input(label, key=f"entry {name}", help=about or None, max_chars=2000)
        for place, name in ((left, "input"), (right, "output")):
            place.number_input(
                f"Price per million tokens {'in' if name == 'input' else 'out'}",
                0.0,
                value=None,
                placeholder="not known",
                key=f"entry {name}",
            )
        st.form_submit_button("Add", type="primary", on_click=_added)


def _added() -> None:
    """Write the entry and the line of the audit log, both or none."""
    state = st.session_state
    name = state["entry name"].strip()
    given: dict[str, Any] = {text: state[f"entry {text}"].strip() or None for text in TEXTS}
    rates = {way: state[f"entry {way}"] for way in ("input", "output")}
    with notice.writing() as db:
        if not _owner():
            raise NotAllowed("Only the owner of the workspace adds models.")
        if len({rate is None for rate in rates.values()}) > 1:
            raise ConfigError("A price needs both rates, in and out.")
        given["price"] = None if rates["input"] is None else rates
        if not (name and given["model"]):
            raise ConfigError("A model needs a name, and what the endpoint calls it.")
        audit.record(db, "added a model", about=name)
        kinds = presets.presets(workspace().folders("data"))
        presets.add(workspace().models_path, kinds, name, preset=state["entry kind"], **given)
        st.query_params["model"] = name
        notice.done(f"{name} is in models.toml.")


page()
