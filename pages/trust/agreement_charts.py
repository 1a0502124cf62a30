"""The charts of the agreement page; a rater's name is data, never the name of a field."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from concord.estimate import Estimate
from concord.questions import Scale
from concord.reports.answers import WITH_ALL
from concord.statistics.glance import measured
from concord.table import Table
from pages.parts.charts import (
    ENDS,
    GREY,
    ROW,
    VALUE,
    Chart,
    Point,
    frame,
    in_rows,
    intervals,
    judge_colours,
    legend,
    line_at,
    name_axis,
    side_by_side,
    sizes,
    text_colour,
    tips,
)
from pages.parts.theme import on_phone

HUMAN = "one more person"
Pictures = Callable[[Mapping[str, Table]], Iterator[tuple[str, Chart]]]
"""The charts of a section from its tables by name, each after a sentence that says what it shows; none where
too few figures are defined.
"""
TALL_ROW = 32
SLANTED = 6
"""With more criteria than this their names are slanted."""
SQUARE, PLOT, SIDE = 400, 380, 260
"""The heights of the scatter and of other single charts, and the width of one of several, in pixels."""
MOST = 6
"""Judges and panels that several small charts show; the tables below have all."""
SMALL = 200
"""With names of at most so many pixels the glance is small, and its axis says less in a line."""
SAME = 0.001
"""Two annotators nearer than this are drawn as one."""


def glance(tables: Mapping[str, Table], *, limit: int = 260) -> Iterator[tuple[str, Chart]]:
    """Judges and panels and one more person with their intervals, on the same other people and items.

    The annotator is that of the panel of all, else of the last row; a row with another one has a tick.
    Names have at most `limit` pixels.
    """
    table = tables["glance"]
    what = measured(table)
    defined = [row for row in table.rows if _defined(row[what])]
    if not defined:
        return
    person = defined[-1].get("person")
    compared = what == "judge" and _defined(person)
    rows = [Point(str(row["name"]), row[what], str(row["name"])) for row in defined]  # type: ignore[arg-type]
    if compared:
        rows.append(Point(HUMAN, person, HUMAN))  # type: ignore[arg-type]
    names = [row.name for row in rows]
    beside = [row.get("person") for row in defined] if compared else []
    people = [figure.value for figure in beside if isinstance(figure, Estimate) and figure.value is not None]
    lows = [end for row in rows for end in (row.figure.value, row.figure.low) if end is not None]
    domain = min(0.0, *lows, *people), 1.0
    on = sizes(row["n"] for row in defined)
    symbol, of = next(column.title for column in table.columns if column.name == what).split(" ", 1)
    small = limit <= SMALL or on_phone()
    title = [symbol, of, f"({on} items)"] if small else f"{symbol} {of} ({on} items)"
    colours = judge_colours([name for name in names if name != HUMAN])
    shades = alt.Scale(domain=[*colours.domain, HUMAN], range=[*colours.range, GREY])
    around: list[Chart] = []
    text = f"Agreement of each judge and panel ({symbol} {of}), with 95% intervals."
    if compared:
        data = frame(rows)
        data["person"] = np.array([*(getattr(figure, "value", None) for figure in beside), None], dtype=float)
        data["verdict"] = [*(str(row.get("verdict") or "") for row in defined), ""]
        y = alt.Y("name:N", sort=names, title=None, axis=name_axis(limit))
        human = alt.Chart(data.tail(1))
        band = human.mark_rect(opacity=0.18, color=GREY).encode(x="low:Q", x2=alt.X2("high:Q"))
        apart = alt.Chart(data[(data.person - data.value.iloc[-1]).abs() > SAME])
        tick = apart.mark_tick(thickness=3, size=18, color=GREY).encode(x=alt.X("person:Q"), y=y)
        middle = (domain[0] + 1) / 2
        sides: tuple[tuple[Any, Literal["left", "right"], int], ...] = (
            (alt.datum.value <= middle, "left", 8),
            (alt.datum.value > middle, "right", -8),
        )
        base = alt.Chart(data).encode(y=y, x=alt.X("value:Q"), text=alt.Text("verdict:N"))
        look: dict[str, Any] = {"baseline": "bottom", "dy": -3, "fontSize": 11, "color": text_colour()}
        words = [base.transform_filter(half).mark_text(align=to, dx=dx, **look) for half, to, dx in sides]
        around = [band, line_at(float(data.value.iloc[-1])), tick, *words]
        text = (
            f"{symbol} with the same other people, with 95% intervals; grey: one more person. The words "
            "judge the paired difference from that person, which is surer than the intervals look."
        )
    how: dict[str, Any] = {"colours": shades, "domain": domain, "key": False, "pixels": TALL_ROW}
    yield text, intervals(rows, title, limit=limit, around=around, **how)


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
    areas = alt.Scale(range=[50, min(50 * most, 300)], domain=[1, most])
    whose = members[0] if len(members) == 1 else f"mean of {len(members)} judges"
    chart = (
        alt.Chart(dots)
        .mark_point(filled=True, stroke=None)
        .encode(
            x=alt.X("mean:Q", title=f"{label}: mean of people", scale=scale),
            y=alt.Y(
                "score:Q", title=f"{label}: {whose}", scale=scale, axis=alt.Axis(titleLimit=SQUARE - 100)
            ),
            size=alt.Size("items:Q", scale=areas, legend=None),
            opacity=alt.condition(picked, alt.value(0.65), alt.value(0.12)),
            tooltip=tips(
                ("mean:Q", "mean of people", ".2f"),
                ("score:Q", "judge", ".2f"),
                ("items:Q", "items"),
                ("who:N", "players"),
            ),
        )
        .add_params(picked)
    )
    layers = [_diagonal("mean", "score", ends), chart] if ends else [chart]
    return alt.layer(*layers).properties(height=SQUARE)


def _diagonal(x: str, y: str, ends: tuple[float, float]) -> Chart:
    """The dashed line on which both are equal."""
    line = alt.Chart(pd.DataFrame({x: ends, y: ends})).mark_line(color=GREY, strokeDash=[4, 4], strokeWidth=1)
    return line.encode(x=alt.X(f"{x}:Q"), y=alt.Y(f"{y}:Q"))


def distribution(table: Table, scale: Scale | None) -> Chart:
    """How often each rater gives which answer, a bar each, from low answers to high ones; in words where they
    are answers of one `scale`.
    """
    data = pd.DataFrame(table.rows)
    data["answer"] = [scale.word(score, level=True) if scale else f"{score:g}" for score in data.score]
    answers = list(dict.fromkeys(data.sort_values("score").answer))
    shades = alt.Scale(domain=answers, range=_shades(len(answers)))
    share = alt.X("share:Q", title="share of answers", axis=_percent(), scale=alt.Scale(domain=[0, 1]))
    bars = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            y=alt.Y("rater:N", sort=list(dict.fromkeys(data.rater)), title=None, axis=name_axis()),
            x=share,
            color=alt.Color("answer:N", sort=answers, scale=shades, legend=legend(2)),
            order=alt.Order("score:Q"),
            tooltip=tips(
                ("rater:N", "who"), ("answer:N", "answer"), ("share:Q", "share", ".1%"), ("n:Q", "answers")
            ),
        )
    )
    return in_rows(bars, ROW, data.rater.nunique())


def _shades(steps: int) -> list[str]:
    """Blue to orange by way of a grey that shows on white and on black."""
    channels = zip((43, 92, 155), (168, 168, 168), (217, 114, 30), strict=True)
    at = np.linspace(0, 2, steps) if steps > 1 else np.zeros(1)
    mixed = [np.interp(at, [0, 1, 2], channel).round().astype(int) for channel in channels]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*mixed, strict=True)]


def _criteria(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """Spearman's ρ of every judge and panel on every criterion, as boxes with digits, of 4.5:1 on every
    shade; grey where the interval holds 0.
    """
    table = tables.get("by_criterion")
    cells: list[tuple[Any, ...]] = []
    if table is None:
        return
    of, *others = table.shown  # a study of one judge has the criteria as rows
    for row, column in product(table.rows, others):
        figure, label = row.get(column.name), str(row[of.name])
        if isinstance(figure, Estimate) and figure.defined:
            rater, criterion = (column.title, label) if of.name == "criterion" else (label, column.title)
            cells.append((criterion, rater, figure.value, figure.low, figure.high, figure.n))
    if not cells:
        return
    data = pd.DataFrame(cells, columns=["across", "down", "value", "low", "high", "n"])
    raters, criteria = (list(dict.fromkeys(data[name])) for name in ("down", "across"))
    data = data.astype(dict.fromkeys(("value", "low", "high"), float))
    data["shown"] = [f"{rho:z.2f}" for rho in data.value]
    unsure = (data.low <= 0) & (data.high >= 0) | data.low.isna()
    slanted = len(criteria) > SLANTED or on_phone()
    head = alt.Axis(orient="top", labelAngle=-40 if slanted else 0, labelLimit=110, labelOverlap=False)
    place: dict[str, Any] = {
        "x": alt.X("across:N", sort=criteria, title=None, axis=head),
        "y": alt.Y("down:N", sort=raters, title=None, axis=name_axis()),
        "tooltip": tips(("down:N", "of"), ("across:N", "on"), VALUE, *ENDS),
    }
    shade = alt.Scale(domain=[0, 1], clamp=True, range=["#dfe6ee", "#1d5a96"])
    digits = alt.ColorValue("black", condition={"test": "datum.value > 0.78", "value": "white"})
    text = alt.Text("shown:N")
    sure, other = (alt.Chart(data[of]).encode(**place) for of in (~unsure, unsure))
    layers = [
        sure.mark_rect().encode(color=alt.Color("value:Q", legend=None, scale=shade)),
        sure.mark_text().encode(text=text, color=digits),
    ]
    if unsure.any():
        layers += [
            other.mark_rect(color=GREY, opacity=0.15),
            other.mark_text(color=text_colour(), fontStyle="italic").encode(text=text),
        ]
    yield (
        f"Spearman's ρ with the mean of all people on every criterion ({sizes(data.n.tolist())} items); grey "
        f"and slanted where the 95% interval holds 0. {WITH_ALL}",
        in_rows(alt.layer(*layers), ROW, len(raters)),
    )


def _figures(table: Table | None, name: str, figure: str, kind: str) -> list[Point]:
    """The defined figures of a column, named by other cells of their rows, and by the kind there."""
    return [
        Point(name.format(**row), cell, str(row[kind]))
        for row in (table.rows if table else ())
        if isinstance(cell := row[figure], Estimate) and cell.defined
    ]


def _severities(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """Annotators and judges by severity, in points."""
    rows = _figures(tables["raters"], "{rater}", "severity", "kind")
    if len(rows) > 1:
        colours = alt.Scale(domain=["person", "judge"])
        yield (
            "Severity of annotators and judges, with 95% intervals: raters further right score lower.",
            intervals(rows, "points below the average annotator", colours=colours),
        )


def _bias(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """The effect of each feature on each judge beyond people, in points."""
    if rows := _figures(tables.get("feature_bias"), "{feature} ({step})", "effect", "rater"):
        raters = list(dict.fromkeys(row.kind for row in rows))
        on = sizes(row.figure.n for row in rows)
        yield (
            f"How far each feature moves a judge's scores beyond people's, with 95% intervals ({on} items): "
            "right of 0 the judge favours it, across 0 nothing is shown.",
            intervals(rows, "effect on judge less people (points)", colours=judge_colours(raters)),
        )


def _thresholds(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """Pass rates of players by people and by each judge, raw and corrected."""
    cuts = tables["thresholds"]
    raters = _last([row["rater"] for row in cuts.rows if _defined(row["sensitivity"])])
    kinds = {"people": "people", "judge": "judge alone", "corrected": "judge, corrected"}
    by_player = tables["pass_rates"].rows if "pass_rates" in tables else ()
    rates = [
        Point(str(row.get("group", "all")), figure, kinds[kind], str(row["rater"]))
        for row in (*cuts.rows, *by_player)
        if row["rater"] in raters
        for kind in kinds
        if isinstance(figure := row[kind], Estimate) and figure.defined
    ]
    if rates:
        how: dict[str, Any] = {"domain": (0.0, 1.0), "percent": True, "panels": raters}
        yield (
            "Pass rate of all items and of each player's: people's own, the judge's, and the judge's "
            f"corrected by people (PPI++, 95% intervals; {sizes(row['n'] for row in cuts.rows)} items).",
            intervals(rates, "pass rate", colours=alt.Scale(domain=list(kinds.values())), **how),
        )


def _calibration(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """The reliability diagram of each judge; of those on people's scale with a diagonal."""
    curves = [row for row in tables["calibration_curves"].rows if row["score"] is not None]
    of_rater = Counter(row["rater"] for row in curves if getattr(row["people"], "interval", None))
    raters = _last([rater for rater, groups in of_rater.items() if groups > 1])
    if not raters:
        return
    data = pd.DataFrame(
        [
            {"panel": row["rater"], "score": row["score"], "n": row["n"]}
            | {name: getattr(row["people"], name) for name in ("value", "low", "high")}
            for row in curves
            if row["rater"] in raters
        ]
    ).astype(dict.fromkeys(("score", "value", "low", "high"), float))
    shown = data[["value", "low", "high"]].to_numpy()
    axis = alt.Scale(domain=[float(np.nanmin(shown)), float(np.nanmax(shown))], nice=True, zero=False)
    x = alt.X("score:Q", title="judge's score", scale=alt.Scale(zero=False, padding=8))

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="people's mean", scale=axis)

    base = alt.Chart(data)
    shared = [str(row["rater"]) for row in curves if row["difference"] is not None]
    same = base.transform_filter(alt.FieldOneOfPredicate("panel", shared))
    area = alt.Size("n:Q", scale=alt.Scale(range=[20, 140]), legend=None)
    said = tips(("score:Q", "judge's score", ".2f"), ("value:Q", "people's mean", ".2f"), ("n:Q", "items"))
    layers = alt.layer(
        same.mark_line(color=GREY, strokeDash=[4, 4], clip=True).encode(x=x, y=y("score")),
        base.mark_rule(strokeWidth=1.5, color=GREY).encode(x=x, y=y("low"), y2=alt.Y2("high:Q")),
        base.mark_point(filled=True, opacity=1).encode(x=x, y=y("value"), size=area, tooltip=said),
        data=data,
    )
    yield (
        "Reliability diagram: people's mean (95% interval) of the items of about the same score. A larger "
        "dot is more items. On the dashed line, drawn where judge and people share a scale, the judge is "
        "calibrated.",
        side_by_side(layers.properties(height=SIDE), raters),
    )


def _last(raters: Sequence[Any]) -> list[str]:
    """The judges and panels that charts show: where there are too many the last, panels among them."""
    return [str(rater) for rater in dict.fromkeys(raters)][-MOST:]


def _defined(cell: Any) -> bool:
    return isinstance(cell, Estimate) and cell.defined


def _percent() -> alt.Axis:
    return alt.Axis(format="%")


PICTURES: dict[str, Pictures] = {
    "bias": _bias,
    "criteria": _criteria,
    "calibration": _calibration,
    "glance": glance,
    "raters": _severities,
    "thresholds": _thresholds,
}
"""The charts above the tables of a section of `concord.reports.sections`, by the section's name."""
