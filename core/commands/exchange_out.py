"""`concord export …`: write ratings, conversations, and the report of a study."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import wraps
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import click

from concord.commands import options
from concord.commands.measuring import measure
from concord.commands.printing import echo
from concord.errors import ConfigError, StudyError
from concord.exchange import argilla, conversations_jsonl, dataset, label_studio, ratings_csv
from concord.files import file_name
from concord.llm.families import families
from concord.reports import bundle, site
from concord.reports.agreement_report import Options, agreement_report
from concord.store import audit, informed, ratings, registrations
from concord.store import studies as stored
from concord.studies.comments import comment_rows
from concord.workspace import Workspace

_OUT = click.option(
    "--out", type=click.Path(path_type=Path), help="The file to write; the terminal if left out."
)


@click.group("export")
def command() -> None:
    """Write ratings, conversations or a report. Import conversations before ratings to restore a study."""


_FORM = click.option(
    "--format",
    "form",
    type=click.Choice(dataset.FORMS),
    help="Of a table; without it, the form that `concord import` reads back whole.",
)


@command.command("ratings")
@click.option("--study", default="", help="Only this study's ratings that count; default: every rating.")
@click.option("--with-excluded", is_flag=True, help="Also of annotators whom a decision left out.")
@_FORM
@_OUT
@click.pass_obj
def _ratings(
    workspace: str, study: str, with_excluded: bool, form: dataset.Form | None, out: Path | None
) -> None:
    """Ratings by people and judges in long form: CSV, or another form of table."""
    with Workspace.open(workspace, create=False).read() as db:
        if study:
            stored.study_id(db, study)
        if form in (None, "csv"):
            count = _write(out, lambda file: ratings_csv.write(db, file, study, with_excluded=with_excluded))
        else:
            rows = ratings.exported(db, study, with_excluded=with_excluded)
            count = _table(out, dataset.RATINGS, rows, form)
        if not count:
            raise StudyError(
                f"The study “{study}” has no ratings yet." if study else "There are no ratings yet."
            )
    echo(f"{count} ratings" + (f" in {out}." if out else "."), err=True)


@command.command("conversations")
@click.option("--study", default="", help="Only this study's, and what it asks; default: every conversation.")
@click.option("--benchmark", default="", help="Only this benchmark's.")
@_FORM
@_OUT
@click.pass_obj
def _conversations(
    workspace: str, study: str, benchmark: str, form: dataset.Form | None, out: Path | None
) -> None:
    """Conversations, and the study they belong to, as JSON Lines; or a table of the conversations alone."""
    with Workspace.open(workspace, create=False).read() as db:
        if study:
            stored.study_id(db, study)
        if form is None:
            count = _write(
                out, lambda file: conversations_jsonl.write(db, file, study=study, benchmark=benchmark)
            )
        else:
            rows = dataset.conversation_rows(db, study, benchmark)
            count = _table(out, dataset.CONVERSATIONS, rows, form)
    echo(f"{count} conversations" + (f" in {out}." if out else "."), err=True)


@command.command("comparisons")
@click.option("--benchmark", default="", help="Only this benchmark's.")
@_FORM
@_OUT
@click.pass_obj
def _comparisons(workspace: str, benchmark: str, form: dataset.Form | None, out: Path | None) -> None:
    """Which of two conversations people and judges preferred, one comparison a row."""
    with Workspace.open(workspace, create=False).read() as db:
        rows = dataset.comparison_rows(db, benchmark)
        if not (count := _table(out, dataset.COMPARISONS, rows, form or "csv")):
            raise StudyError("Nothing was compared yet.")
    echo(f"{count} comparisons" + (f" in {out}." if out else "."), err=True)


@command.command("apart")
@click.option("--study", required=True, metavar="NAME", help="The study.")
@_FORM
@_OUT
@click.pass_obj
def _apart(workspace: str, study: str, form: dataset.Form | None, out: Path | None) -> None:
    """Answers that are no ratings: to repeats and gold items, adjudicated, and revised ones."""
    with Workspace.open(workspace, create=False).read() as db:
        if not (count := _table(out, dataset.APART, informed.apart(db, study), form or "csv")):
            raise StudyError(f"“{study}” has no answers to hidden items, no adjudicated and no revised ones.")
    echo(f"{count} answers" + (f" in {out}." if out else "."), err=True)


@command.command("comments")
@click.option("--study", required=True, metavar="NAME", help="The study.")
@click.option("--with-excluded", is_flag=True, help="Also of annotators whom a decision left out.")
@_FORM
@_OUT
@click.pass_obj
def _comments(
    workspace: str, study: str, with_excluded: bool, form: dataset.Form | None, out: Path | None
) -> None:
    """Annotators' comments, the words they quote as places in the dialogue, and why they skipped items."""
    with Workspace.open(workspace, create=False).read() as db:
        rows = comment_rows(db, study, with_excluded=with_excluded)
        if not (count := _table(out, dataset.COMMENTS, rows, form or "csv")):
            raise StudyError(f"Nobody commented on an item of “{study}” or skipped one.")
    echo(f"{count} comments" + (f" in {out}." if out else "."), err=True)


