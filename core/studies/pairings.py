"""Pairs of replies dealt to people: drawn over models and scenarios, and the answers from the desk."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, Field
from sqlite_utils import Database

from concord.agreement.ratings import Floats
from concord.benchmarks import get
from concord.errors import StudyError, not_found
from concord.rating import Verdict
from concord.store import access, conversations, desk, pairings, tables
from concord.store import comparisons as stored
from concord.store.conversations import Filter
from concord.store.filters import Where
from concord.store.pairings import Standing
from concord.studies import comparisons, sampling

AGAINST = "against"
"""The column of a table of pairs that says which two models meet."""
PAIR = ["pair", "scenario", "one", "other", AGAINST]


class Preferred(BaseModel):
    """What a person prefers of the pair `item` as they were shown it; no verdict takes the answer back."""

    item: int
    verdict: Verdict | None
    comment: str = Field("", max_length=4000)


def deal(
    db: Database,
    benchmark: str,
    people: Sequence[str],
    n: int,
    *,
    players: Sequence[str] = (),
    facets: Where | None = None,
    overlap: int = 1,
    seed: int = 0,
) -> list[Standing]:
    """Deal pairs until these people have `n` different ones between them, each `overlap` times (0: all).

    Returns how far everybody of the benchmark is. Every two models get the same number of pairs, or one more,
    spread over the facets of scenarios. People get equally many in an order of their own, and any two of them
    share about equally many; which reply is shown as A is drawn for each person and pair. The same arguments
    give the same. What these people have counts and stays theirs, so that dealing again only adds.

    Raises NotFound for an unknown model, facet or person, StudyError for simulated annotators, people without
    a link, and where there are fewer pairs or people than asked for.
    """
    raters = _raters(db, people)
    table = candidates(db, benchmark, players=players, facets=facets)
    if n > len(table):
        raise StudyError(
            f"There are {len(table)} pairs to deal, not {n}. Ask for fewer, or take more models."
        )
    rows = {str(row["pair"]): row for row in table.to_dict("records")}
    names = {frozenset((row["one"], row["other"])): pair for pair, row in rows.items()}
    held: dict[str, set[str]] = {}
    for one, other, person in pairings.held(db, benchmark):
        if person in raters and (pair := names.get(frozenset((one, other)))):
            held.setdefault(pair, set()).add(person)
    chosen = draw(table, n, have=held, seed=seed)
    for person, mine in sampling.deal(chosen, list(raters), overlap, seed=seed, done=held).items():
        pairings.assign(db, raters[person], benchmark, [_shown(rows[pair], person, seed) for pair in mine])
    return pairings.standings(db, benchmark=benchmark)


def candidates(
    db: Database, benchmark: str, *, players: Sequence[str] = (), facets: Where | None = None
) -> pd.DataFrame:
    """Every pair that can be compared, one row each: pair (its name), scenario, one, other (ids), against
    (the two models), and the facets in which both conversations agree wherever there are pairs. Raises
    NotFound for an unknown model or facet, StudyError for a single one.
    """
    same = get(benchmark).scenario_facet
    if not same:
        raise StudyError(
            f"Nothing in {get(benchmark).title} is answered by several models alike, "
            "so there is nothing to compare two by two."
        )
    known = conversations.values(db, benchmark)["player"]
    for name in players:
        if name not in known:
            raise not_found("model", name, known)
    tables.check(db, benchmark, facets)
    chosen = sorted(set(players) or known)
    if len(chosen) < 2:
        raise StudyError("It takes two models to compare. Name another one.")
    found = stored.pairs(db, benchmark, same, chosen, facets=facets)
    every = conversations.table(db, Filter(benchmark, players=tuple(chosen))).set_index("id")
    one, other = (every.loc[[pair[i] for pair in found]].reset_index() for i in (1, 3))
    table = pd.DataFrame(
        {
            "pair": one.key + "|" + other.key,
            "scenario": [scenario for scenario, *_ in found],
            "one": one.id,
            "other": other.id,
            AGAINST: one.player + " and " + other.player,
        }
    )
    shared = [c for c in every.columns.drop(["key", "player"]) if c != same and one[c].equals(other[c])]
    return table.join(one[shared])


def draw(table: pd.DataFrame, n: int, *, have: Collection[str] = (), seed: int = 0) -> list[str]:
    """The names of `n` of the pairs in a table of `candidates`, those that people `have` before others.

    Next comes the pair whose models had the fewest pairs so far; among those, whose scenario and facets had;
    among those, whose combinations of facets had; then chance decides.
    """
    models, scenario, *facets = [
        pd.factorize(table[c])[0] for c in (AGAINST, "scenario", *table.columns.drop(PAIR))
    ]
    both = [pd.factorize(a * len(table) + b)[0] for a, b in combinations(facets, 2)]
    chance = np.array([int(comparisons.chance(seed, pair)[:15], 16) for pair in table.pair])
    had, taken = table.pair.isin(have).to_numpy(), np.zeros(len(table), dtype=bool)
    chosen = []
    for _ in range(n):
        best = np.flatnonzero(had & ~taken)
        if not len(best):
            best = np.flatnonzero(~taken)
        for codes in ([models], [scenario, *facets], both):
            load = sum((_load(code, taken, best) for code in codes), np.zeros(len(best)))
            best = best[load == load.min()]
        drawn = best[chance[best].argmin()]
        taken[drawn] = True
        chosen.append(str(table.pair.iloc[drawn]))
    return chosen


def _load(code: npt.NDArray[np.int64], taken: npt.NDArray[np.bool_], among: npt.NDArray[np.int64]) -> Floats:
    """How often the value of each row was taken, as a multiple of the fair share of a value."""
    values = int(code.max()) + 1
    load: Floats = np.bincount(code[taken], minlength=values)[code[among]].astype(np.float64) * values
    return load


def take_back(db: Database, benchmark: str, person: str) -> int:
    """Take back the pairs that a person has not compared; returns how many. Raises NotFound."""
    return pairings.reclaim(db, access.annotator_id(db, person), benchmark)


def apply(
    db: Database, rater: int, person: str, client: str, events: Iterable[Any]
) -> tuple[int, list[desk.Refusal]]:
    """Apply what an annotator's browser reports, each event once: see `desk.once`.

    An event names a pair by its number on the desk; one about a pair of somebody else is refused.
    """

    def prefer(event: Preferred) -> None:
        pair = pairings.get(db, rater, event.item)
        comparisons.answer(db, person, pair.first, pair.second, event.verdict, event.comment)

    return desk.once(db, desk.of(rater), client, events, Preferred, prefer)


def _raters(db: Database, people: Sequence[str]) -> dict[str, int]:
    known = {a.name: a for a in access.annotators(db)}
    for name in people:
        if name not in known:
            raise not_found(
                "annotator", name, (a.name for a in known.values() if a.can_enter and not a.simulated)
            )
        if known[name].simulated:
            raise StudyError(f"“{name}” is a simulated annotator: only people compare at the desk.")
        if not known[name].can_enter:
            raise StudyError(
                f"“{name}” has no link that works. "
                "Invite them with `concord annotators invite`, or deal to others."
            )
    return {name: known[name].id for name in dict.fromkeys(people)}


def _shown(row: Mapping[Hashable, Any], person: str, seed: int) -> tuple[str, int, int]:
    """The scenario, and the two as the person is to see them."""
    return (row["scenario"], *comparisons.sides(row["one"], row["other"], seed, person, row["pair"]))
