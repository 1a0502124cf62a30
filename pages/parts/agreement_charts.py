"""The charts of the agreement page. Fields have names of our own, so that nobody's name is read as an expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from pages.parts.agreement_tables import name_of

PERSON, JUDGE, PANEL = "one person, with the others' mean", "judge", "panel"
ROW = 26


def forest(part: Mapping[str, Any]) -> alt.LayerChart | None:
    """Everybody's Spearman with its interval on one axis: judges, panels, and people against the others. None without any."""
    rows = [
        (f"{row['rater']}", PERSON, row["vs_others"], None, None, row["n"]) for row in part["humans"]["each"]
    ]
    for kind, raters in ((JUDGE, part["judges"]), (PANEL, part["panels"])):
        rows += [(name_of(r), kind, r["spearman"], *(r["ci"] or (None, None)), r["n"]) for r in raters]
    table = pd.DataFrame(rows, columns=["name", "kind", "rho", "low", "high", "n"]).dropna(subset=["rho"])
    if table.empty:
        return None
    low = min(0.0, float(table[["rho", "low"]].min().min()))
    y = alt.Y("name:N", sort=list(table.name), title=None, axis=alt.Axis(labelLimit=260))
    color = alt.Color(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=[JUDGE, PANEL, PERSON]),
        legend=alt.Legend(orient="top", labelLimit=260),
    )
    tip = [
        alt.Tooltip("name:N", title="who"), alt.Tooltip("kind:N"), alt.Tooltip("rho:Q", format=".3f", title="ρ"),
        alt.Tooltip("low:Q", format=".3f", title="from"), alt.Tooltip("high:Q", format=".3f", title="to"), alt.Tooltip("n:Q"),
    ]  # fmt: skip
    base = alt.Chart(table).encode(y=y)
    x = alt.X("rho:Q", title="Spearman's ρ with the mean of people", scale=alt.Scale(domain=[low, 1.0]))
    whisker = (
        base.mark_rule(strokeWidth=2)
        .encode(x=x, x2="high:Q", color=color)
        .transform_calculate(rho="datum.low")
    )
    dot = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=x, color=color, shape=alt.Shape("kind:N", legend=None), tooltip=tip
    )
    return (whisker + dot).properties(height=ROW * len(table) + 40)


def scatter(
    points: pd.DataFrame, *, judge: str, people: str, same_scale: tuple[float, float] | None
) -> alt.LayerChart:
    """A judge's score against people's mean; items at the same place are one dot, its size their number. The dot clicked is “picked”."""
    table = points.groupby(["people", "judge"], as_index=False).agg(
        items=("conversation_id", "size"), players=("player", lambda p: ", ".join(sorted(set(p))[:4]))
    )
    picked = alt.selection_point(name="picked", fields=["people", "judge"])
    ends = (
        alt.Scale(domain=list(same_scale), nice=False, padding=8)
        if same_scale
        else alt.Scale(zero=False, padding=8)
    )
    dots = (
        alt.Chart(table)
        .mark_point(filled=True, stroke=None)
        .encode(
            x=alt.X("people:Q", title=people, scale=ends),
            y=alt.Y("judge:Q", title=judge, scale=ends),
            size=alt.Size("items:Q", title="items", scale=alt.Scale(range=[50, 420], domainMin=1), legend=None),
            opacity=alt.condition(picked, alt.value(0.6), alt.value(0.15)),
            tooltip=[
                alt.Tooltip("people:Q", format=".2f", title="people's mean"), alt.Tooltip("judge:Q", format=".2f", title="judge"),
                alt.Tooltip("items:Q"), alt.Tooltip("players:N", title="players"),
            ],
        )
        .add_params(picked)
    )  # fmt: skip
    if same_scale is None:
        return alt.layer(dots).properties(height=380)
    line = pd.DataFrame({"people": list(same_scale), "judge": list(same_scale)})
    diagonal = (
        alt.Chart(line)
        .mark_line(strokeDash=[4, 4], color="gray", strokeWidth=1)
        .encode(x="people:Q", y="judge:Q")
    )
    return (diagonal + dots).properties(height=380)


def shares(table: pd.DataFrame, words: Mapping[float, str]) -> alt.Chart:
    """How often everybody gives which answer, a bar each; low answers to the left of the bar, high ones to the right."""
    table = table.assign(
        answer=[_answer(score, words) for score in table.score],
        who=[f"{r} (n={n})" for r, n in zip(table.rater, table.n, strict=True)],
    )
    answers = list(dict.fromkeys(table.sort_values("score").answer))
    return (
        alt.Chart(table)
        .mark_bar()
        .encode(
            y=alt.Y("who:N", sort=list(dict.fromkeys(table.who)), title=None, axis=alt.Axis(labelLimit=220)),
            x=alt.X("share:Q", title="share of answers", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("answer:N", sort=answers, title=None, scale=alt.Scale(domain=answers, range=_shades(len(answers))), legend=alt.Legend(orient="top", columns=5, labelLimit=160)),
            order=alt.Order("score:Q"),
            tooltip=[alt.Tooltip("rater:N", title="who"), alt.Tooltip("answer:N"), alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("n:Q", title="answers")],
        )
        .properties(height=ROW * table.who.nunique() + 70)
    )  # fmt: skip


def matrix(pairs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> alt.LayerChart:
    """Spearman of every two people."""
    table = pd.DataFrame(
        [(x, y, p["spearman"], p["n"]) for p in pairs for x, y in ((p["a"], p["b"]), (p["b"], p["a"]))],
        columns=["one", "other", "rho", "n"],
    )
    table["shown"] = [f"{rho:.2f}" if rho == rho and rho is not None else "–" for rho in table.rho]
    base = alt.Chart(table).encode(
        x=alt.X("one:N", sort=list(names), title=None, axis=alt.Axis(orient="top", labelAngle=0, labelLimit=90)),
        y=alt.Y("other:N", sort=list(names), title=None),
        tooltip=["one:N", "other:N", alt.Tooltip("rho:Q", format=".3f", title="ρ"), alt.Tooltip("n:Q", title="items both rated")],
    )  # fmt: skip
    cells = base.mark_rect().encode(
        color=alt.Color(
            "rho:Q",
            title="ρ",
            legend=None,
            scale=alt.Scale(domain=[0, 1], clamp=True, range=["#e8eef7", "#1f5fa8"]),
        )
    )
    text = base.mark_text().encode(
        text="shown:N", color=alt.condition("datum.rho > 0.55", alt.value("white"), alt.value("#16202c"))
    )
    return (cells + text).properties(height=max(140, 38 * len(names)))


def _answer(score: float, words: Mapping[float, str]) -> str:
    word = words.get(score, "")
    return f"{score:g}" if word in ("", f"{score:g}") else f"{score:g} {word}"


def _shades(steps: int) -> list[str]:
    """Blue-grey to orange by way of a middle that shows on white and on black."""
    low, middle, high = (43, 92, 155), (168, 168, 168), (217, 114, 30)
    shades = []
    for step in range(steps):
        at = 2 * step / max(1, steps - 1)
        a, b, share = (low, middle, at) if at <= 1 else (middle, high, at - 1)
        shades.append("#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in zip(a, b, strict=True)))
    return shades
