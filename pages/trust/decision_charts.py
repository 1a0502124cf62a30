"""The charts of what judges are used for: to decide at a cut, to score as people do, to order players."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from concord.estimate import Estimate
from concord.statistics.calibration import GIVEN
from concord.table import Table
from pages.parts.charts import judge_colours, name_axis

Chart = Any
"""A chart of Altair, whose types say little."""

MOST = 6
"""Judges and panels that a row of small charts shows; the tables below have all."""

SIDE, PLOT, BESIDE = 260, 380, 2
"""The width of one of several charts and the height of a single one, in pixels; charts side by side."""


def thresholds(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """Sensitivity by specificity at every cut of each judge; pass rates of players, raw and corrected."""
    cuts = tables["thresholds"]
    raters = _first([row["rater"] for row in cuts.rows if _defined(row["sensitivity"])])
    if raters:
        yield (
            _n("Each judge's decisions at every cut of its score; the dot is its own cut", cuts),
            _roc(cuts, raters),
        )
    rates = _frame(tables["pass_rates"], ("people", "judge", "corrected"), raters)
    if not rates.empty:
        yield (
            "Pass rate of each player, with 95% intervals: people's own, the judge's, and the judge's "
            "corrected for its errors.",
            _rates(rates, raters),
        )


def calibration(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """The reliability diagram of each judge, and both curves."""
    curves = tables["calibration_curves"]
    raters = _first([row["rater"] for row in curves.rows if row["score"] is not None])
    given = [row for row in tables["calibration"].rows if row["curve"] == GIVEN]
    shared = [str(row["rater"]) for row in given if _defined(row["rmse"])]
    if raters:
        yield (
            _n(
                "Reliability diagram: people's mean (95% interval) of the items of about the same score",
                curves,
            )
            + " A larger dot is more items. On the dashed line, drawn where judge and people share a scale, "
            "the judge is calibrated.",
            _reliability(curves, raters, shared),
        )


def system(tables: Mapping[str, Table]) -> Iterator[tuple[str, Chart]]:
    """The players in people's order and in each judge's: lines that cross are pairs in another order."""
    order = tables["player_order"]
    raters = _first([row["rater"] for row in order.rows])
    players = len({row["group"] for row in order.rows})
    if raters and players > 1:
        yield (
            _n("Rank of each player by people and by the judge; where two lines cross, both differ", order),
            _slopes(order, raters),
        )


def _roc(cuts: Table, raters: Sequence[str]) -> Chart:
    nothing = {"cut": None, "sensitivity": 0.0, "specificity": 1.0}
    points = pd.DataFrame(
        [
            {"rater": rater, "cut": point["cut"], "sensitivity": point["sensitivity"]}
            | {"passed": 1 - point["specificity"], "place": place}
            for rater in raters
            for place, point in enumerate([*cuts.meta["curves"][rater], nothing])
        ]
    )
    chosen = pd.DataFrame(
        [
            {"rater": row["rater"], "cut": row["cut"], "sensitivity": _value(row["sensitivity"])}
            | {"passed": 1 - _value(row["specificity"])}
            for row in cuts.rows
            if row["rater"] in raters
        ]
    )
    share = alt.Scale(domain=[0, 1])
    x = alt.X("passed:Q", title="of people's fails, the judge passes", scale=share, axis=_percent())
    y = alt.Y("sensitivity:Q", title="of people's passes, the judge passes", scale=share, axis=_percent())
    color = _color(raters)
    lines = alt.Chart(points).mark_line().encode(x=x, y=y, color=color, order=alt.Order("place:Q"))
    said = [
        alt.Tooltip("rater:N", title="judge"),
        alt.Tooltip("cut:Q", format=".2f", title="passes from"),
        alt.Tooltip("sensitivity:Q", format=".0%"),
        alt.Tooltip("passed:Q", format=".0%", title="of fails"),
    ]
    dots = alt.Chart(chosen).mark_point(filled=True, size=130, opacity=1)
    chance = alt.Chart(pd.DataFrame({"at": [0, 1]})).mark_line(color="gray", strokeDash=[4, 4])
    return alt.layer(
        chance.encode(x=alt.X("at:Q"), y=alt.Y("at:Q")),
        lines,
        dots.encode(x=x, y=y, color=color, tooltip=said),
    ).properties(height=PLOT)


def _rates(rates: pd.DataFrame, raters: Sequence[str]) -> Chart:
    kinds = {"people": "people", "judge": "judge alone", "corrected": "judge, corrected"}
    rates = rates.assign(kind=rates.kind.map(kinds))
    kind = alt.Scale(domain=list(kinds.values()))
    base = alt.Chart(rates).encode(
        y=alt.Y("group:N", sort=list(dict.fromkeys(rates.group)), title=None, axis=name_axis()),
        yOffset=alt.YOffset("kind:N", scale=kind),
        color=alt.Color("kind:N", scale=kind, legend=alt.Legend(orient="top", title=None, columns=2)),
    )
    share = alt.Scale(domain=[0, 1])
    low, value = (
        alt.X(f"{of}:Q", title="pass rate", scale=share, axis=_percent()) for of in ("low", "value")
    )
    ends = base.mark_rule(strokeWidth=2).encode(x=low, x2=alt.X2("high:Q"))
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x=value, tooltip=_said("player"))
    return _beside(alt.layer(ends, dots).properties(width=SIDE, height=alt.Step(13)), raters)


def _reliability(curves: Table, raters: Sequence[str], shared: Sequence[str]) -> Chart:
    """The charts of the raters; of those who `shared` people's scale with the diagonal."""
    frame = pd.DataFrame(
        [
            {"rater": row["rater"], "score": row["score"], "n": row["n"], **_ends(row["people"])}
            | {name: row.get(name) for name in ("isotonic", "ordinal")}
            for row in curves.rows
            if row["rater"] in raters and row["score"] is not None
        ]
    ).astype(dict.fromkeys(("score", "value", "low", "high", "isotonic", "ordinal"), float))
    shown = [*frame.value, *frame.low.dropna(), *frame.high.dropna()]
    axis = alt.Scale(domain=[min(shown), max(shown)], nice=True, zero=False)
    x = alt.X("score:Q", title="judge's score", scale=alt.Scale(zero=False, padding=8))
    kinds = {"isotonic": "isotonic", "ordinal": "ordinal logistic"}
    curve = alt.Color(
        "curve:N",
        scale=alt.Scale(domain=list(kinds.values())),
        legend=alt.Legend(orient="top", title=None),
    )
    base = alt.Chart(frame)
    fitted = (
        base.transform_fold(list(kinds), as_=["of", "at"])
        .transform_calculate(curve="datum.of == 'ordinal' ? 'ordinal logistic' : 'isotonic'")
        .transform_filter("isValid(datum.at)")
    )
    y = alt.Y("value:Q", title="people's mean", scale=axis)
    lines = fitted.mark_line(strokeWidth=1.5, clip=True).encode(
        x=x, y=alt.Y("at:Q", title="people's mean", scale=axis), color=curve
    )
    same = base.transform_filter(alt.FieldOneOfPredicate("rater", list(shared)))
    diagonal = same.mark_line(color="gray", strokeDash=[4, 4], clip=True).encode(
        x=x, y=alt.Y("score:Q", title="people's mean", scale=axis)
    )
    ends = base.mark_rule(strokeWidth=1.5, color="gray").encode(
        x=x, y=alt.Y("low:Q", title="people's mean", scale=axis), y2=alt.Y2("high:Q")
    )
    size = alt.Size("n:Q", scale=alt.Scale(range=[20, 140]), legend=None)
    said = [
        alt.Tooltip("score:Q", format=".2f", title="judge's score"),
        alt.Tooltip("value:Q", format=".2f", title="people's mean"),
        alt.Tooltip("n:Q", title="items"),
    ]
    dots = base.mark_point(filled=True, color="gray", opacity=1).encode(x=x, y=y, size=size, tooltip=said)
    layers = alt.layer(diagonal, lines, ends, dots, data=frame).properties(width=SIDE, height=SIDE)
    return _beside(layers, raters)


