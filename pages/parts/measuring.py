"""The widgets that say how agreement is measured, on every page that measures it."""

from collections.abc import Callable
from typing import Any, Literal, get_args

import streamlit as st

from concord.llm.families import families
from concord.reports.agreement_report import Options
from concord.statistics.alt_test import Score
from concord.store import frames
from concord.store import studies as stored
from concord.studies import studies
from concord.studies.scales import scale_told
from concord.studies.studies import Items
from pages.parts.address import listed, some_of, switch, switched
from pages.parts.session import workspace

RUNS_TOGETHER = "Otherwise their mean is one judge; of categories, the answer given most often."
RESAMPLES = [200, 1000, 5000]
SCORES: tuple[Score | Literal[""], ...] = ("", *get_args(Score))


@st.cache_resource(max_entries=6)
def _varied(folder: str, study: str, mark: str) -> tuple[list[str], list[str]]:
    """The facets by which items can be taken together, and those by which they are by default."""
    with workspace().read() as db:
        usual = list(studies.scenario_facets(db, study))
        return list(dict.fromkeys([*usual, *frames.varied(db, study)])), usual


@st.cache_resource(max_entries=6)
def _described(folder: str, study: str, mark: str) -> tuple[Items, ...]:
    """What figures of a study can describe, the usual one first."""
    with workspace().read() as db:
        return studies.describable(stored.get(db, study))


def options_of(version: tuple[str, str, str], held: Callable[..., Any]) -> Options:
    """How the reader wants it measured; `held` as in `pages.parts.address`."""

    def toggle(name: str, label: str, help: str | None = None) -> bool:
        def draw_toggle(key: str) -> bool:
            return st.toggle(label, key=key, help=help)

        return bool(held(name, False, draw_toggle, read=switch, told=switched))

    runs = toggle("runs", "Repeated runs of a judge one by one", RUNS_TOGETHER)
    kept = toggle("keep-refused", "Count conversations in which a judge saw a refusal")
    excluded = toggle("with-excluded", "Count annotators whom a decision left out")
    items = _items(version, held)
    resamples = held(
        "resamples",
        1000,
        lambda key: st.select_slider("Resamples of the bootstrap", RESAMPLES, key=key),
        read={str(n): n for n in RESAMPLES}.get,
    )
    again = "The same seed gives the same intervals."
    seed = held(
        "seed",
        0,
        lambda key: int(st.number_input("Seed", 0, 2**32 - 1, step=1, key=key, help=again)),
        read=lambda said: int(said) if said.isdecimal() and int(said) < 2**32 else None,
    )
    scored = held(
        "score",
        SCORES[0],
        lambda key: st.selectbox(
            "Alt-test scores answers by",
            SCORES,
            key=key,
            format_func=lambda name: name or "their distance, of categories by agreement",
            help="distance: how far the answers lie apart; ordinal: how far their ranks do; agreement: "
            "whether they are equal, for categories.",
        ),
        read=lambda said: next((score for score in SCORES if score == said), None),
    )
    told = held(
        "scale",
        "",
        lambda key: st.text_input(
            "Scales",
            key=key,
            placeholder="those of the study",
            help="The scale on which people and judges answer: 1..5 for every criterion, wit=1..7 for one; "
            "several with a semicolon between them.",
        ),
        read=str,
    )
    scales = tuple(scale_told(part) for part in told.split(";") if part.strip())
    return Options(
        "single" if runs else "mean",
        not kept,
        (),
        resamples,
        seed,
        _together(version, held),
        scales=scales,
        alt_score=scored,
        families=families(workspace().models_path),
        with_excluded=excluded,
        items=items,
    )


def _items(version: tuple[str, str, str], held: Callable[..., Any]) -> Items | None:
    """What figures describe, where the study was drawn with unequal probabilities; None leaves it to that."""
    usual, *others = _described(*version)
    if not others:
        return None
    names: dict[str, Items] = {name: name for name in (usual, *others)}
    chosen = held(
        "items",
        usual,
        lambda key: st.selectbox(
            "Figures describe",
            list(names),
            key=key,
            format_func={
                "weighed": "All candidates, by weight",
                "drawn": "The items as drawn",
                "random": "The simple random sample alone",
            }.__getitem__,
            help="Items were drawn with unequal probabilities; by weight, each counts the inverse of "
            "its own.",
        ),
        read=names.get,
    )
    return None if chosen == usual else names[chosen]


def _together(version: tuple[str, str, str], held: Callable[..., Any]) -> tuple[str, ...] | None:
    """The facets of items that are resampled together; None for the usual ones."""
    varied, usual = _varied(*version)
    if not varied:
        return None
    chosen = held(
        "together",
        usual,
        lambda key: st.multiselect(
            "Resample items together that share",
            varied,
            key=key,
            placeholder="nothing: each item by itself",
            help="Items of one scenario depend on each other, and intervals that take them for independent "
            "are too narrow. Choose the facets that make a scenario.",
        ),
        read=some_of(varied),
        told=listed,
    )
    return None if chosen == usual else tuple(chosen)
