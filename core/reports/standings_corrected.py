"""A table of players corrected by people, as plain values for JSON, as CSV, as a LaTeX table, and what a reader has to know of it."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import Any

from core.reports.corrected import CorrectedBoard
from core.table import latex_text as escape


def as_values(board: CorrectedBoard) -> dict[str, Any]:
    """Everything, ready for JSON; undefined is null with a sibling "reason"."""
    return {
        "benchmark": board.benchmark,
        "language": board.language or None,
        "study": board.study,
        "people": board.people,
        "judges": list(board.judges),
        "simulated": list(board.simulated),
        "players": [
            {"player": row.player, "simulated": row.simulated, **asdict(row.final)} for row in board.rows
        ],
    }


def as_csv(board: CorrectedBoard) -> str:
    """One row a player; an undefined figure is an empty cell."""
    rows = as_values(board)["players"]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["player"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_latex(board: CorrectedBoard) -> str:
    """Players × judges alone, people alone, corrected. Wants booktabs."""
    lines = [
        r"\begin{tabular}{lrrrrrr}",
        r"\toprule",
        r"Player & Judges & ($N$) & People & ($n$) & Corrected & Worth \\",
        r"\midrule",
    ]
    for row in board.rows:
        f = row.final
        half = None if f.value is None or f.high is None else f.high - f.value
        value = (
            "--" if f.value is None else f"{f.value:.2f}" + ("" if half is None else f" $\\pm$ {half:.2f}")
        )
        cells = [escape(row.player), two(f.judges), str(f.n + f.rest), two(f.people), str(f.n), value]
        lines.append(" & ".join([*cells, "--" if f.worth is None else f"{f.worth:.0f}"]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", *(f"% {note}" for note in notes(board))]
    return "\n".join(lines) + "\n"


def two(value: float | None) -> str:
    """Two digits, or a dash."""
    return "--" if value is None else f"{value:.2f}"


def notes(board: CorrectedBoard) -> list[str]:
    """What a reader has to know of the figures, one sentence each."""
    told = [
        f"Final scores as the {board.people} people of the study “{board.study}” would give them: the judges' mean over everything, moved by "
        "what people gave beside judges where both scored, believing judges as far as they follow people there (prediction-powered "
        "inference, PPI++). 95% intervals: Student's t.",
        "Worth: so many conversations scored by people alone would tell as much. People's conversations are taken for a random draw of the "
        f"player's. Judges: {', '.join(board.judges)}.",
    ]
    reasons: dict[str, list[str]] = {}
    for row in board.rows:
        if row.final.reason:
            reasons.setdefault(row.final.reason, []).append(row.player)
    told += [f"Undefined for {', '.join(players)}: {reason}." for reason, players in reasons.items()]
    if board.simulated or any(row.simulated for row in board.rows):
        told.append("Mock models take part: these figures say nothing about language models or people.")
    return told