def _slopes(order: Table, raters: Sequence[str]) -> Chart:
    rows = [
        {"rater": row["rater"], "player": row["group"], "n": row["n"]}
        | {"by": by, "rank": row[f"{of}_rank"], "mean": _value(row[of])}
        for row in order.rows
        if row["rater"] in raters
        for of, by in (("people", "people"), ("judge", "judge"))
    ]
    frame = pd.DataFrame(rows)
    players = list(dict.fromkeys(frame.sort_values(["rank"]).player))
    ranks = list(range(1, int(frame["rank"].max()) + 1))
    x = alt.X("by:N", sort=["people", "judge"], title=None, axis=alt.Axis(labelAngle=0))
    y = alt.Y(
        "rank:Q",
        title="rank",
        scale=alt.Scale(reverse=True, domain=[1, ranks[-1]], nice=False, padding=10),
        axis=alt.Axis(format="d", tickMinStep=1, tickCount=min(len(ranks), 12)),
    )
    color = alt.Color(
        "player:N", scale=alt.Scale(domain=players), legend=alt.Legend(title=None, labelLimit=200)
    )
    base = alt.Chart(frame).encode(x=x, y=y, color=color)
    said = [
        alt.Tooltip("player:N"),
        alt.Tooltip("by:N"),
        alt.Tooltip("rank:Q"),
        alt.Tooltip("mean:Q", format=".2f"),
        alt.Tooltip("n:Q", title="items"),
    ]
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(tooltip=said)
    height = max(140, 24 * len(ranks))
    return _beside(
        alt.layer(base.mark_line(strokeWidth=2), dots).properties(width=170, height=height), raters
    )


