"""The picture of the section glance: each judge and panel beside a held-out annotator."""

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from concord.agreement.glance import measured
from concord.estimate import Estimate
from concord.table import Table
from pages.parts.charts import in_rows, name_axis

ROW = 26

VERDICTS = {
    "at or above": "#2a9d5c",
    "undecided": "#3b82c4",
    "below": "#d9721e",
    "too few": "#8a8f98",
    "undefined": "#8a8f98",
}
"""Colours that show on white and on black."""


def glance(tables: Mapping[str, Table]) -> Iterator[tuple[str, Any]]:
    """Judges and panels with their intervals, coloured by verdict, each beside the held-out annotator."""
    what = measured(tables["glance"])
    compared = what == "judge"
    found: list[dict[str, Any]] = []
    for row in tables["glance"].rows:
        figure, person = row[what], row.get("person")
        if isinstance(figure, Estimate) and figure.value is not None:
            one: dict[str, Any] = {"name": str(row["name"]), "value": figure.value}
            one |= {"low": figure.low, "high": figure.high, "verdict": row.get("verdict", "")}
            found.append(one | {"person": person.value if isinstance(person, Estimate) else None})
    if not found:
        return
    data = pd.DataFrame(found).astype(dict.fromkeys(("value", "low", "high", "person"), float))
    least = float(np.nanmin(data[["value", "low", "person"]].to_numpy()))
    axis = "Spearman's ρ with the other people" if compared else "Spearman's ρ with people's mean"
    scale = alt.Scale(domain=[min(0.0, least), 1.0], nice=False)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", title=axis, scale=scale)

    y = alt.Y("name:N", sort=list(data.name), title=None, axis=name_axis())
    words = [word for word in VERDICTS if word in set(data.verdict)]
    shades = alt.Scale(domain=words, range=[VERDICTS[word] for word in words])
    legend = alt.Legend(orient="top", title="Beside a held-out annotator")
    color: Any = alt.value(VERDICTS["undecided"])
    if compared:
        color = alt.Color("verdict:N", scale=shades, legend=legend)
    base = alt.Chart(data).encode(y=y, color=color)
    said = [
        alt.Tooltip("name:N", title="of"),
        alt.Tooltip("value:Q", format=".3f", title="ρ"),
        alt.Tooltip("low:Q", format=".3f", title="from"),
        alt.Tooltip("high:Q", format=".3f", title="to"),
    ]
    said += [alt.Tooltip("person:Q", format=".3f", title="held-out annotator")] if compared else []
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=x("low"), x2="high:Q"),
        base.mark_point(filled=True, size=90, opacity=1).encode(x=x("value"), tooltip=said),
    ]
    text = "Correlation of each judge and panel with people's mean, with 95% intervals."
    if compared:
        tick = alt.Chart(data).mark_tick(thickness=3, size=20, color="gray")
        layers.insert(0, tick.encode(x=x("person"), y=y))
        text = (
            "Dot: a judge or panel, coloured by what the interval of its difference says. Grey bar: a "
            "held-out annotator, with the same other people on the same items."
        )
    yield text, in_rows(alt.layer(*layers), ROW)