@command.command("dataset")
@click.option("--study", required=True, metavar="NAME", help="The study to publish.")
@click.option("--with-names", is_flag=True, help="Keep annotators' names; they are numbered otherwise.")
@click.option("--out", type=click.Path(path_type=Path), help="The folder to write; NAME-dataset if left out.")
@click.pass_obj
def _dataset(workspace: str, study: str, with_names: bool, out: Path | None) -> None:
    """A study as a Hugging Face dataset folder: Parquet files and a card with questions and agreement."""
    with Workspace.open(workspace, create=False).read() as db:
        files = dataset.folder(db, study, made=date.today(), with_names=with_names)
    _folder(out or Path(f"{file_name(study)}-dataset"), files, len(files), "files")


@command.command("label-studio")
@click.option("--study", required=True, metavar="NAME", help="The study to move.")
@click.option("--blank", is_flag=True, help="Tasks without the answers that people gave here.")
@click.option(
    "--with-judges", "judges", is_flag=True, help="Judges' ratings as predictions, which people see."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The folder to write; NAME-label-studio if left out."
)
@click.pass_obj
def _label_studio(workspace: str, study: str, blank: bool, judges: bool, out: Path | None) -> None:
    """A study for Label Studio: tasks.json, and config.xml that asks the same."""
    with Workspace.open(workspace, create=False).read() as db:
        tasks, config, count = label_studio.write(db, study, answers=not blank, judges=judges)
    _folder(
        out or Path(f"{file_name(study)}-label-studio"), {"tasks.json": tasks, "config.xml": config}, count
    )


@command.command("argilla")
@click.option("--study", required=True, metavar="NAME", help="The study to move.")
@click.option(
    "--with-judges", "judges", is_flag=True, help="Judges' ratings as suggestions, which people see."
)
@click.option("--out", type=click.Path(path_type=Path), help="The folder to write; NAME-argilla if left out.")
@click.pass_obj
def _argilla(workspace: str, study: str, judges: bool, out: Path | None) -> None:
    """A study for Argilla: a folder that `argilla.Dataset.from_disk` reads."""
    with Workspace.open(workspace, create=False).read() as db:
        files, count = argilla.write(db, study, judges=judges)
    _folder(out or Path(f"{file_name(study)}-argilla"), files, count)


@command.command("report")
@click.option("--study", required=True, metavar="NAME", help="The study to measure.")
@options.resamples("items")
@options.seed
@options.measuring
@click.option("--out", type=click.Path(path_type=Path), help="The ZIP to write; NAME-report.zip if left out.")
@click.pass_obj
def _report(workspace: str, /, study: str, keep_refused: bool, out: Path | None, **measured: Any) -> None:
    """A study's agreement as a ZIP: a summary, every table, and hashes of sample, ratings and prompts."""
    opened = Workspace.open(workspace, create=False)
    asked = Options(exclude_refused=not keep_refused, families=families(opened.models_path), **measured)
    with opened.read() as db:
        report = agreement_report(db, study, asked)
        measure(report, report.steps())
        written = bundle.bundle(db, report, made=date.today())
    out = out or Path(f"{file_name(study)}-report.zip")
    _whole(out, lambda file: file.write(written))
    echo(f"The report is in {out}.", err=True)


@command.command("registration")
@click.option("--study", required=True, metavar="NAME", help="The study.")
@_OUT
@click.pass_obj
def _registration(workspace: str, study: str, out: Path | None) -> None:
    """What a study registered, byte by byte as it was hashed; the last one made in time, if several were."""
    with Workspace.open(workspace, create=False).read() as db:
        made = registrations.every(db, study)
    holds = registrations.binding(made)
    if holds is None:
        raise StudyError(f"The study “{study}” is not registered. `concord study register` registers it.")
    _write(out, lambda file: file.write(holds.document))
    for one in made:
        echo(f"{one.told}.", err=True)


