"""What a study may have beside its items: known items, further raters, second answers, a crowd."""

from collections.abc import Callable

import streamlit as st

from concord.store.studies import Study
from pages.annotate.samples_crowd import crowd_link
from pages.annotate.samples_extra import extra_raters, second_answers
from pages.annotate.samples_known import known_items


def sections_of(study: Study) -> None:
    """The sections, each folded until it is opened."""
    if study.anonymous:
        return
    sections: list[tuple[str, str, Callable[[], None]]] = [
        ("Gold items", "verified", lambda: known_items(study, "gold")),
        ("Training items", "school", lambda: known_items(study, "training")),
        ("Extra raters where annotators differ", "group_add", lambda: extra_raters(study)),
        ("Second answers", "quickreply", lambda: second_answers(study)),
        ("A crowd's link: Prolific or MTurk", "public", lambda: crowd_link(study)),
    ]
    if study.ranks:  # of an order no answer is known
        sections = sections[4:]
    for title, icon, draw_section in sections:
        expander = st.expander(
            title, icon=f":material/{icon}:", key=f"{title} of {study.name}", on_change="rerun"
        )
        if expander.open:
            with expander:
                draw_section()


# ── A crowd ───────────────────────────────────────────────────────────────────────────────────────────────
