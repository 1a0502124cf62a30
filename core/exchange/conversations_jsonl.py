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
from concord.exchange.dialogue import as_list, joined, utterances
from concord.exchange.entries import Entry, Reading, RowReader
from concord.exchange.rows import FileRow
from concord.exchange.shapes import Shape
from concord.files import first_problem, parse_json
from concord.rating import Criterion
from concord.runs.registry import BENCHMARKS
from concord.store import configurations, conversations, images, lab, ratings, studies
from concord.store.conversations import Filter
from concord.store.studies import Study

_OF_STUDY = ("name", "title", "guidelines", "source", "overlap", "seed", "per_turn", "anonymous")
_KINDS = ("benchmark", "conversation", "study")
_OWN = {"key", "player", "facets", "benchmark"}
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
    fields = {n: _held(value) if n in _HOLDING else value for n, value in row.whole.items()}
    walk = RowReader({n: value for n, value in fields.items() if n not in _READ}, OWN_FORM)
    with _naming(row.where, fields) as kind:
        if kind != "conversation":
            return Entry((), RowReader({}, OWN_FORM), line=FileRow(row.where, fields))
        left = set[str]()
        conversation = _conversation(fields, row.where, reading.benchmark, left)
        walk.leave("messages", sorted(left))
        return Entry((conversation,), walk, line=FileRow(row.where, fields))


def save(db: Database, line: FileRow) -> None:
    """Store the criteria or the study that a line holds. Raises ImportRefused."""
    with _naming(line.where, line.whole) as kind:
        (_benchmark if kind == "benchmark" else _study)(db, line.whole, line.where)


def save_beside(db: Database, number: int, conversation: Conversation, line: FileRow, *, new: bool) -> None:
    """Store what a line says of a stored conversation; one that was there stays as it is. Raises
    ImportRefused where its trajectory is another one.
    """
    if new:
        with _naming(line.where, line.whole):
            uses = [Use.from_dict(use) for use in line.whole.get("configurations", ())]
            configurations.of_conversation_were(db, number, uses)
    elif conversation.trajectory not in (None, conversations.trajectory(db, number)):
        raise ImportRefused(
            f"{line.where}: the conversation “{conversation.key}” is stored already with another trajectory, "
            "or without one. Give this conversation another key."
        )


