"""A study's figures of agreement as CSV (one figure a row) and as the LaTeX table of a paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from core.rating import Panel

COLUMNS = ("study", "criterion", "of", "a", "b", "figure", "value", "ci_low", "ci_high", "p", "n", "reason")
SURE = 0.0001
"""Correlations with a larger p are starred, as in the PingPong paper."""

_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def as_csv(figures: Mapping[str, Any]) -> str:
    """Every figure in long form: what it is of (people, pair, person, judge, panel), of whom, its value, interval, p and n."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in _rows(figures):
        writer.writerow({"study": figures["study"], **row})
    return out.getvalue()


def _rows(figures: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for criterion, part in figures["criteria"].items():
        humans = part["humans"]
        for metric, alpha in humans["alpha"].items():
            low, high = alpha["ci"] or (None, None)
            yield {
                "criterion": criterion, "of": "people", "figure": f"alpha_{metric}", "value": alpha["value"],
                "ci_low": low, "ci_high": high, "n": humans["items"], "reason": alpha.get("reason"),
            }  # fmt: skip
        for pair in humans["pairs"]:
            yield {
                "criterion": criterion, "of": "pair", "a": pair["a"], "b": pair["b"], "figure": "spearman",
                "value": pair["spearman"], "n": pair["n"], "reason": pair.get("reason"),
            }  # fmt: skip
        for person in humans["each"]:
            for figure in ("vs_all", "vs_others"):
                yield {
                    "criterion": criterion, "of": "person", "a": person["rater"], "figure": figure,
                    "value": person[figure], "n": person["n"], "reason": person.get("reason"),
                }  # fmt: skip
        for of, raters in (("judge", part["judges"]), ("panel", part["panels"])):
            for rater in raters:
                low, high = rater["ci"] or (None, None)
                name = name_of(rater)
                shared = {
                    "criterion": criterion,
                    "of": of,
                    "a": name,
                    "n": rater["n"],
                    "reason": rater.get("reason"),
                }
                yield {
                    **shared, "figure": "spearman", "value": rater["spearman"], "ci_low": low, "ci_high": high, "p": rater["p"],
                }  # fmt: skip
                for figure in ("kendall", "pearson"):
                    yield {**shared, "figure": figure, "value": rater[figure]}


def name_of(rater: Mapping[str, Any]) -> str:
    """A judge's or a panel's name as tables show it."""
    return Panel(tuple(rater["judges"])).name if "judges" in rater else str(rater["rater"])


def as_latex(figures: Mapping[str, Any]) -> str:
    """Judges and panels × criteria: Spearman with people's mean, starred where p is not below 0.0001; alpha of people beneath.

    Wants the package booktabs.
    """
    criteria = figures["criteria"]
    rows: dict[str, list[str]] = {}
    for part in criteria.values():
        for rater in [*part["judges"], *part["panels"]]:
            rows.setdefault(name_of(rater), []).append(_cell(rater["spearman"], rater["p"]))
    alphas = {
        f"People, $\\alpha$ ({metric})": [
            _cell(part["humans"]["alpha"][metric]["value"]) for part in criteria.values()
        ]
        for metric in ("ordinal", "interval")
    }
    lines = [
        r"\begin{tabular}{l" + "r" * len(criteria) + "}",
        r"\toprule",
        _line("Judge", [escape(name) for name in criteria]),
        r"\midrule",
        *(_line(escape(name), cells) for name, cells in rows.items()),
        *([r"\midrule"] if rows else []),
        *(_line(name, cells) for name, cells in alphas.items()),
        r"\bottomrule",
        r"\end{tabular}",
        f"% Study {escape(figures['study'])}: {figures['items']} items; Spearman with the mean of people;"
        f" * where p is not below {SURE}; -- where undefined.",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX prints as it stands."""
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


def _line(name: str, cells: list[str]) -> str:
    return " & ".join([name, *cells]) + r" \\"


def _cell(value: float | None, p: float | None = 0.0) -> str:
    if value is None:
        return "--"
    return f"{value:.3f}" + ("" if p is not None and p < SURE else "*")
