"""A study's agreement to hand in or archive: the answer, every table, and what it rests on, as one bundle of files.

Equal data and equal options give equal bytes, but for the day it was made: a bundle can be compared with one made later. It names
the sample, the ratings, the guidelines and the prompts by their hashes, so that a reader can tell whether they are still the same.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from typing import Any

import pandas as pd
from sqlite_utils import Database

from core.agreement import show
from core.errors import not_found
from core.reports import agreement_report
from core.reports.agreement_report import Detail, Measured, Options
from core.reports.summary import answer
from core.store import origins
from core.store import studies as stored
from core.studies import studies

UNMOVED = (1980, 1, 1, 0, 0, 0)
"""The time a ZIP gives its files; the same always, so that equal bundles are equal bytes."""


def bundle(db: Database, study: str, options: Options, *, made: date) -> bytes:
    """The ZIP: report.md, about.json, figures.json, agreement.csv, agreement.tex and tables/CRITERION/*.csv.

    Raises NotFound for an unknown study or a panel with an unknown judge, StudyError for a study without any rating.
    """
    measured = agreement_report.measure(db, study, options)
    for judge in (judge for panel in options.panels for judge in panel):
        if judge not in measured.ratings.judges:
            raise not_found("judge", judge, measured.ratings.judges)
    details = [agreement_report.detail(measured, criterion) for criterion in measured.criteria]
    said = about(db, measured, details, made=made)
    files = {
        "report.md": _report(said, measured),
        "about.json": _json(said),
        "figures.json": _json(measured.figures),
        "agreement.csv": show.to_csv(measured.figures),
        "agreement.tex": show.latex(measured.figures),
        **{
            f"tables/{detail.criterion}/{name}.csv": table.to_csv(index=False, lineterminator="\n")
            for detail in details
            for name, table in tables(detail)
        },
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(f"{study}/{name}", UNMOVED), text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def about(db: Database, measured: Measured, details: list[Detail], *, made: date) -> dict[str, Any]:
    """What the figures rest on and what they say in words, ready for JSON.

    `sample_sha256` is of the units (key of the conversation, turn), `ratings_sha256` of every rating that was measured; neither
    depends on the workspace: a study exported and imported elsewhere has the same.
    """
    study = measured.of.study
    units = stored.units(db, study.name)
    main = next(detail for detail in details if detail.criterion == measured.main)
    return {
        "concord": version("concord"),
        "made": made.isoformat(),
        "study": study.name,
        "title": study.title,
        "source": study.source,
        "simulated": list(measured.of.simulated),
        "answer": answer(measured, main),
        "missing": studies.shortcomings(measured.figures, anonymous=study.anonymous),
        "basis": {detail.criterion: str(detail.judges.basis) for detail in details},
        "left_out": dict(Counter(measured.of.left_out.values())),
        "options": asdict(measured.options),
        "units": len(units),
        "sample_sha256": _digest(f"{unit['key']}\t{unit['turn'] or ''}" for unit in units),
        "sample": {"seed": study.seed, "overlap": study.overlap, "per_turn": study.per_turn, **study.meta.get("drawn", {})},
        "ratings": len(measured.of.table),
        "ratings_sha256": _digest(_ratings(measured.of.table, {unit["id"]: unit["key"] for unit in units})),
        "guidelines_sha256": _digest([study.guidelines]) if study.guidelines else None,
        "criteria": [
            {"name": c.name, "title": c.label, "statement": c.statement, "scale": asdict(c.scale), "counted": c.counted}
            for c in study.criteria
        ],
        "judges": [asdict(origin) for origin in origins.of_judges(db, study.name)],
    }  # fmt: skip


def tables(detail: Detail) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables of one criterion by name, as `core.agreement` gives them: nan is undefined, and the column `reason` says why."""
    figures = {
        "judges": detail.judges, "held_out": detail.held_out, "people": detail.people, "players": detail.players,
        "levels": detail.levels, "redundancy": detail.redundancy,
        **{f"retest of {judge}": found for judge, found in detail.retests.items()},
    }  # fmt: skip
    for name, found in figures.items():
        if found is not None and len(found.rows):
            yield _file_name(name), found.rows
    if detail.search is not None and len(detail.search.rows):
        yield "search", detail.search.rows


def _report(said: Mapping[str, Any], measured: Measured) -> str:
    """The report for a reader: the answer first, then the table, then what it rests on."""
    lines = [f"# How far can the judges of “{said['title'] or said['study']}” be trusted?", ""]
    if said["simulated"]:
        lines += [f"**Mock models, neither people nor language models: {', '.join(said['simulated'])}.**", ""]
    lines += [f"- {sentence}" for sentence in [*said["answer"], *said["missing"]]]
    figures = show.text(measured.figures, reported=studies.reported(measured.of.study))
    lines += ["", "## Figures", "", *(f"    {line}".rstrip() for line in figures.splitlines()), "", "## What they rest on", ""]  # fmt: skip
    for basis, criteria in _alike(said["basis"]).items():
        lines.append(f"- {', '.join(measured.label(criterion) for criterion in criteria)}: {basis}.")
    lines += [f"- Left out: {n} units because {reason}." for reason, n in said["left_out"].items()]
    lines += [f"- {_asked(judge)}" for judge in said["judges"]]
    lines += [
        f"- {said['units']} units, SHA-256 {said['sample_sha256']}; {said['ratings']} ratings, SHA-256 {said['ratings_sha256']}.",
        f"- {_measured(measured.options)}",
        f"- Concord {said['concord']}, {said['made']}.",
        "",
        "`about.json` has all of this for programs, `tables/` every table of the agreement page with its intervals and reasons.",
    ]
    return "\n".join(lines) + "\n"


def _alike(of: Mapping[str, str]) -> dict[str, list[str]]:
    """What several criteria share is said once: text → criteria."""
    found: dict[str, list[str]] = {}
    for criterion, text in of.items():
        found.setdefault(text, []).append(criterion)
    return found


def _measured(options: Options) -> str:
    runs = (
        "the mean of a judge's repeated runs" if options.runs == "mean" else "each run of a judge by itself"
    )
    refused = "left out" if options.exclude_refused else "counted"
    panels = "; ".join(" + ".join(panel) for panel in options.panels)
    together = " and ".join(options.cluster_by)
    return (
        f"Measured with {runs}, conversations in which a judge saw a refusal {refused}"
        + (f", and the panels {panels} beside the usual ones" if panels else "")
        + (f"; items alike in {together} resampled together" if together else "")
        + "."
    )


def _asked(judge: Mapping[str, Any]) -> str:
    name = f"{judge['judge']} {judge['variant']}".rstrip()
    prompt = f"prompt {judge['prompt']}" if judge["prompt"] else "imported, its prompt unknown"
    return f"{name}: {judge['judgements']} judgements, {judge['failed']} of them failed; {prompt}."


def _ratings(table: pd.DataFrame, keys: Mapping[int, str]) -> list[str]:
    turns = table.turn.astype("Int64").astype("string").fillna("")
    rows = zip(
        table.unit.map(keys), turns, table.criterion, table.kind, table.rater, table.score, strict=True
    )
    return sorted("\t".join(map(str, row)) for row in rows)


def _digest(lines: Iterator[str] | list[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name)


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"
