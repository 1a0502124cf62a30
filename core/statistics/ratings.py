"""Reads a long frame of ratings into arrays, criterion by criterion, and *final*."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from concord import scores as rules
from concord.arrays import Columns, Keyed, as_column, coded, combined, levels, numbered, taken
from concord.errors import StudyError
from concord.scores import DIGITS as DIGITS
from concord.scores import FINAL as FINAL

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Ends = tuple[float, float]
"""The least and the greatest value of a scale."""

FEWEST_LIKE_THESE = 5
"""With fewer annotators a claim about annotators like these has an interval too wide to be of use."""

FEWEST_OF_A_KIND = 8
"""Items of a kind, on average, below which it is no use to take them together."""

COLUMNS = ("unit", "criterion", "rater", "kind", "score")

Facet = Mapping[Hashable, Hashable] | Any
"""Unit → its value, such as its player or its scenario: a mapping or a series of pandas."""

Panels = Iterable[Sequence[str]] | None
"""Sets of judges, each read as their mean; None for the default ones."""


def default_panels(judges: Sequence[str]) -> list[tuple[str, ...]]:
    """All judges together, then every pair of them; nothing for fewer than two judges."""
    if len(judges) < 2:
        return []
    return [tuple(judges)] + (list(combinations(judges, 2)) if len(judges) > 2 else [])


def panel_name(members: Sequence[str]) -> str:
    """A judge's own name, or “Avg(…)” of a panel's members."""
    return members[0] if len(members) == 1 else f"Avg({', '.join(members)})"


@dataclass(frozen=True, eq=False)
class Inclusion:
    """How items were drawn for people to rate: the weight of each (0: none), and its stratum where known."""

    weights: Floats
    strata: Ints | None = None


class Contender(NamedTuple):
    """A judge or a panel, and its score of every item (nan where it has none)."""

    name: str
    members: tuple[str, ...]
    score: Floats


@dataclass(frozen=True, eq=False)
class CriterionScores:
    """One criterion's ratings; items are numbered as in `Ratings.units`.

    `person`, `item`, `score` hold one entry per rating of a person, in no particular order. `judges` gives
    each judge's score of every item, `target` the mean of all people present on each item (both nan where
    missing), `present` the number of people on each item. `unlinked` says why people's answers cannot be
    followed from item to item, if they cannot.
    """

    criterion: str
    person: Ints
    item: Ints
    score: Floats
    judges: Mapping[str, Floats]
    target: Floats
    present: Ints
    unlinked: str = ""
    sets: bool = False
    """Whether an answer is a set of labels: see `concord.statistics.sets`."""
    ordered: bool = True
    """Whether answers have an order, and a mean."""

    @property
    def items(self) -> int:
        """How many items the study has, rated on this criterion or not."""
        return len(self.target)

    @cached_property
    def people(self) -> Ints:
        """The people (indexes into `Ratings.people`) who rated anything on this criterion, ascending."""
        return np.unique(self.person)

    def panel(self, members: Sequence[str]) -> Floats:
        """The mean of the judges named, on the items that all of them rated; nan elsewhere."""
        if missing := [name for name in members if name not in self.judges]:
            names = ", ".join(self.judges) or "none"
            raise StudyError(
                f"A panel names the judge “{missing[0]}”, who is not in this study. Its judges: {names}."
            )
        if not members:
            raise StudyError("A panel needs at least one judge. Name its members.")
        return rules.panel([self.judges[name] for name in members])

    def contenders(self, panels: Panels = None) -> list[Contender]:
        """Every judge, then the panels."""
        panel_members = default_panels(tuple(self.judges)) if panels is None else map(tuple, panels)
        contenders_members = [*((judge,) for judge in self.judges), *panel_members]
        return [
            Contender(panel_name(members), members, self.panel(members)) for members in contenders_members
        ]

    def ratings_of(self, person: int) -> tuple[Ints, Floats]:
        """The items one person rated, and how."""
        order, starts = self._by_person
        rows = order[starts[person] : starts[person + 1]] if person + 1 < len(starts) else order[:0]
        return self.item[rows], self.score[rows]

    def excluding(self, person: int) -> CriterionScores:
        """The scores without one person's ratings."""
        remaining = self.person != person
        item = self.item[remaining]
        score = self.score[remaining]
        present = np.bincount(item, minlength=self.items)
        target = divide(sums(item, score, self.items), present)
        return replace(
            self, person=self.person[remaining], item=item, score=score, target=target, present=present
        )

    def scores_of(self, person: int) -> Floats:
        """One person's score of every item; nan where they did not rate."""
        return _dense(*self.ratings_of(person), self.items)

    def mean_of_others(self, person: int) -> Floats:
        """The mean of everybody else on the items that this person and somebody else rated; nan elsewhere."""
        item, score = self.ratings_of(person)
        return _dense(item, divide(self._total[item] - score, self.present[item] - 1), self.items)

    @cached_property
    def kinds(self) -> Ints | None:
        """The kind of each item, numbered from 0: those of a kind have equal ratings by the same raters.

        None where kinds have fewer than `FEWEST_OF_A_KIND` items on average.
        """
        columns = [*map(self.scores_of, self.people.tolist()), *self.judges.values()]
        if self.unlinked:
            columns += [self.target, self.present.astype(np.float64)]
        kind = np.zeros(self.items, dtype=np.int64)
        for column in columns:
            kind = kinds_with(kind, column)
            if FEWEST_OF_A_KIND * (int(kind.max(initial=0)) + 1) > self.items:
                return None
        return kind

    @cached_property
    def _total(self) -> Floats:
        return sums(self.item, self.score, self.items)

    @cached_property
    def _by_person(self) -> tuple[Ints, Ints]:
        counts = np.bincount(self.person)
        return np.argsort(self.person, kind="stable"), np.concatenate([[0], np.cumsum(counts)])


