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
    """The figures of one criterion.

    `judges` and `panels` have each judge's and panel's figures by name: `spearman`, `kendall`, `pearson`,
    `alpha` and `weighted-kappa` with the mean of people, `kappa` with their majority, `bias` and `mae`; and
    with an annotator held out at a time `with_others` (ρ of the judge with the other people, of two answers
    κ), `held_out` (that of the annotator on the same items) and their `difference`. Categories have `kappa`
    and `alpha` alone.
    `annotators` has each person's ρ with the mean of the others, `alpha` people's alpha by metric, `people`
    (but of categories) the coefficients of `concord.statistics.reliability.COEFFICIENTS`: AC2, ICC, others.
    """

    criterion: str
    judges: Named[Figures]
    panels: Named[Figures]
    annotators: Figures
    alpha: Figures
    people: Figures


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """How well judges agree with people, and people with each other. Figures are computed when asked for.

    An Estimate has `value`, `low`, `high`, `n` and `method`; where it is undefined, `value` is None and
    `reason` says why. `report` is the whole report, as page and command show it.
    """

    report: AgreementReport
    notes: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    """What the columns of a table were taken for."""
    _kept: dict[str, CriterionFigures] = field(default_factory=dict, repr=False)

    @property
    def criteria(self) -> tuple[str, ...]:
        """What was rated; the mean of the criteria that count is *final*."""
        return self.report.criteria

    def __getitem__(self, criterion: str) -> CriterionFigures:
        """The figures of a criterion. Raises NotFound."""
        check_known("criterion", criterion, self.criteria)
        if criterion not in self._kept:
            self._kept[criterion] = _figures(self.report, criterion)
        return self._kept[criterion]

    @property
    def judges(self) -> Named[Figures]:
        """Each judge's figures on the main criterion: *final*, else the last."""
        return self[self.report.main].judges

    @property
    def summary(self) -> list[str]:
        """What the figures say, in sentences, and what a reader of them has to know."""
        return [*self.report.summary, *self.report.missing, *self.report.notes, *self.notes]

    @property
    def frame(self) -> pd.DataFrame:
        """Every figure of every criterion, one a row: criterion, of, name, figure, value, low, high, n,
        reason.

        `of` is judge, panel, annotator or people; what is undefined is None, with its reason.
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
        """Raise AssertionError unless judges (else all of them) agree with people at least so well.

        The lower end of the interval counts, as for `concord gate`. Raises NotFound for unknown names.
        """
        judges = (judge,) if isinstance(judge, str) else tuple(judge)
        outcome = gate(self.report, at_least, criterion=criterion, judges=judges)
        if not outcome.passed:
            raise AssertionError(outcome.message)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables of the overview, as page and command show them; a notebook draws each."""
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
        annotators, alphas = Figures(), Figures({metric: cast(Estimate, alpha["value"])})
        people = Figures()
    else:
        part = report.agreement.criteria[criterion]
        annotators, alphas = Figures(with_others(report.ratings, criterion)), Figures(part.alpha)
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
