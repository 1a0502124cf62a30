"""A study's agreement report as a ZIP: the summary, every table, and what they rest on.

Equal data and equal options give equal bytes, but for the day it was made: a bundle can be compared with one
made later. It names the sample, the ratings, the guidelines and the prompts by their hashes, so that a reader
can tell whether they are still the same.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from typing import Any

import pandas as pd
from sqlite_utils import Database

from concord.files import file_name, file_names
from concord.reports.agreement_report import AgreementReport, Options
from concord.reports.datasheet import datasheet
from concord.reports.provenance import provenance
from concord.reports.registered import registered
from concord.store import configurations
from concord.store import studies as stored
from concord.studies import studies
from concord.studies.comments import comment_rows
from concord.table import SCHEMA, Column, Table, as_csv, as_markdown, as_values, markdown_text

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time a ZIP gives its files: always the same, so that equal bundles are equal bytes."""


def bundle(db: Database, report: AgreementReport, *, made: date) -> bytes:
    """The ZIP: report.md, datasheet.md, about.json, figures.json, agreement.csv, agreement.tex,
    tables/CRITERION/*.csv; guidelines.md, registration.json and comments.csv where there are any.
    """
    said = about(db, report, made=made)
    files = {
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
    out, folder = io.BytesIO(), file_name(report.of.study.name)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}", EPOCH), text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def about(db: Database, report: AgreementReport, *, made: date) -> dict[str, Any]:
    """What the figures rest on and what they say in words, ready for JSON.

    `sample_sha256` is of the units (key of the conversation, turn), `ratings_sha256` of every rating that was
    measured; neither depends on the workspace: a study exported and imported elsewhere has the same.
    """
    study = report.of.study
    units = stored.units(db, study.name)
    drawn = study.meta.get("drawn", {})
    return {
        "schema": SCHEMA,
        "concord": version("concord"),
        "made": made.isoformat(),
        "study": study.name,
        "title": study.title,
        "source": study.source,
        "simulated": list(report.of.simulated),
        "summary": report.summary,
        "missing": report.missing,
        "basis": {name: part.basis for name, part in report.agreement.criteria.items()},
        "left_out": report.left_out,
        "options": asdict(report.options),
        "units": len(units),
        "sample_sha256": _digest(f"{unit['key']}\t{unit['turn'] or ''}" for unit in units),
        "sample": {"seed": study.seed, "overlap": study.overlap, "per_turn": study.per_turn, **drawn},
        "ratings": len(report.of.table),
        "ratings_sha256": _digest(_ratings(report.of.table, {unit["id"]: unit["key"] for unit in units})),
        "guidelines_sha256": _digest([study.guidelines]) if study.guidelines else None,
        "criteria": [
            {"name": c.name, "title": c.label, "statement": c.statement}
            | {"scale": asdict(c.scale), "counted": c.counted}
            for c in study.criteria
        ],
        "registration": _registered(report),
        "provenance": provenance(db, study.name),
        "judges": configurations.origins(db, study.name),
    }


def _registered(report: AgreementReport) -> dict[str, Any] | None:
    """The registration and what differs from it; None where there is none."""
    made = report.of.registered
    if made is None:
        return None
    told = {"sha256": made.sha256, "registered": made.registered, "by": made.by, "answers": made.ratings}
    return told | {"late": made.late, "items": as_values(registered(report))["rows"]}


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
    rest += [*map(origin, said["judges"]), *said["provenance"]]
    lines += [f"- {markdown_text(sentence)}" for sentence in rest]
    lines += [
        f"- {said['units']} units, SHA-256 {said['sample_sha256']}; "
        f"{said['ratings']} ratings, SHA-256 {said['ratings_sha256']}.",
        f"- {markdown_text(_measured(report.options))}",
        f"- Concord {said['concord']}, {said['made']}.",
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


def origin(judge: Mapping[str, Any]) -> str:
    """A judge in one sentence: how often it judged, how often it failed, and with which prompt."""
    name = f"{judge['judge']} {judge['variant']}".rstrip()
    prompt = f"prompt {judge['prompt']}" if judge["prompt"] else "imported, its prompt unknown"
    return f"{name}: {judge['judgements']} judgements, {judge['failed']} of them failed; {prompt}."


def _ratings(table: pd.DataFrame, keys: Mapping[int, str]) -> list[str]:
    turns = table.turn.astype("Int64").astype("string").fillna("")
    rows = zip(
        table.unit.map(keys), turns, table.criterion, table.kind, table.rater, table.score, strict=True
    )
    return sorted("\t".join(map(str, row)) for row in rows)


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