@dataclass(frozen=True, eq=False)
class Ratings:
    """A study's ratings, checked and numbered.

    `units` are sorted, people and judges too (numbers within names by value), so the order of rows never
    matters. `criteria` maps each criterion's name to its `CriterionScores`, *final* last. On the items marked
    in `closed` judges are not compared, except on the criteria in `flags`; `left_out` counts these items per
    reason. `other_scale` says for a criterion why a judge's level cannot be compared with people's (judge →
    reason), `basis_notes` what every basis line of a criterion adds.
    """

    units: Sequence[Hashable]
    people: tuple[str, ...]
    judges: tuple[str, ...]
    criteria: Mapping[str, CriterionScores]
    final_criteria: tuple[str, ...]
    closed: Bools = field(default_factory=lambda: np.empty(0, dtype=bool))
    flags: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    other_scale: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    basis_notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    inclusion: Inclusion | None = None
    """How items were drawn, where that is not alike: figures weigh them by it."""
    target: str = ""
    """What judges are compared with in place of people: see `against`."""

    def excluding(self, person: int) -> Ratings:
        """The ratings without those of one person (an index into `people`), who keeps their number."""
        return replace(
            self,
            criteria={
                name: criterion_scores.excluding(person) for name, criterion_scores in self.criteria.items()
            },
        )

    def against(self, target: str, criterion: str, reference: Floats, *, people: bool = False) -> Ratings:
        """Judges on one criterion, and with `people` these too, against a `target` in place of people.

        `reference` has its score of every item, nan where it has none.
        """
        criterion_scores = self[criterion]
        items = np.flatnonzero(~np.isnan(reference))
        judges = dict(criterion_scores.judges)
        if people and not criterion_scores.unlinked:
            rated = {
                self.people[person]: criterion_scores.scores_of(person)
                for person in criterion_scores.people.tolist()
            }
            judges |= {name: np.where(self.open(criterion), score, np.nan) for name, score in rated.items()}
        judged = replace(
            criterion_scores,
            person=np.zeros(len(items), dtype=np.int64),
            item=items,
            score=reference[items],
            judges=judges,
            target=reference,
            present=np.isfinite(reference).astype(np.int64),
            unlinked="",
        )
        names = tuple(judges)
        return replace(self, people=(target,), judges=names, criteria={criterion: judged}, target=target)

    @cached_property
    def several_people(self) -> bool:
        """Whether claims about annotators like these can rest on the design.

        At least five named people, each of whom rated at least half of the rated items on every criterion.
        """
        rated = [scores for scores in self.criteria.values() if len(scores.item)]
        return bool(rated) and all(
            not scores.unlinked
            and len(scores.people) >= FEWEST_LIKE_THESE
            and 2 * np.bincount(scores.person)[scores.people].min() >= (scores.present > 0).sum()
            for scores in rated
        )

    def __getitem__(self, criterion: str) -> CriterionScores:
        """The scores of one criterion; a StudyError lists the known ones."""
        try:
            return self.criteria[criterion]
        except KeyError:
            names = ", ".join(self.criteria) or "none"
            raise StudyError(f"The study has no criterion “{criterion}”. Its criteria: {names}.") from None

    @cached_property
    def rated(self) -> Ints:
        """The items that a person rated, from which resamples are drawn; all where nobody rated."""
        present = [scores.present > 0 for scores in self.criteria.values()]
        rated = np.flatnonzero(np.any(present, axis=0))
        return rated if len(rated) else np.arange(len(self.units))

    def open(self, criterion: str) -> Bools:
        """The items on which judges are compared on a criterion."""
        return np.ones(len(self.units), dtype=bool) if criterion in self.flags else ~self.closed

    def no_level(self, criterion: str, members: Sequence[str]) -> str:
        """Why a judge's or a panel's level cannot be compared with people's; empty where it can."""
        scale_reasons = self.other_scale.get(criterion, {})
        return "; ".join(dict.fromkeys(scale_reasons[name] for name in members if name in scale_reasons))

    def level(self, criterion: str, judge: Contender) -> Floats:
        """A judge's or a panel's score; all nan where its level cannot be compared with people's."""
        return np.full_like(judge.score, np.nan) if self.no_level(criterion, judge.members) else judge.score

    def facet(self, groups: Facet) -> tuple[Ints, list[Hashable]]:
        """A facet of the units (player, scenario) as numbers, −1 where unknown, and its sorted values."""
        if isinstance(groups, Keyed):
            return self._keyed(groups)
        table = dict(groups.items())
        values = [table.get(unit) for unit in self.units]
        names = _sorted({value for value in values if value is not None})
        number = {name: index for index, name in enumerate(names)} | {None: -1}
        codes = [number[value] for value in values]
        return np.array(codes, dtype=np.int64), names

    def _keyed(self, groups: Keyed) -> tuple[Ints, list[Hashable]]:
        """`facet` of values by the numbers of units."""
        names = _sorted(groups.distinct)
        place = {name: number for number, name in enumerate(names)}
        of_value = np.array([place.get(value, -1) for value in groups.names.values], dtype=np.int64)
        return of_value[groups.names.codes[np.asarray(self.units, dtype=np.int64) - 1]], names


