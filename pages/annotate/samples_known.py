"""Gold items and training on the page of samples: files of items, feedback, the rule to pass."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import streamlit as st
from sqlite_utils import Database

from concord.errors import ConcordError
from concord.store import known, studies
from concord.store.known import Gold, Known
from concord.store.studies import Study
from concord.studies import running
from concord.studies.purposes import gold, training
from pages.parts import notice
from pages.parts.plain import plain
from pages.parts.session import workspace

COLUMNS = f"A CSV with the columns {', '.join(gold.COLUMNS)}."
LARGEST = 10
"""Megabytes of a file of items."""


def section(study: Study) -> None:
    """Both, each with what the study has of it."""
    name = study.name
    with workspace().read() as db:
        hidden, taught = known.by_item(db, name), known.by_item(db, name, "training")
    rule = training.rule_of(study)
    with st.expander(f"Gold items{f' · {len(hidden)}' if hidden else ''}", icon=":material/fact_check:"):
        st.file_uploader(
            "Items whose answers are known",
            ["csv"],
            key=f"gold of {name}",
            help=COLUMNS,
            max_upload_size=LARGEST,
        )
        st.checkbox(
            "Show the known answer after an item is submitted",
            bool(study.meta.get("feedback")),
            key=f"feedback of {name}",
            help="The annotator's own answers are locked then, and scored as they were given.",
        )
        st.button("Save", key="save gold", on_click=_gold, args=(name,))
    with st.expander("Training" + (f" · {len(taught)} items" if rule else ""), icon=":material/school:"):
        st.caption(
            "Explained items before the study. Whoever has not passed sees nothing else, and each answer is "
            "followed by the known one. The page Annotators shows who has passed."
        )
        if rule:
            st.markdown(plain(f"Passed is {rule.words}."))
        now = rule or training.PassRule()
        st.file_uploader(
            "Items with explanations",
            ["csv"],
            key=f"training of {name}",
            help=COLUMNS,
            max_upload_size=LARGEST,
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.number_input("Share hit, at least", 0.0, 1.0, now.bound, 0.05, key=f"bound of {name}")
            st.number_input("Attempts", 1, value=now.attempts, key=f"attempts of {name}")
        with st.container(horizontal=True):
            st.button("Set the training", on_click=_train, args=(name,))
            st.button("Take the training away", disabled=not rule, on_click=_end, args=(name,))


def _read(db: Database, name: str, file: Any, kind: Known) -> list[Gold]:
    """The items of an uploaded file; none where there is no file."""
    if file is None:
        return []
    with TemporaryDirectory() as folder:
        path = Path(folder) / Path(file.name).name
        path.write_bytes(file.getvalue())
        try:
            return gold.read_gold(db, name, path, kind)
        except ConcordError as error:  # named as the reader does
            raise type(error)(str(error).replace(f"{folder}/", "")) from error


def _gold(name: str) -> None:
    with notice.writing() as db:
        studies.remember(db, name, "feedback", st.session_state[f"feedback of {name}"])
        golds = _read(db, name, st.session_state.get(f"gold of {name}"), "gold")
        if golds:
            running.set_gold(db, name, golds)
        items = len({gold.unit for gold in golds})
        notice.done(f"{items} gold items are mixed in." if golds else "Saved.")


def _train(name: str) -> None:
    given = {what: st.session_state[f"{what} of {name}"] for what in ("bound", "attempts")}
    with notice.writing() as db:
        golds = _read(db, name, st.session_state.get(f"training of {name}"), "training")
        rule = training.PassRule(**given)
        running.set_training(db, name, golds, rule)
        notice.done(f"The study opens to whoever passes its training: {rule.words}.")


def _end(name: str) -> None:
    with notice.writing() as db:
        running.end_training(db, name)
        notice.done("No training comes before the study any more.")
