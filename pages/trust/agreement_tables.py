"""The tables of the agreement page: Markdown cells, a figure with its interval, or the word undefined; the reasons stand below."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.agreement import Figures, Search
from core.agreement.panels import called
from core.agreement.show import CERTAIN, ceiling, drawn
from core.reports.agreement_report import WIDTH, Further, Measured, name_of
from pages.parts.address import of_conversation
from pages.parts.plain import plain

UNDEFINED = ":gray[undefined]"
Reasons = list[tuple[str, str]]
"""What is undefined, and why."""
COEFFICIENTS = {
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "exact": "Pairs of people who give the same answer",
    "within_one": "Pairs of people at most one point apart",
    "ac2": "Gwet's AC2, quadratic weights",
    "icc_single": "ICC(2,1), one person",
    "icc_mean": "ICC(2,k), the mean of all",
    "mean_of_people": "Reliability of people's mean (Spearman–Brown)",
}
ANSWERS = {"exact", "within_one"}


def judges(measured: Measured) -> None:
    """The paper's kind of table: judges and panels × criteria, below them what people reach; the longer side goes down the page."""
    rows: dict[str, dict[str, str]] = {}
    reached: dict[str, dict[str, str]] = {
        "One person, with the others": {},
        "People's alpha, ordinal": {},
        "Items": {},
    }
    reasons: Reasons = []
    for name, part in measured.figures["criteria"].items():
        label = measured.label(name)
        for rater in [*part["judges"], *part["panels"]]:
            rows.setdefault(plain(name_of(rater)), {})[plain(label)] = _spearman(
                rater, part["humans"]["items"]
            )
            _note(reasons, f"{name_of(rater)} on {label}", rater)
        mean, alpha = ceiling(part), part["humans"]["alpha"]["ordinal"]
        reached["One person, with the others"][plain(label)] = UNDEFINED if mean is None else f"*{mean:.3f}*"
        reached["People's alpha, ordinal"][plain(label)] = figure(alpha["value"], alpha["ci"])
        reached["Items"][plain(label)] = str(part["humans"]["items"])
        _note(reasons, f"people's alpha on {label}", alpha)
        _note(reasons, f"one person on {label}", part["humans"])
    table = pd.DataFrame.from_dict({**rows, **reached}, orient="index")
    if len(table.columns) > len(table) + 2:
        table = table.T
    st.table(
        table,
        border="horizontal",
        alt="Spearman correlation of judges and panels with the mean of people, by criterion",
    )
    figures = measured.figures
    st.caption(
        "Spearman's ρ with the mean of people and its 95% interval; ★ where p is not below 0.0001. *One person, with the others*: "
        "the mean over people of one person's ρ with the mean of the others. A judge meets the mean of everybody, which is easier to follow; "
        "below, “a judge in a person's place” compares both on the same held_out. *Final* is the mean of the counted criteria. *Items*: rated by somebody; n stands in a cell where a judge has fewer. "
        f"Percentile bootstrap over {drawn(figures)}, {figures['resamples']} resamples, seed {figures['seed']}."
    )
    reasons_below(reasons)


def level(figures: Figures) -> None:
    """Order and level of judges and panels, both always: correlation is blind to level, error to order."""
    rows = {}
    for row in _each(figures.rows):
        flags = [":orange-badge[one answer]"] if row.near_constant else []
        rows[plain(row.rater)] = {
            "n": f"{row.n}",
            "Kendall's τ-b": _of(row, "kendall"),
            "Pearson's r": _of(row, "pearson"),
            "Bias": _of(row, "bias", signed=True),
            "Spread ÷ people's": _of(row, "sd_ratio"),
            "Mean error": _of(row, "mae"),
            "Commonest answer": UNDEFINED
            if math.isnan(row.commonest)
            else f"{row.commonest:.3g}, {row.commonest_share:.0%} {' '.join(flags)}",
        }
    _table(rows, "Order and level of judges and panels")
    st.caption(
        "Bias: judge less people, in points. Spread: standard deviation of the judge's scores over that of people's mean. Error: mean distance from "
        "people's mean. *One answer*: more than nine in ten items get the same score, so a correlation says little."
    )
    below(figures, _of_raters(figures))


