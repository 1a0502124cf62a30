"""Where a judge and people differ on *develop*, what these items have in common, and why: tags by a person.

The tags of the items add up to a table: what to change first.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlite_utils import Database

from concord.errors import StudyError, check_known
from concord.lab.measuring import Bench, Candidate
from concord.lab.parts import DEVELOP, LabUnit
from concord.rating import Criterion, Rater
from concord.store import lab, placements, ratings, studies
from concord.store.answers import ItemAnswer
from concord.table import Cell, Column, Table

PURPOSE = "diagnose"
CAUSES = {
    1: ("the rubric is unclear", "say in the guidelines what the levels mean"),
    2: ("the judge missed a fact", "tell the judge where to look, or show it the field"),
    3: ("the judge read the question otherwise", "state in the instructions what counts"),
    4: ("length or style swayed the judge", "say in the instructions what does not count"),
    5: ("people are wrong", "have these items rated again"),
    6: ("another cause", ""),
}
"""Why they differ, and the remedy, by the number of the answer, which is its key at the desk."""
MOST = 40
"""Disagreements to look at, the largest first."""


@dataclass(frozen=True)
class Disagreement:
    """An item of *develop*, and the question on which the judge is farthest from people there.

    `off` is 1 − agreement; `words` are the judge's.
    """

    unit: LabUnit
    criterion: Criterion
    off: float
    people: tuple[float, ...]
    answer: float
    words: str


def largest(db: Database, bench: Bench, judge: Candidate, count: int = MOST) -> list[Disagreement]:
    """The items of *develop* on which a judge and people differ, the largest difference first."""
    inside = bench.marked(DEVELOP)
    off = np.array([1 - bench.agreement(judge, c.name) for c in bench.criteria])
    off[:, ~inside] = np.nan
    known = ~np.isnan(off).all(axis=0)
    of = {unit.id: unit for unit in bench.parts.units}
    spoken = lab.said(db, bench.parts.conversations(DEVELOP), judge=judge.model, variant=judge.variant)
    words = {(one.conversation, one.turn, one.criterion): one.words for one in spoken}
    disagreements = []
    for place in np.flatnonzero(known).tolist():
        at = int(np.nanargmax(off[:, place]))
        criterion, unit = bench.criteria[at], of[bench.units[place]]
        if not off[at, place] > 1e-9:
            continue
        scores = bench.people[criterion.name]
        answer = float(bench.answers[judge][criterion.name][place])
        people = tuple(sorted(scores.score[scores.item == place].tolist()))
        reason = words.get((unit.conversation, unit.turn, criterion.name), "")
        far = float(off[at, place])
        disagreements.append(Disagreement(unit, criterion, far, people, answer, reason))
    return sorted(disagreements, key=lambda one: (-one.off, one.unit.name))[:count]


def listed(judge: Candidate, shown: Sequence[Disagreement]) -> Table:
    """Disagreements as rows, with people's answers, the judge's, and its reason."""
    rows: list[dict[str, Cell]] = [
        {
            "item": one.unit.name,
            "criterion": one.criterion.label,
            "people": one.criterion.scale.words(one.people),
            "answer": one.criterion.scale.word(one.answer),
            "words": one.words,
        }
        for one in shown
    ]
    columns = (
        *map(Column, ("item", "criterion", "people")),
        Column("answer", "judge"),
        Column("words", "why"),
    )
    return Table("lab-disagreements", f"Largest disagreements of {judge} on {DEVELOP}", columns, tuple(rows))


def tag(
    db: Database, study: str, unit: int, person: str, judge: Candidate, cause: int | None, words: str = ""
) -> None:
    """Store why a judge and people differ on an item, as a person sees it; None takes it back.

    Raises NotFound for another cause, StudyError for an item that is not of *develop*.
    """
    division = lab.division(db, study)
    key = {each["id"]: each["key"] for each in studies.units(db, study)}.get(unit)
    if division is None or division.parts.get(key or "") != DEVELOP:
        raise StudyError("Only items of the part “develop” are looked at one by one.")
    rater = ratings.rater_id(db, Rater(person, "human"))
    if cause is None:
        return placements.take_back(db, PURPOSE, rater, unit, str(judge))
    check_known("cause", str(cause), [str(number) for number in CAUSES])
    placements.give(db, PURPOSE, rater, unit, str(judge), cause, words)


def causes(db: Database, bench: Bench, judge: Candidate, shown: Sequence[Disagreement]) -> Table:
    """The causes tagged so far, that which costs most agreement first, each with an example and a remedy."""
    tags = lab.tags(db, bench.parts.study, str(judge))
    off = {one.unit.id: one for one in largest(db, bench, judge, len(bench.units))}
    by: defaultdict[int, list[ItemAnswer]] = defaultdict(list)
    for each in tags:
        if each.item in off:
            by[int(each.score)].append(each)
    rows: list[dict[str, Cell]] = []
    for cause, given in by.items():
        example = max(given, key=lambda each: (bool(each.reason), off[each.item].off))
        row: dict[str, Cell] = dict(zip(("cause", "remedy"), CAUSES[cause], strict=True))
        row |= {"items": len({t.item for t in given}), "lost": sum(off[t.item].off for t in given)}
        rows.append(row | {"example": off[example.item].unit.key, "words": example.reason})
    rows.sort(key=lambda row: -float(str(row["lost"])))
    note = f"{len({each.item for each in tags})} of {len(shown)} disagreements have a cause."
    if rows:
        note += f" Change first: {rows[0]['remedy'] or rows[0]['cause']}."
    columns = (
        Column("cause"),
        Column("items"),
        Column("lost", "distance in all", digits=2),
        Column("remedy", "what to change"),
        Column("example"),
        Column("words", "said of it"),
    )
    return Table("lab-causes", f"Why {judge} differs from annotators", columns, tuple(rows), notes=(note,))
