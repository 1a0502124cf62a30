"""Seeded, stratified draws, and who rates what in which order. Knows neither the store nor any benchmark.

Chance is a hash of the seed and the name of the thing: the same seed gives the same sample and order
whatever the machine, the version of Python, or the order of the candidates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Mapping, Sequence
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
    if missing := [column for column in strata if column not in candidates.columns]:
        words = candidates.select_dtypes(exclude="number").columns
        varying = ", ".join(c for c in words if c != name) or "nothing"
        raise StudyError(f"The sample cannot be stratified by “{missing[0]}”. What varies here: {varying}.")
    if n > len(candidates):
        raise StudyError(
            f"There are {len(candidates)} candidates for {n} units. Ask for fewer units, or widen the filter."
        )
    values = [candidates[column].fillna("").astype(str) for column in strata]
    stratum = pd.Series(list(map(" / ".join, zip(*values, strict=True))) if strata else "", candidates.index)
    chance = [chance_of(seed, unit) for unit in candidates[name]]
    table = candidates.assign(stratum=stratum, _chance=chance).sort_values("_chance")
    stratum_sizes = _allot(table, list(strata), n, seed)
    rank = table.groupby("stratum", sort=False).cumcount()
    sample = table[rank < table.stratum.map(stratum_sizes)]
    sizes = table.groupby("stratum").size()
    by_stratum = dict(zip(sizes.index, _even(np.array(sizes, dtype=np.float64), n) / sizes, strict=True))
    sample = sample.assign(chance=sample.stratum.map(by_stratum).astype(float))
    return sample.drop(columns="_chance").reset_index(drop=True)


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
    number = {person: i for i, person in enumerate(people)}
    order = sorted(dict.fromkeys(units), key=lambda unit: chance_of(seed, unit))
    has, closed = (np.zeros((len(order), len(people)), dtype=bool) for _ in range(2))
    for row, unit in enumerate(order):
        # Somebody no longer dealt to keeps what they did: it fills a place and weighs on nobody here.
        has[row, [number[person] for person in (answered_by or {}).get(unit, ()) if person in number]] = True
        closed[row, [number[person] for person in (barred or {}).get(unit, ()) if person in number]] = True
    before = has.copy()
    load = has.sum(axis=0)
    shared = has.T.astype(np.int64) @ has
    kinds_in_order = [(kinds or {}).get(unit, ()) for unit in order]
    codes = [np.unique(values, return_inverse=True)[1] for values in zip(*kinds_in_order, strict=True)]
    of_kind = np.hstack([np.zeros((len(order), 0)), *(np.eye(code.max() + 1)[code] for code in codes)])
    kinds_of_person = has.T @ of_kind
    luck = np.array([chance_of(seed, person) for person in people], dtype=np.uint64)
    for row, unit in enumerate(order):
        chance = _mixed(luck ^ np.uint64(chance_of(seed, unit)))
        unavailable = has[row] | closed[row]
        places = k - len((answered_by or {}).get(unit, ())) if k else len(people)
        for _ in range(min(places, int((~unavailable).sum()))):
            shared_items, alike = shared[:, has[row]].sum(axis=1), kinds_of_person @ of_kind[row]
            person_number = int(np.lexsort((chance, alike, shared_items, load, unavailable))[0])
            load[person_number] += 1
            kinds_of_person[person_number] += of_kind[row]
            shared[person_number, has[row]] += 1
            shared[has[row], person_number] += 1
            has[row, person_number] = unavailable[person_number] = True
    assigned = has & ~before
    return {
        person_name: _ordered(
            [order[row] for row in np.flatnonzero(assigned[:, place])], seed, person_name, kinds
        )
        for person_name, place in number.items()
    }


def _ordered(
    units: Sequence[T], seed: int, person_name: str, kinds: Mapping[T, Sequence[str]] | None
) -> list[T]:
    """An annotator's units by chance; of m units of a kind, one lies in each m-th part of the order."""
    groups: dict[str, list[T]] = {}
    for unit in sorted(units, key=lambda unit: chance_of(seed, person_name, unit)):
        groups.setdefault(next(iter((kinds or {}).get(unit, ())), ""), []).append(unit)
    place = {
        unit: (i + (chance_of(seed, person_name, unit, "place") / 2**64 if kinds else 0.5)) / len(group)
        for group in groups.values()
        for i, unit in enumerate(group)
    }
    return sorted(place, key=lambda unit: place[unit])


def chance_of(seed: int, *things: object) -> int:
    """A number below 2⁶⁴ that follows a seed and what it is about."""
    text = "\0".join(map(str, (seed, *things)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


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
    singles, doubles = _loads(values, quotas), _loads(pairs, quotas)
    chance = np.array([chance_of(seed, stratum) for stratum in sizes.index], dtype=np.uint64)
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
    left, open_ = float(n), np.ones(len(size), dtype=bool)
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
