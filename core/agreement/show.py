"""A study's agreement as text, CSV and LaTeX, in the manner of the PingPong paper's tables.

Every function takes the dictionary that `study_agreement` returns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from core.agreement.ratings import FINAL

UNDEFINED = "–"
STAR = "*"
CERTAIN = 0.0001
"""The paper stars a correlation whose p is not below this."""

WIDEST_MATRIX = 12
"""More annotators than this do not fit on a line of text; their figures are in the CSV and the LaTeX."""

Result = Mapping[str, Any]


def raters(result: Result) -> list[str]:
    """The rows of the table: every judge, then every panel as “Avg(…)”."""
    names: dict[str, None] = {}
    for part in result["criteria"].values():
        names |= dict.fromkeys(row["rater"] for row in part["judges"])
    for part in result["criteria"].values():
        names |= dict.fromkeys(_called(row) for row in part["panels"])
    return list(names)


def text(result: Result, *, reported: Mapping[str, str] | None = None) -> str:
    """The study for a terminal: people's reliability, judges and panels, annotators; `reported` adds what a paper reports, label by label."""
    shown = [_heading(result)]
    if not result["criteria"]:
        return f"{shown[0]}\n\n{_sentence(result.get('reason', 'there is nothing to measure'))}\n"
    notes: dict[str, None] = {}
    shown.append("People\n" + _grid([["", *result["criteria"]], *_people(result, notes)]))
    if raters(result):
        cell = _cell_with(notes)
        table = [["", *result["criteria"]], *_judges(result, cell)]
        shown.append(
            "Judges and panels: Spearman with the mean of people, on all items with people unless n says otherwise\n"
            + _grid(table)
        )
    else:
        shown.append("The study has no judges.")
    shown.extend(_annotators(result))
    if reported:
        heading = "The paper's own figures (for comparison; they are not of this study)\n"
        shown.append(heading + _grid([[label, value] for label, value in reported.items()]))
    if notes:
        shown.append("\n".join(notes))
    return "\n\n".join(shown) + "\n"


