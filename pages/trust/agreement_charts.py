"""The charts of the agreement page; a rater's name is data, never the name of a field."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from concord.estimate import Estimate
from concord.rating import Scale
from concord.statistics.study import CriterionAgreement
from concord.table import Table
from pages.parts.charts import in_rows, judge_colours, name_axis, text_colour
from pages.trust import decision_charts, glance_chart

OTHERS, ALL = "the others", "all"
Chart = Any
"""A chart of Altair, whose types say little."""
Pictures = Callable[[Mapping[str, Table]], Iterator[tuple[str, Chart]]]
"""The charts of a section from its tables by name, each after a sentence that says what it shows; none where
too few figures are defined.
"""
ROW = 26
WIDE = 6
"""With more criteria than this their names are slanted."""
SQUARE = 400


def scatter(
    points: pd.DataFrame, label: str, members: Sequence[str], ends: tuple[float, float] | None
) -> Chart:
    """A judge's score against people's mean; items at one place are one dot, its size their number.

    The dot clicked is “picked”. `ends` are those of the scale that people and judge share; with them comes
    the diagonal on which both agree.
    """
    dots = points.groupby(["mean", "score"], as_index=False).agg(
        items=("unit", "size"), who=("player", lambda players: ", ".join(sorted(set(map(str, players)))[:4]))
    )
    picked = alt.selection_point(name="picked", fields=["mean", "score"])
    fixed: dict[str, Any] = {"domain": list(ends), "nice": False} if ends else {}
    scale = alt.Scale(zero=False, padding=12, **fixed)
    most = max(2, int(dots["items"].max()))
    sizes = alt.Scale(range=[50, min(50 * most, 300)], domain=[1, most])
    whose = members[0] if len(members) == 1 else f"mean of {len(members)} judges"
    base = alt.Chart(dots).mark_point(filled=True, stroke=None)
    chart = base.encode(
        x=alt.X("mean:Q", title=f"{label}: mean of people", scale=scale),
        y=alt.Y("score:Q", title=f"{label}: {whose}", scale=scale, axis=alt.Axis(titleLimit=SQUARE - 100)),
        size=alt.Size("items:Q", scale=sizes, legend=None),
        opacity=alt.condition(picked, alt.value(0.65), alt.value(0.12)),
        tooltip=[
            alt.Tooltip("mean:Q", format=".2f", title="mean of people"),
            alt.Tooltip("score:Q", format=".2f", title="judge"),
            alt.Tooltip("items:Q"),
            alt.Tooltip("who:N", title="players"),
        ],
    ).add_params(picked)
    layers = [chart]
    if ends:
        diagonal = alt.Chart(pd.DataFrame({"mean": ends, "score": ends}))
        line = diagonal.mark_line(strokeDash=[4, 4], color="gray", strokeWidth=1)
        layers.insert(0, line.encode(x=alt.X("mean:Q"), y=alt.Y("score:Q")))
    return alt.layer(*layers).properties(height=SQUARE)


def distribution(found: Table, scale: Scale | None) -> Chart:
    """How often each rater gives which answer, a bar each, from low answers to high ones; in words where they
    are answers of one `scale`.
    """
    table = pd.DataFrame(found.rows)
    table = table.assign(
        answer=[scale.word(score, level=True) if scale else f"{score:g}" for score in table.score],
        who=[f"{rater} (n = {n})" for rater, n in zip(table.rater, table.n, strict=True)],
    )
    answers = list(dict.fromkeys(table.sort_values("score").answer))
    legend = alt.Legend(orient="top", title=None, columns=3, labelLimit=200)
    shades = alt.Scale(domain=answers, range=_shades(len(answers)))
    percent, whole = alt.Axis(format="%"), alt.Scale(domain=[0, 1])
    bars = (
        alt.Chart(table)
        .mark_bar()
        .encode(
            y=alt.Y("who:N", sort=list(dict.fromkeys(table.who)), title=None, axis=name_axis()),
            x=alt.X("share:Q", title="share of answers", axis=percent, scale=whole),
            color=alt.Color("answer:N", sort=answers, scale=shades, legend=legend),
            order=alt.Order("score:Q"),
            tooltip=[
                alt.Tooltip("rater:N", title="who"),
                alt.Tooltip("answer:N"),
                alt.Tooltip("share:Q", format=".1%"),
                alt.Tooltip("n:Q", title="answers"),
            ],
        )
    )
    return in_rows(bars, ROW, table.who.nunique())


def matrix(part: CriterionAgreement) -> Chart:
    """Spearman of every two people, and of each with the mean of the others and of all."""
    names = [one.name for one in part.each]
    cells = [(x, y, rho.value, rho.n) for (a, b), rho in part.pairs.items() for x, y in ((a, b), (b, a))]
    for one in part.each:
        cells += [(OTHERS, one.name, one.vs_others.value, one.vs_others.n)]
        cells += [(ALL, one.name, one.vs_all.value, one.vs_all.n)]
    table = pd.DataFrame(cells, columns=["other", "one", "rho", "n"])
    table["shown"] = ["–" if pd.isna(rho) else f"{rho:z.2f}" for rho in table.rho]
    base = alt.Chart(table).encode(
        x=alt.X(
            "other:N",
            sort=[*names, OTHERS, ALL],
            title=None,
            axis=alt.Axis(orient="top", labelAngle=-30 if len(names) > 4 else 0, labelLimit=110),
        ),
        y=alt.Y("one:N", sort=names, title=None, axis=name_axis()),
        tooltip=[
            alt.Tooltip("one:N"),
            alt.Tooltip("other:N", title="with"),
            alt.Tooltip("rho:Q", format=".3f", title="ρ"),
            alt.Tooltip("n:Q", title="items both rated"),
        ],
    )
    return in_rows(_cells(base), ROW, len(names))


def _cells(base: Chart) -> Chart:
    """The boxes of a heat map and their digits, of 4.5:1 on every shade, from the fields rho and shown."""
    shade = alt.Scale(domain=[0, 1], clamp=True, range=["#dfe6ee", "#1d5a96"])
    boxes = base.mark_rect().encode(color=alt.Color("rho:Q", legend=None, scale=shade))
    digits = alt.ColorValue("black", condition={"test": "datum.rho > 0.78", "value": "white"})
    return boxes + base.mark_text().encode(text=alt.Text("shown:N"), color=digits)


def _criteria(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """Spearman's ρ of every judge and panel on every criterion; grey where the interval holds 0."""
    table = tables.get("by_criterion")
    found: list[dict[str, Any]] = []
    if table is None:
        return
    of, *others = table.shown  # a study of one judge has the criteria as rows
    for row, column in product(table.rows, others):
        figure, label = row.get(column.name), str(row[of.name])
        if isinstance(figure, Estimate) and figure.defined:
            rater, criterion = (column.title, label) if of.name == "criterion" else (label, column.title)
            ends = {"rho": figure.value, "low": figure.low, "high": figure.high}
            found.append({"rater": rater, "criterion": criterion, "n": figure.n, **ends})
    if not found:
        return
    data = pd.DataFrame(found).astype({"low": float, "high": float})
    data["shown"] = [f"{rho:z.2f}" for rho in data.rho]
    holds = (data.low <= 0) & (data.high >= 0) | data.low.isna()
    raters, criteria = (list(dict.fromkeys(data[name])) for name in ("rater", "criterion"))
    place: dict[str, Any] = {
        "x": alt.X("criterion:N", sort=criteria, title=None, axis=alt.Axis(orient="top", labelLimit=110))
        if len(criteria) <= WIDE
        else alt.X(
            "criterion:N",
            sort=criteria,
            title=None,
            axis=alt.Axis(orient="top", labelLimit=110, labelAngle=-40),
        ),
        "y": alt.Y("rater:N", sort=raters, title=None, axis=name_axis()),
        "tooltip": [
            alt.Tooltip("rater:N"),
            alt.Tooltip("criterion:N"),
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("rho", "low", "high")),
            alt.Tooltip("n:Q", title="items"),
        ],
    }
    layers = _cells(alt.Chart(data[~holds]).encode(**place))
    if holds.any():
        grey = alt.Chart(data[holds]).encode(**place)
        layers = layers + grey.mark_rect(color="#8a8f98", opacity=0.15)
        layers = layers + grey.mark_text(color=text_colour(), fontStyle="italic").encode(
            text=alt.Text("shown:N")
        )
    sizes = sorted(set(data.n))
    n = f"n = {sizes[0]}" if len(sizes) == 1 else f"n = {sizes[0]} to {sizes[-1]}"
    yield (
        f"Spearman's ρ with the mean of people on every criterion ({n} items); grey and slanted where the "
        "95% interval holds 0.",
        in_rows(layers, ROW, len(raters)),
    )


