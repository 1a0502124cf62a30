"""A report of agreement as one text: JSON, CSV, LaTeX, Markdown, or lines for a terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import fill
from typing import TYPE_CHECKING, Any

from concord.agreement.study import as_json, correlations_table
from concord.files.plain import plain_line
from concord.reports.names import renamed
from concord.reports.sections import IN_FILES, OVER_ALL, SECTIONS
from concord.table import (
    SCHEMA,
    Column,
    Table,
    as_csv,
    as_document,
    as_figures_csv,
    as_values,
    latex_text,
    markdown_text,
)

if TYPE_CHECKING:
    from concord.reports.agreement_report import AgreementReport

WIDTH = 110
"""Columns of a terminal whose width is not known."""


def document(
    report: AgreementReport,
    form: str,
    *,
    sections: Sequence[str] = (),
    criterion: str = "",
    width: int = WIDTH,
) -> str:
    """The report in one of `concord.table.FORMS`: the summary, and the figures of the main criterion.

    JSON has everything, CSV every figure on a line of its own. With names of `sections` (“all” for every
    one), their tables on `criterion` (else the main one). Text is made for a terminal of `width` columns.
    Raises NotFound for an unknown section or criterion.
    """
    if sections:
        tables = report.asked(sections, criterion)
    elif form == "json":
        return json.dumps(report_json(report), ensure_ascii=False, indent=2) + "\n"
    elif form == "csv":
        return as_csv(report.nominal) if report.options.nominal else as_figures_csv(_figures(report))
    else:
        tables = [*report.overview]
    if form in ("json", "csv"):
        return as_document(tables, form)
    named = [renamed(table, report.names) for table in tables]
    if sections:
        return as_document(named, form, width=width)
    text = _listed([*report.summary, *report.notes], form, width) + as_document(named, form, width=width)
    more = [f"More: `--section NAME`, where NAME is {', '.join(SECTIONS)} or all."]
    return text if form != "table" or report.options.nominal else f"{text}\n{_listed(more, form, width)}"


def report_json(report: AgreementReport) -> dict[str, Any]:
    """All figures and sentences as plain values: over all criteria, and every section on every one."""
    said: dict[str, Any] = {"summary": report.summary, "missing": report.missing, "notes": report.notes}
    said["left_out"] = report.left_out
    said["excluded"] = [
        {"annotator": one.annotator, "reason": one.reason, "decided": one.decided}
        for one in report.of.excluded
    ]
    said["with_excluded"] = report.of.with_excluded
    if report.of.chances:
        said["describes"] = report.of.items
    if report.options.nominal:
        figures = [_flat(row) for row in report.nominal.rows]
        return {"schema": SCHEMA, "study": report.of.study.name, "figures": figures} | said
    found = {
        criterion: {
            name: {table.name: as_values(table) for table in report.section(name, criterion).values()}
            for name in IN_FILES
        }
        for criterion in report.criteria
    }
    if report.unordered is not None:
        said["categories"] = [_flat(row) for row in (report.categories or report.nominal).rows]
    return as_json(report.agreement) | said | {"main": report.main, "sections": found}


def _figures(report: AgreementReport) -> list[Table]:
    """The tables that hold every figure, the criterion's name in every row."""
    found = [correlations_table(report.agreement, report.label)]
    found += [table for name in OVER_ALL for table in report.section(name, report.main).values()]
    for criterion in report.criteria:
        tables = (table for name in IN_FILES for table in report.section(name, criterion).values())
        found += [_of(table, report.label(criterion)) for table in tables]
    return [*found, *filter(None, [report.categories])]


def _of(table: Table, criterion: str) -> Table:
    """A table of one criterion with the criterion's name in every row."""
    rows = tuple({"criterion": criterion, **row} for row in table.rows)
    return replace(table, columns=(Column("criterion"), *table.columns), rows=rows)


def _listed(sentences: Sequence[str], form: str, width: int) -> str:
    """Sentences as a list in a form for readers."""
    if not sentences:
        return ""
    if form == "latex":
        return "\n".join(
            [r"\begin{itemize}", *(rf"\item {latex_text(s)}" for s in sentences), r"\end{itemize}", "", ""]
        )
    if form == "markdown":
        return "\n".join([*(f"- {markdown_text(sentence)}" for sentence in sentences), "", ""])
    return "\n".join([*(fill(s, width, subsequent_indent="  ") for s in map(plain_line, sentences)), "", ""])


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A figure of answers as categories: value, low, high and reason beside the names."""
    value, agreement = row["value"], row["agreement"].value
    return {
        **{name: row[name] for name in ("criterion", "coefficient", "a", "b")},
        **{"value": value.value, "low": value.low, "high": value.high, "agreement": agreement, "n": row["n"]},
        "reason": "; ".join(filter(None, [row.get("note"), value.reason])),
    }
