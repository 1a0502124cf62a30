"""Models: add, change, test and remove the models of a workspace; keys stay in the environment."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from concord.errors import ConcordError, ConfigError
from concord.llm import presets
from concord.llm.models import Model, Price, currency, load_models
from concord.runs import entries, examining
from concord.runs.examining import Examination
from pages.parts import notice, person
from pages.parts.address import link, listed
from pages.parts.navigation import heading
from pages.parts.plain import plain, with_code
from pages.parts.session import owning, sentence, workspace
from pages.parts.table import draw

TESTED = "what tests of models showed"
CHANGED = "the last change of models.toml"
CURRENCIES = ("USD", "EUR", "GBP", "CHF", "CNY", "JPY", "INR", "RUB")
LONGEST = 300
"""Characters of a model's id and of an address, far more than any has."""


def page() -> None:
    """Draw the page."""
    heading("models")
    notice.show()
    _undo()
    path = workspace().models_path
    try:
        models = load_models(path)
        money = currency(path)
        table = presets.listed(models.values(), money)
    except ConfigError as error:
        sentence(error)
        return
    if not models:
        st.info("No models yet. Add the first one below.")
    else:
        draw(table, titled=False)
        with st.container(horizontal=True):
            link("runs", "Start a run")
            link("runs", "Let judges rate stored conversations", judge="true")
        names = list(models)
        st.subheader("One model", anchor=False)
        _one(models[listed("Model", "model", names, names[0])], money)
    if not owning():
        st.caption(
            "Only an owner of this workspace can add or change models, because an entry says where keys "
            "are sent."
        )
        return
    _add(list(models), money)
    _money(money)


def _undo() -> None:
    """The way back from the last change."""
    last_change: entries.Change | None = st.session_state.get(CHANGED)
    if last_change is not None and owning():
        st.button("Undo the last change", icon=":material/undo:", on_click=_undo_change, args=(last_change,))


def _one(model: Model, money: str) -> None:
    """What can be done about one model: test it, change it, remove it."""
    for variable in model.unset:
        st.warning(
            with_code(
                f"The environment variable `{variable}` is not set. Set it to the model's key on the "
                "machine where Concord runs, then restart Concord."
            ),
            icon=":material/key_off:",
        )
    with st.container(horizontal=True):
        st.button(
            "Test",
            icon=":material/network_check:",
            help="About ten small paid calls. A program is tested when it first judges.",
            disabled=model.kind == "program",
            on_click=_test,
            args=([model.name],),
        )
        if owning():
            with st.popover("Remove", icon=":material/delete:"):
                st.write("Its replies and judgements stay. New runs cannot use it.")
                st.button("Remove this model", on_click=_remove, args=(model.name,))
    _tested(model)
    if owning() and model.kind != "program":
        with st.expander("Change", icon=":material/edit:"):
            _change(model, money)


def _tested(model: Model) -> None:
    """What the last test of a model showed, a line each."""
    result: Examination | ConcordError | None = st.session_state.get(TESTED, {}).get(model.name)
    if result is None:
        return
    if isinstance(result, ConcordError):
        sentence(result)
        return
    (st.error if result.wrong else st.success)(with_code(f"{model.name}: {result.sentence}"))
    for note in result.notes:
        st.caption(plain(f"What you have not run so far: {note}"))
    if result.settings:
        st.caption(
            "Runs in this workspace already use these settings. In models.toml, other workspaces "
            "can copy them."
        )
        if owning():
            st.button(
                "Write these settings into models.toml",
                icon=":material/edit_note:",
                on_click=_write,
                args=(model.name, dict(result.settings)),
            )


def _change(model: Model, money: str) -> None:
    """The settings that most entries have; models.toml has all."""
    key = f"{model.name} change"
    left, right = st.columns(2)
    lower_left, lower_right = st.columns(2)  # a row of its own: on a telephone the fields keep this order
    typed = {
        "model": left.text_input("Id at the endpoint", model.model, max_chars=LONGEST, key=f"{key} model"),
        "base_url": right.text_input(
            "Address",
            model.base_url or "",
            max_chars=LONGEST,
            key=f"{key} address",
            placeholder="OPENAI_BASE_URL, else https://api.openai.com/v1",
        ),
        "api_key_env": lower_left.text_input(
            "Environment variable with the key",
            model.api_key_env or "",
            max_chars=LONGEST,
            key=f"{key} variable",
            placeholder=model.key_variable or "none needed",
        ),
        "family": lower_right.text_input(
            "Family", model.family, max_chars=60, key=f"{key} family", help=FAMILY, placeholder="gpt"
        ),
    }
    price = _price(key, model.price, money)
    before = {
        "model": model.model,
        "base_url": model.base_url or "",
        "api_key_env": model.api_key_env or "",
        "family": model.family,
    }
    settings: dict[str, Any] = {
        name: value.strip() or None for name, value in typed.items() if value.strip() != before[name]
    }
    if price != _prices(model.price):
        settings["price"] = price
    st.button(
        "Save the changes",
        type="primary",
        icon=":material/check:",
        disabled=not settings,
        key=f"{key} save",
        on_click=_changed,
        args=(model.name, settings),
    )
    st.caption("Stored results keep their settings. All other settings are in models.toml.")


FAMILY = (
    "The family of the model, such as gpt. Concord tests whether a judge prefers its own family. The "
    "endpoint does not receive it."
)


