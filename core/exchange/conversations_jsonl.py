"""What Concord writes of conversations: JSON Lines with trajectories, the benchmarks' criteria, and a study.

The “kind” of a line is "benchmark", "conversation" or "study". A line without a kind is a conversation: it
needs “messages”, and a “key” or “id”.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, BinaryIO

from pydantic import TypeAdapter, ValidationError
from sqlite_utils import Database

from concord.configuration import Use
from concord.conversation import Conversation
from concord.errors import ConcordError, ImportRefused
from concord.exchange import study_settings
from concord.exchange.cells import name_in, nfc
from concord.exchange.dialogue import as_list, joined_messages, utterances
from concord.exchange.entries import Entry
from concord.exchange.file_row import FileRow
from concord.exchange.row_reader import Reading, RowReader
from concord.exchange.shapes import Shape
from concord.files import first_problem, parse_json
from concord.rating import Criterion
from concord.runs.registry import BENCHMARKS
from concord.store import configurations, conversations, images, lab, ratings, studies
from concord.store.conversations import Filter
from concord.store.studies import Study

_OF_STUDY = ("name", "title", "guidelines", "source", "overlap", "seed", "per_turn", "anonymous")
_KINDS = ("benchmark", "conversation", "study")
_CONCORD_ONLY = {"key", "player", "facets", "benchmark"}
"""Names that only conversations of Concord have beside their messages."""
_READ = {
    "kind",
    "key",
    "id",
    "benchmark",
    "player",
    "model",
    "language",
    "facets",
    "context",
    "meta",
    "simulated",
    "messages",
    "configurations",
    "trajectory",
}
_HOLDING = {"facets", "context", "meta", "messages", "configurations"}
"""Names of what is a list or an object; in a table it is written as JSON."""
OWN_FORM = Shape("export of Concord", (), ())
"""The form of these files: it says all that is in it, and nothing of it is mapped."""


def read(row: FileRow, reading: Reading) -> Entry:
    """What a line holds. Raises ImportRefused."""
    fields = {n: _cell_value(value) if n in _HOLDING else value for n, value in row.complete.items()}
    reader = RowReader({n: value for n, value in fields.items() if n not in _READ}, OWN_FORM)
    with _naming(row.location, fields) as kind:
        if kind != "conversation":
            return Entry((), RowReader({}, OWN_FORM), line=FileRow(row.location, fields))
        left = set[str]()
        conversation = _conversation(fields, row.location, reading.benchmark, left)
        reader.leave("messages", sorted(left))
        return Entry((conversation,), reader, line=FileRow(row.location, fields))


def save(db: Database, line: FileRow) -> None:
    """Store the criteria or the study that a line holds. Raises ImportRefused."""
    with _naming(line.location, line.complete) as kind:
        (_benchmark if kind == "benchmark" else _study)(db, line.complete, line.location)


def save_beside(db: Database, number: int, conversation: Conversation, line: FileRow, *, new: bool) -> None:
    """Store what a line says of a stored conversation; one that was there stays as it is. Raises
    ImportRefused where its trajectory is another one.
    """
    if new:
        with _naming(line.location, line.complete):
            uses = [Use.from_dict(use) for use in line.complete.get("configurations", ())]
            configurations.of_conversation_were(db, number, uses)
    elif conversation.trajectory not in (None, conversations.trajectory(db, number)):
        raise ImportRefused(
            f"{line.location}: the conversation “{conversation.key}” is stored already with another "
            "trajectory, "
            "or without one. Give this conversation another key."
        )


@contextmanager
def _naming(location: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """The kind of a line. Raises ImportRefused, naming the line, for what is wrong with it."""
    kind = entry.get("kind", "conversation")
    if kind not in _KINDS:
        raise ImportRefused(
            f"{location}: the kind “{kind}” is unknown. It must be conversation, benchmark or study."
        )
    try:
        yield kind
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        problem = f"“{error.args[0]}” is missing" if isinstance(error, KeyError) else str(error)
        problem = first_problem(error) if isinstance(error, ValidationError) else problem
        raise ImportRefused(f"{location}, is not a {kind} written by `concord export`: {problem}.") from error
    except ImportRefused:
        raise
    except ConcordError as error:
        raise ImportRefused(f"{location}: {error}") from error


def is_own_form(fields: Mapping[str, Any], kind: str) -> bool:
    """Whether a row of a file of this kind is as `concord export conversations` writes it.

    A conversation without a kind that has a field of another name is one of another tool.
    """
    return (fields.get("kind") in _KINDS and kind.startswith("JSON")) or (
        "messages" in fields and not _CONCORD_ONLY.isdisjoint(fields) and fields.keys() <= _READ
    )


def write(db: Database, file: BinaryIO, *, study: str = "", benchmark: str = "") -> int:
    """Write conversations (of a study, of a benchmark, or all) as `store` reads them; returns how many.

    A study of pairs is not written, its conversations are.
    """
    of_study = studies.get(db, study) if study else None
    table = conversations.table(db, Filter(benchmark=benchmark, study=study))
    for name in conversations.benchmarks_of(db, table.key.tolist()):
        criteria = [_criterion_entry(c) for c in ratings.criteria(db, name)]
        refusal = ratings.refusal(db, name)
        _write_line(
            file, {"kind": "benchmark", "name": name, "criteria": criteria, "refusal_criterion": refusal}
        )
    numbers = table.id.tolist()
    for number, (conversation, simulated) in zip(numbers, conversations.several(db, numbers), strict=True):
        entry = {
            "kind": "conversation",
            **{name: getattr(conversation, name) for name in ("key", "benchmark", "player", "language")},
            **{name: dict(getattr(conversation, name)) for name in ("facets", "context", "meta")},
            "simulated": simulated,
            "messages": as_list(images.shown(db, conversation).messages),
            "configurations": [use.as_dict() for use in configurations.of_conversation(db, number)],
        }
        lived = conversations.trajectory(db, number)
        _write_line(file, entry if lived is None else {**entry, "trajectory": lived})
    if of_study is not None and not of_study.pairs:
        _write_line(file, _as_entry(db, of_study))
    return len(table)


def _cell_value(value: Any) -> Any:
    """What the cell of a table holds, where it is written as JSON."""
    try:
        return parse_json(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _conversation(entry: Mapping[str, Any], location: str, benchmark: str, left: set[str]) -> Conversation:
    key = entry.get("key", entry.get("id"))
    if not isinstance(key, str | int) or not str(key).strip():
        raise ImportRefused(
            f"{location}: the conversation has no key. Give each conversation a unique “key”."
        )
    messages = entry.get("messages")
    if not isinstance(messages, list):
        raise ImportRefused(f"{location}: the conversation has no list of messages.")
    for name in ("facets", "context", "meta"):
        if not isinstance(entry.get(name, {}), dict):
            raise ImportRefused(f"{location}: “{name}” must be an object.")
    benchmark = name_in(location, "benchmark", str(entry.get("benchmark") or benchmark))
    return Conversation(
        benchmark=benchmark,
        key=name_in(location, "key", str(key)),
        player=nfc(name_in(location, "player", str(entry.get("player", entry.get("model")) or "unknown"))),
        messages=joined_messages(utterances(messages, location, left=left)),
        language=name_in(location, "language", str(entry.get("language") or "en")),
        facets={name: str(value) for name, value in entry.get("facets", {}).items()},
        context=entry.get("context", {}),
        meta=entry.get("meta", {}),
        trajectory=_trajectory(entry.get("trajectory"), benchmark, location),
    )


def _trajectory(values: Any, benchmark: str, location: str) -> Mapping[str, Any] | None:
    """The trajectory, if the benchmark can read it."""
    if values is None:
        return None
    owner = BENCHMARKS.get(benchmark)
    if owner is None or owner.check_trajectory is None:
        raise ImportRefused(
            f"{location}: the trajectory cannot be read: “{benchmark}” is not a benchmark with trajectories."
        )
    owner.check_trajectory(values)
    trajectory: Mapping[str, Any] = values
    return trajectory


def _benchmark(db: Database, entry: Mapping[str, Any], _location: str) -> None:
    # Criteria that are stored already stay as they are.
    criteria = _criteria(entry)
    if not ratings.criteria(db, entry["name"]):
        ratings.register(db, entry["name"], criteria, refusal=entry.get("refusal_criterion", ""))


def _study(db: Database, entry: Mapping[str, Any], location: str) -> None:
    fields = {name: entry[name] for name in _OF_STUDY} | {"criteria": _criteria(entry)}
    study = TypeAdapter(Study).validate_python(fields | study_settings.fields_of(entry["meta"]))
    studies.create(db, study)
    ids = conversations.existing(db, [key for key, _, _ in entry["units"]])
    missing = [key for key, _, _ in entry["units"] if key not in ids]
    if missing:
        raise ImportRefused(
            f"{location}: the study's conversation “{missing[0]}” is neither in the file before it nor "
            "stored."
        )
    studies.add_units(db, study.name, [(ids[key], turn, stratum) for key, turn, stratum in entry["units"]])
    lab.restore(db, study.name, entry["meta"].get("lab", {}))


def _criteria(entry: Mapping[str, Any]) -> tuple[Criterion, ...]:
    """The criteria of a line; the scale of each stands beside its other fields."""
    criteria = [
        {**criterion, "scale": criterion, "name": nfc(criterion["name"])} for criterion in entry["criteria"]
    ]
    return TypeAdapter(tuple[Criterion, ...]).validate_python(criteria)


def _as_entry(db: Database, study: Study) -> dict[str, Any]:
    of_lab = lab.exported(db, study.name)
    return {
        "kind": "study",
        **{name: getattr(study, name) for name in _OF_STUDY},
        "meta": study_settings.meta_of(study) | ({"lab": of_lab} if of_lab else {}),
        "criteria": [_criterion_entry(c) for c in study.criteria],
        "units": [[u["key"], u["turn"], u["stratum"]] for u in studies.units(db, study.name)],
    }


def _criterion_entry(criterion: Criterion) -> dict[str, Any]:
    values = asdict(criterion)
    scale = values.pop("scale")
    return {**values, **scale}


def _write_line(file: BinaryIO, entry: Mapping[str, Any]) -> None:
    file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
