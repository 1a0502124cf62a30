"""The answer on one screen: the verdict, a table of judges beside people, flags, and what to type next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import fill
from typing import Any

import numpy as np

from concord.estimate import Estimate, value_of
from concord.files.plain import plain_line
from concord.messages import CHANGES, CORRECTED_SHARE, SHARE, SHARE_BASIS, UNSTABLE, excluded
from concord.reports.agreement_report import AgreementReport
from concord.reports.coefficient import default_coefficient
from concord.reports.headline import headline
from concord.reports.wording import count_words
from concord.statistics.confusion import mistaken
from concord.statistics.glance import agreement_column
from concord.statistics.majority import ties_of_people
from concord.statistics.ratings import panel_name
from concord.table import Cell, Column, Table, as_text, as_values, shown

PREFERENCES = ("equal", "equal_decided", "ties", "ties_of_people")
"""Columns of preferences on the screen."""
MOST_JUDGES = 6
"""Rows of the table; of more judges the best by their agreement are shown."""


def judges_table(report: AgreementReport, criterion: str) -> Table:
    """The glance, those that agree best first: agreement, another annotator's, bias, n, the verdict; of
    categories also the two that a judge confuses most often.
    """
    glance_table = report.section("glance", criterion)["glance"]
    by = agreement_column(glance_table)
    kappa = default_coefficient(report, criterion) == "kappa"
    rows = sorted(glance_table.rows, key=lambda row: -value_of(row[by]))[:MOST_JUDGES]
    column_of_name = {column.name: column for column in glance_table.columns}
    shown_first = [
        n for n in ("name", by, "person", "bias", "n", "excluded", "verdict") if n in column_of_name
    ]
    not_shown = {"bias"} if kappa else set()
    if not any(row["excluded"] for row in rows):
        not_shown.add("excluded")
    columns = [replace(column_of_name.pop(n), file_only=False) for n in shown_first if n not in not_shown]
    if pairs := report.section("preferences", criterion).get("preferences"):
        by_rater = {row["rater"]: row for row in pairs.rows}
        of_pairs = [column for column in pairs.columns if column.name in PREFERENCES]
        rows = [{**row, **{c.name: by_rater[row["rater"]].get(c.name) for c in of_pairs}} for row in rows]
        columns += of_pairs
    elif kappa and not report.ratings[criterion].ordered:
        rows = [{**row, "mistaken": _mistaken(report, criterion, str(row["rater"]))} for row in rows]
        columns.append(Column("mistaken", "Mistaken most often"))
    columns += [replace(column, file_only=True) for column in column_of_name.values()]
    title = f"Judges on {report.label(criterion)}"
    reason = excluded(headline(report, criterion, report.primary_panel).excluded) if rows else ""
    panel_words = report.names.get(panel_name(report.primary_panel), "")
    caption = f"Excluded rated items of {panel_words}: {reason}." if reason else ""
    changed = [changes for row in pairs.rows if (changes := _changes(row))] if pairs else []
    changed += _unstable(report, criterion)[:MOST_JUDGES]
    caption = " ".join(filter(None, [caption, str(glance_table.meta.get("joint", "")), *changed]))
    return replace(
        glance_table, title=title, columns=tuple(columns), rows=tuple(rows), caption=caption, notes=()
    )


def _changes(row: Mapping[str, Cell]) -> str:
    """How often a judge's preference changes with the order of a pair; “” where it was asked in one order."""
    changed = row.get("changed")
    if not isinstance(changed, Estimate) or changed.value is None or not changed.n:
        return ""
    number = round(changed.value * changed.n)
    return CHANGES.format(judge=row["rater"], number=number, n=changed.n, share=changed.value)


def _unstable(report: AgreementReport, criterion: str) -> list[str]:
    """On how many items the runs of each judge differ, a sentence a judge."""
    runs = report.data.repeats
    if not runs:
        return []
    sentences = []
    for judge in dict.fromkeys(runs["rater"].tolist()):
        rows_of_judge = (runs["rater"] == judge) & (runs["criterion"] == criterion)
        unit = runs["unit"][rows_of_judge]
        score = runs["score"][rows_of_judge]
        items, codes, counts = np.unique(unit, return_inverse=True, return_counts=True)
        several = int((counts > 1).sum())
        first = score[np.unique(codes, return_index=True)[1]][codes]
        unstable = len(np.unique(codes[score != first]))
        if several and len(items):
            sentences.append(UNSTABLE.format(judge=judge, number=unstable, n=several))
    return sentences


def _mistaken(report: AgreementReport, criterion: str, judge: str) -> str:
    """The two categories that a judge confuses most often; “” of judges together."""
    ratings = report.ratings
    question = report.criterion(criterion)
    return (
        mistaken(ratings, criterion, judge, question.scale.word)
        if question and judge in ratings.judges
        else ""
    )