@contextmanager
def _naming(where: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """The kind of a line. Raises ImportRefused, naming the line, for what is wrong with it."""
    kind = entry.get("kind", "conversation")
    if kind not in _KINDS:
        raise ImportRefused(
            f"{where}: the kind “{kind}” is unknown. It must be conversation, benchmark or study."
        )
    try:
        yield kind
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        problem = f"“{error.args[0]}” is missing" if isinstance(error, KeyError) else str(error)
        problem = first_problem(error) if isinstance(error, ValidationError) else problem
        raise ImportRefused(f"{where}, is not a {kind} written by `concord export`: {problem}.") from error
    except ImportRefused:
        raise
    except ConcordError as error:
        raise ImportRefused(f"{where}: {error}") from error


def own(fields: Mapping[str, Any], kind: str) -> bool:
    """Whether a row of a file of this kind is as `concord export conversations` writes it.

    A conversation without a kind that has a field of another name is one of another tool.
    """
    return (fields.get("kind") in _KINDS and kind.startswith("JSON")) or (
        "messages" in fields and not _OWN.isdisjoint(fields) and fields.keys() <= _READ
    )


def write(db: Database, out: BinaryIO, *, study: str = "", benchmark: str = "") -> int:
    """Write conversations (of a study, of a benchmark, or all) as `store` reads them; returns how many.

    A study of pairs is not written, its conversations are.
    """
    of_study = studies.get(db, study) if study else None
    stored = conversations.table(db, Filter(benchmark=benchmark, study=study))
    for name in conversations.benchmarks_of(db, stored.key.tolist()):
        criteria = [_told(c) for c in ratings.criteria(db, name)]
        refusal = ratings.refusal(db, name)
        _put(out, {"kind": "benchmark", "name": name, "criteria": criteria, "refusal_criterion": refusal})
    numbers = stored.id.tolist()
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
        _put(out, entry if lived is None else {**entry, "trajectory": lived})
    if of_study is not None and not of_study.pairs:
        _put(out, _as_entry(db, of_study))
    return len(stored)


def _held(value: Any) -> Any:
    """What the cell of a table holds, where it is written as JSON."""
    try:
        return parse_json(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _conversation(entry: Mapping[str, Any], where: str, benchmark: str, left: set[str]) -> Conversation:
    key = entry.get("key", entry.get("id"))
    if not isinstance(key, str | int) or not str(key).strip():
        raise ImportRefused(f"{where}: the conversation has no key. Give each conversation a unique “key”.")
    messages = entry.get("messages")
    if not isinstance(messages, list):
        raise ImportRefused(f"{where}: the conversation has no list of messages.")
    for name in ("facets", "context", "meta"):
        if not isinstance(entry.get(name, {}), dict):
            raise ImportRefused(f"{where}: “{name}” must be an object.")
    benchmark = name_in(where, "benchmark", str(entry.get("benchmark") or benchmark))
    return Conversation(
        benchmark=benchmark,
        key=name_in(where, "key", str(key)),
        player=nfc(name_in(where, "player", str(entry.get("player", entry.get("model")) or "unknown"))),
        messages=joined(utterances(messages, where, left=left)),
        language=name_in(where, "language", str(entry.get("language") or "en")),
        facets={name: str(value) for name, value in entry.get("facets", {}).items()},
        context=entry.get("context", {}),
        meta=entry.get("meta", {}),
        trajectory=_trajectory(entry.get("trajectory"), benchmark, where),
    )


def _trajectory(values: Any, benchmark: str, where: str) -> Mapping[str, Any] | None:
    """The trajectory, if the benchmark can read it."""
    if values is None:
        return None
    owner = BENCHMARKS.get(benchmark)
    if owner is None or owner.check_trajectory is None:
        raise ImportRefused(
            f"{where}: the trajectory cannot be read: “{benchmark}” is not a benchmark with trajectories."
        )
    owner.check_trajectory(values)
    whole: Mapping[str, Any] = values
    return whole


def _benchmark(db: Database, entry: Mapping[str, Any], _where: str) -> None:
    # Criteria that are stored already stay as they are.
    criteria = _criteria(entry)
    if not ratings.criteria(db, entry["name"]):
        ratings.register(db, entry["name"], criteria, refusal=entry.get("refusal_criterion", ""))


def _study(db: Database, entry: Mapping[str, Any], where: str) -> None:
    fields = {name: entry[name] for name in _OF_STUDY} | {"criteria": _criteria(entry)}
    study = TypeAdapter(Study).validate_python(fields | study_settings.fields_of(entry["meta"]))
    studies.create(db, study)
    ids = conversations.existing(db, [key for key, _, _ in entry["units"]])
    lost = [key for key, _, _ in entry["units"] if key not in ids]
    if lost:
        raise ImportRefused(
            f"{where}: the study's conversation “{lost[0]}” is neither in the file before it nor stored."
        )
    studies.add_units(db, study.name, [(ids[key], turn, stratum) for key, turn, stratum in entry["units"]])
    lab.restore(db, study.name, entry["meta"].get("lab", {}))


def _criteria(entry: Mapping[str, Any]) -> tuple[Criterion, ...]:
    """The criteria of a line; the scale of each stands beside its other fields."""
    whole = [{**each, "scale": each, "name": nfc(each["name"])} for each in entry["criteria"]]
    return TypeAdapter(tuple[Criterion, ...]).validate_python(whole)


def _as_entry(db: Database, study: Study) -> dict[str, Any]:
    of_lab = lab.exported(db, study.name)
    return {
        "kind": "study",
        **{name: getattr(study, name) for name in _OF_STUDY},
        "meta": study_settings.meta_of(study) | ({"lab": of_lab} if of_lab else {}),
        "criteria": [_told(c) for c in study.criteria],
        "units": [[u["key"], u["turn"], u["stratum"]] for u in studies.units(db, study.name)],
    }


def _told(criterion: Criterion) -> dict[str, Any]:
    values = asdict(criterion)
    scale = values.pop("scale")
    return {**values, **scale}


def _put(out: BinaryIO, entry: Mapping[str, Any]) -> None:
    out.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