def _beside(chart: Chart, raters: Sequence[str]) -> Chart:
    """A small chart for each judge, in the order of the tables."""
    header = alt.Header(title=None, labelLimit=SIDE + 60, labelFontSize=12)
    return chart.facet(alt.Facet("rater:N", sort=list(raters), header=header), columns=BESIDE)


def _first(raters: Sequence[Any]) -> list[str]:
    """The judges and panels that charts show: where there are too many the last, panels among them."""
    return [str(rater) for rater in dict.fromkeys(raters)][-MOST:]


def _frame(table: Table, kinds: Sequence[str], raters: Sequence[str]) -> pd.DataFrame:
    """A row a figure that is defined: rater, group, kind, value, low, high, n."""
    rows = [
        {"rater": row["rater"], "group": row["group"], "kind": kind, "n": cell.n, **_ends(cell)}
        for row in table.rows
        if row["rater"] in raters
        for kind in kinds
        if isinstance(cell := row[kind], Estimate) and cell.defined
    ]
    columns = {"value": float, "low": float, "high": float}
    return pd.DataFrame(rows).astype(columns) if rows else pd.DataFrame(columns=list(columns))


def _ends(cell: Any) -> dict[str, float | None]:
    return {"value": cell.value, "low": cell.low, "high": cell.high}


def _value(cell: Any) -> float:
    return float(cell.value) if cell.value is not None else float("nan")


def _defined(cell: Any) -> bool:
    return isinstance(cell, Estimate) and cell.defined


def _n(said: str, table: Table) -> str:
    sizes = sorted({int(str(row["n"])) for row in table.rows if row["n"]})
    n = f"n = {sizes[0]}" if len(sizes) == 1 else f"n = {sizes[0]} to {sizes[-1]}"
    return f"{said} ({n} items)."


def _color(raters: Sequence[str]) -> alt.Color:
    legend = alt.Legend(orient="top", title=None, labelLimit=300, columns=2)
    return alt.Color("rater:N", scale=judge_colours(raters), legend=legend)


def _percent() -> alt.Axis:
    return alt.Axis(format="%")


def _said(of: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("group:N", title=of),
        alt.Tooltip("kind:N", title="by"),
        alt.Tooltip("value:Q", format=".1%"),
        alt.Tooltip("low:Q", format=".1%", title="from"),
        alt.Tooltip("high:Q", format=".1%", title="to"),
        alt.Tooltip("n:Q", title="items"),
    ]