def rated(report: AgreementReport, criterion: str) -> str:
    """What was rated, by how many; on how many items judges are not compared, and why."""
    scores = report.ratings[criterion]
    present = scores.present > 0
    people = "annotators without names" if scores.unlinked else count_words(len(scores.people), "annotator")
    items = count_words(int(present.sum()), "item")
    sentence = f"Rated: {items} by {people}; {count_words(len(report.judges), 'judge')}."
    if left_out := int((present & ~report.ratings.open(criterion)).sum()):
        reasons = ", ".join(dict.fromkeys(report.data.left_out.values()))
        sentence += f" Judges' figures exclude {left_out} of them: {reasons}."
    return sentence


def tables(report: AgreementReport, criterion: str) -> list[Table]:
    """The tables of the screen: judges beside people, and of two answers how often they decide alike."""
    decision_table = report.section("glance", criterion).get("decisions")
    ties = ties_of_people(report.ratings[criterion])
    return [
        judges_table(report, criterion),
        *([_with_shares(decision_table, ties)] if decision_table else []),
    ]


def _with_shares(decisions: Table, ties: int) -> Table:
    """Of the decisions what fits on a screen: shares of the answer in a sentence, from the judge with the
    narrowest interval.
    """
    by_name = {column.name: column for column in decisions.columns}
    best = min(decisions.rows, key=lambda row: _width(row["corrected"]))
    people, corrected = (
        shown(best[name], replace(by_name[name], n=False)) for name in ("people", "corrected")
    )
    word = by_name["people"].title.partition(": ")[2]
    items = _n(best["people"])
    tie_words = f" ({count_words(ties, 'tie')} excluded)" if ties else ""
    noun = "item" if items == "1" else "items"
    caption = SHARE.format(answer=word, share=people, items=f"{items} {noun}", excluded=tie_words)
    if not by_name["corrected"].file_only:
        caption += " " + CORRECTED_SHARE.format(
            share=corrected,
            n=_n(best["judge"]),
            judge=best["rater"],
            basis=SHARE_BASIS[bool(decisions.meta.get("weighted"))],
        )
    shares = ("judge", "people", "corrected", "rogan_gladen", "kappa", "accuracy")
    columns = tuple(replace(c, file_only=c.file_only or c.name in shares) for c in decisions.columns)
    columns = tuple(replace(c, heading="Judge") if c.name == "rater" else c for c in columns)
    return replace(decisions, columns=columns, caption=caption)


def _width(cell: Cell) -> float:
    return cell.half_width if isinstance(cell, Estimate) and cell.half_width is not None else 1.0


def _n(cell: Cell) -> str:
    return f"{cell.n:,}" if isinstance(cell, Estimate) and cell.n is not None else "0"


def screen(
    report: AgreementReport,
    *,
    provenance: Sequence[str] = (),
    left_out: Sequence[str] = (),
    next_commands: Sequence[str] = (),
    criterion: str = "",
    width: int = 100,
) -> str:
    """The answer as text: what was read, what to do, why, what is not known, the tables, at most three
    flags, what to type next.
    """
    key = criterion or report.main
    verdict = report.verdict(key)
    sentences = filter(None, (verdict.action, " ".join(filter(None, (verdict.reason, verdict.unknown)))))
    parts = [
        _lines(" · ".join(provenance), width, 3),
        *(_lines(warning(one), width, 2) for one in left_out),
        "",
        *(_lines(one, width, 7) for one in sentences),
        "",
    ]
    for table in tables(report, key):
        body = as_text(replace(table, notes=()), width).rstrip().split("\n")
        reasons = len(table.reasons())
        parts += body[2 : len(body) - reasons - bool(reasons)]
        parts += [_lines(table.caption, width, 4)] if table.caption else []
        parts.append("")
    parts += [_lines(f"! {one.sentence(report.data.study)}", width, 2) for one in report.partial]
    parts += [_lines(f"! {flag.text}", width, 2) for flag in verdict.flags]
    if next_commands:
        parts += ["Next:", *(f"  {plain_line(command)}" for command in next_commands)]
    lines = "\n".join(parts).strip("\n")
    while "\n\n\n" in lines:
        lines = lines.replace("\n\n\n", "\n\n")
    return f"{lines}\n"


def warning(question: str) -> str:
    """What a reader of the figures has to know of the table that was read, as a sentence."""
    return f"Beware: {question}{'' if question.endswith('?') else '.'}"


def _lines(text: str, width: int, line_limit: int) -> str:
    return fill(plain_line(text), width, max_lines=line_limit, placeholder=" …")


def screen_json(
    report: AgreementReport, *, provenance: Sequence[str], left_out: Sequence[str], criterion: str = ""
) -> dict[str, Any]:
    """The report as JSON has it, with what was read and the tables of the screen."""
    key = criterion or report.main
    screen_tables = {table.name: as_values(table) for table in tables(report, key)}
    return report.as_json() | {"taken": [*provenance], "not_read": [*left_out], "screen": screen_tables}
