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
    1: ("the rubric is unclear", "explain the levels in the guidelines"),
    2: ("the judge missed a fact", "tell the judge where to look, or show it the field"),
    3: ("the judge understood the question differently", "state in the instructions what counts"),
    4: ("length or style influenced the judge", "state in the instructions what does not count"),
    5: ("people are wrong", "have these items rated again"),
    6: ("another cause", ""),
}
"""Why they differ, and the remedy, by the number of the answer, which is its key at the desk."""
MOST_LISTED = 40
"""Disagreements to look at, the largest first."""


@dataclass(frozen=True)
class Disagreement:
    """An item of *develop*, and the question on which the judge is farthest from people there.

    `distance` is 1 − agreement; `words` are the judge's.
    """

    unit: LabUnit
    criterion: Criterion
    distance: float
    people: tuple[float, ...]
    answer: float
    words: str


def largest(db: Database, bench: Bench, judge: Candidate, count: int = MOST_LISTED) -> list[Disagreement]:
    """The items of *develop* on which a judge and people differ, the largest difference first."""
    inside = bench.marked(DEVELOP)
    distances = np.array([1 - bench.agreement(judge, c.name) for c in bench.criteria])
    distances[:, ~inside] = np.nan
    measured_items = ~np.isnan(distances).all(axis=0)
    unit_of_id = {unit.id: unit for unit in bench.parts.units}
    spoken = lab.answers_with_words(
        db, bench.parts.conversations(DEVELOP), judge=judge.model, variant=judge.variant
    )
    words = {(one.conversation, one.turn, one.criterion): one.words for one in spoken}
    disagreements = []
    for place in np.flatnonzero(measured_items).tolist():
        largest_place = int(np.nanargmax(distances[:, place]))
        criterion = bench.criteria[largest_place]
        unit = unit_of_id[bench.units[place]]
        if not distances[largest_place, place] > 1e-9:
            continue
        scores = bench.people[criterion.name]
        answer = float(bench.answers[judge][criterion.name][place])
        people = tuple(sorted(scores.score[scores.item == place].tolist()))
        reason = words.get((unit.conversation, unit.turn, criterion.name), "")
        far = float(distances[largest_place, place])
        disagreements.append(Disagreement(unit, criterion, far, people, answer, reason))
    return sorted(disagreements, key=lambda one: (-one.distance, one.unit.name))[:count]


def listed(judge: Candidate, listed_disagreements: Sequence[Disagreement]) -> Table:
    """Disagreements as rows, with people's answers, the judge's, and its reason."""
    rows: list[dict[str, Cell]] = [
        {
            "item": one.unit.name,
            "criterion": one.criterion.label,
            "people": one.criterion.scale.words(one.people),
            "answer": one.criterion.scale.word(one.answer),
            "words": one.words,
        }
        for one in listed_disagreements
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
    key = {unit_row["id"]: unit_row["key"] for unit_row in studies.units(db, study)}.get(unit)
    if division is None or division.parts.get(key or "") != DEVELOP:
        raise StudyError("Only items of the part “develop” can be viewed one by one.")
    rater = ratings.rater_id(db, Rater(person, "human"))
    if cause is None:
        return placements.take_back(db, PURPOSE, rater, unit, str(judge))
    check_known("cause", str(cause), [str(number) for number in CAUSES])
    placements.give(db, PURPOSE, rater, unit, str(judge), cause, words)


def causes(
    db: Database, bench: Bench, judge: Candidate, listed_disagreements: Sequence[Disagreement]
) -> Table:
    """The causes tagged so far, that which costs most agreement first, each with an example and a remedy."""
    tags = lab.tags(db, bench.parts.study, str(judge))
    disagreement_of = {one.unit.id: one for one in largest(db, bench, judge, len(bench.units))}
    tags_of_cause: defaultdict[int, list[ItemAnswer]] = defaultdict(list)
    for tag_ in tags:
        if tag_.item in disagreement_of:
            tags_of_cause[int(tag_.score)].append(tag_)
    rows: list[dict[str, Cell]] = []
    for cause, tags_here in tags_of_cause.items():
        example = max(tags_here, key=lambda tag_: (bool(tag_.reason), disagreement_of[tag_.item].distance))
        row: dict[str, Cell] = dict(zip(("cause", "remedy"), CAUSES[cause], strict=True))
        row |= {
            "items": len({t.item for t in tags_here}),
            "lost": sum(disagreement_of[t.item].distance for t in tags_here),
        }
        rows.append(row | {"example": disagreement_of[example.item].unit.key, "words": example.reason})
    rows.sort(key=lambda row: -float(str(row["lost"])))
    note = f"{len({tag_.item for tag_ in tags})} of {len(listed_disagreements)} disagreements have a cause."
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
