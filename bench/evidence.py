"""Write docs/evidence.md and its picture: which models can replace an annotator, on public data sets.

    python -m bench.evidence FOLDER

FOLDER holds one folder per data set, each with `human_annotations.json` (annotator → item → answer) and
`llm_annotations.json` (model → item → answer), as in the repository of the alternative annotator test, and a
folder `fed` with `fed_human_annotations.json` and `fed_gpt4_annotations.json` (docs/evidence.md names the
sources). The script writes only figures, nothing else of the files.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from playwright.sync_api import sync_playwright

import concord
from concord.codes import Verdict
from concord.estimate import Estimate
from concord.library.result import Agreement
from concord.messages import VERDICTS
from tests.browser.starting import chromium

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "evidence.md"
PICTURE = ROOT / "docs" / "pictures" / "evidence.png"
MARKS = ("<!-- figures: python -m bench.evidence FOLDER -->", "<!-- end -->")
EPSILON = 0.15
"""Of the alternative annotator test, for annotators without special training."""
ASPECTS = ("lesion",)
"""Data sets whose items are rated in several aspects: the part of an id behind the last `__`."""
SETS = ("cebab_stars", "cebab_aspects", "framing", "lesion", "lgbteen", "wax", "fed")
FED_CRITERIA = {"coh": "Coherent", "div": "Diverse", "inf": "Informative", "ovr": "Overall"}
"""Criteria of FED that annotators and GPT-4 rated, by the beginning of the judge's names."""
FED_RUNS = 5
"""Judgements of GPT-4 for each dialogue and criterion; their mean is the judge's score."""


class Row(NamedTuple):
    """A judge or panel on one data set: agreement, another annotator's, their difference, and the tests."""

    data: str
    criterion: str
    judge: str
    items: int
    annotators: int
    coefficient: str
    agreement: Estimate
    another: Estimate
    difference: Estimate
    verdict: Verdict
    omega: Estimate
    passed: bool | None

    @property
    def name(self) -> str:
        """The data set, with the aspect where it has several."""
        return self.data if self.criterion == "answer" else f"{self.data}, {self.criterion}"


def ratings(folder: Path) -> pd.DataFrame:
    """A row a rating: `item`, `criterion`, `rater`, `kind` (human or judge), `score`."""
    rows = [
        {"item": item, "rater": rater, "kind": kind, "score": answer}
        for kind, file in (("human", "human_annotations.json"), ("judge", "llm_annotations.json"))
        for rater, answers in json.loads((folder / file).read_text(encoding="utf-8")).items()
        for item, answer in answers.items()
    ]
    frame = pd.DataFrame(rows)
    frame["criterion"] = "answer"
    if folder.name in ASPECTS:
        frame[["item", "criterion"]] = frame["item"].str.rsplit("__", n=1, expand=True)
    return frame


def fed_ratings(folder: Path) -> pd.DataFrame:
    """One row per rating, as in `ratings`. Annotators have no names: annotator 1 gave the first answers."""
    dialogues = json.loads((folder / "fed_human_annotations.json").read_text(encoding="utf-8"))
    judgements = json.loads((folder / "fed_gpt4_annotations.json").read_text(encoding="utf-8"))
    rows = []
    for short, criterion in FED_CRITERIA.items():
        runs = [judgements[f"{short}_{run + 1}"] for run in range(FED_RUNS)]
        for dialogue, scores in zip(dialogues, zip(*runs, strict=True), strict=True):
            item = {"item": dialogue["dialogue_id"], "criterion": criterion}
            rows.append({**item, "rater": "gpt-4", "kind": "judge", "score": sum(scores) / FED_RUNS})
            answers = dialogue["annotations"][criterion]
            rows += [
                {**item, "rater": f"annotator {number + 1}", "kind": "human", "score": float(answer)}
                for number, answer in enumerate(answers)
            ]
    return pd.DataFrame(rows)


def measured(frame: pd.DataFrame) -> Agreement:
    """What `concord check` says of the ratings."""
    return concord.check(
        frame, id="item", rater="rater", score="score", kind="kind", criterion_column="criterion"
    )


def rows_of(data: str, agreement: Agreement) -> Iterator[Row]:
    """A row for each judge and panel, for each criterion.

    FED has no outcome of the alternative annotator test, which needs one scale: its judge answers on another.
    """
    report = agreement.report
    for criterion in agreement.criteria:
        scores = report.ratings[criterion]
        tables = {table.name: table for table in report.tables_of(("glance", "alt-test"), criterion)}
        glance, tested = tables["glance"], tables["alt_test"]
        outcomes = {row["rater"]: row for row in tested.rows if row["epsilon"] == EPSILON and data != "fed"}
        coefficient = "ρ" if scores.ordered and len(set(scores.score.tolist())) > 2 else "κ"
        for row in glance.rows:
            outcome = outcomes.get(row["rater"], {})
            yield Row(
                data,
                criterion,
                str(row["name"]),
                row["judge"].n or 0,
                len(scores.people),
                coefficient,
                row["judge"],
                row["person"],
                row["difference"],
                Verdict(row["verdict"]),
                outcome.get("omega"),
                outcome.get("passed"),
            )


def rows_in(folder: Path) -> Iterator[Row]:
    """The rows of every data set in a folder."""
    for data in SETS:
        frame = fed_ratings(folder / data) if data == "fed" else ratings(folder / data)
        yield from rows_of(data, measured(frame))