def to_csv(result: Result) -> str:
    """Every figure on a line of its own: criterion, figure, of, with, value, low, high, p, n, reason; empty where undefined."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(["criterion", "figure", "of", "with", "value", "low", "high", "p", "n", "reason"])
    for criterion, part in result["criteria"].items():
        for line in _figures(part):
            lines.writerow([criterion, *("" if cell is None else cell for cell in line)])
    return out.getvalue()


def latex(result: Result) -> str:
    """The table of judges and panels, and the annotator matrix of final (else of the last criterion), for booktabs."""
    criteria = list(result["criteria"])
    rows = [
        [escape(name), *cells]
        for name, *cells in _judges(
            result, lambda row: _plain(row, undefined="--", star=r"\textsuperscript{*}")
        )
    ]
    name = f" of study {escape(result['study'])}" if result["study"] else ""
    judges = _tabular(
        ["Judge", *(escape(_title(criterion)) for criterion in criteria)],
        rows,
        f"Spearman correlation of judges and panels with the mean of people{name}, {result['items']} items. "
        r"All p-values are below 0.0001, except those marked with a star.",
    )
    if not criteria:
        return judges
    criterion = FINAL if FINAL in criteria else criteria[-1]
    humans = result["criteria"][criterion]["humans"]
    if not humans["each"]:
        return judges
    alpha = humans["alpha"]["ordinal"]["value"]
    header, *matrix = annotator_matrix(result, criterion)
    people = _tabular(
        [escape(cell) for cell in header],
        [[escape(cell) if cell != UNDEFINED else "--" for cell in row] for row in matrix],
        f"Pair-wise Spearman correlation of annotators on {escape(criterion)}{name}; Krippendorff's $\\alpha$ (ordinal) is "
        f"{'undefined' if alpha is None else f'{alpha:.2f}'}. “All” includes the annotator's own ratings, “Others” does not.",
    )
    return judges + "\n" + people


def annotator_matrix(result: Result, criterion: str = FINAL) -> list[list[str]]:
    """Annotators × annotators with a header row; below, each against all (themselves included) and against the others."""
    humans = result["criteria"][criterion]["humans"]
    names = [row["rater"] for row in humans["each"]]
    value = {(row["a"], row["b"]): row["spearman"] for row in humans["pairs"]}
    value |= {(b, a): rho for (a, b), rho in value.items()}
    rows = [["", *names]]
    rows += [[name, *(_number(value.get((name, other))) for other in names)] for name in names]
    rows.append(["All", *(_number(row["vs_all"]) for row in humans["each"])])
    rows.append(["Others", *(_number(row["vs_others"]) for row in humans["each"])])
    return rows


def ceiling(part: Result) -> float | None:
    """How well a person agrees with the others, on average over people: what a judge can be expected to reach."""
    values = [row["vs_others"] for row in part["humans"]["each"] if row["vs_others"] is not None]
    return sum(values) / len(values) if values else None


def _heading(result: Result) -> str:
    name = f"Study {result['study']}: " if result["study"] else ""
    return f"{name}{result['items']} items; 95% percentile bootstrap over {drawn(result)}, {result['resamples']} resamples, seed {result['seed']}"


def drawn(result: Result) -> str:
    """What a resample draws."""
    return f"{result['clusters']} clusters of items" if "clusters" in result else "items"


def _people(result: Result, notes: dict[str, None]) -> Iterator[list[str]]:
    parts = result["criteria"]
    yield ["people", *(str(part["humans"]["raters"]) for part in parts.values())]
    yield ["items with people", *(str(part["humans"]["items"]) for part in parts.values())]
    for metric in ("ordinal", "interval"):
        cells = []
        for criterion, part in parts.items():
            alpha = part["humans"]["alpha"][metric]
            cells.append(_number(alpha["value"]) + _ends(alpha["ci"]))
            _note(notes, f"alpha, {metric}, {criterion}", alpha)
        yield [f"Krippendorff's alpha, {metric}", *cells]
    yield ["a person with the others", *(_number(ceiling(part)) for part in parts.values())]
    for criterion, part in parts.items():
        _note(notes, f"people, {criterion}", part["humans"])


def _judges(result: Result, cell: Callable[[Result], str]) -> Iterator[list[str]]:
    found = {
        (criterion, _called(row)): row
        for criterion, part in result["criteria"].items()
        for row in part["judges"] + part["panels"]
    }
    for name in raters(result):
        yield [
            name,
            *(
                cell(found[criterion, name] | {"criterion": criterion, "items": part["humans"]["items"]})
                for criterion, part in result["criteria"].items()
            ),
        ]


def _cell_with(notes: dict[str, None]) -> Callable[[Result], str]:
    starred = f"{STAR} p is not below {CERTAIN}"

    def cell(row: Result) -> str:
        _note(notes, f"{_called(row)}, {row['criterion']}", row)
        shown = _plain(row)
        if shown.endswith(STAR):
            notes[starred] = None
        return shown + _ends(row["ci"]) + (f" n={row['n']}" if row["n"] != row["items"] else "")

    return cell


def _plain(row: Result, *, undefined: str = UNDEFINED, star: str = STAR) -> str:
    if row["spearman"] is None:
        return undefined
    certain = row["p"] is not None and row["p"] < CERTAIN
    return f"{row['spearman']:.3f}{'' if certain else star}"


def _annotators(result: Result) -> Iterator[str]:
    for criterion, part in reversed(result["criteria"].items()):
        number = len(part["humans"]["each"])
        if number > WIDEST_MATRIX:
            yield f"{number} annotators are too many for a matrix here; their figures are in the csv and latex formats."
            return
        if number:
            yield f"Annotators on {criterion}: Spearman\n" + _grid(annotator_matrix(result, criterion))
            return


def _figures(part: Result) -> Iterator[list[Any]]:
    humans = part["humans"]
    for metric, alpha in humans["alpha"].items():
        ends = alpha["ci"] or [None, None]
        yield [
            f"alpha_{metric}",
            "people",
            None,
            alpha["value"],
            *ends,
            None,
            humans["items"],
            alpha.get("reason"),
        ]
    for row in humans["pairs"]:
        yield ["spearman", row["a"], row["b"], row["spearman"], None, None, None, row["n"], row.get("reason")]
    for row in humans["each"]:
        for figure, target in (("vs_all", "all people"), ("vs_others", "other people")):
            reason = row.get("reason") if row[figure] is None else None
            yield ["spearman", row["rater"], target, row[figure], None, None, None, row["n"], reason]
    for row in part["judges"] + part["panels"]:
        reason = row.get("reason")
        ends = row["ci"] or [None, None]
        yield ["spearman", _called(row), "mean of people", row["spearman"], *ends, row["p"], row["n"], reason]
        for figure in ("kendall", "pearson"):
            why = reason if row[figure] is None else None
            yield [figure, _called(row), "mean of people", row[figure], None, None, None, row["n"], why]


def _called(row: Result) -> str:
    return str(row["rater"]) if "rater" in row else f"Avg({', '.join(row['judges'])})"


def _number(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.3f}"


def _ends(ci: Sequence[float] | None) -> str:
    return "" if ci is None else f" [{ci[0]:.2f}, {ci[1]:.2f}]"


def _note(notes: dict[str, None], of: str, row: Result) -> None:
    if "reason" in row:
        notes[f"{UNDEFINED} {of}: {row['reason']}"] = None


def _sentence(reason: str) -> str:
    return reason[:1].upper() + reason[1:] + "."


def _title(criterion: str) -> str:
    return criterion.replace("_", " ").capitalize()


def _grid(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [
            first.ljust(widths[0]),
            *(cell.ljust(width) for cell, width in zip(rest, widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _tabular(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    body = "\n".join(" & ".join(row) + r" \\" for row in rows)
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            r"\toprule",
            " & ".join(header) + r" \\",
            r"\midrule",
            *([body] if body else []),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def escape(name: str) -> str:
    """A name as LaTeX takes it."""
    return "".join(_SPECIAL.get(character, character) for character in name)
