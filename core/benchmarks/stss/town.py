"""The town: sectors with arenas and objects, doors, walking distances, and residents."""

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from concord.errors import ConcordError, ConfigError, check_known
from concord.files import read_toml, valid

DAY = 24 * 60


@dataclass(frozen=True)
class Clock:
    """A number of days in steps of some minutes, which must divide the day. Steps count from 0."""

    first_day: date
    days: int = 2
    step_minutes: int = 5

    def __post_init__(self) -> None:
        if self.step_minutes < 1 or DAY % self.step_minutes:
            raise ConfigError(
                f"A step of {self.step_minutes} minutes does not divide a day. Take 1, 5, 10, 15, 20 or 30."
            )

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self.days * DAY // self.step_minutes

    def time(self, step: int) -> datetime:
        """The moment of a step."""
        return datetime.combine(self.first_day, time()) + timedelta(minutes=step * self.step_minutes)

    def minute(self, step: int) -> int:
        """Minutes since midnight."""
        return step * self.step_minutes % DAY

    def day(self, step: int) -> int:
        """Days since the first, which is 0."""
        return step * self.step_minutes // DAY

    def span(self, minutes: float) -> int:
        """Steps that so many minutes take, rounded up."""
        return -int(-minutes // self.step_minutes)


WALK = 80.0
"""Walking speed in metres a minute."""

PlaceName = Annotated[str, Field(pattern=r"^[^:\n]*[^:\s][^:\n]*$")]
"""A name of a place: not empty, and without colons, which separate sector, arena and object."""
Hour = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$|^24:00$")]


class Place(NamedTuple):
    """An object in an arena of a sector."""

    sector: str
    arena: str
    object: str

    def __str__(self) -> str:
        return f"{self.sector}:{self.arena}:{self.object}"


class Sector(BaseModel):
    """A street, a shop, a house. `at` is metres east and north on the map; the first arena is entered."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: PlaceName
    kind: str = ""
    at: tuple[float, float]
    doors: tuple[str, ...] = ()
    arenas: Annotated[
        dict[PlaceName, Annotated[tuple[PlaceName, ...], Field(min_length=1)]], Field(min_length=1)
    ]

    @property
    def entrance(self) -> Place:
        """The place of a resident who passes through."""
        arena, objects = next(iter(self.arenas.items()))
        return Place(self.name, arena, objects[0])


class Resident(BaseModel):
    """A persona. `home` and `work` are “sector:arena”; days are planned between `wakes` and `sleeps`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: Annotated[str, Field(min_length=1)]
    age: Annotated[int, Field(ge=0, le=120)]
    innate: str
    learned: str
    currently: str = ""
    lifestyle: str = ""
    home: str
    work: str = ""
    hours: tuple[Hour, Hour] = ("09:00", "17:00")
    wakes: Hour = "07:00"
    sleeps: Hour = "23:00"
    knows: dict[str, str] = {}


def _with_names(tables: Any) -> Any:
    """Tables with their own names in them."""
    if not isinstance(tables, Mapping):
        return tables
    return {k: {"name": k, **table} if isinstance(table, Mapping) else table for k, table in tables.items()}


def minute_of(text: str) -> int:
    """Minutes since midnight of “HH:MM”."""
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def hour_of(minute: int) -> str:
    """“HH:MM” of minutes since midnight."""
    return f"{minute // 60:02}:{minute % 60:02}"


@dataclass(frozen=True)
class Town:
    """Places and people. `load_town` makes sure that all names in it exist."""

    name: str
    sectors: Mapping[str, Sector]
    residents: Mapping[str, Resident]
    metres_per_minute: float = WALK

    def place(self, text: str) -> Place:
        """The place that “sector[:arena[:object]]” names, by default the first there. Raises NotFound."""
        parts = [part.strip() for part in text.split(":")]
        check_known(f"sector of {self.name}", parts[0], self.sectors)
        arenas = self.sectors[parts[0]].arenas
        arena = parts[1] if len(parts) > 1 and parts[1] else next(iter(arenas))
        check_known(f"arena of {parts[0]}", arena, arenas)
        thing = parts[2] if len(parts) > 2 and parts[2] else arenas[arena][0]
        check_known(f"object in {parts[0]}:{arena}", thing, arenas[arena])
        return Place(parts[0], arena, thing)

    def nearest(self, text: str) -> Place | None:
        """The place a text most likely means: by its parts in any case and spelling, else by a sector."""
        words = [part.strip() for part in text.split(":") if part.strip()]
        for i, word in enumerate(words):
            sector = _like(word, self.sectors)
            if sector is not None:
                arenas = self.sectors[sector].arenas
                rest = words[i + 1 :]
                arena = next((a for w in rest if (a := _like(w, arenas))), None)
                if arena is None:
                    # An object alone says in which arena it is.
                    arena = next((a for a in arenas for w in rest if _like(w, arenas[a])), next(iter(arenas)))
                thing = next((t for w in rest if (t := _like(w, arenas[arena]))), arenas[arena][0])
                return Place(sector, arena, thing)
        mentioned = [name for name in self.sectors if re.search(rf"(?i)(?<!\w){re.escape(name)}(?!\w)", text)]
        return self.sectors[max(mentioned, key=len)].entrance if mentioned else None

    def minutes(self, start: str, end: str) -> float:
        """Minutes of walking from door to door; 0 within one sector."""
        return float(self._walking[0][self._number[start], self._number[end]]) / self.metres_per_minute

    def way(self, start: str, end: str) -> list[str]:
        """The sectors on the shortest way, the first and the last included."""
        names = [*self.sectors]
        before = self._walking[1][self._number[start]]
        path = [end]
        while path[-1] != start:
            path.append(names[before[self._number[path[-1]]]])
        return path[::-1]

    def home(self, name: str) -> Place:
        """Where a resident sleeps: a bed of their room if there is one."""
        place = self.place(self.residents[name].home)
        beds = [t for t in self.sectors[place.sector].arenas[place.arena] if "bed" in t]
        return place._replace(object=beds[0]) if beds else place

    @property
    def doors(self) -> list[tuple[str, str]]:
        """The sectors at both ends of each door."""
        ends = (
            (name, neighbour)
            for name, s in self.sectors.items()
            for neighbour in s.doors
            if neighbour in self.sectors
        )
        return sorted({(min(pair), max(pair)) for pair in ends})

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.sectors)}

    @cached_property
    def _walking(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
        """Metres between all sectors (inf without a way), and each shortest way's last sector but one."""
        # Imported here, because it is slow to import.
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import shortest_path

        pairs = self.doors
        n = len(self.sectors)
        # Sectors at the same point are a metre apart: 0 would mean no door.
        metres = [max(1.0, math.dist(self.sectors[a].at, self.sectors[b].at)) for a, b in pairs]
        # Of 32 bits: the lowest version of scipy finds no way in a graph whose indices have 64.
        ends = np.array([[self._number[name] for name in pair] for pair in pairs], dtype=np.int32)
        rows, columns = ends.reshape(-1, 2).T
        graph = coo_array((metres, (rows, columns)), shape=(n, n)).tocsr()
        metres_between, before = shortest_path(graph, directed=False, return_predecessors=True)
        return metres_between, before


class _File(BaseModel):
    """A town's file. Each sector and resident has the name of its table."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str = ""
    metres_per_minute: Annotated[float, Field(gt=0, allow_inf_nan=False)] = WALK
    sectors: Annotated[dict[str, Sector], BeforeValidator(_with_names), Field(min_length=1)]
    residents: Annotated[dict[str, Resident], BeforeValidator(_with_names), Field(min_length=2)]


def load_town(path: Path) -> Town:
    """A town from its file. Raises ConfigError naming the entry.

    `residents` is a table, or the name of a file beside this one that holds the table.
    """
    values = read_toml(path)
    if isinstance(values.get("residents"), str):
        values["residents"] = read_toml(path.parent / values["residents"]).get("residents", {})
    file_values = valid(_File, values, path)
    town = Town(
        file_values.name or path.stem,
        file_values.sectors,
        file_values.residents,
        file_values.metres_per_minute,
    )
    try:
        _check(town)
    except ConcordError as error:
        raise ConfigError(f"{path}: {error}") from error
    return town


def _check(town: Town) -> None:
    """Raises ConcordError where a town cannot be lived in."""
    for sector in town.sectors.values():
        check_known(f"sector to which {sector.name} has a door", sector.doors, town.sectors)
        if containing := next((n for n in town.sectors if n != sector.name and sector.name in n), None):
            raise ConfigError(
                f"The name “{sector.name}” is part of “{containing}”: who is at one would be scored as "
                "being at "
                "the other. Rename one."
            )
    first = next(iter(town.sectors))
    if cut_off := next((name for name in town.sectors if math.isinf(town.minutes(first, name))), None):
        raise ConfigError(f"There is no way from {first} to {cut_off}: give one of them a door.")
    for one in town.residents.values():
        for place in filter(None, (one.home, one.work)):
            town.place(place)
        check_known(f"resident whom {one.name} knows", list(one.knows), town.residents)
        if one.sleeps <= one.wakes:
            raise ConfigError(f"{one.name} must wake ({one.wakes}) before going to bed ({one.sleeps}).")
        if one.hours[1] <= one.hours[0]:
            raise ConfigError(f"{one.name}’s work must end after it begins ({' to '.join(one.hours)}).")


def _like(word: str, names: Mapping[str, Any] | Sequence[str]) -> str | None:
    """The name that a word means: the same in any case, else the most similar spelling."""
    if word in names:
        return word
    lower = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.85)
    return lower[close[0]] if close else None
