"""Seeded, stratified draws, and who rates what in which order. Knows neither the store nor any benchmark.

Chance is a hash of the seed and the name of the thing: the same seed gives the same sample and order
whatever the machine, the version of Python, or the order of the candidates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from concord.errors import StudyError

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T", bound=Hashable)


def draw(
    candidates: pd.DataFrame,
    n: int,
    *,
    seed: int = 0,
    strata: Sequence[str],
    name: str = "unit",
) -> pd.DataFrame:
    """Draw `n` of the candidates, spread over the strata that the columns `strata` make; rows in the order
    drawn.

    Every stratum gives the same number; one that has fewer gives all, and the others share the rest. What
    does not divide goes one each to the strata with the largest remainders, then to those whose values, then
    pairs of values, have had the least so far: with more strata than `n` the sample is still spread evenly
    over each column. Then chance decides.

    The column `name` identifies a candidate; the result gains the columns `stratum` and `chance`, the
    probability with which a candidate of its stratum is drawn: the stratum's share of `n`, as a fraction,
    over its size. No `strata`: one stratum; an empty value is a value. Raises StudyError for an unknown
    column, fewer candidates than `n`, and n < 1.
    """
    import pandas as pd

    if n < 1:
        raise StudyError("A sample needs at least one item. Ask for more.")
    for column in strata:
        if column not in candidates.columns:
            words = candidates.select_dtypes(exclude="number").columns.drop(name, errors="ignore")
            varying = ", ".join(words) or "nothing"
            raise StudyError(f"The sample cannot be stratified by “{column}”. What varies here: {varying}.")
    if n > len(candidates):
        raise StudyError(
            f"There are {len(candidates)} candidates for {n} units. Ask for fewer units, or widen the filter."
        )
    chance = _chances(seed, candidates[name])
    table = candidates.assign(stratum=_strata(candidates, strata), _chance=chance).sort_values("_chance")
    stratum_sizes = _allot(table, list(strata), n, seed)
    rank = table.groupby("stratum", sort=False).cumcount()
    sample = table[rank < table.stratum.map(stratum_sizes)]
    sizes = table.groupby("stratum").size()
    shares = pd.Series(_even(np.array(sizes, dtype=np.float64), n), sizes.index)
    sample = sample.assign(chance=sample.stratum.map(shares / sizes).astype(float))
    return sample.drop(columns="_chance").reset_index(drop=True)


def _strata(candidates: pd.DataFrame, columns: Sequence[str]) -> pd.Series[str]:
    """The stratum of each candidate: its values of these columns, in one text."""
    import pandas as pd

    strata = pd.Series("", candidates.index)
    for number, column in enumerate(columns):
        values = candidates[column].fillna("").astype(str)
        strata = strata + " / " + values if number else values
    return strata


def deal(
    units: Sequence[T],
    annotators: Sequence[str],
    k: int,
    *,
    seed: int = 0,
    answered_by: Mapping[T, Collection[str]] | None = None,
    barred: Mapping[T, Collection[str]] | None = None,
    kinds: Mapping[T, Sequence[str]] | None = None,
) -> dict[str, list[T]]:
    """Deal each unit to `k` of the annotators (0: to all); returns each one's units in an order of their own.

    Each unit goes to the least loaded, of these to whoever has met its raters least, of these to whoever has
    fewest units of its `kinds`: a fresh deal gives loads that differ by one at most, and any two annotators
    share about equally many units. `answered_by` says who has a unit already: those count towards `k` and
    towards the loads, and only what is new is returned; loads can then differ by more than one. `barred` says
    who is not to get a unit.

    `kinds` are each unit's values of some variables, such as its player: those of a value of the first
    variable come evenly in everybody's order. The order follows the seed, the annotator's name and the unit.

    Raises StudyError without annotators, and where `k` asks for more than there are.
    """
    people = list(dict.fromkeys(annotators))
    if not people:
        raise StudyError("No annotators to assign to. Invite some first.")
    if not 0 <= k <= len(people):
        raise StudyError(
            f"{k} raters per unit need more than {len(people)} annotators. Invite more annotators, or use "
            f"--overlap {len(people)}."
        )
    order = sorted(dict.fromkeys(units), key=lambda unit: chance_of(seed, unit))
    # An annotator no longer dealt to keeps what they did: it fills a place and is no load here.
    earlier = _marks(order, people, answered_by or {})
    closed = _marks(order, people, barred or {})
    desks = _Desks(earlier, _kinds_of(order, kinds or {}))
    person_chance = _chances(seed, people)
    for row, unit in enumerate(order):
        chance = _mixed(person_chance ^ np.uint64(chance_of(seed, unit)))
        places = len(people)
        if k:
            places = k - len((answered_by or {}).get(unit, ()))
        free = int((~(earlier[row] | closed[row])).sum())
        for _ in range(min(places, free)):
            desks.give(row, desks.least_loaded(row, closed[row], chance))
    dealt_marks = desks.has & ~earlier
    shares: dict[str, list[T]] = {}
    for column, person in enumerate(people):
        rows = np.flatnonzero(dealt_marks[:, column])
        shares[person] = _ordered([order[row] for row in rows], seed, person, kinds)
    return shares


def _marks(
    order: Sequence[T], people: Sequence[str], persons_of: Mapping[T, Collection[str]]
) -> npt.NDArray[np.bool_]:
    """Units × people: whether a person is among those of the unit."""
    column_of = {person: column for column, person in enumerate(people)}
    marks = np.zeros((len(order), len(people)), dtype=bool)
    for row, unit in enumerate(order):
        for person in persons_of.get(unit, ()):
            if person in column_of:
                marks[row, column_of[person]] = True
    return marks


def _kinds_of(order: Sequence[T], kinds: Mapping[T, Sequence[str]]) -> npt.NDArray[np.float64]:
    """Units × values of all variables: 1 where the unit has the value."""
    values_of_unit = [kinds.get(unit, ()) for unit in order]
    columns = [np.zeros((len(order), 0))]
    for values in zip(*values_of_unit, strict=True):
        codes = np.unique(values, return_inverse=True)[1]
        columns.append(np.eye(codes.max() + 1)[codes])
    return np.hstack(columns)


class _Desks:
    """Who has which units while they are dealt, and the sums by which the next person is found."""

    def __init__(self, has: npt.NDArray[np.bool_], kinds: npt.NDArray[np.float64]):
        """`has` and `kinds` have a row for each unit, a column for each person or each value."""
        self.has = has.copy()
        self._kinds = kinds
        self._load = has.sum(axis=0)
        self._shared = has.T.astype(np.int64) @ has
        self._kinds_of_person = has.T @ kinds

    def least_loaded(self, row: int, closed: npt.NDArray[np.bool_], chance: npt.NDArray[np.uint64]) -> int:
        """The person who gets a unit next: by load, by units shared with its raters, by units of its kinds,
        then by chance.
        """
        shared_with_raters = self._shared[:, self.has[row]].sum(axis=1)
        alike = self._kinds_of_person @ self._kinds[row]
        unavailable = self.has[row] | closed
        return int(np.lexsort((chance, alike, shared_with_raters, self._load, unavailable))[0])

    def give(self, row: int, person: int) -> None:
        """Give a unit to a person."""
        self._load[person] += 1
        self._kinds_of_person[person] += self._kinds[row]
        self._shared[person, self.has[row]] += 1
        self._shared[self.has[row], person] += 1
        self.has[row, person] = True


def _ordered(
    units: Sequence[T], seed: int, person_name: str, kinds: Mapping[T, Sequence[str]] | None
) -> list[T]:
    """An annotator's units by chance; of m units of a kind, one lies in each m-th part of the order."""
    groups: dict[str, list[T]] = {}
    for unit in sorted(units, key=lambda unit: chance_of(seed, person_name, unit)):
        kind = ""
        if kinds and kinds.get(unit):
            kind = kinds[unit][0]
        groups.setdefault(kind, []).append(unit)
    place: dict[T, float] = {}
    for group in groups.values():
        for number, unit in enumerate(group):
            offset = 0.5
            if kinds:
                offset = chance_of(seed, person_name, unit, "place") / 2**64
            place[unit] = (number + offset) / len(group)
    return sorted(place, key=lambda unit: place[unit])