def _prices(price: Price | None) -> dict[str, float] | None:
    return {"input": price.input, "output": price.output} if price else None


def _price(key: str, price: Price | None, money: str) -> dict[str, float] | None:
    """The price that is typed; None where one of its parts is missing."""
    left, right = st.columns(2)
    per = f"million tokens{f', {money}' if money else ''}"
    look: dict[str, Any] = {"min_value": 0.0, "placeholder": "not known", "format": "%g"}
    input_price = left.number_input(
        f"Input price per {per}", value=price.input if price else None, key=f"{key} in", **look
    )
    output_price = right.number_input(
        f"Output price per {per}", value=price.output if price else None, key=f"{key} out", **look
    )
    return (
        None
        if input_price is None or output_price is None
        else {"input": float(input_price), "output": float(output_price)}
    )


def _add(names: list[str], money: str) -> None:
    """A new entry, begun from the kind of its endpoint."""
    st.subheader("Add a model", anchor=False)
    kinds = presets.presets()
    with st.container(border=True):
        preset = st.selectbox("Where it is served", list(kinds), format_func=_kind, key="preset")
        begin: Mapping[str, Any] = kinds[preset]
        left, right = st.columns(2)
        name = left.text_input("Name here", max_chars=100, key="new name", placeholder="judge-a").strip()
        model = right.text_input(
            "Id at the endpoint", max_chars=LONGEST, key="new id", help="The model's name at the endpoint."
        ).strip()
        left, right = st.columns(2)  # a row of its own: on a telephone the fields keep this order
        default_address = str(begin.get("base_url", ""))
        blank = presets.blank(default_address)
        address = left.text_input(
            f"Address, with your value for {blank}" if blank else "Address",
            default_address,
            max_chars=LONGEST,
            key=f"new address {preset}",
        ).strip()
        variable = right.text_input(
            "Environment variable with the key",
            str(begin.get("api_key_env", "")),
            max_chars=LONGEST,
            key=f"new variable {preset}",
            placeholder="none needed",
            help="The name of the variable, never the key itself.",
        ).strip()
        family = left.text_input(
            "Family", str(begin.get("family", "")), max_chars=60, key=f"new family {preset}", help=FAMILY
        ).strip()
        default_price = begin.get("price")
        price = _price(f"new {preset}", Price(**default_price) if default_price else None, money)
        settings = {"model": model, "base_url": address, "api_key_env": variable, "family": family}
        missing = [
            field
            for field, is_filled in {
                "a name": name,
                "its id at the endpoint": model,
                f"your value for {blank} in the address": not (blank and address == default_address),
            }.items()
            if not is_filled
        ]
        if name in names:
            missing = ["another name, because this one is taken"]
        st.button(
            "Add this model",
            type="primary",
            icon=":material/add:",
            disabled=bool(missing),
            on_click=_add_model,
            args=(name, preset, {**settings, "price": price}),
        )
        if missing:
            st.caption(plain(f"Still needed: {', '.join(missing)}."))


def _kind(name: str) -> str:
    return f"{name}: {presets.presets()[name]['about']}"


def _money(money: str) -> None:
    """What prices are in."""
    currencies = list(dict.fromkeys([money, "", *CURRENCIES]))
    selected = st.selectbox(
        "Currency of all prices",
        currencies,
        format_func=lambda one: one or "not set",
        key=f"currency after {money}",
        accept_new_options=True,
        width=260,
    )
    if selected != money:
        st.button("Save the currency", icon=":material/check:", on_click=_save_money, args=(selected or "",))


def _test(names: list[str]) -> None:
    results: dict[str, Examination | ConcordError] = st.session_state.setdefault(TESTED, {})
    models = load_models(workspace().models_path)
    for name in names:
        try:
            with st.spinner("Calling …"):
                results[name] = examining.check(workspace(), {name: models[name]})[name]
        except ConcordError as error:
            results[name] = error


def _carried_out(report: str, change: Any, *arguments: Any, **options: Any) -> None:
    """Carry out a change of models.toml as who is here, and say so."""
    try:
        with person.as_here():
            st.session_state[CHANGED] = change(workspace(), *arguments, **options)
    except ConcordError as error:
        notice.failure(error)
    else:
        notice.success(report)


def _add_model(name: str, preset: str, settings: Mapping[str, Any]) -> None:
    _carried_out(f"{name} is added. Test it before you use it.", entries.add, name, preset=preset, **settings)
    if name in load_models(workspace().models_path):
        st.session_state["model"] = name
        st.session_state["new name"] = st.session_state["new id"] = ""


def _changed(name: str, settings: Mapping[str, Any]) -> None:
    _carried_out(f"{name} is changed.", entries.change, name, settings)
    st.session_state.get(TESTED, {}).pop(name, None)


def _write(name: str, settings: Mapping[str, Any]) -> None:
    _changed(name, settings)


def _remove(name: str) -> None:
    _carried_out(f"{name} is removed.", entries.remove, name)


def _save_money(money: str) -> None:
    _carried_out("The currency is saved.", entries.set_currency, money.strip())


def _undo_change(last_change: entries.Change) -> None:
    st.session_state.pop(CHANGED)
    try:
        with person.as_here():
            entries.undo(workspace(), last_change)
    except ConcordError as error:
        notice.failure(error)
    else:
        notice.success("The last change of the models is undone.")


page()
