"""A benchmark's table of players as plain values for JSON, as CSV (one row a player), and as the LaTeX table of a paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from core.reports.leaderboards import Figure, Leaderboard, Standing
from core.table import latex_text as escape


def as_values(board: Leaderboard) -> dict[str, Any]:
    """Everything, ready for JSON. A figure is {"value", "ci": [low, high], "half_width"}; undefined is null with a sibling "reason"."""
    return {
        "benchmark": board.benchmark,
        "language": board.language or None,
        "judges": list(board.judges),
        "passed_over": list(board.passed_over),
        "simulated": list(board.simulated),
        "weights": dict(board.weights),
        "resamples": board.resamples,
        "seed": board.seed,
        "players": [
            {
                "player": s.player,
                "rank": s.rank,
                "score": _figure(s.score),
                "final": _figure(s.final),
                "criteria": {name: _figure(figure) for name, figure in s.criteria.items()},
                "refusal_ratio": s.refusal_ratio,
                "reply_chars": s.reply_chars,
                "length_factor": s.factor,
                "n": s.n,
                "judged": s.judged,
                "refused": s.refused,
                "incomplete": s.incomplete,
                "simulated": s.simulated,
            }
            for s in board.standings
        ],
    }


def as_csv(board: Leaderboard) -> str:
    """One row a player; an undefined figure is an empty cell."""
    rows = [row(s) for s in board.standings]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["player"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def row(standing: Standing) -> dict[str, Any]:
    """A player's row, flat: every figure with the half width of its 95% interval."""
    s = standing
    found: dict[str, Any] = {"rank": s.rank, "player": s.player, "simulated": s.simulated}
    figures: Mapping[str, Figure] = {"score": s.score, "final": s.final, **s.criteria}
    for name, figure in figures.items():
        found |= {name: figure.value, f"{name}_ci": figure.half_width}
    return found | {
        "refusal_ratio": s.refusal_ratio,
        "reply_chars": s.reply_chars,
        "n": s.n,
        "refused": s.refused,
        "incomplete": s.incomplete,
    }


def as_latex(board: Leaderboard) -> str:
    """Players × the columns of the PingPong paper: score (length-normalised), mean, refusals, criteria, length. Wants booktabs."""
    names = list(board.weights)
    heading = ["", "Player", "LN score", "Final", "Ref. ratio", *names, "Length", "$n$"]
    lines = [
        r"\begin{tabular}{rl" + "r" * (len(heading) - 2) + "}",
        r"\toprule",
        _line([escape(cell) if cell != "$n$" else cell for cell in heading]),
        r"\midrule",
        *(
            _line(
                [
                    str(s.rank or "--"),
                    escape(s.player),
                    _cell(s.score, interval=True),
                    _cell(s.final),
                    "–" if s.refusal_ratio is None else f"{s.refusal_ratio:.2f}",
                    *(_cell(s.criteria[name]) for name in names),
                    "--" if s.reply_chars is None else f"{s.reply_chars:.0f}",
                    str(s.n),
                ]
            )
            for s in board.standings
        ),
        r"\bottomrule",
        r"\end{tabular}",
        *(f"% {note}" for note in notes(board)),
    ]
    return "\n".join(lines) + "\n"


def notes(board: Leaderboard) -> list[str]:
    """What a reader has to know of the figures, one sentence each."""
    told = [
        f"Means over conversations and the panel {', '.join(board.judges)}; "
        f"95% intervals: percentile bootstrap over conversations, {board.resamples} resamples, seed {board.seed}."
    ]
    if board.passed_over:
        told.append(
            f"No conversation was rated by all judges, so the panel is the one who rated most; left out: {', '.join(board.passed_over)}. "
            "Another panel can be chosen."
        )
    if len(set(board.weights.values())) > 1:
        weights = ", ".join(f"{name} {weight:g}" for name, weight in board.weights.items())
        told.append(f"Final weighs the criteria {weights}.")
    refused = sum(s.refused for s in board.standings)
    if refused:
        told.append(
            f"{refused} conversations in which a judge saw a refusal are counted as such and left out of the means."
        )
    incomplete = sum(s.incomplete for s in board.standings)
    if incomplete:
        told.append(
            f"{incomplete} conversations are left out because a judge of the panel has not usably rated them. "
            "Choose fewer judges, or have these rate the rest."
        )
    reasons = {s.player: s.score.reason for s in board.standings if s.score.reason}
    told += [f"{player}: {reason}." for player, reason in reasons.items()]
    if board.simulated or any(s.simulated for s in board.standings):
        told.append("Mock models take part: these figures say nothing about language models.")
    return told


def _figure(figure: Figure) -> dict[str, Any]:
    found: dict[str, Any] = {
        "value": figure.value,
        "ci": None if figure.ci is None else list(figure.ci),
        "half_width": figure.half_width,
    }
    return found | ({"reason": figure.reason} if figure.reason else {})


def _cell(figure: Figure, *, interval: bool = False) -> str:
    if figure.value is None:
        return "--"
    half = figure.half_width if interval else None
    return f"{figure.value:.2f}" + ("" if half is None else f" $\\pm$ {half:.2f}")


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
