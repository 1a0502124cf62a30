"""Trajectories of other simulators: a row a resident and moment, or the published simulator's files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from concord.benchmarks.stss.trajectory import Indices, State, Talk, Trajectory, from_stored
from concord.errors import ImportRefused
from concord.exchange import rows
from concord.files import read_json, read_text

PUBLISHED = "%B %d, %Y, %H:%M:%S"
"""How the published simulator writes a moment: February 13, 2023, 00:00:00."""
LONGEST_GAP = timedelta(hours=1)
"""Between two equal states at most this far apart a resident went on."""
NOWHERE = State("", "")
"""What a resident does at a moment without a record: it matches no subgoal."""
UNKNOWN = -1
LONGEST = 4_000
"""Characters of an action, a place or an utterance."""


class TrajectoryFile(NamedTuple):
    """A trajectory, and sentences on what was sorted, filled or is missing in its file."""

    trajectory: Trajectory
    notes: tuple[str, ...]


class _Record(NamedTuple):
    """What a resident did at a moment, and where the file says it."""

    time: datetime
    name: str
    state: State
    location: str


class _Line(NamedTuple):
    """An object of a file, and where it stands."""

    location: str
    fields: Mapping[str, Any]


def read_trajectory(path: Path) -> TrajectoryFile:
    """A trajectory from a file or a folder.

    A file is JSON Lines, a JSON list, CSV or Parquet with time, agent, action and place in each row, and
    conversations (with, messages) among them in JSON; or a line of `concord export conversations`. A folder
    holds the published simulator's movement files, `<step>.json`, and so may a file hold them. Raises
    ImportRefused naming the place that cannot be used, and for a file without records.
    """
    if path.is_dir():
        return _published(_folder(path), path)
    if path.suffix.lower() == ".json" and path.is_file():
        text = read_text(path, ImportRefused)
        if text.lstrip()[:1] == "{" and isinstance(document := read_json_or_none(path), dict):
            if "persona" in document:
                return _published([_Line(str(path), document)], path)
            if "trajectory" in document:
                return _exported([_Line(str(path), document)], path)
    lines = (_Line(row.location, row.complete) for row in rows.read(path))
    first = next(lines, None)
    if first is None:
        raise ImportRefused(f"{path} is empty. It needs a record of what a resident did at least.")
    if "persona" in first.fields:
        return _published([first, *lines], path)
    if "kind" in first.fields or "trajectory" in first.fields:
        return _exported([first, *lines], path)
    return _of_records([first, *lines], path)


def read_json_or_none(path: Path) -> Any:
    """The value of a JSON file; None where it is JSON Lines or no JSON."""
    try:
        return read_json(path, ImportRefused)
    except ImportRefused:
        return None


def _folder(path: Path) -> list[_Line]:
    """The movement files of a folder, or of `movement` in it, by their step."""
    folder = path / "movement" if (path / "movement").is_dir() else path
    files = sorted(folder.glob("*.json"), key=lambda file: (len(file.stem), file.stem))
    if not files:
        raise ImportRefused(f"{path} holds no movement files (<step>.json).")
    return [_Line(str(file), _object(read_json(file, ImportRefused), str(file))) for file in files]


def _object(value: Any, location: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ImportRefused(f"{location}: a movement file must be a JSON object.")
    return value


def _exported(lines: Sequence[_Line], path: Path) -> TrajectoryFile:
    """The trajectory of the one simulation that a file of `concord export conversations` holds."""
    simulations = [line for line in lines if line.fields.get("trajectory")]
    if len(simulations) != 1:
        raise ImportRefused(f"{path} holds {len(simulations)} simulations. Keep the line of one of them.")
    [line] = simulations
    try:
        return TrajectoryFile(from_stored(line.fields["trajectory"]), ())
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ImportRefused(f"{line.location}: its “trajectory” is not in the form of an export.") from error


def _of_records(lines: Sequence[_Line], path: Path) -> TrajectoryFile:
    """A trajectory from a row for each resident and moment, and conversations."""
    records: list[_Record] = []
    talks: list[Talk] = []
    latest = datetime.min
    unsorted = 0
    for location, fields in lines:
        time = _time(fields.get("time"), location)
        unsorted += time < latest
        latest = max(latest, time)
        if fields.get("with"):
            talks.append(_talk(fields, time, location))
        else:
            state = State(_text(fields, "action", location), _text(fields, "place", location, empty=True))
            records.append(_Record(time, _text(fields, "agent", location), state, location))
    if not records:
        raise ImportRefused(f"{path} has no record of what a resident did.")
    notes = []
    if unsorted:
        notes.append(f"{_count(unsorted, 'record')} out of order: Concord sorted them by time.")
    names = {record.name for record in records}
    for stranger in sorted({name for talk in talks for name in talk.pair} - names):
        notes.append(f"{stranger} talks, and has no other record.")
    return _assembled(records, talks, notes)


def _published(lines: Sequence[_Line], path: Path) -> TrajectoryFile:
    """A trajectory from the published simulator's movement files."""
    records: list[_Record] = []
    chats: dict[tuple[frozenset[str], tuple[tuple[str, str], ...]], Talk] = {}
    for location, fields in lines:
        meta = fields.get("meta")
        people = fields.get("persona")
        stamp = meta.get("curr_time") if isinstance(meta, Mapping) else None
        try:
            time = datetime.strptime(str(stamp), PUBLISHED)
        except ValueError as error:
            raise ImportRefused(
                f"{location}: meta.curr_time must be like February 13, 2023, 00:00:00."
            ) from error
        if not isinstance(people, Mapping):
            raise ImportRefused(f"{location}: a movement file holds “persona” and “meta”.")
        for name, person in people.items():
            described = person.get("description") if isinstance(person, Mapping) else None
            if not isinstance(described, str):
                raise ImportRefused(f"{location}: {name} has no “description” (“action @ place”).")
            action, _, place = described[:LONGEST].rpartition(" @ ")
            place = _without_world(place)
            records.append(_Record(time, name, State(action or described[:LONGEST], place), location))
            for talk in _chat(person.get("chat"), time, place, f"{location}, {name}"):
                # A chat stands beside both speakers at every step that it lasts.
                chats.setdefault((frozenset(talk.pair), talk.messages), talk)
    if not records:
        raise ImportRefused(f"{path} has no record of what a resident did.")
    return _assembled(records, tuple(chats.values()), [])