def chance_of(seed: int, *things: object) -> int:
    """A number below 2⁶⁴ that follows a seed and what it is about."""
    text = "\0".join(map(str, (seed, *things)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _chances(seed: int, things: Iterable[object]) -> npt.NDArray[np.uint64]:
    """The number of each of these."""
    return np.array([chance_of(seed, thing) for thing in things], dtype=np.uint64)


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Two rounds of multiply and shift, so that numbers which differ in a bit differ in all (splitmix64)."""
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))


def _allot(table: pd.DataFrame, strata_columns: list[str], n: int, seed: int) -> dict[str, int]:
    """How many of each stratum."""
    import pandas as pd

    sizes = table.groupby("stratum").size()
    size = np.array(sizes, dtype=np.float64)
    shares = _even(size, n)
    quotas = np.floor(shares + 1e-9)
    # Rounded, so that equal remainders are equal; a stratum that gave all it has is out.
    remainder = np.where(quotas < size, np.round(shares - quotas, 9), -1.0)
    strata = table.drop_duplicates("stratum").set_index("stratum").loc[sizes.index]
    values = [pd.factorize(strata[column].fillna("").astype(str))[0] for column in strata_columns]
    pairs = [pd.factorize(a * (int(b.max()) + 1) + b)[0] for a, b in combinations(values, 2)]
    singles = _loads(values, quotas)
    doubles = _loads(pairs, quotas)
    chance = _chances(seed, sizes.index)
    for _ in range(n - int(quotas.sum())):
        best = np.arange(len(quotas))
        for rank in (-remainder, singles, doubles, chance):
            best = best[rank[best] == rank[best].min()]
        best_stratum = best[0]
        quotas[best_stratum] += 1
        remainder[best_stratum] = -1.0
        for loads, codes in ((singles, values), (doubles, pairs)):
            for code in codes:
                loads[code == code[best_stratum]] += code.max() + 1
    return dict(zip(sizes.index, quotas.astype(int).tolist(), strict=True))


def _loads(
    codes: Sequence[npt.NDArray[np.int64]], quotas: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """How much the values of each stratum have had, as a multiple of the fair share of a value."""
    loads = np.zeros(len(quotas))
    for code in codes:
        loads += np.bincount(code, weights=quotas)[code] * (code.max() + 1)
    return loads


def _even(size: npt.NDArray[np.float64], n: int) -> npt.NDArray[np.float64]:
    """Equal shares of `n`, except that a stratum gives no more than it has (water-filling)."""
    shares = np.zeros(len(size))
    left = float(n)
    open_ = np.ones(len(size), dtype=bool)
    while open_.any():
        level = left / open_.sum()
        full = open_ & (size <= level)
        if not full.any():
            shares[open_] = level
            break
        shares[full] = size[full]
        left -= float(size[full].sum())
        open_ &= ~full
    return shares
