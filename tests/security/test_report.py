"""The door of the desk: what a browser may report at once."""

from __future__ import annotations

from typing import Any

import pytest

from concord.errors import StudyError
from concord.questions import MOST_WORDS
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
    ],
)
def test_what_is_out_of_bounds_is_refused_whole(change: dict[str, Any]) -> None:
    with pytest.raises(StudyError, match="could not read"):
        checked({"k": 1, "boxes": {}, "want": [], **change})


@pytest.mark.parametrize(
    "part",
    [
        {"score": float("inf")},
        {"text": "x" * (MOST_WORDS + 1)},
        {"x" * 501: 1},
        {"edited": deep(9)},
    ],
)
def test_an_event_out_of_bounds_is_named_and_the_others_pass(part: dict[str, Any]) -> None:
    fine = {"n": 2, "at": 2, "item": 4, "do": "submit"}
    about = {"n": 1, "at": 1, "item": 4}
    report = checked({"k": 1, "boxes": {"a": [{**about, "do": "answer", **part}, fine]}, "want": []})
    assert report["boxes"] == {"a": [about, fine]}


def test_numbers_out_of_bounds_are_left_out() -> None:
    report = checked({"k": 1, "boxes": {"a": [{"n": 2**63, "at": float("nan"), "item": 4}]}, "want": []})
    assert report["boxes"] == {"a": [{"item": 4}]}


def test_too_many_events_in_one_report_are_refused() -> None:
    events = [{"n": n} for n in range(1, EVENTS + 2)]
    checked({"k": 1, "boxes": {"a": events[:5], "b": events[5:EVENTS]}, "want": []})
    with pytest.raises(StudyError, match="could not read"):
        checked({"k": 2, "boxes": {"a": events[:5], "b": events[5:]}, "want": []})