@command.command("site")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--title", default="", help="What the site is called; the workspace's name if left out.")
@click.option("--replace", is_flag=True, help="Replace the site that the folder holds.")
@click.pass_obj
def _site(workspace: str, folder: Path, title: str, replace: bool) -> None:
    """Leaderboards, agreement, conversations with scores and reasons, prompts and models as static pages.

    The pages open from a disk and ask nothing of anybody. Names of annotators are replaced by numbers; what
    conversations say is published as it is.
    """
    if folder.exists() and any(folder.iterdir()) and not (replace and (folder / "texts.js").exists()):
        raise ConfigError(
            f"{folder} is not empty. Name a new folder" + (", or say --replace." if not replace else ".")
        )
    opened = Workspace.open(workspace, create=False)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.absolute().parent))
    try:
        with opened.read() as db:
            given = title or opened.path.name
            pages = site.pages(db, given, made=date.today(), told=lambda what: echo(f"{what} …", err=True))
            for page in pages:
                path = made / page.path
                path.parent.mkdir(exist_ok=True)
                path.write_text(page.text, encoding="utf-8")
        made.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        made.replace(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    echo(f"The site is in {folder}; open {folder / 'index.html'}.", err=True)


def _table(
    out: Path | None, columns: dataset.ExportTable, rows: Iterable[Mapping[str, Any]], form: dataset.Form
) -> int:
    """A table into a file, or to the terminal, which shows no Parquet."""
    if out is None and form == "parquet":
        raise ConfigError("Parquet is not text: name a file with --out.")
    if out is not None:
        return _whole(out, lambda file: dataset.write(file, columns, rows, form))
    shown = BytesIO()
    count = dataset.write(shown, columns, rows, form)
    text = shown.getvalue().decode()
    if sys.stdout.isatty():
        echo(text, nl=False)
    else:
        sys.stdout.write(text)
    return count


def _folder(out: Path, files: Mapping[str, str | bytes], count: int, what: str = "items") -> None:
    """Write the files of a folder, which must not hold others of these names."""
    for name in files:
        if (out / name).exists():
            raise ConfigError(f"{out / name} is there already. Remove it, or name another folder with --out.")
    for name, text in files.items():
        try:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{out} cannot be written: {error.strerror}.") from error
        data = text.encode() if isinstance(text, str) else text
        _whole(out / name, lambda file, data=data: file.write(data))  # type: ignore[misc]
    echo(f"{count} {what} in {out}: {', '.join(files)}.", err=True)


def _write(out: Path | None, write: Callable[[TextIO], int]) -> int:
    """Into a file, or to the terminal."""
    if out is None and not sys.stdout.isatty():
        return write(sys.stdout)
    if out is None:
        shown = StringIO()
        count = write(shown)
        echo(shown.getvalue(), nl=False)
        return count

    def encoded(file: BinaryIO) -> int:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        count = write(text)
        text.detach()
        return count

    return _whole(out, encoded)


def _whole(out: Path, write: Callable[[BinaryIO], int]) -> int:
    """Into a file that appears when it is complete."""
    try:
        with tempfile.NamedTemporaryFile("wb", dir=out.parent, prefix=f".{out.name}.", delete=False) as file:
            try:
                count = write(file)  # type: ignore[arg-type]
            except BaseException:
                os.unlink(file.name)
                raise
        os.replace(file.name, out)
    except OSError as error:
        raise ConfigError(f"{out} cannot be written: {error.strerror}.") from error
    return count


def _logged(name: str, write: Callable[..., None]) -> Callable[..., None]:
    """A command of this group that writes a line of the audit log when it is done."""

    @wraps(write)
    def logged(*args: Any, **named: Any) -> None:
        by = named.pop("exported_by")
        write(*args, **named)
        opened = Workspace.open(click.get_current_context().obj, create=False)
        if not opened.read_only:
            where = named.get("out") or named.get("folder")
            detail = f"to {where.name}" if where else ""
            with opened.write() as db:
                audit.record(db, by, f"exported {name}", named.get("study", ""), detail=detail)

    return logged


for _name, _one in command.commands.items():
    assert _one.callback is not None
    _one.callback = _logged(_name, _one.callback)
    options.by(audit.COMMAND, name="exported_by", help="Who exports; the audit log says so.")(_one)