def _without_world(place: str) -> str:
    """A place as “sector:arena:object”; the published simulator names the world before these."""
    parts = place.split(":")
    return ":".join(parts[1:]) if len(parts) == 4 else place


def _chat(chat: Any, time: datetime, place: str, location: str) -> Iterator[Talk]:
    """The conversation that a movement file shows beside a resident, where two speak in it."""
    if not chat:
        return
    if not isinstance(chat, list) or not all(isinstance(line, list) for line in chat):
        raise ImportRefused(f"{location}: “chat” must be a list of [speaker, text].")
    messages = tuple((str(line[0]), str(line[1])[:LONGEST]) for line in chat if len(line) == 2)
    speakers = tuple(dict.fromkeys(speaker for speaker, _ in messages))
    if len(speakers) == 2:
        yield Talk(time, (speakers[0], speakers[1]), messages, {}, place)


def _assembled(records: Sequence[_Record], talks: Iterable[Talk], notes: list[str]) -> TrajectoryFile:
    """The trajectory of records in any order, one for each resident and moment.

    A moment without a record is filled where the records before and after it agree and lie at most
    `LONGEST_GAP` apart. Raises ImportRefused for two different records of one moment.
    """
    times = tuple(sorted({record.time for record in records}))
    place_of = {time: place for place, time in enumerate(times)}
    states: dict[State, int] = {}
    lives: dict[str, Indices] = {}
    first: dict[tuple[str, int], str] = {}
    repeats = 0
    for time, name, state, location in records:
        life = lives.setdefault(name, np.full(len(times), UNKNOWN, dtype=np.int32))
        moment = place_of[time]
        number = states.setdefault(state, len(states))
        if life[moment] not in (UNKNOWN, number):
            raise ImportRefused(
                f"{location}: {name} at {time} has another record in {first[name, moment]}. Remove one."
            )
        repeats += int(life[moment] == number)
        first.setdefault((name, moment), location)
        life[moment] = number
    if repeats:
        notes.append(f"{_count(repeats, 'repeated record')} counted once.")
    nowhere = states.setdefault(NOWHERE, len(states))
    for name, life in lives.items():
        count = _fill(life, times)
        missing = int((life == UNKNOWN).sum())
        life[life == UNKNOWN] = nowhere
        if count:
            notes.append(f"{name} has no record at {count} moments between two equal ones, and went on.")
        if missing:
            notes.append(f"{name} has no record at {missing} of {len(times)} moments, which count nothing.")
    ordered = tuple(sorted(talks, key=lambda talk: talk.time))
    return TrajectoryFile(Trajectory(times, tuple(states), lives, ordered), tuple(notes))


