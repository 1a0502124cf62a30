"""The door of the desk: what a browser may report at once."""

from __future__ import annotations

from typing import Any

import pytest

from concord.errors import NotAllowed, StudyError
from pages.desk import report
from pages.desk.report import AT_ONCE, EVENTS, PER_SECOND, Allowance, checked


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
    assert checked("desk", said) == {**said, "want": [4, "task/5"]}


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
        checked("bounds", {"k": 1, "boxes": {}, "want": [], **change})


def test_too_many_events_in_one_report_are_refused() -> None:
    events = [{"n": n} for n in range(1, EVENTS + 2)]
    checked("many", {"k": 1, "boxes": {"a": events[:50], "b": events[50:EVENTS]}, "want": []})
    with pytest.raises(NotAllowed, match="than a person can give"):
        checked("many", {"k": 2, "boxes": {"a": events[:50], "b": events[50:]}, "want": []})


def test_a_desk_that_goes_on_and_on_is_refused_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_pace", Allowance())
    said = {"k": 1, "boxes": {"a": [{"n": n} for n in range(EVENTS)]}, "want": []}
    for _ in range(AT_ONCE // EVENTS):
        checked("one", said)
    with pytest.raises(NotAllowed):
        checked("one", said)
    checked("another", said)


def test_the_pace_returns_with_time() -> None:
    pace = Allowance()
    assert pace.take("desk", AT_ONCE, 0.0)
    assert not pace.take("desk", PER_SECOND + 1, 1.0)
    assert pace.take("desk", PER_SECOND, 1.0)
    assert not pace.take("desk", AT_ONCE + 1, 1000.0)
    assert pace.take("desk", AT_ONCE, 1000.0)