DECIDED = (Verdict.AS_GOOD, Verdict.WORSE)
COLOURS = {
    Verdict.AS_GOOD: "#2e7d5b",
    Verdict.SLIGHTLY_BELOW: "#7a9a3a",
    Verdict.INCONCLUSIVE: "#8a8f98",
    Verdict.WORSE: "#b3432f",
}
LINE, LEFT, WIDTH, LOW, HIGH = 18, 250, 640, -0.8, 0.5
"""Pixels of a row, of the names and of the axis, and the ends of the axis."""


def picture(rows: Iterable[Row]) -> str:
    """Each difference with its interval, coloured by verdict, as one SVG."""
    marks, top, data = [], 30, ""

    def at(value: float) -> float:
        return round(LEFT + (min(max(value, LOW), HIGH) - LOW) / (HIGH - LOW) * WIDTH, 1)

    for row in rows:
        if row.name != data:
            data, top = row.name, top + LINE * 1.6
            marks.append(f'<text x="8" y="{top:.0f}" font-weight="600">{data}</text>')
        top += LINE
        if row.difference.interval is None or row.difference.value is None:
            continue
        colour, (low, high) = COLOURS.get(row.verdict, "#8a8f98"), row.difference.interval
        marks.append(
            f'<text x="{LEFT - 12}" y="{top:.0f}" text-anchor="end">{row.judge}</text>'
            f'<line x1="{at(low)}" x2="{at(high)}" y1="{top - 4:.0f}" y2="{top - 4:.0f}" '
            f'stroke="{colour}" stroke-width="2"/>'
            f'<circle cx="{at(row.difference.value)}" cy="{top - 4:.0f}" r="4" fill="{colour}"/>'
        )
    height = top + 40
    axis = [
        f'<line x1="{at(tick)}" x2="{at(tick)}" y1="30" y2="{height - 30:.0f}" stroke="#8a8f98" '
        f'stroke-width="{1.5 if not tick else 0.4}"/>'
        f'<text x="{at(tick)}" y="{height - 12:.0f}" text-anchor="middle">{tick:+.1f}</text>'
        for tick in (-0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4)
    ]
    legend = "".join(
        f'<circle cx="{LEFT + 150 * place}" cy="14" r="4" fill="{colour}"/>'
        f'<text x="{LEFT + 150 * place + 10}" y="18">{VERDICTS[verdict]}</text>'
        for place, (verdict, colour) in enumerate(COLOURS.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" height="{height:.0f}" '
        f'viewBox="0 0 {LEFT + WIDTH + 20} {height:.0f}" font-family="sans-serif" font-size="12" '
        f'fill="#24292f"><rect width="100%" height="100%" fill="#ffffff"/>{legend}{"".join(axis)}'
        f"{''.join(marks)}</svg>\n"
    )


def figures(rows: list[Row]) -> str:
    """What stands between the marks of the page: counts, where the two tests differ, and the table."""
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in COLOURS}
    counted = [f"{count} are {VERDICTS[verdict]}" for verdict, count in counts.items() if count]
    decided = [row for row in rows if row.verdict in DECIDED and row.passed is not None]
    differ = [row for row in decided if (row.verdict == Verdict.AS_GOOD) != row.passed]
    lines = [
        f"Of {len(rows)} judges and panels {', '.join(counted)}.",
        "",
        f"The alternative annotator test (ε = {EPSILON}) decides otherwise for {len(differ)} of the "
        f"{len(decided)} that are as good or worse:",
        "",
        *map(contradiction, differ),
        "",
        "![Difference from another annotator, by data set and judge](pictures/evidence.png)",
        "",
        "| data set | judge | agreement | another annotator | difference (95% CI) | items | verdict | ω |",
        "|---|---|--:|--:|--:|--:|---|--:|",
        *map(table_row, rows),
    ]
    return "\n".join(lines)


def with_figures(page: str, rows: list[Row]) -> str:
    """The page, with the figures between its marks."""
    start, _, rest = page.partition(MARKS[0])
    _, _, end = rest.partition(MARKS[1])
    return f"{start}{MARKS[0]}\n\n{figures(rows)}\n\n{MARKS[1]}{end}"


def contradiction(row: Row) -> str:
    """A line on a row whose verdict and test differ."""
    outcome = "passes" if row.passed else "fails"
    return f"- {row.name}, {row.judge}: {VERDICTS[row.verdict]}; the test {outcome} (ω {row.omega.value:.2f})"


def table_row(row: Row) -> str:
    """A row of the table."""
    low, high = row.difference.interval or (float("nan"), float("nan"))
    omega = "–" if row.omega is None or row.omega.value is None else f"{row.omega.value:.2f}"
    return (
        f"| {row.name} | {row.judge} | {row.coefficient} {row.agreement.value:.2f} | {row.another.value:.2f} "
        f"| {row.difference.value:+.2f} ({low:+.2f} to {high:+.2f}) | {row.items:,} "
        f"| {VERDICTS[row.verdict]} | {omega}{' ✓' if row.passed else ''} |"
    )


def draw(svg: str, file: Path) -> None:
    """An SVG as a PNG, which every index shows; `make browser` finds the browser that draws it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium())
        tab = browser.new_page(device_scale_factor=2)
        tab.set_content(f"<style>body {{ margin: 0 }}</style>{svg}")
        tab.locator("svg").screenshot(path=file)
        browser.close()


def main() -> None:
    """Measure every data set and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    options = parser.parse_args()
    rows = [*rows_in(options.folder)]
    options.page.write_text(with_figures(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    draw(picture(rows), options.picture)


if __name__ == "__main__":
    main()