def held_out(figures: Figures) -> None:
    """Judges in the place of a person who is held out."""
    if _all_undefined(figures.rows, "difference"):
        return
    rows = {
        plain(row.rater): {
            "Judge, with the others": figure(row.judge),
            "Person, with the others": figure(row.person),
            "Difference": figure(row.difference, (row.low, row.high), signed=True),
            "At par with": UNDEFINED
            if math.isnan(row.difference)
            else f"{row.at_par} of {row.people} people",
        }
        for row in _each(figures.rows)
    }
    _table(rows, "Judges beside a person who is held out")
    st.caption(
        "For each person the mean of the others is the target, and judge and person are compared with it on the same items. "
        "The interval of the difference is paired: where it leaves 0 out, the judge is better (+) or worse (−) than a person."
    )
    below(figures, _of_raters(figures))


def people(figures: Figures) -> None:
    """People among themselves, by more than one coefficient: each has its blind spot."""
    if _all_undefined(figures.rows, "value"):
        return
    rows = {
        COEFFICIENTS[row.coefficient]: {
            "Value": figure(row.value, (row.low, row.high), percent=row.coefficient in ANSWERS)
        }
        for row in _each(figures.rows)
    }
    _table(rows, "Agreement of people with each other")
    below(
        figures,
        [(COEFFICIENTS[row.coefficient], row.reason) for row in _each(figures.rows) if row.reason],
    )


def levels(figures: Figures, rater: str) -> None:
    """One judge over everything, within players and between players: they may differ, even in sign."""
    names = {"overall": "Over all items", "within": "Within a player (mean)", "between": "Between players"}
    mine = figures.rows[figures.rows.rater == rater] if len(figures.rows) else figures.rows
    rows = {
        names[row.level]: {
            "Spearman's ρ": _of(row, "spearman"),
            "Players": ""
            if row.level == "overall"
            else f"{row.groups}" + (f", {row.skipped} left out" if row.skipped else ""),
        }
        for row in _each(mine)
    }
    _table(rows, "Correlation by level")
    reasons_below([(names[row.level], row.reason) for row in _each(mine) if row.reason])


def redundancy(figures: Figures) -> None:
    """How much the judges err together."""
    row = figures.rows.iloc[0]
    if row.reason:
        st.caption(f"Undefined: {plain(row.reason)}.")
        return
    k = len(row.judges)
    st.markdown(
        f"The {k} judges average as well as **{row.effective:.2f}** independent ones ({row.effective_low:.2f} to {row.effective_high:.2f}): "
        f"their errors correlate at {row.correlation:.2f} ({row.correlation_low:.2f} to {row.correlation_high:.2f}) on average. People's own noise is in "
        "every error, so the true correlation is rather lower."
    )
    below(figures, [])


def search(found: Search) -> None:
    """The best pair of judges, and what is left of it on items that did not choose it."""
    if found.reason or found.candidates < 2:
        return
    st.markdown(
        f"The best of the {found.candidates} pairs is {plain(called(found.best))}, ρ = {found.shown:.3f}; chosen on one part of the items and measured on "
        f"the rest such a winner is worth **{found.worth:.3f}**. Its lead over {plain(called(found.second))} is {found.lead:+.3f} "
        f"({found.lead_low:+.3f} to {found.lead_high:+.3f})."
    )


def retests(figures: Mapping[str, Figures]) -> None:
    """How far repeated runs of each judge agree among themselves."""
    rows, reasons = {}, []
    for judge, found in figures.items():
        row: Any = found.rows.iloc[0]
        rows[plain(judge)] = {
            "Runs": f"{len(row.runs)}",
            "n": f"{row.n}",
            "ICC(1,1), one run": _of(row, "icc"),
            "Pairs of runs with the same answer": _of(row, "exact", percent=True),
        }
        reasons += [(judge, row.reason)] if row.reason else []
    _table(rows, "Agreement of a judge's runs")
    below(next(iter(figures.values())), reasons)


