"""What `concord.agreement` gives: a report of agreement as Estimates, frame, text and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeVar, cast

from concord.errors import check_known, not_found
from concord.estimate import Estimate
from concord.reports.agreement_report import OVERVIEW, AgreementReport
from concord.reports.coefficient import with_people
from concord.reports.gate import gate
from concord.reports.names import renamed
from concord.reports.screen import screen
from concord.statistics import reliability
from concord.statistics.coefficients import COEFFICIENTS, Name
from concord.statistics.ratings import panel_name
from concord.statistics.study import with_others
from concord.table import Table, as_markdown, markdown_text

if TYPE_CHECKING:
    import pandas as pd

BESIDE = {"judge": "with_others", "person": "held_out", "difference": "difference"}
"""Columns of the table `held_out` and the names of these figures."""

T = TypeVar("T")


class Named(dict[str, T]):
    """Values by name; a name that is unknown raises NotFound, with the nearest one that is there."""

    def __missing__(self, name: str) -> T:
        raise not_found("entry", name, self)

    def __repr__(self) -> str:
        return "\n".join(
            f"{name}: {value}" if isinstance(value, Estimate) else f"{name}\n{indent(repr(value), '  ')}"
            for name, value in self.items()
        )


Figures = Named[Estimate]
"""Estimates by the name of the figure."""


@dataclass(frozen=True)
class CriterionFigures:
    """The figures of one criterion, as Estimates by name.

    - `judges` and `panels`: for each judge and panel `spearman`, `kendall`, `pearson`, `alpha` and
      `weighted-kappa` with the mean of annotators, `kappa` with their majority, `bias` and `mae`. With one
      annotator held out at a time: `with_others` (the judge's agreement with the other annotators),
      `held_out` (the held-out annotator's agreement with them) and their `difference`; these are Spearman
      correlations, kappa for two answers.
    - `annotators`: each annotator's Spearman correlation with the mean of the others; empty with one
      annotator.
    - `alpha`: the annotators' alpha by metric.
    - `people`: the coefficients of `concord.statistics.reliability.COEFFICIENTS`, such as AC2 and ICC.

    Categories have only `kappa` and `alpha`.
    """

    criterion: str
    judges: Named[Figures]
    panels: Named[Figures]
    annotators: Figures
    alpha: Figures
    people: Figures


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """Agreement of judges with annotators, and of annotators with each other.

    `agreement["helpful"]` has the figures of one criterion. It computes them on first use and raises
    NotFound for an unknown name. Every figure is an Estimate. With one annotator, equal ratings or too few
    items, an undefined figure has the value None and a `reason`.

    `report` is the whole report, as the page Agreement and the commands show it.
    """

    report: AgreementReport
    notes: tuple[str, ...] = ()
    """Warnings of the reading of a table, such as rows that were excluded."""
    taken: tuple[str, ...] = ()
    """How the columns of a table were read."""
    _kept: dict[str, CriterionFigures] = field(default_factory=dict, repr=False)

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria. `final` is the overall score: the mean of the criteria that count."""
        return self.report.criteria

    def __getitem__(self, criterion: str) -> CriterionFigures:
        """The figures of a criterion. Raises NotFound for an unknown name."""
        check_known("criterion", criterion, self.criteria)
        if criterion not in self._kept:
            self._kept[criterion] = _figures(self.report, criterion)
        return self._kept[criterion]

    @property
    def judges(self) -> Named[Figures]:
        """Figures of each judge on the main criterion: `final`, or the last one without it."""
        return self[self.report.main].judges

    @property
    def summary(self) -> list[str]:
        """Sentences on the main results, followed by what is missing and by notes."""
        return [*self.report.summary, *self.report.missing, *self.report.notes, *self.notes]

    @property
    def frame(self) -> pd.DataFrame:
        """Every figure of every criterion as a row of a frame.

        Columns: `criterion`, `of` (judge, panel, annotator or people), `name`, `figure`, `value`, `low`,
        `high`, `n` and `reason`. An undefined figure has no value and a reason.
        """
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for criterion in self.criteria:
            found = self[criterion]
            every = [
                *(("judge", name, figures) for name, figures in found.judges.items()),
                *(("panel", name, figures) for name, figures in found.panels.items()),
                *(("annotator", name, {"with_others": rho}) for name, rho in found.annotators.items()),
                ("people", "", {f"alpha_{m}": alpha for m, alpha in found.alpha.items()} | found.people),
            ]
            for of, name, figures in every:
                rows += [
                    {"criterion": criterion, "of": of, "name": name, "figure": called, "value": figure.value}
                    | {"low": figure.low, "high": figure.high, "n": figure.n, "reason": figure.reason}
                    for called, figure in figures.items()
                ]
        columns = ["criterion", "of", "name", "figure", "value", "low", "high", "n", "reason"]
        return pd.DataFrame(rows, columns=columns)

    def agrees(self, at_least: float, judge: str | Sequence[str] = (), criterion: str = "") -> None:
        """Raise AssertionError unless judges agree with annotators well enough.

        - `at_least`: the lowest agreement that passes. The lower end of the 95% interval counts, as in
          `concord gate`; an undefined agreement, or one without an interval, does not pass.
        - `judge`: one judge or several; all by default.
        - `criterion`: a criterion; the main one by default.

        Raises NotFound for unknown names.
        """
        judges = (judge,) if isinstance(judge, str) else tuple(judge)
        outcome = gate(self.report, at_least, criterion=criterion, judges=judges)
        if not outcome.passed:
            raise AssertionError(outcome.message)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Tables of the overview, as the page and the command show them. A notebook draws each."""
        return tuple(renamed(table, self.report.names) for table in self.report.tables_of(OVERVIEW))

    def __repr__(self) -> str:
        """The answer on a screen, as `concord check` prints it."""
        return screen(self.report, provenance=self.taken, left_out=self.notes)

    def _repr_markdown_(self) -> str:
        """Sentences and tables of the overview in a notebook; every name and text in them is escaped."""
        sentences = "".join(f"- {markdown_text(sentence)}\n" for sentence in self.summary)
        return "\n".join([sentences, *map(as_markdown, self.tables)])


def _figures(report: AgreementReport, criterion: str) -> CriterionFigures:
    nominal = not report.ratings[criterion].ordered
    names: list[Name] = ["kappa", "alpha"] if nominal else [*COEFFICIENTS]
    panels = [members for members in report.panels if len(members) > 1]
    every = [*((judge,) for judge in report.ratings.judges), *panels]
    of_raters = {
        members: Figures(
            {str(name): of for name, of in with_people(report, criterion, members, names).items()}
        )
        for members in every
    }
    if nominal:
        alpha = report.section("people", criterion)["nominal"].rows[0]
        metric = str(alpha["coefficient"]).removeprefix("alpha_")
        annotators = Figures()
        alphas = Figures({metric: cast(Estimate, alpha["value"])})
        people = Figures()
    else:
        part = report.agreement.criteria[criterion]
        annotators = Figures(with_others(report.ratings, criterion))
        alphas = Figures(part.alpha)
        rows = report.section("people", criterion)["people"].rows
        by_title = {str(row["measure"]): cast(Estimate, row["value"]) for row in rows}
        people = Figures({name: by_title[of] for name, of in reliability.COEFFICIENTS.items()})
        beside = report.section("judges", criterion)
        for members in every:
            level = _row(beside["judges"], members)
            held_out = _row(beside["held_out"], members)
            of_raters[members] |= {name: level[name] for name in ("bias", "mae")}
            of_raters[members] |= {name: held_out[column] for column, name in BESIDE.items()}
    return CriterionFigures(
        criterion,
        Named({judge: of_raters[judge,] for judge in report.ratings.judges}),
        Named({report.names[panel_name(members)]: of_raters[members] for members in panels}),
        annotators,
        alphas,
        people,
    )


def _row(table: Table, members: tuple[str, ...]) -> dict[str, Estimate]:
    """The figures of a judge or a panel in a table."""
    row = next(row for row in table.rows if row["rater"] == panel_name(members))
    return {name: cell for name, cell in row.items() if isinstance(cell, Estimate)}
