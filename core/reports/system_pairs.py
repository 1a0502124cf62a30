"""Systems compared two by two by one judge, corrected by people's labels, as tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from concord.errors import StudyError, check_known
from concord.messages import SYSTEM_ORDERS
from concord.reports.evidence import Evidence
from concord.statistics.intervals import Ends
from concord.statistics.majority import answer_of_people
from concord.statistics.ratings import Floats
from concord.statistics.system_differences import (
    SystemAnswers,
    SystemDifference,
    system_differences,
    system_means,
)
from concord.studies.studies import StudyRatings
from concord.table import Cell, Column, Table

MOST_SYSTEMS = 30
"""Systems of which every two are compared; of more each is compared with one."""


def system_tables(
    ratings: StudyRatings,
    system_of: Mapping[int, str],
    item_of: Mapping[int, str],
    *,
    criterion: str = "",
    judge: str = "",
    against: str = "",
    paired: bool | None = None,
) -> list[Table]:
    """Each system's mean as people would give it, and the differences of every two, by one judge.

    `system_of` and `item_of` say of each unit whose answer it is and to what; units without a system take no
    part. Raises NotFound for an unknown name, StudyError where there are not two systems, or answers have no
    mean.
    """
    evidence = Evidence.read(ratings)
    if criterion:
        check_known("criterion", criterion, evidence.criteria)
    name = criterion or evidence.main
    scores = evidence.ratings[name]
    scale = evidence.scale(name)
    if not scores.ordered or scores.sets:
        raise StudyError(
            f"{name} has categories, which have no mean. Compare systems by pass/fail or scores."
        )
    if judge:
        check_known("judge", judge, scores.judges)
    judge_name = judge or next(iter(scores.judges), "")
    if not judge_name:
        raise StudyError(f"No judge answered {name}, so systems cannot be compared.")
    two = scale is not None and (scale.low, scale.high) == (0, 1) and len(scale.values) == 2
    people = answer_of_people(scores) if two else scores.target
    units = [int(str(unit)) for unit in evidence.ratings.units]
    systems = _systems(units, people, scores.judges[judge_name], system_of, item_of)
    if len(systems) < 2:
        raise StudyError(f"A comparison needs two systems; the table has {', '.join(systems) or 'none'}.")
    if against:
        check_known("system", against, systems)
    elif len(systems) > MOST_SYSTEMS:
        raise StudyError(
            f"There are {len(systems)} systems; every two of at most {MOST_SYSTEMS} are compared. Name one "
            "that the others are compared with: --against NAME."
        )
    observed = np.concatenate([np.concatenate([s.people, s.judge]) for s in systems.values()])
    ends = _ends(observed, scale.low if scale else None, scale.high if scale else None)
    means: list[Mapping[str, Cell]] = [
        {"system": system, "people": mean.people, "judge": mean.judges, "corrected": mean.value}
        for system, mean in system_means(systems, ends).items()
    ]
    differences = system_differences(systems, ends, against=against, paired=paired)
    return _tables(evidence.label(name), judge_name, means, differences, percent=two)


def _ends(observed: Floats, low: float | None, high: float | None) -> Ends:
    values = [float(np.nanmin(observed)), *([] if low is None else [low])]
    highest = [float(np.nanmax(observed)), *([] if high is None else [high])]
    return min(values), max(highest) if max(highest) > min(values) else min(values) + 1


def _systems(
    units: list[int],
    people: Floats,
    judge: Floats,
    system_of: Mapping[int, str],
    item_of: Mapping[int, str],
) -> dict[str, SystemAnswers]:
    """Each system's answers by item; several of one system to one item count by their mean."""
    items: dict[str, int] = {}
    cells: dict[str, dict[int, list[int]]] = {}
    for place, unit in enumerate(units):
        if system := system_of.get(unit, ""):
            item = items.setdefault(item_of.get(unit) or f"unit {unit}", len(items))
            cells.setdefault(system, {}).setdefault(item, []).append(place)
    systems = {}
    for system in sorted(cells):
        rows = {"people": np.full(len(items), np.nan), "judge": np.full(len(items), np.nan)}
        for item, places in cells[system].items():
            for part, values in (("people", people), ("judge", judge)):
                defined = values[places][~np.isnan(values[places])]
                rows[part][item] = defined.mean() if len(defined) else np.nan
        systems[system] = SystemAnswers(rows["people"], rows["judge"])
    return systems


def _tables(
    label: str,
    judge: str,
    means: Sequence[Mapping[str, Cell]],
    differences: list[SystemDifference],
    *,
    percent: bool,
) -> list[Table]:
    layout: dict[str, Any] = {"percent": percent, "digits": 3 if percent else 2}
    of_system = (
        Column("system"),
        Column("judge", judge, n=True, **layout),
        Column("people", "annotators", n=True, **layout),
        Column("corrected", interval="ends", help="As annotators would score it.", **layout),
    )
    columns = (
        Column("first", "System"),
        Column("second", "compared with"),
        Column("judge", f"{judge}: difference", signed=True, **layout),
        Column("people", "annotators", signed=True, n=True, **layout),
        Column("corrected", signed=True, interval="ends", **layout),
        Column("p", "p (Holm)", digits=3, least=0.001),
        Column("words", "The first is"),
        Column("order", file_only=True),
        Column("paired", "by item"),
    )
    rows: tuple[dict[str, Cell], ...] = tuple(
        {
            "first": difference.first,
            "second": difference.second,
            "judge": difference.judge,
            "people": difference.people,
            "corrected": difference.corrected,
            "p": difference.p,
            "words": SYSTEM_ORDERS[difference.order],
            "order": difference.order.value,
            "paired": difference.paired,
        }
        for difference in differences
    )
    corrected = any(difference.p is not None for difference in differences)
    number = "1 comparison" if len(differences) == 1 else f"{len(differences)} comparisons"
    notes = [
        "Corrected: as annotators would score all items, by the judge's scores and the labels (PPI++), with "
        "95% intervals. They assume that the labelled items are a random sample.",
        f"An order is stated if p is 0.05 or less, after Holm's adjustment for {number}.",
    ]
    if not corrected:
        notes = ["Too few items are labelled: the differences are the judge's own and show no order."]
    return [
        Table("systems", f"{label}: systems", of_system, tuple(means), meta={"judge": judge}),
        Table("system_pairs", f"{label}: systems compared", columns, rows, notes=tuple(notes)),
    ]
