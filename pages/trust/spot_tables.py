"""The tables of spot-checks: what deserves a look, and what people found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.store.suspects import Suspect
from core.studies.spotcheck import REASONS, Findings, Share

Number = st.column_config.NumberColumn
Text = st.column_config.TextColumn


def queue(found: Sequence[Suspect], beside: Sequence[Mapping[str, str]], main: Sequence[str]) -> int | None:
    """What deserves a look; returns the conversation whose row is selected. `beside` has each one's facets, `main` names those shown."""
    frame = pd.DataFrame(
        [
            {
                "model": s.player,
                **{name: facets.get(name, "") for name in main},
                "because": ", ".join(REASONS[reason] for reason in s.reasons),
                "score": s.final,
                "apart": s.spread,
                "people": s.people,
                "priority": s.priority,
            }
            for s, facets in zip(found, beside, strict=True)
        ]
    )
    if frame.people.isna().all():
        frame = frame.drop(columns="people")
    chosen = st.dataframe(
        frame, hide_index=True, height="content", key="queue", on_select="rerun", selection_mode="single-row", placeholder="",
        alt="What deserves a look",
        column_config={
            "score": Number(format="%.2f", help="Mean of the judges"),
            "apart": Number(format="%.2f", help="Distance between the highest and the lowest judge"),
            "people": Number(format="%.2f", help="Mean of people"),
            "priority": Number(format="%.2f", help="One point for each reason, more for what is far beyond its threshold"),
            "because": Text(width="medium"),
        },
    )  # fmt: skip
    rows = chosen["selection"]["rows"]
    return found[rows[0]].conversation_id if rows and rows[0] < len(found) else None


def headline(found: Findings) -> None:
    """The figures in short."""
    share = found.overall
    with st.container(horizontal=True):
        st.metric(
            "Reasonable",
            _percent(share.rate),
            _ends(share.rate_ci),
            delta_color="off",
            delta_arrow="off",
            border=True,
        )
        st.metric(
            "Too high", share.too_high, f"of {share.n}", delta_color="off", delta_arrow="off", border=True
        )
        st.metric(
            "Too low", share.too_low, f"of {share.n}", delta_color="off", delta_arrow="off", border=True
        )
        st.metric(
            "Optimism", _percent(share.optimism), _ends(share.optimism_ci), delta_color="off", delta_arrow="off", border=True,
            help="Share of too high among what was not reasonable",
        )  # fmt: skip
        if share.unread:
            st.metric(
                "Unreadable, seen",
                share.unread,
                "in no share",
                delta_color="off",
                delta_arrow="off",
                border=True,
            )
    if not found.unbiased:
        st.badge("Chosen because something looked wrong: not the judges' rate", color="orange")
    elif found.items < found.drawn:
        st.badge(f"The rate rests on the first {found.items} of {found.drawn} so far", color="gray")


def shares(found: Findings) -> None:
    """The same by judge, by subset, by type, by model, by person: whatever has more than one value."""
    rows = [
        {
            "by": by,
            "": share.of,
            "n": share.n,
            "reasonable": _percent(share.rate),
            "95%": _ends(share.rate_ci),
            "too high": share.too_high,
            "too low": share.too_low,
            "optimism": _percent(share.optimism),
            "95% ": _ends(share.optimism_ci),
            "unreadable": share.unread,
        }
        for by, of in found.by.items()
        for share in _telling(by, of)
    ]
    if rows:
        frame = pd.DataFrame(rows)
        if not frame.unreadable.any():
            frame = frame.drop(columns="unreadable")
        st.dataframe(frame, hide_index=True, height="content", alt="Findings by judge, kind and type")


def _telling(by: str, of: Sequence[Share]) -> Sequence[Share]:
    return of if len(of) > 1 or by == "judge" else ()


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{100 * value:.1f}%"


def _ends(ci: tuple[float, float] | None) -> str:
    return "" if ci is None else f"{100 * ci[0]:.1f} to {100 * ci[1]:.1f}%"
