"""The words of codes: the only place with sentences about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from concord.codes import CellPattern, Computation, Exclusion, Layout, RoleReason, StreamFigure, StreamState

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

PATTERNS = {
    CellPattern.OUT_OF: "a number out of another",
    CellPattern.NAMED: "an answer after its name",
    CellPattern.BRACKETED: "an answer in brackets or quotes",
    CellPattern.UNIT: "a number with its unit",
    CellPattern.SIGNS: "a number of signs",
    CellPattern.CALL: "a value as Python writes it",
    CellPattern.OBJECT: "the score in a JSON object",
    CellPattern.MEMBER: "a member of an enumeration",
    CellPattern.NUMBERED: "the number beside a word",
    CellPattern.REASONED: "the answer before its reason",
    CellPattern.SET: "a set of labels in any order",
}
COMPUTATIONS = {
    Computation.MEAN: "mean",
    Computation.MEDIAN: "median",
    Computation.SUM: "sum",
    Computation.MINIMUM: "minimum",
    Computation.MAXIMUM: "maximum",
    Computation.MAJORITY: "majority",
    Computation.DIFFERENCE: "difference",
    Computation.EQUALITY: "comparison",
}
LAYOUTS = {
    Layout.OWN: "Concord's own, a rating a row",
    Layout.RATING_ROWS: "a rating a row",
    Layout.RATER_ROWS: "a row an item and rater, a column a criterion",
    Layout.CRITERION_ROWS: "a row an item and criterion, a column a rater",
    Layout.TRANSPOSED: "a row a rater, a column an item",
}
REASONS = {
    RoleReason.NAME_ABOUT: "its name says that it is about an answer",
    RoleReason.NAME_COMPUTED: "its name says that it is computed from other columns",
    RoleReason.OTHER_VALUES: "its values are others than those of the answers",
    RoleReason.TEXT_VALUES: "its cells are texts",
    RoleReason.LIKE_INDEX: "it numbers the rows or is a time",
    RoleReason.EMPTY: "it is empty",
    RoleReason.CONSTANT: "all its cells are equal",
}


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names after commas; of many the first."""
    return ", ".join([*names[:most], *(["…"] if len(names) > most else [])])


def computed(column: str, how: Computation, others: Sequence[str]) -> str:
    """That a column is computed from others, and is therefore no rater."""
    return f"{column} is the {COMPUTATIONS[how]} of {listed(others)} and is excluded"


def failed_beside(rater: str, flag: str, count: int, total: int) -> str:
    """That answers stand beside a sign that they failed."""
    answers = "answer" if count == 1 else "answers"
    stand = "stands" if count == 1 else "stand"
    return f"{count} of {total} {answers} of {rater} {stand} beside an error in {flag}"


def sentinel(
    rater: str, value: float, count: int, total: int, low: float, high: float, flag: str = ""
) -> str:
    """The question whether a number stands for no answer."""
    times = "once" if count == 1 else f"{count} times"
    beside = f", beside an error in {flag}" if flag else ""
    return (
        f"{rater} gives {value:g} {times} in {total} answers{beside}; everybody else answers {low:g} to "
        f"{high:g}. "
        f"Is {value:g} a missing answer? Add: --missing {value:g}, or --missing none where it is an answer."
    )


def not_rater(column: str, reason: RoleReason, option: str) -> str:
    """Why a column was not taken for a rater's answers, with what to type where it is one."""
    return f"{column} was not taken for answers because {REASONS[reason]}: {option} {column}"


def settled(name: str, settings: Mapping[str, Any], asks: int | None = None) -> str:
    """What a handshake settled on for a model, in a line: `settings` are those that differ from its entry.

    `asks` are the requests that the handshake took; None where it was made in an earlier run.
    """
    if not settings:
        return f"“{name}”: its endpoint takes requests as they are."
    took = f" ({asks} requests to find out)" if asks and asks > 1 else ""
    return (
        f"“{name}”: {'; '.join(forms(settings))}{took}. `concord doctor {name} --write` puts this into "
        "models.toml."
    )


def forms(settings: Mapping[str, Any]) -> list[str]:
    """How requests are sent under settings of models.toml that a handshake settled on."""
    params = settings.get("params", {})
    without = [key for key, value in params.items() if value == "unset"]
    without += ["seed"] if settings.get("seed") is False else []
    said = [f"sent without {_listed(without)}"] if without else []
    added = {key: value for key, value in params.items() if value != "unset"}
    said += [f"sent with {key} = {json.dumps(value)}" for key, value in added.items()]
    said += [f"{other} in place of {own}" for own, other in settings.get("rename", {}).items()]
    said += [f"{key} at most {value:g}" for key, value in settings.get("at_most", {}).items()]
    said += [f"{key} at least {value:g}" for key, value in settings.get("at_least", {}).items()]
    if settings.get("system") == "merge":
        said.append("instructions in the first message of the user")
    if features := settings.get("schema_without"):
        said.append(f"schemas without {_listed([feature.replace('_', ' ') for feature in features])}")
    if replies := settings.get("replies"):
        asked = {"json_object": "JSON without a schema", "text": "JSON by the prompt alone"}
        said.append(asked.get(replies, f"replies by {replies}"))
    return said


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def entry_changed(path: Path, name: str, changes: Sequence[str], others: Sequence[str] = ()) -> str:
    """An entry of models.toml, or what its endpoint takes, is another than results were made with."""
    also = f" So has the entry of {', '.join(others)}." if others else ""
    return (
        f"The entry of “{name}” in {path} has changed since results were stored under this name: "
        f"{'; '.join(changes)}.{also} Results of two configurations would be mixed. Restore the old setting, "
        "or give the entry another name there and run under that name."
    )


def form_changed(name: str, changes: Sequence[str]) -> str:
    """An endpoint takes requests only in another form than the results of the model were made with."""
    return (
        f"The endpoint of “{name}” no longer takes requests as it did when results were stored under this "
        f"name: {'; '.join(changes)}. Results of two configurations would be mixed. Give the entry another "
        "name in models.toml and run under that name."
    )
