"""Import of the published files (JSON Lines): tasks, and scripts cut from dialogues."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field
from sqlite_utils import Database

from concord.benchmarks.simulbench.scripts import Script, kind_of
from concord.benchmarks.simulbench.tasks import SimulationTask, Type
from concord.conversation import Message
from concord.errors import ImportRefused
from concord.exchange import rows
from concord.files import valid
from concord.store import scenarios

T = TypeVar("T")

PUBLISHED = 500
WHY_ONE_LESS = (
    "The paper counts 93 FirstChan and 182 SubseqChan. The file does not say which is which: the first "
    "script of a dialogue with a turn number is its FirstChan, later ones are SubseqChan. Ten scripts that "
    "every model answered with full marks had been taken out before, a FirstChan among them (of a stateful "
    "task: the paper has 38 stateless and 55 stateful ones), so that a SubseqChan of its dialogue now comes "
    "first; which one cannot be told from the file."
)


class _Entry(BaseModel):
    """A line of the published scripts. `turn_num` 0 is LastOnly."""

    source_id: Annotated[str, Field(min_length=1)]
    source_file_name: Annotated[str, Field(min_length=1)]
    act: Annotated[str, Field(min_length=1)]
    type: Type
    turn_num: Annotated[int, Field(ge=0)]
    dialogue_history: Annotated[tuple[Message, ...], Field(min_length=1)]

    @property
    def dialogue(self) -> str:
        """The dialogue that it was cut from."""
        return f"{self.source_id}/{self.source_file_name}"


def read(file: Path) -> list[SimulationTask] | list[Script]:
    """The tasks or the scripts of a published file, whichever it holds. Raises ImportRefused."""
    return read_scripts(file) if _holds_scripts(_entries(file)) else read_tasks(file)


def bring(db: Database, items: Sequence[SimulationTask | Script], source: str) -> list[str]:
    """Store tasks or scripts whose ids are new, accepted; their keys. `source` names where they came from."""
    return scenarios.bring(db, [item.scenario(source, "import") for item in items])


def read_tasks(file: Path) -> list[SimulationTask]:
    """The tasks of a published file. Raises ImportRefused naming the line."""
    entries = _lines(file, "tasks")
    tasks = {line: valid(SimulationTask, entry, line, ImportRefused) for line, entry in entries.items()}
    return _unique((line, task.id, task) for line, task in tasks.items())


def read_scripts(file: Path) -> list[Script]:
    """The scripts of a published file. Raises ImportRefused naming the line.

    `turn_num` 0 is LastOnly, the first of a dialogue FirstChan, later ones SubseqChan. A dialogue is a
    `source_id` with a `source_file_name`.
    """
    entries = {
        line: valid(_Entry, entry, line, ImportRefused) for line, entry in _lines(file, "scripts").items()
    }
    first: dict[str, int] = {}
    for entry in entries.values():
        if turn := entry.turn_num:
            first[entry.dialogue] = min(first.get(entry.dialogue, turn), turn)
    scripts = {line: _script(entry, first, line) for line, entry in entries.items()}
    return _unique((line, script.key, script) for line, script in scripts.items())


def _lines(file: Path, noun: str) -> Mapping[str, Any]:
    """The entries by where they stand. Raises ImportRefused for the other of the two published files."""
    entries = _entries(file)
    other_noun = "scripts" if _holds_scripts(entries) else "tasks"
    if other_noun != noun:
        raise ImportRefused(
            f"{file} holds {other_noun}, not {noun}. Import it with `concord simulbench import {other_noun}`."
        )
    return entries


def _entries(file: Path) -> Mapping[str, Any]:
    """The entries by where they stand. Raises ImportRefused for an empty file."""
    entries = {row.location: row.complete for row in rows.read(file, "JSON Lines")}
    if not entries:
        raise ImportRefused(f"{file} is empty. Take the file as it was published.")
    return entries


def _holds_scripts(entries: Mapping[str, Any]) -> bool:
    return any("dialogue_history" in entry for entry in entries.values())


def _script(entry: _Entry, first: Mapping[str, int], line: str) -> Script:
    turn = entry.turn_num or sum(message.role == "user" for message in entry.dialogue_history)
    challenging = first[entry.dialogue] if entry.turn_num else 0
    fields = {
        "key": f"{entry.source_id}/{Path(entry.source_file_name).stem}@{turn}",
        "task": entry.source_id,
        "act": entry.act,
        "type": entry.type,
        "kind": kind_of(turn, challenging),
        "turn": turn,
        "challenging": challenging,
        "dialogue": entry.dialogue,
        "history": entry.dialogue_history,
    }
    return valid(Script, fields, line, ImportRefused)


def _unique(items: Iterable[tuple[str, str, T]]) -> list[T]:
    """The items. Raises ImportRefused for a key that an earlier line has."""
    lines: dict[str, str] = {}
    unique_items = []
    for line, key, item in items:
        if (earlier := lines.setdefault(key, line)) != line:
            raise ImportRefused(f"{line}: “{key}” stands in {earlier} already.")
        unique_items.append(item)
    return unique_items
