"""Files brought from elsewhere: published tasks, mapped onto a town, and trajectories.

Trajectories are JSON Lines with a record per resident and step, or the published simulator's files.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from concord.benchmarks.stss.tasks import SocialTask, read_tasks, values_of
from concord.benchmarks.stss.templates import missing
from concord.benchmarks.stss.town import Resident, Town
from concord.benchmarks.stss.trajectory import Sighting, State, Talk, Trajectory, assemble
from concord.errors import ConfigError, ImportRefused
from concord.files import (
    as_toml,
    file_name,
    first_problem,
    parse_json,
    read_json,
    read_text,
    read_toml,
    toml_key,
)

PUBLISHED_NAMES = "published.toml"
"""Beside a town's file: what the published people and places are called there."""
Names = Mapping[str, Mapping[str, str]]
"""What `people` and `places` of a file are called in the town."""


class Lacking(NamedTuple):
    """People and places that a town lacks, with the number of tasks naming them; and the playable tasks."""

    people: Mapping[str, int]
    places: Mapping[str, int]
    playable: Sequence[str]


def read(path: Path) -> list[SocialTask]:
    """The tasks of a file. Raises ImportRefused naming the task and the field."""
    try:
        return read_tasks(path)
    except ConfigError as error:
        raise ImportRefused(f"{error} Nothing was imported.") from error


def read_names(path: Path) -> Names:
    """The tables [people] and [places] of a TOML file. Raises ImportRefused."""
    values = read_toml(path, ImportRefused)
    for table, names in values.items():
        good = isinstance(names, dict) and all(isinstance(v, str) and v for v in names.values())
        if table not in ("people", "places") or not good:
            raise ImportRefused(
                f"{path} may hold the tables [people] and [places], "
                'with lines like "Hobbs Cafe" = "Saltbread Café".'
            )
    people = values.get("people", {})
    if len(set(people.values())) < len(people):
        raise ImportRefused(f"{path} maps two people onto one.")
    return {"people": people, "places": values.get("places", {})}


_HABIT = re.compile(
    r"(?P<what>bed|up) around (?:midnight|(?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>[ap])m)"
)


def people(path: Path, town: Town, names: Names) -> dict[str, dict[str, Any]]:
    """The published personas by name, as entries of a town's residents.toml.

    Each lives and works where the resident of the town does whom the names give for them, and gets up and
    goes to bed as their lifestyle says, at midnight at the latest. Raises ImportRefused naming the person.
    """
    given = read_json(path, ImportRefused)
    personas = (
        {name: one for name, one in given.items() if name != "shared"} if isinstance(given, dict) else {}
    )
    if not personas:
        raise ImportRefused(f"{path} must hold an object with a persona by name.")
    residents = {}
    for name, persona in personas.items():
        alike = town.residents.get(names["people"].get(name, ""))
        if alike is None:
            raise ImportRefused(f"{path}: {name} has no counterpart in {town.name}. Name one under [people].")
        wanted = ("age", "innate", "learned", "currently", "lifestyle")
        values = persona if isinstance(persona, Mapping) else {}
        own: dict[str, Any] = {field: values.get(field) for field in wanted}
        habits = {m["what"]: _hour(m) for m in _HABIT.finditer(str(own.get("lifestyle")))}
        wakes, sleeps = habits.get("up", alike.wakes), habits.get("bed", alike.sleeps)
        own |= {"home": alike.home, "work": alike.work, "hours": list(alike.hours), "wakes": wakes}
        own["sleeps"] = sleeps if sleeps > wakes else "24:00"
        try:
            Resident(name=name, **own)
        except (ValidationError, TypeError) as error:
            why = first_problem(error) if isinstance(error, ValidationError) else error
            raise ImportRefused(f"{path}: {name}: {why}.") from error
        residents[name] = own
    return residents


def _hour(match: re.Match[str]) -> str:
    hour = int(match["hour"] or 12) % 12 + (12 if match["half"] == "p" else 0)
    return f"{hour:02}:{match['minute'] or '00'}"


def write_town(residents: Mapping[str, Mapping[str, Any]], town: Path, data: Path, name: str) -> Path:
    """Write a town to a workspace's data folder: the places of a town's file, and other residents."""
    if file_name(name) != name or name == "tasks":
        raise ImportRefused(f"“{name}” cannot be the name of a town. Give it another one with --name.")
    folder = data / "stss" / "en" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in (town, town.with_name(PUBLISHED_NAMES)):
        (folder / file.name).write_text(read_text(file), encoding="utf-8")
    entries = (f"[residents.{toml_key(one)}]\n{as_toml(of)}" for one, of in residents.items())
    (folder / "residents.toml").write_text("\n".join(entries), encoding="utf-8")
    return folder / town.name


