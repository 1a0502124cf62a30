"""The pages that do what a command does: sentences that name a command lead there."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from concord.files.plain import pasteable
from concord.runs.registry import BENCHMARKS, SLICES, slice_of
from pages.parts.address import link
from pages.parts.navigation import own_pages
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
    "study exclude": ("annotators", "Exclude an annotator", {}),
    "study include": ("annotators", "Include an annotator", {}),
    "study": ("samples", "Samples", {}),
    "people invite": ("annotators", "Invite annotators", {}),
    "people": ("annotators", "Annotators", {}),
    "check": ("import", "Import a table of labels", {}),
    "plan": ("plan", "Plan", {}),
    "import": ("import", "Import a file", {}),
    "export": ("export", "Export", {}),
    "rubric": ("rubrics", "Rubrics", {}),
    "agreement": ("agreement", "Agreement", {}),
    "lab": ("lab", "Judge lab", {}),
    "leaderboard": ("leaderboard", "Leaderboard", {}),
    "estimate": ("estimate", "Estimate", {}),
}
"""By what a command is called with: the address of a page, the words of the link, and what the page shows."""


Way = tuple[str, str, Mapping[str, str]]


def _way(command: str) -> Way | None:
    """The page that does what a command does, called with these words."""
    first, second, *_ = [*command.split(), "", ""]
    if first in SLICES:
        pages = [page for name in BENCHMARKS if slice_of(name) == first for page in own_pages(name)]
        return next(((page.address, page.title, {}) for page in pages), None)
    way = next((way for words, way in WAYS.items() if f"{command} ".startswith(f"{words} ")), None)
    if way and second in BENCHMARKS and way[0] == "runs":
        return way[0], way[1], {**way[2], "benchmark": second}
    return way


def ways(text: str) -> None:
    """Links to the pages that do what the commands in a text do; nothing where it names none."""
    targets: dict[str, Way] = {}
    for _, _, rest in (part.partition("concord ") for part in text.split("`")[1::2]):
        way = _way(rest.partition("--workspace ")[2].partition(" ")[2] or rest)
        if way:
            targets.setdefault(way[0], way)
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
