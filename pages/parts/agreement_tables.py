"""The tables of the agreement page, as Markdown cells: a figure with its interval, or the word undefined; reasons stand below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.agreement.show import CERTAIN, ceiling
from core.rating import Panel
from core.trust import Measured
from pages.parts.plain import plain

UNDEFINED = ":gray[undefined]"


def judges(measured: Measured) -> None:
    """The paper's kind of table: judges and panels × criteria, and below them what people reach; the longer side goes down."""
    criteria = measured.figures["criteria"]
    rows: dict[str, dict[str, str]] = {}
    reasons: dict[str, None] = {}
    for name, part in criteria.items():
        label = plain(measured.label(name))
        for rater in [*part["judges"], *part["panels"]]:
            called = name_of(rater)
            rows.setdefault(plain(called), {})[label] = _spearman(rater)
            _note(reasons, f"{called}, {measured.label(name)}", rater)
        reached = ceiling(part)
        rows.setdefault("*One person against the others (mean)*", {})[label] = (
            UNDEFINED if reached is None else f"*{reached:.3f}*"
        )
        alpha = part["humans"]["alpha"]["ordinal"]
        rows.setdefault("*People's alpha, ordinal*", {})[label] = _with_interval(alpha["value"], alpha["ci"])
        if reached is None:
            _note(reasons, f"one person, {measured.label(name)}", part["humans"])
    people = [key for key in rows if key.startswith("*")]
    table = pd.DataFrame.from_dict(
        {**{k: v for k, v in rows.items() if k not in people}, **{k: rows[k] for k in people}}, orient="index"
    )
    if len(table.columns) > max(5, len(table)):
        table = table.T
    st.table(
        table, border="horizontal", alt="Spearman correlation of judges and panels with the mean of people"
    )
    st.caption(
        f"Spearman's ρ with the mean of people, 95% interval beneath. ★ p is not below {CERTAIN:g}. "
        "The last rows say what people reach: the mean over people of one person's ρ with the mean of the others, and Krippendorff's alpha."
    )
    reasons_below(reasons)


def people(measured: Measured) -> None:
    """How far people agree with each other, criterion by criterion."""
    rows = {}
    reasons: dict[str, None] = {}
    for name, part in measured.figures["criteria"].items():
        humans = part["humans"]
        each = [row["vs_others"] for row in humans["each"] if row["vs_others"] is not None]
        label = measured.label(name)
        rows[plain(label)] = {
            "People": humans["raters"],
            "Items": humans["items"],
            **{
                f"Alpha, {metric}": _with_interval(
                    humans["alpha"][metric]["value"], humans["alpha"][metric]["ci"]
                )
                for metric in ("ordinal", "interval")
            },
            "One against the others": f"{sum(each) / len(each):.3f} :gray[:small[{min(each):.2f} to {max(each):.2f}]]"
            if each
            else UNDEFINED,
        }
        for metric in ("ordinal", "interval"):
            _note(reasons, f"alpha, {label}", humans["alpha"][metric])
        _note(reasons, f"one against the others, {label}", humans)
    st.table(
        pd.DataFrame.from_dict(rows, orient="index").astype(str),
        border="horizontal",
        alt="Agreement of people with each other",
    )
    reasons_below(reasons)


def name_of(rater: Mapping[str, Any]) -> str:
    """A judge's or a panel's name."""
    return Panel(tuple(rater["judges"])).name if "judges" in rater else str(rater["rater"])


def reasons_below(reasons: Mapping[str, None]) -> None:
    """Why figures are undefined: a line each, folded away where there are many."""
    if not reasons:
        return
    lines = "\n".join(f"- {plain(reason)}" for reason in reasons)
    if len(reasons) <= 3:
        st.caption(lines)
        return
    with st.expander(f"Why {len(reasons)} figures are undefined or lack an interval"):
        st.caption(lines)


def _note(reasons: dict[str, None], of: str, row: Mapping[str, Any]) -> None:
    if "reason" in row:
        reasons[f"{of}: {row['reason']}"] = None


def _spearman(row: Mapping[str, Any]) -> str:
    if row["spearman"] is None:
        return UNDEFINED
    certain = row["p"] is not None and row["p"] < CERTAIN
    return _with_interval(row["spearman"], row["ci"], "" if certain else " ★")


def _with_interval(value: float | None, ci: Sequence[float] | None, mark: str = "") -> str:
    if value is None:
        return UNDEFINED
    ends = f" :gray[:small[{ci[0]:.2f} to {ci[1]:.2f}]]" if ci else ""
    return f"**{value:.3f}**{mark}{ends}"
