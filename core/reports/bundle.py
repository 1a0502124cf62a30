"""A study's agreement report as a ZIP: the summary, every table, and what they rest on.

Equal data and equal options give equal bytes, but for the day it was made: a bundle can be compared with one
made later. It names the sample, the ratings, the guidelines and the prompts by their hashes, so that a reader
can tell whether they are still the same.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from concord.files import file_name, file_names
from concord.reports import page
from concord.reports.agreement_report import AgreementReport, Options
from concord.reports.datasheet import about, datasheet, sums
from concord.reports.registered import registered
from concord.studies import studies
from concord.studies.comments import comment_rows
from concord.table import Column, Table, as_csv, as_markdown, markdown_text

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time a ZIP gives its files: always the same, so that equal bundles are equal bytes."""


Files = Iterable[tuple[str, str | bytes]]


def bundle(db: Database, report: AgreementReport, *, made: date) -> bytes:
    """`files` as a ZIP."""
    out = io.BytesIO()
    zipped(out, files(db, report, made=made).items(), file_name(report.of.study.name))
    return out.getvalue()


def zipped(out: Path | io.BytesIO, files: Files, folder: str = "") -> int:
    """Write files into a ZIP, below a folder; equal files give equal bytes. Returns how many there are."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            entry = zipfile.ZipInfo(f"{folder}/{name}" if folder else name, EPOCH)
            archive.writestr(entry, text, zipfile.ZIP_DEFLATED)
        return len(archive.namelist())


def files(db: Database, report: AgreementReport, *, made: date) -> dict[str, str]:
    """report.html, report.md, datasheet.md, about.json, figures.json, agreement.csv, agreement.tex,
    tables/CRITERION/*.csv; guidelines.md, registration.json and comments.csv where there are any.
    """
    said = about(db, report) | {"made": made.isoformat()}
    files = {
        "report.html": page.of_study(db, report, made=made),
        "report.md": _report(said, report),
        "about.json": json.dumps(said, ensure_ascii=False, indent=2) + "\n",
        "figures.json": report.document("json"),
        "agreement.csv": report.document("csv"),
        "agreement.tex": report.document("latex"),
    }
    files["datasheet.md"] = datasheet(db, report.of.study.name, report)
    if report.of.study.guidelines:
        files["guidelines.md"] = report.of.study.guidelines
    if report.of.registered:
        # Byte by byte what was hashed.
        files["registration.json"] = report.of.registered.document
    if said_beside := [*comment_rows(db, report.of.study.name)]:
        columns = ("kind", "item_id", "turn", "rater", "state", "skipped_because", "comment", "spans")
        table = Table("comments", "Comments", tuple(map(Column, columns)), tuple(said_beside))
        files["comments.csv"] = as_csv(table)
    for criterion, folder in file_names(report.criteria).items():
        for table in report.tables(criterion).values():
            if table.rows:
                files[f"tables/{folder}/{file_name(table.name)}.csv"] = as_csv(table)
    return files


def _report(said: Mapping[str, Any], report: AgreementReport) -> str:
    """The report for a reader: what the command prints (summary and figures), then what they rest on."""
    title = markdown_text(said["title"] or said["study"])
    lines = [f"# How far can the judges of “{title}” be trusted?", ""]
    lines += [f"- {markdown_text(sentence)}" for sentence in said["missing"]]
    lines += [report.document("markdown")]
    paper, reported = studies.reported(report.of.study)
    if reported:
        figures = markdown_text(" · ".join(f"{label} {figure}" for label, figure in reported.items()))
        paper = markdown_text(paper)
        lines += [f"Figures of the paper “{paper}”, for comparison, not of this study: {figures}.", ""]
    if said["registration"]:
        lines += ["## What was registered, and what differs", "", as_markdown(registered(report)), ""]
    lines += ["## What they rest on", ""]
    criteria: dict[str, list[str]] = {}
    for criterion, basis in said["basis"].items():
        criteria.setdefault(basis, []).append(report.label(criterion))
    rest = [f"{', '.join(labels)}: {basis}." for basis, labels in criteria.items()]
    rest += [f"Judges are not compared on {out['units']} units: {out['reason']}." for out in said["left_out"]]
    rest += [*said["provenance"], sums(said), _measured(report.options)]
    rest += [f"Concord {said['concord']}, {said['made']}."]
    lines += [f"- {markdown_text(sentence)}" for sentence in rest]
    lines += [
        "",
        "`about.json` has all of this for programs, `tables/` every table of the agreement page with its "
        "intervals and reasons.",
    ]
    return "\n".join(lines) + "\n"


def _measured(options: Options) -> str:
    mean = options.runs == "mean"
    one = "the mean of a judge's repeated runs (of categories, the answer given most often)"
    runs = one if mean else "each run of a judge by itself"
    refused = "without" if options.exclude_refused else "with"
    said = f"Measured with {runs}, judges {refused} conversations in which one of them saw a refusal"
    if options.panels:
        panels = "; ".join(" + ".join(panel) for panel in options.panels)
        said += f", and the panels {panels} beside the usual ones"
    if options.cluster_by is not None and not options.cluster_by:
        said += "; items taken for independent"
    elif options.cluster_by:
        said += f"; items alike in {' and '.join(options.cluster_by)} resampled together"
    return f"{said}."
