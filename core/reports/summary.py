"""The answer in words: how far the judges of a study can be trusted and where they fail, each sentence with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core import agreement
from core.reports.agreement_report import Detail, Measured


def answer(measured: Measured, of: Detail) -> list[str]:
    """Sentences about “the judges” (the panel of all, else the only one) on one criterion; empty where nothing can be compared.

    A difference is called one only where its interval leaves 0 out; a strongest or weakest is named with its interval, and called
    unsettled where intervals overlap.
    """
    members = measured.primary_panel
    row = _row(measured.figures["criteria"][of.criterion], members)
    if row is None or row["spearman"] is None:
        return []
    said = [_overall(measured, of.criterion, members, row), _beside_people(measured, of, members)]
    if measured.of.runs == "mean":
        said.append(_criteria(measured, members))
    said += [_within_players(of, members), _level(of, members), _players(of, members), *_one_answer(measured)]
    return [sentence for sentence in said if sentence]


def _overall(measured: Measured, criterion: str, members: Sequence[str], row: Mapping[str, Any]) -> str:
    return (
        f"On {measured.label(criterion)}, {_who(members)} {_does(members, 'follow')} people's mean with "
        f"ρ = {row['spearman']:.2f}{_within(row['ci'])} on {row['n']} items."
    )


def _beside_people(measured: Measured, of: Detail, members: Sequence[str]) -> str:
    """The comparison on equal held_out: judge and person against the same others."""
    row = _of(of.held_out.rows, members)
    if row is None or pd.isna(row.difference):
        why = "" if row is None or not row.reason else f" ({row.reason})"
        return f"What a person would reach is undefined{why}, so there is no human ceiling to set beside it.{_alpha(measured, of.criterion)}"
    figures = f"ρ = {row.judge:.2f} against {row.person:.2f}, difference {row.difference:+.2f}"
    if pd.isna(row.low):
        return f"With the mean of the other people {_they(members)} {_does(members, 'reach')} {figures}; the interval of the difference is undefined."
    ends, agree = _within([row.low, row.high], signed=True), f"{_they(members)} {_does(members, 'agree')}"
    if row.low > 0:
        what = f"{agree} with the other people more closely than a single person does"
    elif row.high < 0:
        what = f"{agree} with the other people less closely than a single person does"
    else:
        what = f"{agree} with the other people about as closely as a single person does, as far as these items can tell"
    return f"On the same held_out, {what}: {figures}{ends}."


def _alpha(measured: Measured, criterion: str) -> str:
    """How far people agree, where no ceiling can be had: their alpha, or what it spans over the criteria."""
    parts = measured.figures["criteria"]
    alpha = parts[criterion]["humans"]["alpha"]["ordinal"]
    if alpha["value"] is not None:
        return f" Among themselves people reach alpha = {alpha['value']:.2f}{_within(alpha['ci'])}."
    known = [v for part in parts.values() if (v := part["humans"]["alpha"]["ordinal"]["value"]) is not None]
    return (
        f" Among themselves people reach alphas of {min(known):.2f} to {max(known):.2f}, by criterion."
        if known
        else ""
    )


def _criteria(measured: Measured, members: Sequence[str]) -> str:
    found = [
        (row["spearman"], row["ci"], name)
        for name, part in measured.figures["criteria"].items()
        if name != agreement.FINAL
        and (row := _row(part, members))
        and row["spearman"] is not None
        and row["ci"]
    ]
    if len(found) < 2:
        return ""
    worst, best = min(found), max(found)
    overlap = best[1][0] <= worst[1][1]
    hedge = "; the intervals overlap, so this order is not settled" if overlap else ""
    return (
        f"Strongest on {measured.label(best[2])} ({best[0]:.2f}{_within(best[1], bare=True)}), "
        f"weakest on {measured.label(worst[2])} ({worst[0]:.2f}{_within(worst[1], bare=True)}){hedge}."
    )


def _within_players(of: Detail, members: Sequence[str]) -> str:
    """Said where the correlation inside players is lower than the one over everything, beyond its interval."""
    rows = of.levels.rows
    if rows.empty:
        return ""
    mine = rows[[tuple(m) == tuple(members) for m in rows.members]].set_index("level")
    overall, within = mine.loc["overall"], mine.loc["within"]
    if pd.isna(within.spearman_high) or not within.spearman_high < overall.spearman:
        return ""
    return (
        f"Within one player it is lower, ρ = {within.spearman:.2f}{_within([within.spearman_low, within.spearman_high])} on average over "
        f"{within.groups}: part of the agreement is telling players apart."
    )


def _level(of: Detail, members: Sequence[str]) -> str:
    row = _of(of.judges.rows, members)
    if row is None or pd.isna(row.bias_low):
        return ""
    if row.bias_low <= 0 <= row.bias_high:
        return f"No shift of level is visible: {row.bias:+.2f} points{_within([row.bias_low, row.bias_high], signed=True)}."
    way = "higher" if row.bias > 0 else "lower"
    ends = sorted((abs(row.bias_low), abs(row.bias_high)))
    return f"In level, {_they(members)} {_does(members, 'score')} {abs(row.bias):.2f} points {way} than people{_within(ends)}."


def _players(of: Detail, members: Sequence[str]) -> str:
    rows = of.players.rows
    if rows.empty:
        return ""
    rows = rows[[tuple(m) == tuple(members) for m in rows.members]].dropna(subset=["bias_low"])
    rows = rows[(rows.bias_low > 0) | (rows.bias_high < 0)]
    if rows.empty or of.players.rows.group.nunique() < 2:
        return ""
    worst = rows.sort_values("bias", key=abs).iloc[-1]
    return (
        f"Farthest from people on the player {worst.group}: {worst.bias:+.2f} points{_within([worst.bias_low, worst.bias_high], signed=True)}, "
        f"n = {worst.n} (the largest of {of.players.rows.group.nunique()}, so rather an overestimate)."
    )


def _one_answer(measured: Measured) -> list[str]:
    said = []
    for name in measured.criteria:
        table = agreement.answers(measured.ratings, name)
        most = table[(table.kind == "judge") & table.near_constant]
        for judge, rows in most.groupby("rater"):
            top = rows.sort_values("share").iloc[-1]
            said.append(
                f"{judge} gives {top.score:g} to {top.share:.0%} of the items on {measured.label(name)}: its correlation there says little."
            )
    return said


def _row(part: Mapping[str, Any], members: Sequence[str]) -> Mapping[str, Any] | None:
    if len(members) == 1:
        return next((row for row in part["judges"] if row["rater"] == members[0]), None)
    return next((row for row in part["panels"] if set(row["judges"]) == set(members)), None)


def _of(rows: pd.DataFrame, members: Sequence[str]) -> Any:
    """The row of a panel in `Figures.rows`; None where there is none."""
    if rows.empty:
        return None
    mine = rows[[set(m) == set(members) for m in rows.members]]
    return None if mine.empty else mine.iloc[0]


def _who(members: Sequence[str]) -> str:
    return members[0] if len(members) == 1 else f"the {len(members)} judges together (their mean)"


def _they(members: Sequence[str]) -> str:
    return members[0] if len(members) == 1 else "the judges together"


def _does(members: Sequence[str], verb: str) -> str:
    return verb if len(members) > 1 else f"{verb}es" if verb.endswith("ch") else f"{verb}s"


def _within(ci: Sequence[float] | None, *, signed: bool = False, bare: bool = False) -> str:
    if ci is None:
        return " (no interval)" if not bare else ""
    low, high = (f"{end:+.2f}" if signed else f"{end:.2f}" for end in ci)
    return f", {low} to {high}" if bare else f" ({low} to {high})"
