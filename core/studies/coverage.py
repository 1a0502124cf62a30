"""Which judges cover a study, so that its answer rests on them, and what a partial one lacks.

A judge is a model under one version of its prompt. One that was tried on a few of the items, in the judge lab
say, must not take the place of one that rated them all.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from sqlite_utils import Database

from concord import messages
from concord.arrays import Columns, as_column, coded
from concord.runs.plans import JudgePlan
from concord.store import frames, rubrics
from concord.store.studies import Study

COVERS = 0.9
"""A later version takes the place of an earlier one if it rated this share of the items that the fullest
version of the model rated: a few replies may be unusable.
"""
FEWEST_SHARE = 0.5
"""A judge that rated a smaller share of the items than the fullest one is not among all judges: a panel
answers only what each of its judges answered.
"""


class Judge(NamedTuple):
    """A judge of a study: how it is called, its model, and the version of its prompt."""

    name: str
    model: str
    variant: str

    @property
    def place(self) -> list[tuple[bool, int, str]]:
        """Orders versions: v10 after v9."""
        parts = re.split(r"(\d+)", self.variant)
        return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


class Partial(NamedTuple):
    """A judge that the answer does not rest on, as it rated only some of the items that people rated."""

    judge: Judge
    rated: int
    total: int
    lacks: tuple[int, ...]
    """The units that it has not rated."""

    def sentence(self, study: Study) -> str:
        """What it lacks, and the command by which it rates that."""
        return messages.partial_judge(
            self.judge.name, self.rated, self.total, len(self.lacks), self._command(study)
        )

    def _command(self, study: Study) -> str:
        rubric, _, version = self.judge.variant.rpartition(" v")
        source = rubric if rubric in study.judge_rubrics and version.isdecimal() else ""
        if not source:
            source = study.benchmark
            version = self.judge.variant
        if not (source and version):
            return ""
        words = ["judge", source, "--version", version, "--judges", self.judge.model, "--study", study.name]
        return shlex.join(["concord", *words])


def units_of(rows: Columns) -> dict[str, set[int]]:
    """The units that each judge rated, of those that people rated; of all, where nobody did."""
    unit, kind, rater = (as_column(rows[name]) for name in ("unit", "kind", "rater"))
    numbers = np.asarray(unit)
    people = {*numbers[np.flatnonzero(kind == "human")].tolist()} or {*numbers.tolist()}
    judged = np.flatnonzero(kind == "judge")
    code, names = coded(rater[judged])
    units_of_judge: dict[str, set[int]] = {str(name): set() for name in names}
    for rater_code, number in zip(code.tolist(), numbers[judged].tolist(), strict=True):
        if number in people:
            units_of_judge[str(names[rater_code])].add(number)
    return units_of_judge


def covering(judges: Sequence[Judge], units: Mapping[str, set[int]]) -> tuple[Judge, ...]:
    """Those that the answer rests on: each model once, with the last version that covers the study.

    A version covers it with `COVERS` of the items of the model's fullest version. A model with fewer than
    `FEWEST_SHARE` of the items of the fullest judge is excluded.
    """

    def number(judge: Judge) -> int:
        return len(units.get(judge.name, ()))

    fullest: dict[str, int] = {}
    for judge in judges:
        fullest[judge.model] = max(fullest.get(judge.model, 0), number(judge))
    last: dict[str, Judge] = {}
    for judge in sorted(judges, key=lambda judge: judge.place):
        if number(judge) >= COVERS * fullest[judge.model]:
            last[judge.model] = judge
    largest = max(map(number, last.values()), default=0)
    names = {judge.name for judge in last.values() if number(judge) >= FEWEST_SHARE * largest}
    return tuple(judge for judge in judges if judge.name in names)


def partial(judges: Sequence[Judge], units: Mapping[str, set[int]]) -> tuple[Partial, ...]:
    """Those that the answer would rest on, had they rated more: versions later than the one that covers the
    study, and models without one that does.
    """
    current = {judge.model: judge for judge in covering(judges, units)}
    all_units = set[int]().union(*(units.get(judge.name, set()) for judge in current.values()))
    current_names = {judge.name for judge in current.values()}
    partial_judges: list[Partial] = []
    for judge in judges:
        instead = current.get(judge.model)
        rated = units.get(judge.name, set())
        later = instead is None or judge.place > instead.place
        if judge.name not in current_names and later:
            lacks = tuple(sorted(all_units - rated))
            partial_judges.append(Partial(judge, len(rated & all_units), len(all_units), lacks))
    return tuple(partial_judges)


def rest(db: Database, study: str, gap: Partial) -> JudgePlan | None:
    """The plan by which a judge rates the items that it lacks; None where these are of several benchmarks."""
    lacks = {*gap.lacks}
    places = [(benchmark, key) for unit, benchmark, key, _ in frames.places(db, study) if unit in lacks]
    if len({benchmark for benchmark, _ in places}) != 1:
        return None
    by_variant = {version.variant: version for version in rubrics.versions(db)}
    version = by_variant.get(gap.judge.variant)
    return JudgePlan(
        places[0][0],
        (gap.judge.model,),
        version=str(version.version) if version else gap.judge.variant,
        rubric=version.name if version else "",
        among=tuple(sorted({key for _, key in places})),
    )
