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
from pages.parts.address import checked, empty_page, listed
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.reports import default_options, studies_called
from pages.parts.session import sentence, workspace

IMPORT_FORM = "can be imported again"
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
        study_names = studies.ranked(db)
        benchmarks = conversations.values(db)["benchmark"]
    if not benchmarks:
        return empty_page("Nothing to export yet.", ("import", "Import conversations"))
    if not checked("study", study_names):
        return
    export = _export_chosen(study_names, benchmarks)
    if export is None:
        return
    if st.button("Create the file", type="primary", icon=":material/output:"):
        with st.spinner("Writing …"):
            _write(export)
    export_file: ExportFile | None = st.session_state.get("written")
    if export_file is not None and export_file.asked == export:
        size = export_file.path.stat().st_size / 1e6
        st.download_button(
            plain(f"{export_file.path.name} ({size:,.1f} MB)"),
            lambda: export_file.path.open("rb"),
            export_file.path.name,
            icon=":material/download:",
            on_click="ignore",
        )


def _export_chosen(study_names: list[str], benchmarks: list[str]) -> Export | None:
    """What the reader chose; None where a study is needed and there is none."""
    title_of = studies_called()
    content = st.selectbox("What", list(PARTS), format_func=lambda name: PARTS[name].title, key="what")
    part = PARTS[content]
    fields = dict[str, Any]()
    takes = part.takes.split()
    if part.of_study and not study_names:
        st.info("No study to export yet.")
        return None
    if part.of_study:
        fields["study"] = listed("Study", "study", study_names, study_names[0], format_func=title_of)
    elif "study" in takes:
        # A link to a study exports this one, not all.
        linked = st.query_params.get("study", "")
        position = ["", *study_names].index(linked) if linked in study_names else 0
        fields["study"] = st.selectbox(
            "Study",
            ["", *study_names],
            position,
            format_func=lambda n: title_of(n) if n else "every",
            key="of study",
        )
    if "benchmark" in takes:
        fields["benchmark"] = st.selectbox(
            "Benchmark",
            ["", *benchmarks],
            format_func=lambda n: known_or_imported(n).title if n else "every",
            key="of",
        )
    if "form" in takes:
        forms = [None, *dataset.FORMS]
        fields["form"] = st.selectbox("Form", forms, format_func=lambda f: f or IMPORT_FORM, key="form")
    fields |= {name: st.toggle(TOGGLES[name], key=name) for name in TOGGLES if name in takes}
    if "title" in takes:
        name = workspace().path.name
        fields["title"] = st.text_input("Title of the site", name, max_chars=100, key="title") or name
    return Export(content, **fields, options=default_options(workspace()))


def _write(export: Export) -> None:
    st.session_state.pop("written", None)
    folder = tempfile.TemporaryDirectory()
    name = export.name(workspace().path.name)
    path = Path(folder.name) / f"{name}.{export.form or export.part.suffix}"
    try:
        with acting(person.reviewer_name()):
            publish.write(workspace(), export, path)
    except ConcordError as error:
        return sentence(error)
    st.session_state["written"] = ExportFile(export, folder, path)


page()