def renamed(task: SocialTask, names: Names) -> SocialTask:
    """A task with the town's names, in its texts too."""
    whole = {**names["places"], **names["people"]}

    # Longer names first: “Oak Hill College:library” before “Oak Hill College”.
    pattern = "|".join(re.escape(name) for name in sorted(whole, key=len, reverse=True))

    def text(given: str) -> str:
        return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda m: whole[m[0]], given) if whole else given

    def person(name: str) -> str:
        return names["people"].get(name, name)

    return replace(
        task,
        performer=person(task.performer),
        target=tuple(map(person, task.target)),
        cast=tuple(map(person, task.cast)),
        goal=text(task.goal),
        currently=text(task.currently),
        criteria=text(task.criteria),
        subgoals=tuple(
            replace(s, location=s.location and names["places"].get(s.location, s.location))
            for s in task.subgoals
        ),
    )


def lacking(tasks: Sequence[SocialTask], town: Town) -> Lacking:
    """What a town lacks for tasks."""
    people: Counter[str] = Counter()
    places: Counter[str] = Counter()
    playable = []
    for task in tasks:
        absent = missing(task, town)
        if not absent:
            playable.append(task.id)
        everybody = {task.performer, *task.target, *task.cast}
        for name in absent:
            (people if name in everybody else places)[name] += 1
    return Lacking(people, places, playable)


def write(tasks: Sequence[SocialTask], data: Path, name: str) -> Path:
    """Write a task set to a workspace's data folder, where runs look for it; returns the file."""
    if file_name(name) != name or name == "templates":
        raise ImportRefused(f"“{name}” cannot be the name of a task set. Give it another one with --name.")
    file = data / "stss" / "en" / "tasks" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps([values_of(task) for task in tasks], ensure_ascii=False, indent=1)
    file.write_text(text, encoding="utf-8")
    return file


PUBLISHED = "%B %d, %Y, %H:%M:%S"
"""How the published simulator writes a moment: February 13, 2023, 00:00:00."""


def read_trajectory(path: Path) -> Trajectory:
    """A trajectory from a file or a folder. Raises ConfigError naming the line or file that cannot be used.

    It reads JSON Lines with a record for each resident and step, and movement files of the published
    simulator: a folder of `<step>.json` (or one with `movement/` in it), one file, a list or lines of them.
    """
    if path.is_dir():
        folder = path / "movement" if (path / "movement").is_dir() else path
        files = sorted(folder.glob("*.json"), key=lambda f: (len(f.stem), f.stem))
        if not files:
            raise ConfigError(f"{path} holds no movement files (<step>.json).")
        return _published([(read_json(f), str(f)) for f in files])
    text = read_text(path)
    whole = _whole(text)
    if isinstance(whole, list):
        entries = [(entry, f"{path}, entry {n}") for n, entry in enumerate(whole, start=1)]
    elif isinstance(whole, Mapping) and "persona" in whole:
        entries = [(whole, str(path))]
    else:
        entries = list(_lines(text, path))
    if not entries:
        raise ConfigError(f"The trajectory {path} is empty.")
    first = entries[0][0]
    if isinstance(first, Mapping) and "persona" in first:
        return _published(entries)
    return _own(entries)


Entries = list[tuple[Any, str]]
Chats = dict[tuple[frozenset[str], tuple[tuple[str, str], ...]], Talk]


def _own(entries: Entries) -> Trajectory:
    seen: dict[tuple[datetime, str], tuple[State, str]] = {}
    talks: list[Talk] = []
    notes: list[str] = []
    latest, unsorted, repeated = datetime.min, 0, 0
    for entry, where in entries:
        if not isinstance(entry, Mapping):
            raise ConfigError(f"{where}: a record must be a JSON object.")
        time = _time(entry.get("time"), where)
        unsorted += time < latest
        latest = max(latest, time)
        if "with" in entry:
            talks.append(_talk(entry, time, where))
            continue
        agent = _text(entry, "agent", where)
        state = State(_text(entry, "action", where), _text(entry, "place", where, empty=True))
        known = seen.get((time, agent))
        if known is None:
            seen[time, agent] = (state, where)
        elif known[0] == state:
            repeated += 1
        else:
            raise ConfigError(
                f"{where}: {agent} at {time:%Y-%m-%d %H:%M:%S} has another record in {known[1]}. "
                "Remove one of the two."
            )
    if not seen:
        raise ConfigError(f"{entries[0][1]}: the trajectory has no record of what a resident did.")
    if unsorted:
        notes.append(f"{unsorted} records were out of order and have been sorted by time.")
    if repeated:
        notes.append(f"{repeated} records were repeated and count once.")
    strangers = {name for talk in talks for name in talk.pair} - {agent for _, agent in seen}
    notes += [f"{name} talks, and has no other record." for name in sorted(strangers)]
    return assemble(((*moment, state) for moment, (state, _) in seen.items()), talks, notes)