def further(found: Further) -> None:
    """What is asked less often."""
    st.markdown("**Are judges as good where people differ?** Items split at the median of people's spread.")
    rows: dict[str, dict[str, str]] = {}
    for row in _each(found.high_disagreement.rows):
        cells = rows.setdefault(plain(row.rater), {})
        where = "people agree" if row.people == "agree" else "people differ"
        cells |= {f"ρ, {where}": _of(row, "spearman"), f"Error, {where}": _of(row, "mae")}
    _table(rows, "Judges on items on which people agree and differ")
    below(found.high_disagreement, _of_raters(found.high_disagreement))
    st.markdown(
        "**Does the bias depend on the part of the scale?** Judge less people, where people's scores are low, middling, high."
    )
    rows = {}
    for row in _each(found.bands.rows):
        rows.setdefault(plain(row.rater), {})[row.band.capitalize()] = _of(row, "bias", signed=True)
    _table(rows, "Bias by part of the scale")
    below(found.bands, _of_raters(found.bands))
    if found.feature_bias is not None:
        _feature_bias(found.feature_bias)
    st.markdown(
        "**May a judge stand in for a person?** The alternative annotator test: ω is the share of people whom the judge replaces, ✓ from one half on."
    )
    _replacement(found.replacement)
    st.markdown(
        f"**How many items would it take** for an interval {WIDTH:g} wide from end to end, if more of them are like these?"
    )
    for of, forecast in found.needed.items():
        if forecast.needed is None:
            st.markdown(f"- {plain(of)}: undefined ({plain(forecast.reason)}).")
        else:
            low, high = forecast.now.low, forecast.now.high
            now = (
                f"now {high - low:.2f} wide on {forecast.items} items"
                if low is not None and high is not None
                else ""
            )
            st.markdown(f"- {plain(of)}: **{forecast.needed}** in all, {forecast.more} more ({now}).")


FEATURES = {"reply_chars": "Longer replies", "turn": "Later turns"}


def _feature_bias(figures: Figures) -> None:
    st.markdown(
        "**Do judges lean on length?** Above 0: of two items that people like alike, the judge prefers the one with more."
    )
    rows: dict[str, dict[str, str]] = {}
    for row in _each(figures.rows):
        label = FEATURES[row.feature]
        rows.setdefault(plain(row.rater), {})[label] = _of(row, "partial", signed=True)
        rows.setdefault("*People themselves*", {}).setdefault(label, f"*{figure(row.people, signed=True)}*")
    rows["*People themselves*"] = rows.pop("*People themselves*")
    _table(rows, "Judges and the length of replies")
    st.caption(
        "Spearman's partial correlation of judge and feature given people's mean; *People themselves*: Spearman's ρ of people's mean with it. "
        "People's noise leaves part of a liking they share in a judge's figure."
    )
    below(figures, _of_raters(figures))


def _replacement(figures: Figures) -> None:
    if _all_undefined(figures.rows, "omega"):
        return
    rows: dict[str, dict[str, str]] = {}
    constant: dict[str, float] = {}
    for row in _each(figures.rows):
        if row.epsilon not in (0.0, 0.1, 0.2, 0.3):
            continue
        column = f"ω, ε = {row.epsilon:g}"
        cells = rows.setdefault(plain(row.rater), {"As near as the person": figure(row.rho, percent=True)})
        cells[column] = UNDEFINED if math.isnan(row.omega) else f"{row.omega:.2f}{' ✓' if row.passed else ''}"
        if not math.isnan(row.constant_omega):
            constant[column] = max(constant.get(column, 0.0), row.constant_omega)
    rows["*One answer to everything, at best*"] = {
        column: f"*{omega:.2f}*" for column, omega in constant.items()
    }
    st.table(
        pd.DataFrame.from_dict(rows, orient="index").fillna(""),
        border="horizontal",
        alt="The replacement test",
    )
    st.caption(
        "Where one answer to everything passes as well, passing says little. ε: what a person costs more than a judge."
    )
    below(figures, _of_raters(figures))


