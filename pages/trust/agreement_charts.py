"""The charts of the agreement page. Fields have names of our own, so that nobody's name is read as an expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from core.reports.agreement_report import Measured, name_of
from pages.parts.charts import name_axis

OTHERS, ALL = "the others", "all"
PERSON, JUDGE, PANEL = "a person, with the others", "judge", "panel"
Chart = Any
"""A chart of Altair, whose types say little."""
RHO = "Spearman's ρ with the mean of people"
ROW = 26
SQUARE = 400
BLUE = "#3d7ab8"
"""Readable on white and on black, for marks the theme has no colour for."""


def forest(part: Mapping[str, Any], short: Mapping[str, str]) -> Chart | None:
    """Everybody's Spearman with its interval on one axis: judges, panels, and people with the others. None without any."""
    rows = []
    for kind, raters in ((JUDGE, part["judges"]), (PANEL, part["panels"])):
        for row in raters:
            name = " + ".join(short[judge] for judge in row["judges"]) if kind == PANEL else row["rater"]
            rows.append((name, name_of(row), kind, row["spearman"], *(row["ci"] or (None, None)), row["n"]))
    rows += [
        (r["rater"], r["rater"], PERSON, r["vs_others"], None, None, r["n"]) for r in part["humans"]["each"]
    ]
    columns = ["name", "who", "kind", "rho", "low", "high", "n"]
    table = pd.DataFrame(rows, columns=columns).dropna(subset=["rho"])
    if table.empty:
        return None
    kinds = [kind for kind in (JUDGE, PANEL, PERSON) if kind in set(table.kind)]
    least = float(table[["rho", "low"]].min().min())
    x = alt.X("rho:Q", title=RHO, scale=alt.Scale(domain=[min(0.0, least), 1.0]))
    y = alt.Y("name:N", sort=list(table.name), title=None, axis=name_axis())
    legend = alt.Legend(orient="top", title=None, labelLimit=260, symbolStrokeWidth=0)
    color = alt.Color("kind:N", scale=alt.Scale(domain=kinds), legend=legend)
    tip = [
        alt.Tooltip("who:N"), alt.Tooltip("kind:N", title="as"), alt.Tooltip("rho:Q", format=".3f", title="ρ"),
        alt.Tooltip("low:Q", format=".3f", title="from"), alt.Tooltip("high:Q", format=".3f", title="to"), alt.Tooltip("n:Q", title="items"),
    ]  # fmt: skip
    base = alt.Chart(table)
    whiskers = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=RHO), x2="high:Q", y=y, color=color
    )
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=x,
        y=y,
        color=color,
        shape=alt.Shape("kind:N", scale=alt.Scale(domain=kinds), legend=legend),
        tooltip=tip,
    )
    return (whiskers + dots).properties(height=alt.Step(ROW))


def scatter(
    points: pd.DataFrame,
    measured: Measured,
    criterion: str,
    members: Sequence[str],
    ends: tuple[float, float] | None,
) -> Chart:
    """A judge's score against people's mean; items at one place are one dot, its size their number. The dot clicked is “picked”.

    `ends` are those of the scale people and judge share; with them comes the diagonal on which both agree.
    """
    dots = points.groupby(["mean", "score"], as_index=False).agg(
        items=("unit", "size"), who=("player", lambda players: ", ".join(sorted(set(map(str, players)))[:4]))
    )
    picked = alt.selection_point(name="picked", fields=["mean", "score"])
    scale = (
        alt.Scale(domain=list(ends), nice=False, padding=12, zero=False)
        if ends
        else alt.Scale(zero=False, padding=12)
    )
    what = measured.label(criterion)
    whose = members[0] if len(members) == 1 else f"mean of {len(members)} judges"
    base = alt.Chart(dots).mark_point(filled=True, stroke=None)
    chart = base.encode(
        x=alt.X("mean:Q", title=f"{what}: mean of people", scale=scale),
        y=alt.Y("score:Q", title=f"{what}: {whose}", scale=scale, axis=alt.Axis(titleLimit=SQUARE - 100)),
        size=alt.Size("items:Q", scale=alt.Scale(range=[60, 420], domain=[1, max(2, int(dots["items"].max()))]), legend=None),
        opacity=alt.condition(picked, alt.value(0.65), alt.value(0.12)),
        tooltip=[
            alt.Tooltip("mean:Q", format=".2f", title="mean of people"), alt.Tooltip("score:Q", format=".2f", title="judge"),
            alt.Tooltip("items:Q"), alt.Tooltip("who:N", title="players"),
        ],
    ).add_params(picked)  # fmt: skip
    layers = [chart]
    if ends:
        line = alt.Chart(pd.DataFrame({"mean": ends, "score": ends})).mark_line(
            strokeDash=[4, 4], color="gray", strokeWidth=1
        )
        layers.insert(0, line.encode(x="mean:Q", y="score:Q"))
    return alt.layer(*layers).properties(height=SQUARE)


