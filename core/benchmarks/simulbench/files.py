"""Import of the published files (JSON Lines): tasks, and scripts cut from dialogues."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from concord.benchmarks.simulbench.scripts import Script, kind_of
from concord.benchmarks.simulbench.tasks import SimulationTask
from concord.errors import ImportRefused
from concord.files import first_problem, parse_json, read_text

A = TypeVar("A")
T = TypeVar("T")
Item = TypeVar("Item", SimulationTask, Script)
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
class Brought(Generic[Item]):
    """What a file holds, and why some of its lines (by number) cannot be used."""

    file: Path
    items: tuple[Item, ...]
    wrong: Mapping[int, str]

    def whole(self) -> tuple[Item, ...]:
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
        sentences = [f"  line {line}: {reason}" for line, reason in self.wrong.items()]
        more = [f"  … and {len(sentences) - SHOWN} more"] if len(sentences) > SHOWN else []
        return "\n".join(sentences[:SHOWN] + more)


def read_tasks(file: Path) -> Brought[SimulationTask]:
    """The tasks of a published file. Raises ImportRefused where it cannot be read."""
    wrong: dict[int, str] = {}
    tasks = _made(_made(_lines(file), wrong, _entry), wrong, _task)
    return _once(file, tasks, wrong, lambda task: task.id)


def read_scripts(file: Path) -> Brought[Script]:
    """The scripts of a published file. Raises ImportRefused where it cannot be read.

    `turn_num` 0 is LastOnly, the first of a dialogue FirstChan, later ones SubseqChan. A dialogue is a
    `source_id` with a `source_file_name`.
    """
    wrong: dict[int, str] = {}
    entries = _made(_made(_lines(file), wrong, _entry), wrong, _checked)
    first: dict[str, int] = {}
    for entry in entries.values():
        if turn := entry["turn_num"]:
            first[_dialogue(entry)] = min(first.get(_dialogue(entry), turn), turn)
    scripts = _made(entries, wrong, lambda entry: _script(entry, first.get(_dialogue(entry), 0)))
    return _once(file, scripts, wrong, lambda script: script.key)


def _task(entry: dict[str, Any]) -> SimulationTask:
    if "dialogue_history" in entry:
        raise ImportRefused(
            "The file holds scripts, not tasks. Import it with `concord simulbench import scripts`."
        )
    for name in ("id", "act", "task_description", "type"):
        if not isinstance(entry.get(name), str):
            raise ValueError(f"“{name}” must be a text" + ("." if name in entry else "; it is missing."))
    return SimulationTask.model_validate(entry)


def _dialogue(entry: dict[str, Any]) -> str:
    return f"{entry['source_id']}/{entry['source_file_name']}"


def _script(entry: dict[str, Any], first: int) -> Script:
    history = entry["dialogue_history"]
    turn = entry["turn_num"] or sum(message["role"] == "user" for message in history)
    challenging = first if entry["turn_num"] else 0
    return Script(
        key=f"{entry['source_id']}/{Path(entry['source_file_name']).stem}@{turn}",
        task=entry["source_id"],
        act=entry["act"],
        type=entry["type"],
        kind=kind_of(turn, challenging),
        turn=turn,
        challenging=challenging,
        dialogue=_dialogue(entry),
        history=history,
    )


def _checked(entry: dict[str, Any]) -> dict[str, Any]:
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
    for number, message in enumerate(history, 1):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            raise ValueError(f"message {number} of “dialogue_history” must be by user or assistant.")
    return entry


def _lines(file: Path) -> dict[int, str]:
    """The lines that are not empty, by number."""
    lines = read_text(file, ImportRefused).split("\n")
    numbered = {number: text for number, text in enumerate(lines, 1) if text.strip()}
    if not numbered:
        raise ImportRefused(f"{file} is empty. Take the file as it was published.")
    return numbered


def _entry(text: str) -> dict[str, Any]:
    entry = parse_json(text)
    if not isinstance(entry, dict):
        raise ValueError("it is not a JSON object.")
    return entry


def _made(lines: Mapping[int, A], wrong: dict[int, str], make: Callable[[A], T]) -> dict[int, T]:
    """What is made of each line; a line that cannot be used is noted in `wrong`."""
    items = {}
    for line, given in lines.items():
        try:
            items[line] = make(given)
        except json.JSONDecodeError as error:
            wrong[line] = f"it is not valid JSON ({error.msg}, column {error.colno})."
        except ValidationError as error:
            wrong[line] = f"{first_problem(error)}."
        except ValueError as error:
            wrong[line] = str(error)
    return items


def _once(
    file: Path, items: Mapping[int, Item], wrong: dict[int, str], key: Callable[[Item], str]
) -> Brought[Item]:
    """The items whose key no earlier line has."""
    lines: dict[str, int] = {}
    for line, item in items.items():
        if (first := lines.setdefault(key(item), line)) != line:
            wrong[line] = f"“{key(item)}” stands in line {first} already."
    return Brought(file, tuple(items[line] for line in lines.values()), dict(sorted(wrong.items())))
