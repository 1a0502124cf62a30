"""The words of codes: the only place with sentences about them."""

from __future__ import annotations

from collections.abc import Mapping

from concord.codes import Exclusion, StreamFigure, StreamState

EXCLUSIONS: Mapping[Exclusion, str] = {
    Exclusion.CLOSED: "on which judges are not compared",
    Exclusion.NO_ANSWER: "that a judge did not answer",
    Exclusion.ONE_ANNOTATOR: "that only one annotator rated",
    Exclusion.ANNOTATORS_TIE: "on which annotators tie",
    Exclusion.FEW_IN_COMMON: "of annotators with too few items in common",
}
"""Which items are excluded, after their number."""


def excluded(counts: Mapping[Exclusion, int]) -> str:
    """How many rated items a figure excludes, and why; “” for none."""
    return ", ".join(f"{count:,} {EXCLUSIONS[code]}" for code, count in counts.items() if count)


STREAM_FIGURES: Mapping[str, Mapping[StreamFigure, str]] = {
    "two_answers": {
        StreamFigure.AGREEMENT: "equal answers",
        StreamFigure.JUDGE_MEAN: "judge's pass rate",
        StreamFigure.CORRECTED_MEAN: "corrected pass rate",
    },
    "scores": {
        StreamFigure.AGREEMENT: "closeness",
        StreamFigure.JUDGE_MEAN: "judge's mean",
        StreamFigure.CORRECTED_MEAN: "corrected mean",
    },
}
"""What is followed of a stream, of two answers and of scores."""

STREAM_STATES: Mapping[StreamState, str] = {
    StreamState.WITHIN: "within",
    StreamState.OUTSIDE: "has left it",
    StreamState.CHANGED: "has changed",
    StreamState.INCONCLUSIVE: "inconclusive",
    StreamState.NO_RANGE: "no range",
}
"""Where a figure of a stream is, with the range that it should keep to."""
