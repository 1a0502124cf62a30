"""The pages that do what a command does: sentences that name a command lead there."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from concord.files.plain import pasteable
from pages.parts.address import link
from pages.parts.plain import with_code

WAYS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "models add": ("models", "Add a model", {}),
    "doctor": ("models", "Test models", {}),
    "run": ("runs", "Start a run", {}),
    "judge": ("runs", "Let judges rate stored conversations", {"judge": "true"}),
    "compare": ("comparisons", "Let judges compare", {}),
    "study draw": ("samples", "Draw a sample", {"draw": "new"}),
    "study deal": ("samples", "Assign items", {}),
    "study gold": ("samples", "Gold items", {}),
    "study training": ("samples", "Training", {}),
    "study reopen": ("samples", "Reopen the study", {}),
    "study pairs": ("comparisons", "Create a study of pairs", {}),
    "crowd": ("samples", "A crowd's link", {}),
    "people invite": ("annotators", "Invite annotators", {}),
    "import": ("import", "Import a file", {}),
    "export": ("export", "Export", {}),
    "rubric": ("rubrics", "Rubrics", {}),
    "agreement": ("agreement", "Agreement", {}),
    "lab": ("lab", "Judge lab", {}),
    "leaderboard": ("leaderboard", "Leaderboard", {}),
}
"""By what a command is called with: the address of a page, the words of the link, and what the page shows."""


def ways(text: str) -> None:
    """Links to the pages that do what the commands in a text do; nothing where it names none."""
    targets: dict[str, tuple[str, str, Mapping[str, str]]] = {}
    for _, _, rest in (part.partition("concord ") for part in text.split("`")[1::2]):
        words = rest.partition("--workspace ")[2].partition(" ")[2] or rest
        for words_of, way in WAYS.items():
            if f"{words} ".startswith(f"{words_of} ") and way[0] not in {one[0] for one in targets.values()}:
                targets[words_of] = way
                break
    if not targets:
        return
    with st.container(horizontal=True):
        for address, label, query in targets.values():
            link(address, label, **query)


def explain(text: str, command: str, draw: Callable[..., object] = st.markdown, **look: Any) -> None:
    """Draw a sentence whose commands can be pasted, and the pages that do the same.

    `command` is how Concord is called on the workspace.
    """
    draw(with_code(pasteable(text, command)), **look)
    ways(text)