def _talk(entry: Mapping[str, Any], time: datetime, where: str) -> Talk:
    pair, messages, summary = entry["with"], entry.get("messages") or [], entry.get("summary") or {}
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(p, str) and p for p in pair):
        raise ConfigError(f"{where}: “with” must name the two who talk.")
    if pair[0] == pair[1]:
        raise ConfigError(f"{where}: {pair[0]} cannot talk with themselves.")
    good = isinstance(messages, list) and all(
        isinstance(m, list) and len(m) == 2 and all(isinstance(part, str) for part in m) for m in messages
    )
    if not good:
        raise ConfigError(f"{where}: “messages” must be a list of [speaker, text].")
    for speaker, _ in messages:
        if speaker not in pair:
            raise ConfigError(f"{where}: {speaker} speaks in a conversation of {pair[0]} and {pair[1]}.")
    if not isinstance(summary, Mapping) or not all(isinstance(text, str) for text in summary.values()):
        raise ConfigError(f"{where}: “summary” must map a name to a text.")
    place = entry.get("place") if isinstance(entry.get("place"), str) else ""
    return Talk(time, (pair[0], pair[1]), tuple((s, t) for s, t in messages), dict(summary), place or "")


def _published(entries: Entries) -> Trajectory:
    seen: list[Sighting] = []
    chats: Chats = {}
    times: set[datetime] = set()
    for entry, where in entries:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("persona"), Mapping):
            raise ConfigError(f"{where}: a movement file holds “persona” and “meta”.")
        meta = entry.get("meta")
        stamp = meta.get("curr_time") if isinstance(meta, Mapping) else None
        try:
            time = datetime.strptime(str(stamp), PUBLISHED)
        except ValueError as error:
            raise ConfigError(f"{where}: meta.curr_time must be like February 13, 2023, 00:00:00.") from error
        if time in times:
            raise ConfigError(f"{where}: there is another movement file of {stamp}.")
        times.add(time)
        for name, person in entry["persona"].items():
            seen.append(_moved(name, person, time, where, chats))
    return assemble(seen, tuple(chats.values()))


def _moved(name: str, person: Any, time: datetime, where: str, chats: Chats) -> Sighting:
    described = person.get("description") if isinstance(person, Mapping) else None
    if not isinstance(described, str):
        raise ConfigError(f"{where}: {name} has no “description” (“action @ place”).")
    action, _, place = described.rpartition(" @ ")
    chat = person.get("chat") or []
    if not isinstance(chat, list) or not all(isinstance(line, list) for line in chat):
        raise ConfigError(f"{where}: the “chat” of {name} must be a list of [speaker, text].")
    messages = tuple((str(line[0]), str(line[1])) for line in chat if len(line) == 2)
    speakers = frozenset(speaker for speaker, _ in messages)
    if len(speakers) == 2:
        # A chat is repeated for both speakers and every step it lasts; it is one conversation.
        pair = (messages[0][0], next(s for s, _ in messages if s != messages[0][0]))
        chats.setdefault((speakers, messages), Talk(time, pair, messages, {}, place))
    return time, name, State(action or described, place)


def _whole(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return None


def _lines(text: str, path: Path) -> Iterator[tuple[Any, str]]:
    for n, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield parse_json(line), f"{path}, line {n}"
            except ValueError as error:
                raise ConfigError(f"{path}, line {n} is not JSON: {error}.") from error


def _time(value: Any, where: str) -> datetime:
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: “time” must be like 2023-02-14 19:00:00, not {value!r}.") from error
    if time.tzinfo is not None:
        raise ConfigError(f"{where}: “time” must be the town's own, without a time zone.")
    return time


def _text(entry: Mapping[str, Any], name: str, where: str, *, empty: bool = False) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not (value.strip() or empty):
        raise ConfigError(f"{where}: “{name}” must be a text.")
    return value
