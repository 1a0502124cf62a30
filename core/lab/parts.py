"""The three parts of a study: *develop* to learn from, *select* to choose on, and the sealed *test*.

A study's rated items are divided once, whole scenarios together. A judge that was chosen because it did well
on some items looks better on these than it is, so a figure of the chosen one comes from a part that did not
choose it.
"""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from sqlite_utils import Database

from concord.errors import StudyError
from concord.store import frames, lab, studies
from concord.store.lab import Division
from concord.studies.clusters import scenarios
from concord.table import Cell, Column, Table

DEVELOP, SELECT, TEST = PARTS = ("develop", "select", "test")
FEWEST = 8
"""Items that each part has at least: below it no figure has an interval."""
ENOUGH = 60
"""Rated items with which a judge with a large flaw was repaired and shown to be in 50 of 50 (`bench.lab`)."""


@dataclass(frozen=True)
class LabUnit:
    """An item of a divided study. `scenario` names what hangs together; `part` is “” for one that is new."""

    id: int
    conversation: int
    key: str
    turn: int | None
    scenario: str
    part: str

    @property
    def name(self) -> str:
        """The conversation's key, and the turn where one is rated."""
        return self.key + (f", turn {self.turn}" if self.turn is not None else "")


@dataclass(frozen=True)
class Parts:
    """A divided study: its items, the facets that make a scenario, and the rubric of its variants."""

    study: str
    benchmark: str
    rubric: str
    facets: tuple[str, ...]
    units: tuple[LabUnit, ...]

    def units_of(self, part: str) -> tuple[LabUnit, ...]:
        """The items of a part; “” for all of them."""
        return tuple(unit for unit in self.units if not part or unit.part == part)

    def keys(self, part: str) -> tuple[str, ...]:
        """The conversations of a part, each once."""
        return tuple(dict.fromkeys(unit.key for unit in self.units_of(part)))

    def conversations(self, part: str) -> list[int]:
        """Their ids."""
        return list(dict.fromkeys(unit.conversation for unit in self.units_of(part)))


def divide(db: Database, study: str, *, rubric: str = "", seed: int = 0) -> Parts:
    """Divide the rated items of a study in three, or the ones that came since: what is in a part stays there.

    Whole scenarios (by the study's facets, else its prompts) go to the part that lacks most, in the order of
    people's mean score within each group (player), from a place that the seed draws. A `rubric` that is named
    takes the place of the one before. Raises StudyError where a part would have fewer than `FEWEST` items,
    where all items are of too few scenarios, and where no rubric is known. The audit log says what was
    divided.
    """
    described = studies.get(db, study)
    before = lab.division(db, study)
    rubric = rubric or (before.rubric if before else "") or described.rubric
    if not rubric:
        raise StudyError(
            f"The study “{study}” was drawn without a rubric. Give the judges' rubric with --rubric; its "
            "questions must have the names of the study's criteria."
        )
    facets, scenario_of = scenarios(db, study)
    means = levels(db, study)
    players = {unit["id"]: unit["player"] for unit in studies.units(db, study)}
    keys = {unit["id"]: unit["key"] for unit in studies.units(db, study)}
    units_of_scenario: defaultdict[str, list[int]] = defaultdict(list)
    for unit in sorted(means, key=lambda unit: keys[unit]):
        units_of_scenario[scenario_of[unit]].append(unit)
    n = len(means)
    groups = len(units_of_scenario)
    if n < 3 * FEWEST:
        raise StudyError(
            f"Annotators rated {n} items of “{study}”; three parts need at least {3 * FEWEST}, {FEWEST} "
            "each. Rate more items, or use `concord agreement` for the whole study."
        )
    if groups < 3 * 2:
        detail = " and ".join(facets) or "conversation"
        raise StudyError(
            f"All items of “{study}” are of {groups} {'value' if groups == 1 else 'values'} of "
            f"{detail}. Items of one value stay in one part, so at least 6 values are needed. Rate "
            "items of other scenarios."
        )
    part_of_key: dict[str, str] = dict(before.parts) if before else {}
    rng = random.Random(f"{seed} {study}")
    size = Counter(dict.fromkeys(PARTS, 0.0))
    start = {part: rng.random() * n / groups for part in PARTS}
    order = sorted(
        units_of_scenario,
        key=lambda name: (
            Counter(players[unit] for unit in units_of_scenario[name]).most_common(1)[0][0],
            float(np.mean([means[unit] for unit in units_of_scenario[name]])),
            name,
        ),
    )
    for name in order:
        parts_of_scenario = [
            part_of_key[keys[unit]] for unit in units_of_scenario[name] if keys[unit] in part_of_key
        ]
        total = sum(size.values()) + len(units_of_scenario[name])
        lacking = {part: total / 3 - size[part] + start[part] for part in PARTS}
        part = parts_of_scenario[0] if parts_of_scenario else max(PARTS, key=lambda part: lacking[part])
        size[part] += len(units_of_scenario[name])
        part_of_key |= {keys[unit]: part for unit in units_of_scenario[name]}
    if small := [part for part in PARTS if size[part] < FEWEST]:
        raise StudyError(
            f"The part “{small[0]}” would have {size[small[0]]:g} items, and needs {FEWEST}: items of a "
            "scenario stay in one part. Rate more scenarios."
        )
    counts = ", ".join(f"{part} {size[part]:g}" for part in PARTS)
    detail = f"{counts} items of {groups} scenarios, seed {seed}, rubric {rubric}"
    lab.divide(db, study, Division(rubric, before.seed if before else seed, part_of_key), detail)
    return read(db, study)


