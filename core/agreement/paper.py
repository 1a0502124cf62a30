"""Agreement as the PingPong paper reports it (its Tables 1, 2, 6 and 7), to stand beside one's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reported:
    """The paper's figures for one language: items, people's alpha (ordinal), and Spearman on final of its panel and best judge."""

    items: int
    alpha: float
    panel: float
    best_single: float


REPORTED: Mapping[str, Reported] = {
    "en": Reported(items=250, alpha=0.25, panel=0.604, best_single=0.554),
    "ru": Reported(items=265, alpha=0.34, panel=0.612, best_single=0.550),
}
"""By language. The panel is the mean of Claude 3.5 Sonnet and GPT-4o; people were five."""