def read_ratings(
    ratings: Columns | pd.DataFrame,
    *,
    criteria: Sequence[str] | None = None,
    final_criteria: Sequence[str] | None = None,
    without_judges: Mapping[Any, str] | None = None,
    flags: Sequence[str] = (),
    anonymous_people: bool = False,
    other_scale: Mapping[str, Mapping[str, str]] | None = None,
    basis_notes: Mapping[str, Sequence[str]] | None = None,
    order: Sequence[Hashable] = (),
    sets: Collection[str] = (),
    categories: Collection[str] = (),
) -> Ratings:
    """Number the units and raters of a long frame.

    `ratings` has the columns unit (any hashable), criterion, rater, kind (“human” or “judge”) and score, one
    row per (unit, criterion, rater, kind); further columns and kinds are ignored. A row without a score (nan)
    is a missing rating.

    `criteria` chooses and orders the criteria (default: all, as they first appear); one without ratings is
    kept, empty. `final_criteria` are those that enter *final* (default: all of `criteria`; empty: no final).
    *Final* is a rater's mean over the counted criteria on the units where that rater rated all of them. If
    the frame itself has a criterion called “final”, that one is taken as given. On the units `without_judges`
    (with the reason) judges' ratings are excluded, people's stay: what people's figures are must not depend
    on a judge. On the criteria in `flags`, by which judges see what closes a unit, they stay too.

    With `anonymous_people` a person's name is only a position on its item (somebody, not the same somebody
    elsewhere): people's *final* is then the mean of the criteria's means on each item, and has no raters
    to compare. `other_scale` says for a criterion which judges answer on another scale than people, and
    why (`concord.studies.scales`): figures of level (bias, error, spread) are then undefined. *Final* is
    on another scale where one of its criteria is. `basis_notes` is what basis lines add. On the
    criteria in `sets` an answer is a set of labels, on those in `categories` it has no order.

    Resamples draw items by their place, so equal data in an equal order have equal intervals: units are
    sorted by value, or stand in the `order` given.
    """
    rows = {name: as_column(ratings[name]) for name in COLUMNS}
    code, values = coded(rows["criterion"])
    criteria = list(dict.fromkeys(map(str, values if criteria is None else criteria)))
    if FINAL in criteria:
        final_criteria = []
    elif final_criteria is None:
        final_criteria = criteria
    final_criteria = list(final_criteria)
    without_judges = without_judges or {}
    criterion = _renumbered(code, values, criteria)
    rated = (criterion >= 0) & ~np.isnan(np.asarray(rows["score"], dtype=np.float64))
    rows = taken(rows, rated)
    criterion = criterion[rated]
    unit, units = _units(rows["unit"], order)
    closed = np.zeros(len(units), dtype=bool)
    if without_judges:
        closed = np.array([unit_key in without_judges for unit_key in units], dtype=bool)
    code, values = coded(rows["rater"])
    names = [*map(str, values)]
    kinds = [rows["kind"] == kind for kind in ("human", "judge")]
    people, judges = (_by_name({names[index] for index in np.unique(code[kind])}) for kind in kinds)
    person, judge_of = (_renumbered(code, names, raters) for raters in (people, judges))

    score = np.asarray(rows["score"], dtype=np.float64)
    unlinked = "annotators have no names" if anonymous_people else ""
    table: dict[str, CriterionScores] = {}
    for number, name in enumerate(criteria):
        of_people, of_judge = (kind & (criterion == number) for kind in kinds)
        shut = closed & (name not in flags)
        of_judges = {judge: of_judge & (judge_of == place) for place, judge in enumerate(judges)}
        present = np.bincount(unit[of_people], minlength=len(units))
        table[name] = CriterionScores(
            name,
            person[of_people],
            unit[of_people],
            score[of_people],
            {
                judge: np.where(shut, np.nan, _dense(unit[rows_of_judge], score[rows_of_judge], len(units)))
                for judge, rows_of_judge in of_judges.items()
            },
            divide(sums(unit[of_people], score[of_people], len(units)), present),
            present,
            unlinked,
            name in sets,
            name not in categories,
        )
    if final_criteria:
        table[FINAL] = _final([table[name] for name in final_criteria], len(units), unlinked)
    return Ratings(
        units=units,
        people=tuple(people),
        judges=tuple(judges),
        criteria=table,
        final_criteria=tuple(final_criteria),
        closed=closed,
        flags=tuple(flags),
        left_out=Counter(without_judges[unit_key] for unit_key in units if unit_key in without_judges),
        other_scale=_with_final(other_scale or {}, final_criteria),
        basis_notes=basis_notes or {},
    )


