"""The tables of comparisons: win, tie and lose of every two models, their strengths, what the order does, judges beside people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import altair as alt
import pandas as pd
import streamlit as st

from core.agreement.pairwise import Bias, Match
from core.studies.comparisons import Standing
from pages.parts.charts import GREEN, ROW, name_axis
from pages.parts.plain import plain

Number = st.column_config.NumberColumn


def duels(standing: Standing) -> None:
    """Win, tie, lose and Δ of every two models."""
    frame = pd.DataFrame(
        [
            {
                "model": d.one,
                "against": d.other,
                "win": 100 * d.won / d.n if d.n else None,
                "tie": 100 * d.tied / d.n if d.n else None,
                "lose": 100 * d.lost / d.n if d.n else None,
                "Δ": None if d.delta is None else 100 * d.delta,
                "95%": "" if d.ci is None else f"{100 * d.ci[0]:+.1f} to {100 * d.ci[1]:+.1f}",
                "n": d.n,
                "left out": d.incomplete,
            }
            for d in standing.duels
        ]
    )
    share = Number(format="%.1f%%")
    st.dataframe(
        frame, hide_index=True, height="content", placeholder="undefined", alt="Win, tie and lose",
        column_config={
            "win": share, "tie": share, "lose": share, "Δ": Number(format="%+.1f", help="Wins less losses, in points of a hundred"),
            "n": Number(help="Scenarios compared in both orders"), "left out": Number(help="Without a usable verdict in both orders"),
        },
    )  # fmt: skip
    _reasons((f"{d.one} and {d.other}", d.reason) for d in standing.duels)


def strengths(standing: Standing) -> None:
    """The Bradley–Terry scale as points with intervals."""
    rows = [
        {"model": s.player, "strength": s.value, "low": s.ci[0] if s.ci else s.value, "high": s.ci[1] if s.ci else s.value, "pairs": s.n}
        for s in sorted(standing.strengths, key=lambda s: -(s.value if s.value is not None else float("-inf")))
        if s.value is not None
    ]  # fmt: skip
    if rows:
        base = alt.Chart(pd.DataFrame(rows)).encode(
            y=alt.Y("model:N", sort=[str(row["model"]) for row in rows], title=None, axis=name_axis()),
            tooltip=[
                "model",
                *(alt.Tooltip(f"{c}:Q", format=".2f") for c in ("strength", "low", "high")),
                "pairs:Q",
            ],
        )
        rule = base.mark_rule(strokeWidth=2, color=GREEN).encode(
            x=alt.X("low:Q", title="Strength (log scale, mean 0), 95% interval", scale=alt.Scale(zero=False)),
            x2="high:Q",
        )
        dots = base.mark_point(filled=True, size=90, opacity=1, color=GREEN).encode(x="strength:Q")
        st.altair_chart((rule + dots).properties(height=alt.Step(ROW)), alt="Bradley–Terry strengths")
    _reasons((s.player, s.reason) for s in standing.strengths)


def bias(found: Sequence[Bias]) -> None:
    """How often each judge's verdict changed with the order, and to which side."""
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "judge": b.rater,
                    "changed": 100 * b.flips / b.n if b.n else None,
                    "flips": b.flips,
                    "of": b.n,
                    "to the first": b.first,
                    "to the second": b.second,
                }
                for b in found
            ]
        ),
        hide_index=True,
        height="content",
        alt="Position bias",
        column_config={
            "changed": Number(format="%.1f%%", help="Pairs whose verdict was another in the other order"),
            "to the first": Number(help="Flips that lean to the reply shown first"),
            "to the second": Number(help="Flips that lean to the reply shown second"),
        },
    )


def matches(found: Sequence[Match]) -> None:
    """Judges and people on the same pairs, with ties and without, and kappa."""
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "one": m.a,
                    "other": m.b,
                    "equal": None if m.equal is None else 100 * m.equal,
                    "pairs": m.n,
                    "equal without ties": None if m.equal_decided is None else 100 * m.equal_decided,
                    "pairs without ties": m.n_decided,
                    "Cohen's κ": m.kappa,
                    "not asked": m.unasked,
                    "order missing": m.incomplete,
                }
                for m in found
            ]
        ),
        hide_index=True,
        height="content",
        placeholder="undefined",
        alt="Agreement of judges and people",
        column_config={
            "equal": Number(format="%.1f%%"),
            "equal without ties": Number(format="%.1f%%", help="Among pairs where neither saw a tie"),
            "Cohen's κ": Number(format="%.3f"),
            "not asked": Number(
                help="Pairs these people compared and the judge was not asked about: left out"
            ),
            "order missing": Number(
                help="Pairs these people compared without the judge's usable verdict in both orders: left out"
            ),
        },
    )
    _reasons((f"{m.a} and {m.b}", m.reason) for m in found)


def _reasons(given: Iterable[tuple[str, str]]) -> None:
    lines = [f"{plain(of)}: {plain(reason)}" for of, reason in given if reason]
    if lines:
        st.caption("  \n".join(lines))
