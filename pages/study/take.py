"""Export by page: files that `concord export …` writes, written to the disk first and then fetched."""

import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import streamlit as st
from sqlite_utils import Database

from concord.errors import ConcordError, StudyError
from concord.exchange import argilla, conversations_jsonl, dataset, label_studio, ratings_csv
from concord.files import file_name
from concord.reports import bundle, site
from concord.reports.agreement_report import Options, agreement_report
from concord.store import conversations, progress, ratings, studies
from concord.studies.comments import comment_rows
from pages.parts.address import checked, held, nothing, one_of
from pages.parts.measuring import options_of
from pages.parts.person import exported
from pages.parts.plain import plain
from pages.parts.reports import study_called
from pages.parts.session import sentence, workspace

KINDS: Mapping[str, str] = {
    "ratings": "Ratings by people and judges",
    "conversations": "Conversations",
    "comments": "Annotators' comments, quoted words, and why they skipped",
    "comparisons": "Which of two conversations was preferred",
    "dataset": "A study as a Hugging Face dataset folder (ZIP)",
    "label-studio": "A study for Label Studio, tasks and configuration (ZIP)",
    "argilla": "A study for Argilla, as `Dataset.from_disk` reads it (ZIP)",
    "report": "A report on a study's agreement: summary, tables, hashes (ZIP)",
    "site": "Everything as static pages, annotators numbered (ZIP)",
}
OF_STUDY = ("comments", "dataset", "label-studio", "argilla", "report")
WHOLE = "read back by Import"


@dataclass(frozen=True)
class Exported:
    """What is exported; empty fields ask for everything, and for the form that is read back."""

    kind: str
    study: str = ""
    benchmark: str = ""
    form: dataset.Form | None = None
    with_names: bool = False
    title: str = ""
    blank: bool = False
    with_judges: bool = False
    options: Options = field(default_factory=Options)

    @property
    def name(self) -> str:
        """The name of the file."""
        own = {"ratings": "csv", "conversations": "jsonl", "comments": "csv", "comparisons": "csv"}
        form = self.form or own.get(self.kind, "zip")
        of = self.study or self.benchmark or workspace().path.name
        return f"{file_name(f'{of}-{self.kind}')}.{form}"


@dataclass
class ExportFile:
    """A file that was written, on the disk as long as somebody looks at it."""

    asked: Exported
    folder: tempfile.TemporaryDirectory[str] = field(default_factory=tempfile.TemporaryDirectory)

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.folder.name) / self.asked.name


def page() -> None:
    """Draw the page."""
    st.title("Export", anchor=False)
    with workspace().read() as db:
        known, titles = studies.ranked(db), studies.titles(db)
        stored = conversations.values(db)["benchmark"]
    if not stored:
        return nothing("There is nothing to export yet.", ("import", "Import conversations"))
    if not checked("study", known):
        return
    asked = _asked(known, titles, stored)
    if asked is None:
        return
    if st.button("Write the file", type="primary", icon=":material/output:"):
        with st.spinner("Writing …"):
            _write(asked)
    written: ExportFile | None = st.session_state.get("written")
    if written is not None and written.asked == asked:
        size = written.path.stat().st_size / 1e6
        st.download_button(
            plain(f"{asked.name} ({size:,.1f} MB)"),
            lambda: written.path.open("rb"),
            asked.name,
            icon=":material/download:",
            on_click="ignore",
        )


def _asked(known: list[str], titles: Mapping[str, str], stored: list[str]) -> Exported | None:
    """What the reader chose; None where a study is needed and there is none."""

    def called(name: str) -> str:
        return study_called(name, titles) if name else "every"

    kind = st.selectbox("What", list(KINDS), format_func=KINDS.__getitem__, key="what")
    study = benchmark = title = ""
    form: dataset.Form | None = None
    with_names = blank = with_judges = False
    options = Options()
    if kind in OF_STUDY and not known:
        st.info("There is no study to export yet.")
        return None
    if kind in OF_STUDY:
        study = held(
            "study",
            known[0],
            lambda key: st.selectbox("Study", known, key=key, format_func=called),
            read=one_of(known),
        )
    if kind in ("ratings", "conversations"):
        # A link to a study exports this one, not all.
        said = st.query_params.get("study", "")
        at = ["", *known].index(said) if said in known else 0
        study = st.selectbox("Study", ["", *known], at, format_func=called, key="of study")
    if kind in ("conversations", "comparisons"):
        benchmark = st.selectbox("Benchmark", ["", *stored], format_func=lambda n: n or "every", key="of")
    if kind in ("ratings", "conversations", "comments", "comparisons"):
        forms = [None, *dataset.FORMS]
        form = st.selectbox("Form", forms, format_func=lambda f: f or WHOLE, key="form")
    if kind == "dataset":
        with_names = st.toggle("Keep annotators' names", key="names")
    if kind == "label-studio":
        blank = st.toggle("Tasks without the answers that people gave here", key="blank")
    if kind in ("label-studio", "argilla"):
        with_judges = st.toggle("Judges' ratings too, which people see there", key="with judges")
    if kind == "report":
        with workspace().read() as db:
            version = (str(workspace().path), study, progress.mark(db, study))
        with st.expander("How it is measured", icon=":material/tune:"):
            options = options_of(version, held)
    if kind == "site":
        title = st.text_input("What the site is called", workspace().path.name, max_chars=100, key="title")
    return Exported(kind, study, benchmark, form, with_names, title, blank, with_judges, options)


