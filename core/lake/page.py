"""An estimate of a lake as one file of HTML: the answer, a picture by group, the tables, what it assumes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from concord.lake.estimate import LakeEstimate
from concord.reports.pictures import WIDTH, templates
from concord.statistics.estimation import GroupEstimate


def page(result: LakeEstimate, *, created: date) -> str:
    """The page. It asks nothing of any network, and every name in it is escaped."""
    environment = templates(created, site=result.criterion.label, simulated=False)
    pictures = {"": picture(result, {"all": result.overall})}
    pictures |= {name: picture(result, groups) for name, groups in result.groups.items()}
    return environment.get_template("estimate.html").render(
        name=result.criterion.label,
        alone=True,
        sentences=result.sentences,
        warnings=[warning.text for warning in result.warnings],
        pictures=pictures,
        tables=result.tables,
    )


def picture(result: LakeEstimate, groups: Mapping[str, GroupEstimate]) -> dict[str, Any]:
    """A forest plot in pixels: what people would say of each group, and a mark for the judge alone."""
    low, high = result.scale
    step = (high - low) / 4

    def place(value: float | None) -> float | None:
        if value is None:
            return None
        return round((min(max(value, low), high) - low) / (high - low) * WIDTH, 1)

    rows = []
    for name, group in groups.items():
        figure = group.corrected.value
        judge = group.corrected.judges
        if figure.defined:
            rows.append(
                {
                    "name": name,
                    "dot": place(figure.value),
                    "low": place(figure.low),
                    "high": place(figure.high),
                    "person": place(judge.value),
                }
            )
    marks = [(place(low + number * step), f"{low + number * step:g}") for number in range(5)]
    axis = "as annotators would rate, 95% intervals; grey bar: the judge alone"
    return {"rows": rows, "marks": marks, "zero": None, "axis": axis, "width": WIDTH}
