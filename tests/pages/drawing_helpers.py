"""What several tests take from `test_drawing`: SCORES."""

from __future__ import annotations

from concord.estimate import Estimate, undefined
from concord.table import Column, Table

SCORES = Table(
    "scores",
    "Scores of *players*",
    (Column("player"), Column("rho", "ρ", interval="ends"), Column("share", percent=True), Column("n")),
    (
        {"player": "a", "rho": Estimate(0.5, 0.25, 0.75), "share": 0.25, "n": 1200},
        {"player": "b", "rho": undefined("constant <b>scores</b>"), "n": 3},
    ),
    notes=("A note.",),
)
