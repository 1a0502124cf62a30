"""The last change of tasks or scripts, and the way back from it."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from concord.benchmarks.simulbench.tasks import BENCHMARK
from concord.runs.registry import siblings
from concord.scenario import State
from concord.store import scenarios
from concord.store.actor import actor
from pages.parts import notice

_LAST = "the last change of SimulBench"


class StateChange(NamedTuple):
    """Tasks or scripts that were changed, and the state they had; None for new ones."""

    label: str
    kind: str
    keys: Sequence[str]
    state: State | None


def decide(kind: str, keys: Sequence[str], state: State, former: State, sentence: str) -> None:
    """Give tasks or scripts another state; `sentence` reports it."""
    with notice.writing() as db:
        for key in keys:
            scenarios.decide(db, BENCHMARK, kind, key, state, actor())
        notice.success(sentence)
        remember(StateChange("Undo", kind, keys, former))


def remember(change: StateChange) -> None:
    """Offer the way back from a change."""
    st.session_state[_LAST] = change


def button() -> None:
    """The button that undoes the last change, where there is one."""
    change: StateChange | None = st.session_state.get(_LAST)
    if change is not None:
        st.button(
            change.label, icon=":material/undo:", key="undo", on_click=_undo, args=(change,), shortcut="u"
        )


def _undo(change: StateChange) -> None:
    st.session_state.pop(_LAST, None)
    with notice.writing() as db:
        if change.state is None:
            scenarios.remove(db, BENCHMARK, change.kind, change.keys, used_by=siblings(BENCHMARK))
        else:
            for key in change.keys:
                scenarios.decide(db, BENCHMARK, change.kind, key, change.state, actor())
        notice.success("The last change was undone.")