def _units(column: Any, order: Sequence[Hashable]) -> tuple[Ints, Sequence[Hashable]]:
    """Each row's unit by its place in the order, and the units that have rows, in this order."""
    if isinstance(order, np.ndarray) and len(order):  # of all units, numbered from 1
        place = np.zeros(int(order.max()) + 1, dtype=np.int64)
        place[order] = np.arange(len(order))
        present = np.zeros(len(order), dtype=bool)
        present[place[column]] = True
        if present.all():
            return place[column], order.tolist()
        return (np.cumsum(present) - 1)[place[column]], order[present].tolist()
    code, values = coded(column)
    places = {unit: number for number, unit in enumerate(order)}
    units = sorted(_sorted(values), key=lambda unit: places.get(unit, len(places)))
    return _renumbered(code, values, units), units


def _renumbered(code: Ints, values: Sequence[Hashable], chosen_values: Sequence[Hashable]) -> Ints:
    """Codes of known values as places among the wanted ones; −1 for those that are not wanted."""
    place = {value: number for number, value in enumerate(chosen_values)}
    return np.array([place.get(value, -1) for value in values], dtype=np.int64)[code]


def _final(parts: Sequence[CriterionScores], items: int, unlinked: str) -> CriterionScores:
    """A rater's mean over the criteria where they rated all; a sum divided once keeps equal means equal."""
    count = len(parts)
    judges = {judge: rules.final([part.judges[judge] for part in parts]) for judge in parts[0].judges}
    if unlinked:
        empty = np.empty(0, dtype=np.int64)
        target = rules.final([part.target for part in parts])
        present = np.where(np.isnan(target), 0, np.min([part.present for part in parts], axis=0))
        return CriterionScores(FINAL, empty, empty, np.empty(0), judges, target, present, unlinked)
    key = np.concatenate([part.person * items + part.item for part in parts])
    code, keys = numbered(key)
    total = sums(code, np.concatenate([part.score for part in parts]), len(keys))
    complete = np.bincount(code, minlength=len(keys)) == count
    keys = keys[complete]
    total = total[complete]
    person, item = np.divmod(keys, max(items, 1))
    present = np.bincount(item, minlength=items)
    target = divide(sums(item, total, items), present * count)
    return CriterionScores(FINAL, person, item, total / count, judges, target, present)


