"""The published files: tasks, and scripts cut from dialogues (JSON Lines).

After Jia et al., “SimulBench: Evaluating Language Models with Creative Simulation Tasks”.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from core.benchmarks.simulbench.scripts import Script
from core.benchmarks.simulbench.tasks import SimulationTask
from core.errors import ImportRefused
from core.files import first_problem, parse_json, read_text

T = TypeVar("T")
SHOWN = 10
"""Lines that cannot be used are named up to so many; the rest is counted."""

PUBLISHED = 500
WHY_ONE_LESS = (
    "The paper counts 93 FirstChan and 182 SubseqChan. The file does not say which is which: the first "
    "script of a dialogue with a turn number is its FirstChan, later ones are SubseqChan. Ten scripts that "
    "every model answered with full marks had been taken out before, a FirstChan among them (of a stateful "
    "task: the paper has 38 stateless and 55 stateful ones), so that a SubseqChan of its dialogue now comes "
    "first; which one cannot be told from the file."
)


@dataclass(frozen=True)
class Wrong:
    """A line that cannot be used, and why."""

    line: int
    reason: str


@dataclass(frozen=True)
class Brought(Generic[T]):
    """What a file holds, and which of its lines cannot be used."""

    file: Path
    items: tuple[T, ...]
    wrong: tuple[Wrong, ...]

    def whole(self) -> tuple[T, ...]:
        """The items, where every line could be used. Raises ImportRefused naming those that cannot."""
        if self.wrong:
            raise ImportRefused(
                f"{self.file}: {len(self.wrong)} of {len(self.wrong) + len(self.items)} lines cannot be "
                "used; nothing was imported. "
                f"Mend them, or leave them out with --skip-wrong.\n{self.complaints()}"
            )
        return self.items

    def complaints(self) -> str:
        """The lines that cannot be used, one sentence each."""
        told = [f"  line {w.line}: {w.reason}" for w in self.wrong[:SHOWN]]
        return "\n".join(
            told + ([f"  … and {len(self.wrong) - SHOWN} more"] if len(self.wrong) > SHOWN else [])
        )


def read_tasks(file: Path) -> Brought[SimulationTask]:
    """The tasks of a published file: id, act, task_description, request_type, type.

    Raises ImportRefused where it cannot be read.
    """
    found, wrong = _read(file, _task)
    return Brought(file, *_once(found, wrong, lambda task: task.id))


def read_scripts(file: Path) -> Brought[Script]:
    """The scripts of a published file, with their kinds.

    `turn_num` 0 is LastOnly, the first of a dialogue FirstChan, later ones SubseqChan.

    A dialogue is a `source_id` with a `source_file_name`. Raises ImportRefused where the file cannot be read.
    """
    entries, wrong = _read(file, _checked)
    first: dict[tuple[str, str], int] = {}
    for _, entry in entries:
        if entry["turn_num"]:
            dialogue = entry["source_id"], entry["source_file_name"]
            first[dialogue] = min(first.get(dialogue, entry["turn_num"]), entry["turn_num"])
    found = []
    for line, entry in entries:
        try:
            found.append(
                (line, _script(entry, first.get((entry["source_id"], entry["source_file_name"]), 0)))
            )
        except ValidationError as error:
            wrong.append(Wrong(line, f"{first_problem(error)}."))
    return Brought(file, *_once(found, wrong, lambda script: script.key))


def _task(line: int, entry: dict[str, Any]) -> SimulationTask:
    if "dialogue_history" in entry:
        raise ImportRefused(
            "The file holds scripts, not tasks. Import it with `concord simulbench import scripts`."
        )
    for name in ("id", "act", "task_description", "type"):
        if not isinstance(entry.get(name), str):
            raise ValueError(f"“{name}” must be a text" + ("." if name in entry else "; it is missing."))
    return SimulationTask.model_validate(entry)


def _script(entry: dict[str, Any], first: int) -> Script:
    history = entry["dialogue_history"]
    turn = entry["turn_num"] or sum(said["role"] == "user" for said in history)
    challenging = first if entry["turn_num"] else 0
    return Script.model_validate(
        {
            "key": f"{entry['source_id']}/{Path(entry['source_file_name']).stem}@{turn}",
            "task": entry["source_id"],
            "act": entry["act"],
            "type": entry["type"],
            "kind": "LastOnly" if not challenging else "FirstChan" if turn == challenging else "SubseqChan",
            "turn": turn,
            "challenging": challenging,
            "dialogue": f"{entry['source_id']}/{entry['source_file_name']}",
            "history": history,
        }
    )


def _checked(line: int, entry: dict[str, Any]) -> dict[str, Any]:
    if "dialogue_history" not in entry and "request_type" in entry:
        raise ImportRefused(
            "The file holds tasks, not scripts. Import it with `concord simulbench import tasks`."
        )
    for name in ("source_id", "source_file_name", "act", "type"):
        if not isinstance(entry.get(name), str) or not entry[name]:
            raise ValueError(f"“{name}” is missing.")
    turn = entry.get("turn_num")
    if not isinstance(turn, int) or isinstance(turn, bool) or turn < 0:
        raise ValueError(f"“turn_num” must be a whole number from 0 up, not {turn!r}.")
    history = entry.get("dialogue_history")
    if not isinstance(history, list) or not history:
        raise ValueError("“dialogue_history” must be a list of messages.")
    for number, said in enumerate(history, 1):
        if not isinstance(said, dict) or said.get("role") not in ("user", "assistant"):
            raise ValueError(f"message {number} of “dialogue_history” must be by user or assistant.")
    return entry


def _read(file: Path, check: Callable[[int, dict[str, Any]], T]) -> tuple[list[tuple[int, T]], list[Wrong]]:
    found: list[tuple[int, T]] = []
    wrong: list[Wrong] = []
    for line, text in enumerate(read_text(file, ImportRefused).split("\n"), 1):
        if not text.strip():
            continue
        try:
            entry = parse_json(text)
            if not isinstance(entry, dict):
                raise ValueError("it is not a JSON object.")
            found.append((line, check(line, entry)))
        except json.JSONDecodeError as error:
            wrong.append(Wrong(line, f"it is not valid JSON ({error.msg}, column {error.colno})."))
        except ValidationError as error:
            wrong.append(Wrong(line, f"{first_problem(error)}."))
        except ValueError as error:
            wrong.append(Wrong(line, str(error)))
    if not found and not wrong:
        raise ImportRefused(f"{file} is empty. Take the file as it was published.")
    return found, wrong


def _once(
    found: list[tuple[int, T]], wrong: list[Wrong], key: Callable[[T], str]
) -> tuple[tuple[T, ...], tuple[Wrong, ...]]:
    kept: dict[str, tuple[int, T]] = {}
    for line, item in found:
        name = key(item)
        if name in kept:
            wrong.append(Wrong(line, f"“{name}” stands in line {kept[name][0]} already."))
        else:
            kept[name] = line, item
    return tuple(item for _, item in kept.values()), tuple(sorted(wrong, key=lambda w: w.line))