def read(db: Database, study: str) -> Parts:
    """The parts of a study. Raises StudyError where it is not divided yet, NotFound."""
    division = lab.division(db, study)
    if division is None:
        studies.get(db, study)
        raise StudyError(
            f"The study “{study}” is not divided yet. Divide its rated items once: concord lab split {study}"
        )
    facets, scenario_of = scenarios(db, study)
    benchmarks = {benchmark for _, benchmark, _, _ in frames.places(db, study)}
    if len(benchmarks) > 1:
        raise StudyError(f"The items of “{study}” are of {', '.join(sorted(benchmarks))}; the lab takes one.")
    units = tuple(
        LabUnit(
            u["id"], u["conversation_id"], u["key"], u["turn"], scenario_of[u["id"]], division.parts[u["key"]]
        )
        for u in sorted(studies.units(db, study), key=lambda u: (u["key"], u["turn"] or 0))
        if u["key"] in division.parts
    )
    return Parts(study, benchmarks.pop(), division.rubric, tuple(facets), units)


def levels(db: Database, study: str) -> dict[int, float]:
    """People's mean score of each rated item, criteria placed on 0 to 1 by their scale."""
    rows = frames.rows(db, study)
    scales = {criterion.name: criterion.scale for criterion in studies.get(db, study).criteria}
    ratings_of_unit: defaultdict[int, list[float]] = defaultdict(list)
    columns = (rows[name].tolist() for name in ("unit", "criterion", "kind", "score"))
    for unit, criterion, kind, score in zip(*columns, strict=True):
        if kind == "human" and (scale := scales.get(criterion)):
            place = (score - scale.low) / (scale.high - scale.low) if scale.ordered else 0.5
            ratings_of_unit[unit].append(place)
    return {unit: float(np.mean(scores)) for unit, scores in ratings_of_unit.items()}


def small(n: int) -> str:
    """The sentence about a study of so few rated items that its parts show large gains only; else “”."""
    if n >= ENOUGH:
        return ""
    return (
        f"{n} rated items make parts of about {n // 3}, enough only for a large gain. With fewer than "
        f"{FEWEST} usable items left in a part, no gain can be measured. Rate at least {ENOUGH} items first."
    )


def variants_before(db: Database, parts: Parts, before: int) -> tuple[str, ...]:
    """What a figure of the test part says where the part was looked at `before`; () at the first look."""
    if not before:
        return ()
    times = "once" if before == 1 else f"{before} times"
    last = lab.openings(db, parts.study)[before - 1]
    return (
        f"The test part was opened {times} before (last {last.done[:10]} by {last.by}: {last.about}). A "
        "judge made or chosen after that look may fit these items by chance, so its figure may be too "
        "good. For an unbiased figure, draw and rate a new study.",
    )


def table(db: Database, parts: Parts) -> Table:
    """The parts, with how many items and scenarios each has, and who may look at them for what."""
    purposes = {
        DEVELOP: "read, learn from, take examples from",
        SELECT: "choose between variants",
        TEST: "sealed: one figure of the chosen judge",
    }
    rows: tuple[dict[str, Cell], ...] = tuple(
        {
            "part": part,
            "items": len(parts.units_of(part)),
            "scenarios": len({unit.scenario for unit in parts.units_of(part)}),
            "for": purposes[part],
        }
        for part in PARTS
    )
    openings = lab.openings(db, parts.study)
    notes = [f"Test part opened by {o.by} on {o.done[:10]} for {o.about}: {o.detail}" for o in openings]
    notes = notes or ["The test part was never opened."]
    notes += filter(None, [small(len(parts.units))])
    columns = (Column("part"), Column("items"), Column("scenarios"), Column("for", "to"))
    return Table("lab-parts", f"Parts of {parts.study}", columns, rows, notes=tuple(notes))