def _with_final(
    other_scale: Mapping[str, Mapping[str, str]], final_criteria: Sequence[str]
) -> dict[str, Mapping[str, str]]:
    """Reasons by criterion; a judge's for *final* is that of the first criterion in it on another scale."""
    of_final: dict[str, str] = {}
    for name in final_criteria:
        for judge, reason in other_scale.get(name, {}).items():
            of_final.setdefault(judge, f"{reason} ({name})")
    return {**other_scale, FINAL: {**of_final, **other_scale.get(FINAL, {})}}


def kinds_with(kind: Ints, column: Floats) -> Ints:
    """Kinds of items, numbered from 0, by a column more (nan: missing)."""
    code = np.zeros(len(column), dtype=np.int64)
    present = ~np.isnan(column)
    code[present] = levels(np.round(column[present], DIGITS))[1] + 1
    return combined(kind, code)


def _dense(item: npt.NDArray[np.integer], score: Floats, items: int) -> Floats:
    scores = np.full(items, np.nan)
    scores[item] = score
    return scores


def divide(total: Floats, count: npt.NDArray[np.number]) -> Floats:
    """Totals over counts; nan where there is nothing to count."""
    return np.asarray(np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0))


def sums(code: npt.NDArray[np.integer], weight: Floats, size: int) -> Floats:
    """The total weight of each of `size` codes."""
    return np.asarray(np.bincount(code, weight, minlength=size), dtype=np.float64)


def _sorted(values: Iterable[Hashable]) -> list[Hashable]:
    """Sorted by value where values compare, else by type and text."""
    values = list(values)
    try:
        return sorted(values)  # type: ignore[type-var]
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def _by_name(names: Iterable[str]) -> list[str]:
    """Sorted as people read: “Annotator 2” before “Annotator 10”."""

    def key(name: str) -> tuple[list[tuple[str, int]], str]:
        return [(text, int(digits or -1)) for text, digits in re.findall(r"(\D*)(\d*)", name)], name

    return sorted(names, key=key)