def shares(table: pd.DataFrame, words: Mapping[float, str]) -> Chart:
    """How often everybody gives which answer, a bar each; low answers at its left end, high ones at its right."""
    table = table.assign(
        answer=[_answer(score, words) for score in table.score],
        who=[f"{rater} (n = {n})" for rater, n in zip(table.rater, table.n, strict=True)],
    )
    answers = list(dict.fromkeys(table.sort_values("score").answer))
    legend = alt.Legend(orient="top", title=None, columns=3, labelLimit=200)
    return (
        alt.Chart(table)
        .mark_bar()
        .encode(
            y=alt.Y("who:N", sort=list(dict.fromkeys(table.who)), title=None, axis=name_axis()),
            x=alt.X("share:Q", title="share of answers", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("answer:N", sort=answers, scale=alt.Scale(domain=answers, range=_shades(len(answers))), legend=legend),
            order=alt.Order("score:Q"),
            tooltip=[
                alt.Tooltip("rater:N", title="who"), alt.Tooltip("answer:N"), alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("n:Q", title="answers"),
            ],
        )
        .properties(height=alt.Step(ROW))
    )  # fmt: skip


def players(rows: pd.DataFrame, bias: bool) -> Chart | None:
    """One judge inside each group of items: bias in points, or ρ where levels cannot be compared. None where all is undefined."""
    name = "bias" if bias else "spearman"
    table = pd.DataFrame(
        {
            "group": rows.group.map(str), "value": rows[name], "low": rows[f"{name}_low"], "high": rows[f"{name}_high"], "rho": rows.spearman, "n": rows.n,
        }
    ).dropna(subset=["value"])  # fmt: skip
    if table.empty:
        return None
    title = "bias in points (judge less people)" if bias else RHO
    y = alt.Y("group:N", sort=list(table.sort_values("value").group), title=None, axis=name_axis())
    base = alt.Chart(table)
    tip = [
        alt.Tooltip("group:N", title="player"), alt.Tooltip("value:Q", format="+.2f", title=name), alt.Tooltip("low:Q", format="+.2f", title="from"),
        alt.Tooltip("high:Q", format="+.2f", title="to"), alt.Tooltip("rho:Q", format=".2f", title="ρ"), alt.Tooltip("n:Q", title="items"),
    ]  # fmt: skip
    zero = (
        alt.Chart(pd.DataFrame({"value": [0.0]}))
        .mark_rule(color="gray", strokeDash=[4, 4])
        .encode(x="value:Q")
    )
    whiskers = base.mark_rule(strokeWidth=2, color=BLUE).encode(
        x=alt.X("low:Q", title=title), x2="high:Q", y=y
    )
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("value:Q", title=title), y=y, tooltip=tip
    )
    return (zero + whiskers + dots).properties(height=alt.Step(ROW))


def matrix(humans: Mapping[str, Any]) -> Chart:
    """Spearman of every two people, and of each with the mean of the others and of all, themselves included."""
    names = [row["rater"] for row in humans["each"]]
    cells = [
        (x, y, p["spearman"], p["n"])
        for p in humans["pairs"]
        for x, y in ((p["a"], p["b"]), (p["b"], p["a"]))
    ]
    for against, key in ((OTHERS, "vs_others"), (ALL, "vs_all")):
        cells += [(against, row["rater"], row[key], row["n"]) for row in humans["each"]]
    table = pd.DataFrame(cells, columns=["other", "one", "rho", "n"])
    table["shown"] = ["–" if pd.isna(rho) else f"{rho:.2f}" for rho in table.rho]
    base = alt.Chart(table).encode(
        x=alt.X("other:N", sort=[*names, OTHERS, ALL], title=None, axis=alt.Axis(orient="top", labelAngle=-30 if len(names) > 4 else 0, labelLimit=110)),
        y=alt.Y("one:N", sort=names, title=None, axis=name_axis()),
        tooltip=[
            alt.Tooltip("one:N"), alt.Tooltip("other:N", title="with"), alt.Tooltip("rho:Q", format=".3f", title="ρ"), alt.Tooltip("n:Q", title="items both rated"),
        ],
    )  # fmt: skip
    shade = alt.Scale(domain=[0, 1], clamp=True, range=["#dfe6ee", "#1d5a96"])
    boxes = base.mark_rect().encode(color=alt.Color("rho:Q", legend=None, scale=shade))
    words = base.mark_text().encode(
        text="shown:N", color=alt.condition("datum.rho > 0.5", alt.value("white"), alt.value("#16202c"))
    )
    return (boxes + words).properties(height=alt.Step(ROW))


def _answer(score: float, words: Mapping[float, str]) -> str:
    word = words.get(score, "")
    return f"{score:g}" if word in ("", f"{score:g}") else f"{score:g} {word}"


def _shades(steps: int) -> list[str]:
    """Blue to orange by way of a grey that shows on white and on black."""
    low, middle, high = (43, 92, 155), (168, 168, 168), (217, 114, 30)
    shades = []
    for step in range(steps):
        at = 2 * step / max(1, steps - 1)
        a, b, share = (low, middle, at) if at <= 1 else (middle, high, at - 1)
        shades.append("#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in zip(a, b, strict=True)))
    return shades