def conversations(items: pd.DataFrame) -> None:
    """Items of a study with a link to the conversation of each."""
    shown = pd.DataFrame(
        {
            "open": [of_conversation(number) for number in items.conversation_id],
            "player": items.player,
            "turn": items.turn,
            "judge": items.score,
            "people": items["mean"],
            "gap": items["score"] - items["mean"] if "gap" not in items else items.gap,
            "raters": items.people,
        }
    ).dropna(axis=1, how="all")
    number = st.column_config.NumberColumn
    st.dataframe(
        shown,
        hide_index=True,
        column_config={
            "open": st.column_config.LinkColumn("", display_text="open", width="small"),
            "judge": number("Judge", format="%.2f"),
            "people": number("People", format="%.2f"),
            "gap": number(
                "Gap",
                format="%+.2f",
                help="Judge less people; of different scales, of their places among all items.",
            ),
            "raters": number("Raters", width="small"),
            "player": "Player",
            "turn": "Turn",
        },
    )


def below(figures: Figures, reasons: Reasons) -> None:
    """Where figures come from, and why some are undefined."""
    st.caption(plain(figures.basis))
    reasons_below(reasons)


def _of_raters(figures: Figures) -> Reasons:
    return [(row.rater, row.reason) for row in _each(figures.rows) if row.reason]


def _all_undefined(rows: pd.DataFrame, value: str) -> bool:
    """Whether there is nothing to put in a table, for one reason; says the reason."""
    if not rows[value].isna().all() or rows.reason.nunique() != 1:
        return False
    st.caption(f"Undefined: {plain(rows.reason.iloc[0])}.")
    return True


def reasons_below(reasons: Reasons) -> None:
    """Why figures are undefined: a line for each reason with what it concerns, folded away where there are many."""
    grouped: dict[str, list[str]] = {}
    for of, reason in reasons:
        grouped.setdefault(reason, []).append(of)
    if not grouped:
        return
    lines = "\n".join(
        f"- {plain(', '.join(dict.fromkeys(of)))}: {plain(reason)}" for reason, of in grouped.items()
    )
    if len(lines) < 250:
        st.caption(lines)
        return
    with st.expander(f"Why {len(reasons)} figures are undefined or lack something", icon=":material/help:"):
        st.caption(lines)


def figure(
    value: float | None,
    ci: Sequence[float] | None = None,
    mark: str = "",
    *,
    signed: bool = False,
    percent: bool = False,
) -> str:
    """A value and its interval as a cell; undefined for None and nan."""
    if value is None or math.isnan(value):
        return UNDEFINED
    form = ".0%" if percent else "+.2f" if signed else ".3f"
    ends = ".0%" if percent else "+.2f" if signed else ".2f"
    # Spaces that do not break keep an interval on one line.
    within = (
        f" :gray[:small[{ci[0]:{ends}}\u00a0to\u00a0{ci[1]:{ends}}]]" if ci and not math.isnan(ci[0]) else ""
    )
    return f"**{value:{form}}**{mark}{within}".replace("-", "−")


def _each(rows: pd.DataFrame) -> Iterable[Any]:
    return rows.itertuples()


def _of(row: Any, name: str, *, signed: bool = False, percent: bool = False) -> str:
    ends = (getattr(row, f"{name}_low"), getattr(row, f"{name}_high"))
    return figure(getattr(row, name), ends, signed=signed, percent=percent)


def _spearman(row: Mapping[str, Any], items: int) -> str:
    certain = row["p"] is not None and row["p"] < CERTAIN
    n = f" :small[n\u00a0=\u00a0{row['n']}]" if row["n"] != items and row["spearman"] is not None else ""
    return figure(row["spearman"], row["ci"], "" if certain else " ★") + n


def _table(rows: Mapping[str, Mapping[str, str]], alt: str) -> None:
    if rows:
        st.table(pd.DataFrame.from_dict(dict(rows), orient="index"), border="horizontal", alt=alt)


def _note(reasons: Reasons, of: str, row: Mapping[str, Any]) -> None:
    if "reason" in row:
        reasons.append((of, row["reason"]))