def _fill(life: Indices, times: Sequence[datetime]) -> int:
    """Fill short gaps between equal states, in place; how many moments."""
    count = 0
    moments = np.flatnonzero(life != UNKNOWN)
    for before, after in pairwise(moments.tolist()):
        equal = life[before] == life[after]
        if equal and after - before > 1 and times[after] - times[before] <= LONGEST_GAP:
            life[before:after] = life[before]
            count += int(after - before - 1)
    return count


def _talk(fields: Mapping[str, Any], time: datetime, location: str) -> Talk:
    """A conversation of a file. Raises ImportRefused."""
    pair = fields["with"]
    messages = fields.get("messages") or []
    summary = fields.get("summary") or {}
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(one, str) and one for one in pair):
        raise ImportRefused(f"{location}: “with” must name the two who talk.")
    if pair[0] == pair[1]:
        raise ImportRefused(f"{location}: {pair[0]} cannot talk with themselves.")
    if not isinstance(messages, list) or not all(map(_is_message, messages)):
        raise ImportRefused(f"{location}: “messages” must be a list of [speaker, text].")
    for speaker, _ in messages:
        if speaker not in pair:
            raise ImportRefused(f"{location}: {speaker} speaks in a conversation of {pair[0]} and {pair[1]}.")
    if not isinstance(summary, Mapping) or not all(isinstance(text, str) for text in summary.values()):
        raise ImportRefused(f"{location}: “summary” must map a name to a text.")
    place = _text(fields, "place", location, empty=True) if fields.get("place") else ""
    texts = tuple((speaker, text[:LONGEST]) for speaker, text in messages)
    return Talk(time, (pair[0], pair[1]), texts, dict(summary), place)


def _is_message(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)


def _time(value: Any, location: str) -> datetime:
    """A moment of the town. Raises ImportRefused."""
    if isinstance(value, datetime):
        time = value
    else:
        try:
            time = datetime.fromisoformat(value)
        except (TypeError, ValueError) as error:
            raise ImportRefused(
                f"{location}: “time” must be like 2023-02-14 19:00:00, not {value!r}."
            ) from error
    if time.tzinfo is not None:
        raise ImportRefused(f"{location}: “time” must be the town's own, without a time zone.")
    return time


def _text(fields: Mapping[str, Any], name: str, location: str, *, empty: bool = False) -> str:
    """A text of a record. Raises ImportRefused."""
    value = fields.get(name)
    if value is None and empty:
        return ""
    if not isinstance(value, str) or not (value.strip() or empty):
        raise ImportRefused(f"{location}: “{name}” must be a text.")
    if len(value) > LONGEST:
        raise ImportRefused(f"{location}: “{name}” is longer than {LONGEST:,} characters.")
    return value


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
