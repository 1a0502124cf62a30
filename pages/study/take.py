"""Export by page: files that `concord export …` writes, written to the disk first and then fetched."""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from concord.errors import ConcordError
from concord.exchange import dataset, publish
from concord.exchange.publish import PARTS, Export
from concord.runs.registry import known_or_imported
from concord.store import conversations, studies
from concord.store.actor import acting
from pages.parts import person
from pages.parts.address import checked, listed, nothing
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.reports import measured, studies_called
from pages.parts.session import sentence, workspace

WHOLE = "can be imported again"
TOGGLES = {
    "with_excluded": "Include excluded annotators",
    "with_names": "Keep annotators' names",
}


class ExportFile(NamedTuple):
    """A file that was written, on the disk as long as somebody looks at it."""

    asked: Export
    folder: tempfile.TemporaryDirectory[str]
    path: Path


def page() -> None:
    """Draw the page."""
    heading("export")
    with workspace().read() as db:
        known = studies.ranked(db)
        stored = conversations.values(db)["benchmark"]
    if not stored:
        return nothing("Nothing to export yet.", ("import", "Import conversations"))
    if not checked("study", known):
        return
    asked = _asked(known, stored)
    if asked is None:
        return
    if st.button("Create the file", type="primary", icon=":material/output:"):
        with st.spinner("Writing …"):
            _write(asked)
    written: ExportFile | None = st.session_state.get("written")
    if written is not None and written.asked == asked:
        size = written.path.stat().st_size / 1e6
        st.download_button(
            plain(f"{written.path.name} ({size:,.1f} MB)"),
            lambda: written.path.open("rb"),
            written.path.name,
            icon=":material/download:",
            on_click="ignore",
        )


def _asked(known: list[str], stored: list[str]) -> Export | None:
    """What the reader chose; None where a study is needed and there is none."""
    called = studies_called()
    what = st.selectbox("What", list(PARTS), format_func=lambda name: PARTS[name].title, key="what")
    part, chosen = PARTS[what], dict[str, Any]()
    takes = part.takes.split()
    if part.of_study and not known:
        st.info("No study to export yet.")
        return None
    if part.of_study:
        chosen["study"] = listed("Study", "study", known, known[0], format_func=called)
    elif "study" in takes:
        # A link to a study exports this one, not all.
        linked = st.query_params.get("study", "")
        at = ["", *known].index(linked) if linked in known else 0
        chosen["study"] = st.selectbox(
            "Study", ["", *known], at, format_func=lambda n: called(n) if n else "every", key="of study"
        )
    if "benchmark" in takes:
        chosen["benchmark"] = st.selectbox(
            "Benchmark",
            ["", *stored],
            format_func=lambda n: known_or_imported(n).title if n else "every",
            key="of",
        )
    if "form" in takes:
        forms = [None, *dataset.FORMS]
        chosen["form"] = st.selectbox("Form", forms, format_func=lambda f: f or WHOLE, key="form")
    chosen |= {name: st.toggle(TOGGLES[name], key=name) for name in TOGGLES if name in takes}
    if "title" in takes:
        name = workspace().path.name
        chosen["title"] = st.text_input("Title of the site", name, max_chars=100, key="title") or name
    return Export(what, **chosen, options=measured(workspace()))


def _write(asked: Export) -> None:
    st.session_state.pop("written", None)
    folder = tempfile.TemporaryDirectory()
    name = asked.name(workspace().path.name)
    path = Path(folder.name) / f"{name}.{asked.form or asked.part.suffix}"
    try:
        with acting(person.named()):
            publish.write(workspace(), asked, path)
    except ConcordError as error:
        return sentence(error)
    st.session_state["written"] = ExportFile(asked, folder, path)


page()
