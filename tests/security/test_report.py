"""The door of the desk: what a browser may report at once."""

from __future__ import annotations

from typing import Any

import pytest

from concord.errors import StudyError
from pages.desk.report import EVENTS, checked


def test_a_report_of_a_desk_passes_as_it_is() -> None:
    event = {
        "n": 1,
        "at": 1.7e12,
        "item": 4,
        "do": "answer",
        "criterion": "fluency",
        "score": 5,
        "seconds": 0.5,
    }
    said = {"k": 3, "boxes": {"a": [event]}, "want": [4, "task/5", 4]}
    assert checked(said) == {**said, "want": [4, "task/5"]}


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "change",
    [
        {"k": 2**70},
        {"k": -1},
        {"k": None},
        {"boxes": [1]},
        {"boxes": {"a": 5}},
        {"boxes": {"a": ["event"]}},
        {"boxes": {"a" * 101: []}},
        {"boxes": {str(n): [] for n in range(51)}},
        {"want": None},
        {"want": [[1]]},
        {"want": [2**63]},
        {"want": ["x" * 501]},
        {"want": list(range(51))},
        {"boxes": {"a": [{"n": 2**63}]}},
        {"boxes": {"a": [{"at": float("nan")}]}},
        {"boxes": {"a": [{"score": float("inf")}]}},
        {"boxes": {"a": [{"text": "x" * 20_001}]}},
        {"boxes": {"a": [{"x" * 501: 1}]}},
        {"boxes": {"a": [{"edited": deep(9)}]}},
    ],
)
def test_what_is_out_of_bounds_is_refused_whole(change: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match="cannot be read"):
        checked({"k": 1, "boxes": {}, "want": [], **change})


def test_too_many_events_in_one_report_are_refused() -> None:
    events = [{"n": n} for n in range(1, EVENTS + 2)]
    checked({"k": 1, "boxes": {"a": events[:5], "b": events[5:EVENTS]}, "want": []})
    with pytest.raises(StudyError, match="cannot be read"):
        checked({"k": 2, "boxes": {"a": events[:5], "b": events[5:]}, "want": []})