def _write(asked: Exported) -> None:
    written = ExportFile(asked)
    try:
        with workspace().read() as db:
            WRITERS[asked.kind](db, asked, written.path)
        exported(asked.kind, asked.study)
    except ConcordError as error:
        st.session_state.pop("written", None)
        sentence(error)
    else:
        st.session_state["written"] = written


def _ratings(db: Database, asked: Exported, path: Path) -> None:
    if asked.form in (None, "csv"):
        with path.open("w", encoding="utf-8", newline="") as file:
            count = ratings_csv.write(db, file, asked.study)
    else:
        with path.open("wb") as out:
            count = dataset.write(out, dataset.RATINGS, ratings.exported(db, asked.study), asked.form)
    _some(count, "There are no ratings yet.")


def _conversations(db: Database, asked: Exported, path: Path) -> None:
    if asked.form is None:
        with path.open("w", encoding="utf-8", newline="") as file:
            count = conversations_jsonl.write(db, file, study=asked.study, benchmark=asked.benchmark)
    else:
        rows = dataset.conversation_rows(db, asked.study, asked.benchmark)
        with path.open("wb") as out:
            count = dataset.write(out, dataset.CONVERSATIONS, rows, asked.form)
    _some(count, "No conversation is of this study and benchmark.")


def _comparisons(db: Database, asked: Exported, path: Path) -> None:
    rows = dataset.comparison_rows(db, asked.benchmark)
    with path.open("wb") as out:
        count = dataset.write(out, dataset.COMPARISONS, rows, asked.form or "csv")
    _some(count, "Nothing was compared yet.")


def _comments(db: Database, asked: Exported, path: Path) -> None:
    rows = comment_rows(db, asked.study)
    with path.open("wb") as out:
        count = dataset.write(out, dataset.COMMENTS, rows, asked.form or "csv")
    _some(count, "Nobody commented on an item of this study or skipped one.")


def _dataset(db: Database, asked: Exported, path: Path) -> None:
    _packed(path, dataset.folder(db, asked.study, made=date.today(), with_names=asked.with_names))


def _label_studio(db: Database, asked: Exported, path: Path) -> None:
    tasks, config, _ = label_studio.write(db, asked.study, answers=not asked.blank, judges=asked.with_judges)
    _packed(path, {"tasks.json": tasks, "config.xml": config})


def _argilla(db: Database, asked: Exported, path: Path) -> None:
    files, _ = argilla.write(db, asked.study, judges=asked.with_judges)
    _packed(path, files)


def _packed(path: Path, files: Mapping[str, str | bytes]) -> None:
    """Write the files of a folder as one ZIP."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)


def _report(db: Database, asked: Exported, path: Path) -> None:
    report = agreement_report(db, asked.study, asked.options)
    path.write_bytes(bundle.bundle(db, report, made=date.today()))


def _site(db: Database, asked: Exported, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        title = asked.title.strip() or workspace().path.name
        for each in site.pages(db, title, made=date.today(), told=lambda _what: None):
            packed.writestr(str(each.path), each.text)


def _some(count: int, otherwise: str) -> None:
    if not count:
        raise StudyError(otherwise)


WRITERS: Mapping[str, Callable[[Database, Exported, Path], None]] = {
    "ratings": _ratings,
    "conversations": _conversations,
    "comments": _comments,
    "comparisons": _comparisons,
    "dataset": _dataset,
    "label-studio": _label_studio,
    "argilla": _argilla,
    "report": _report,
    "site": _site,
}

page()