def _shades(steps: int) -> list[str]:
    """Blue to orange by way of a grey that shows on white and on black."""
    channels = zip((43, 92, 155), (168, 168, 168), (217, 114, 30), strict=True)
    at = np.linspace(0, 2, steps) if steps > 1 else np.zeros(1)
    mixed = [np.interp(at, [0, 1, 2], channel).round().astype(int) for channel in channels]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*mixed, strict=True)]


def _severities(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """Annotators and judges by severity, in points."""
    rows = [row for row in tables["raters"].rows if getattr(row["severity"], "defined", False)]
    if len(rows) < 2:
        return
    raters = pd.DataFrame(
        [
            {"name": f"{row['rater']} (n = {row['n']})", "kind": row["kind"]}
            | {"severity": figure.value, "low": figure.low, "high": figure.high}
            for row in rows
            if isinstance(figure := row["severity"], Estimate)
        ]
    ).astype({"low": float, "high": float})
    title = "points below the average annotator"
    base = alt.Chart(raters).encode(
        y=alt.Y("name:N", sort=list(raters.name), title=None, axis=name_axis()),
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=["person", "judge"]),
            legend=alt.Legend(orient="top", title=None),
        ),
    )
    tips = [alt.Tooltip("name:N", title="rater")]
    tips += [alt.Tooltip(f"{name}:Q", format=".2f") for name in ("severity", "low", "high")]
    ends = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2=alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("severity:Q", title=title), tooltip=tips
    )
    zero = (
        alt.Chart(pd.DataFrame({"at": [0.0]}))
        .mark_rule(color="gray", strokeDash=[4, 4])
        .encode(x=alt.X("at:Q"))
    )
    yield (
        "Severity of annotators and judges, with 95% intervals: raters further right score lower.",
        in_rows(alt.layer(zero, ends, points), ROW, len(rows)),
    )


