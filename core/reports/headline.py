"""The headline of a study: its best panel and its best single judge, each beside a held-out annotator."""

from dataclasses import replace

from concord.estimate import Estimate
from concord.reports.agreement_report import AgreementReport
from concord.statistics.glance import measured
from concord.statistics.ratings import called
from concord.table import Cell, Table


def headline(report: AgreementReport) -> Table:
    """The rows of the glance for the panel and the single judge that agree best with people, panel first.

    Both are chosen on the items they are shown on. No rows where no correlation is defined.
    """
    table = report.section("glance", report.main)["glance"]
    rho = measured(table)
    alone = {called((judge,)) for judge in report.ratings.judges}
    best = []
    for single in (False, True):
        kind = [row for row in table.rows if (row["rater"] in alone) is single]
        best += sorted(kind, key=lambda row: _value(row[rho]), reverse=True)[:1]
    shown = [row for row in best if _value(row[rho]) > float("-inf")]
    return replace(table, rows=tuple(shown))


def _value(cell: Cell) -> float:
    return cell.value if isinstance(cell, Estimate) and cell.value is not None else float("-inf")
