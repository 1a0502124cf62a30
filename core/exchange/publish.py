"""What can be published of a workspace, an entry each: a table, a document, or a folder of files.

The command and the page write the same by the same function. The audit log has its line before a file
appears.
"""

import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import BinaryIO, Literal

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import ConfigError, StudyError
from concord.exchange import argilla, conversations_jsonl, dataset, feedback, label_studio
from concord.files import file_name, file_names
from concord.reports import page, site
from concord.reports.agreement_report import AgreementReport, Options, agreement_report
from concord.reports.provenance import provenance_values
from concord.store import answers, audit, studies
from concord.table import as_csv
from concord.workspace import Workspace

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time a ZIP gives its files: always the same, so that equal files are equal bytes."""

Files = Iterable[tuple[str, str | bytes]]
"""The files of a folder, by name."""


@dataclass(frozen=True)
class Export:
    """What is written; empty fields ask for everything, and for the form that `concord import` reads back."""

    content: str
    study: str = ""
    benchmark: str = ""
    form: dataset.Form | None = None
    with_excluded: bool = False
    with_names: bool = False
    title: str = ""
    options: Options = field(default_factory=Options)
    """How a report is measured."""

    @property
    def part(self) -> "Part":
        """The entry of what is written."""
        return PARTS[self.content]

    def name(self, default: str) -> str:
        """A file name; `default` is what it is called where neither a study nor a benchmark is named."""
        return file_name(f"{self.study or self.benchmark or default}-{self.content}")


Destination = Path | Callable[[str], object]


@dataclass(frozen=True)
class Part:
    """One thing that can be written: one file of `rows`, or several `files`. `takes` names the fields of
    `Export` that say something about it.
    """

    title: str
    takes: str
    rows: Callable[[Database, Export], tuple[dataset.Kinds, Iterable[dataset.Row]]] | None = None
    suffix: dataset.Form | Literal["zip"] = "zip"
    none: str = ""
    """What is said where there is no entry."""
    files: Callable[[Database, Export], Files] | None = None
    first: str = ""
    """The file to begin with."""

    @property
    def of_study(self) -> bool:
        """Whether a study has to be named."""
        return self.takes.startswith("study")


def write(
    workspace: Workspace,
    export: Export,
    destination: Destination | None,
    *,
    overwrite: bool = False,
) -> str:
    """Write to a file, a folder (a ZIP where the name ends so), or line by line to what takes text; returns a
    sentence on it.

    It appears when it is complete. With `overwrite` a folder that holds a site is replaced. Raises StudyError
    where there is nothing to write, ConfigError for a name that cannot be used.
    """
    part = export.part
    path = destination if isinstance(destination, Path) else None
    if part.files and path is None:
        path = Path(export.name(workspace.path.name) + (".zip" if export.content == "report" else ""))
    if part.of_study and not export.study:
        raise StudyError(f"`concord export {export.content}` needs a study: --study NAME.")
    if path is None and export.form == "parquet":
        raise ConfigError("Parquet is not text: name a file with --out.")
    if path and path.is_dir() and any(path.iterdir()) and not (overwrite and (path / site.MARK).exists()):
        raise ConfigError(f"{path} is not empty. Give a new folder" + ", or say --replace." * (not overwrite))
    temporary_place = {"prefix": f".{path.name}.", "dir": path.absolute().parent} if path else {}
    try:
        with tempfile.TemporaryDirectory(**temporary_place) as temporary:  # type: ignore[call-overload]
            temporary_path = Path(temporary, "export")
            with workspace.read() as db:
                if export.study:
                    (studies.any_id if export.content == "apart" else studies.study_id)(db, export.study)
                packed = path is not None and path.suffix == ".zip"
                count = _write_files(db, export, temporary_path, packed=packed)
            if not count:
                raise StudyError(part.none)
            _record(workspace, export, path)
            if path and path.is_dir():
                shutil.rmtree(path)
            if path:
                temporary_path.replace(path)
            elif callable(destination):
                with temporary_path.open(encoding="utf-8", newline="") as lines:
                    for line in lines:
                        destination(line)
    except BrokenPipeError:
        raise  # a pager that was closed wants no more
    except OSError as error:
        raise ConfigError(f"{path or 'The export'} cannot be written: {error.strerror}.") from error
    entries = f"{count:,} {'files' if part.files else 'entries'}" + (f" in {path}" if path else "")
    return f"{export.content}: {entries}" + (f"; begin with {part.first}." if part.files else ".")


def _write_files(db: Database, export: Export, path: Path, *, packed: bool) -> int:
    """Write a file, a folder or a ZIP; returns how many entries, or files, it has."""
    part = export.part
    if part.rows and part.suffix != "zip":
        with path.open("wb") as file:
            if (
                export.content == "conversations" and export.form is None
            ):  # with trajectories, and what is asked
                return conversations_jsonl.write(db, file, study=export.study, benchmark=export.benchmark)
            return dataset.write(file, *part.rows(db, export), export.form or part.suffix)
    assert part.files
    files = part.files(db, export)
    if packed:
        return zipped(path, files, file_name(export.study) if export.study else "")
    count = 0
    for count, (name, text) in enumerate(files, 1):  # noqa: B007 - the count is what is returned
        (path / name).parent.mkdir(mode=0o755, exist_ok=True, parents=True)
        (path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return count


def zipped(destination: Path | BinaryIO, files: Files, folder: str = "") -> int:
    """Write files into a ZIP, below a folder; equal files give equal bytes. Returns how many there are."""
    with zipfile.ZipFile(destination, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            entry = zipfile.ZipInfo(f"{folder}/{name}" if folder else name, EPOCH)
            archive.writestr(entry, text, zipfile.ZIP_DEFLATED)
        return len(archive.namelist())


def _record(workspace: Workspace, export: Export, path: Path | None) -> None:
    """A line of the audit log."""
    with workspace.write() as db:
        detail = f"to {path.name}" if path else ""
        audit.record(db, AuditAct.EXPORTED, export.study, detail=detail, target=export.content)


def report_zip(db: Database, report: AgreementReport, *, date_made: date) -> bytes:
    """`report_files` as a ZIP."""
    buffer = io.BytesIO()
    zipped(buffer, report_files(db, report, date_made=date_made), file_name(report.data.study.name))
    return buffer.getvalue()


def report_files(db: Database, report: AgreementReport, *, date_made: date) -> Files:
    """The report of a study: report.html, about.json, figures.json, agreement.csv and .tex,
    tables/CRITERION/*.csv; guidelines.md and comments.csv where there are any.

    Equal data and options give equal bytes, but for the day it was made. Sample, ratings, guidelines and
    prompts are named by their hashes, so that a reader can tell whether they are still the same.
    """
    study = report.data.study
    rests_on = provenance_values(db, report) | {"made": date_made.isoformat()}
    yield "report.html", page.of_study(db, report, date_made=date_made)
    yield "about.json", json.dumps(rests_on, ensure_ascii=False, indent=2) + "\n"
    for name, form in (("figures.json", "json"), ("agreement.csv", "csv"), ("agreement.tex", "latex")):
        yield name, report.document(form)
    if study.guidelines:
        yield "guidelines.md", study.guidelines
    buffer = io.BytesIO()
    if dataset.write(buffer, dataset.COMMENTS, dataset.comment_rows(db, study.name), "csv"):
        yield "comments.csv", buffer.getvalue()
    for criterion, folder in file_names(report.criteria).items():
        for table in report.tables(criterion).values():
            if table.rows:
                yield f"tables/{folder}/{file_name(table.name)}.csv", as_csv(table)


PARTS: Mapping[str, Part] = {
    "ratings": Part(
        "Ratings by annotators and judges",
        "form study with_excluded",
        lambda db, export: dataset.rating_rows(db, export.study, with_excluded=export.with_excluded),
        "csv",
        "No ratings yet. For a study of pairs, export comparisons.",
    ),
    "conversations": Part(
        "Conversations, and what their study asks",
        "form study benchmark",
        lambda db, export: (
            dataset.CONVERSATIONS,
            dataset.conversation_rows(db, export.study, export.benchmark),
        ),
        "jsonl",
        "This study has no conversations of this benchmark.",
    ),
    "comments": Part(
        "Annotators' comments, and why they skipped",
        "study form with_excluded",
        lambda db, export: (
            dataset.COMMENTS,
            dataset.comment_rows(db, export.study, with_excluded=export.with_excluded),
        ),
        "csv",
        "This study has no comments and no skipped items.",
    ),
    "comparisons": Part(
        "Which of two conversations was preferred",
        "form benchmark",
        lambda db, export: (dataset.COMPARISONS, dataset.comparison_rows(db, export.benchmark)),
        "csv",
        "No comparisons yet.",
    ),
    "apart": Part(
        "Answers other than ratings: to repeat and gold items, adjudicated and revised answers, spot-checks",
        "study form",
        lambda db, export: (dataset.OTHER_ANSWERS, answers.apart(db, export.study)),
        "csv",
        "The study has only ratings.",
    ),
    "dataset": Part(
        "A study as a Hugging Face dataset folder: Parquet files and a card",
        "study with_names",
        files=lambda db, export: dataset.folder(
            db, export.study, date_made=date.today(), with_names=export.with_names
        ).items(),
        first="README.md",
    ),
    "label-studio": Part(
        "A study for Label Studio, tasks and configuration",
        "study",
        files=lambda db, export: label_studio.write(db, export.study).items(),
        first="config.xml",
    ),
    "argilla": Part(
        "A study for Argilla, as `Dataset.from_disk` reads it",
        "study",
        files=lambda db, export: argilla.write(db, export.study).items(),
        first="records.json",
    ),
    "langfuse-scores": Part(
        "Ratings as scores of Langfuse",
        "study with_excluded",
        lambda db, export: (
            feedback.LANGFUSE,
            feedback.langfuse(db, export.study, with_excluded=export.with_excluded),
        ),
        "jsonl",
        "The study has no ratings yet.",
    ),
    "phoenix-annotations": Part(
        "Ratings as span annotations of Phoenix",
        "study with_excluded",
        lambda db, export: (
            feedback.PHOENIX,
            feedback.phoenix(db, export.study, with_excluded=export.with_excluded),
        ),
        "jsonl",
        "The study has no ratings yet.",
    ),
    "mlflow-assessments": Part(
        "Ratings as assessments of MLflow",
        "study with_excluded",
        lambda db, export: (
            feedback.MLFLOW,
            feedback.mlflow(db, export.study, with_excluded=export.with_excluded),
        ),
        "jsonl",
        "The study has no ratings yet.",
    ),
    "report": Part(
        "A report on a study's agreement: summary, tables, hashes",
        "study",
        files=lambda db, export: report_files(
            db, agreement_report(db, export.study, export.options), date_made=date.today()
        ),
        first="report.html",
    ),
    "site": Part(
        "Everything as static pages, annotators numbered",
        "title replace",
        files=lambda db, export: site.pages(db, export.title, date_made=date.today()),
        first="index.html",
    ),
}