def _bias(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """The effect of each feature on each judge beyond people, in points; of another scale, in SDs."""
    table = tables.get("feature_bias")
    points_of, unit = (table.estimates("effect") if table else []), "points"
    if table and not any(figure.defined for figure in points_of):
        points_of, unit = table.estimates("standardised"), "standard deviations"
    rows: list[dict[str, Any]] = [
        {"feature": f"{row['feature']} ({row['step']})", "rater": str(row["rater"]), "n": figure.n}
        | {"value": figure.value, "low": figure.low, "high": figure.high}
        for row, figure in zip(table.rows if table else (), points_of, strict=True)
        if figure.defined
    ]
    if not rows:
        return
    data = pd.DataFrame(rows).astype({"value": float, "low": float, "high": float})
    title = f"effect on judge less people ({unit})"
    raters = list(dict.fromkeys(data.rater))
    y = alt.Y("feature:N", sort=list(dict.fromkeys(data.feature)), title=None, axis=name_axis())
    legend = alt.Legend(orient="top", title=None, labelLimit=300, columns=2)
    base = alt.Chart(data).encode(
        y=y,
        yOffset=alt.YOffset("rater:N", sort=raters),
        color=alt.Color("rater:N", scale=judge_colours(raters), legend=legend),
    )
    ends = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2=alt.X2("high:Q"))
    said = [
        alt.Tooltip("feature:N"),
        alt.Tooltip("rater:N", title="judge"),
        alt.Tooltip("value:Q", format=".3f"),
        alt.Tooltip("low:Q", format=".3f", title="from"),
        alt.Tooltip("high:Q", format=".3f", title="to"),
        alt.Tooltip("n:Q", title="items"),
    ]
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("value:Q", title=title), tooltip=said
    )
    zero = (
        alt.Chart(pd.DataFrame({"at": [0.0]}))
        .mark_rule(color="gray", strokeDash=[4, 4])
        .encode(x=alt.X("at:Q"))
    )
    sizes = sorted(set(data.n))
    n = f"n = {sizes[0]}" if len(sizes) == 1 else f"n = {sizes[0]} to {sizes[-1]}"
    yield (
        f"How far each feature moves a judge's scores beyond people's, with 95% intervals ({n} items): right "
        "of 0 the judge favours it, across 0 nothing is shown.",
        in_rows(alt.layer(zero, ends, points), max(ROW, 13 * len(raters)), data.feature.nunique()),
    )


def _designs(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """The ratings that ± 0.1 takes by the number of raters on each item."""
    rows = tables["next_designs"].rows
    kinds = {"mean_ratings": "people's mean", "rho_ratings": "ρ of the judges"}
    data = pd.DataFrame(
        [
            {"raters": str(row["raters"]), "ratings": figure.value, "for": words}
            for row in rows
            for name, words in kinds.items()
            if isinstance(figure := row[name], Estimate) and figure.defined
        ]
    )
    if data.empty:
        return
    bars = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            y=alt.Y("raters:N", sort=list(dict.fromkeys(data.raters)), title="raters an item"),
            x=alt.X("ratings:Q", title="ratings in all, for an interval of ± 0.1"),
            yOffset=alt.YOffset("for:N", sort=list(kinds.values())),
            color=alt.Color("for:N", title=None, legend=alt.Legend(orient="top"), sort=list(kinds.values())),
            tooltip=[alt.Tooltip("raters:N"), alt.Tooltip("ratings:Q", format=",.0f"), alt.Tooltip("for:N")],
        )
    )
    yield (
        "Ratings that people have to give for ± 0.1, by how many of them rate each item: the shortest bar is "
        "the cheapest design.",
        in_rows(bars, ROW, data.raters.nunique()),
    )


PICTURES: dict[str, Pictures] = {
    "bias": _bias,
    "criteria": _criteria,
    "calibration": decision_charts.calibration,
    "glance": glance_chart.glance,
    "raters": _severities,
    "next": _designs,
    "system": decision_charts.system,
    "thresholds": decision_charts.thresholds,
}
"""The charts above the tables of a section of `concord.reports.sections`, by the section's name."""
