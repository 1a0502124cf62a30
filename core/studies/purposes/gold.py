"""Gold items, whose answers are known: mixed into what lies on annotators' desks."""

import csv
import math
import random
from collections.abc import Callable, Collection, Iterable, Mapping
from io import StringIO
from pathlib import Path

from sqlite_utils import Database

from concord.errors import ImportRefused, StudyError
from concord.files import read_text
from concord.rating import Criterion, criteria_by_name
from concord.statistics.hidden import gold_hits
from concord.store import conversations, placements, studies
from concord.store import known as stored
from concord.store.known import Check, Gold, KnownKind, UnitKey
from concord.studies.purposes import Desk, DeskLayout
from concord.table import Table

COLUMNS = ("key", "turn", "other", "criterion", "answer", "tolerance", "explanation", "attention")
"""The columns of a file of gold items; the last three, and `turn`, may be absent. `other` is the second
conversation of a pair, of which `key` is A.
"""


def lay(db: Database, study: studies.Study) -> Callable[[Desk], DeskLayout]:
    """A study's gold items, spread over what somebody has still to rate; those that lie there stay.

    Who has rated everything gets none.
    """
    items = [*stored.by_item(db, study.name)]

    def layout_of(desk: Desk) -> DeskLayout:
        wanted_items = () if desk.departed else items
        retained = [item for item in desk.entries if item.begun or item.item in wanted_items]
        have = {item.item for item in retained}
        new = [item for item in wanted_items if item not in have]
        rng = random.Random(f"{study.seed} {study.name} {desk.person}")
        rng.shuffle(new)
        ahead = [item.position for item in desk.queue[placements.reached(desk.queue) :]]
        if not ahead:
            return DeskLayout(retained)
        step = len(ahead) / max(1, len(new))
        positions = (ahead[int((n + rng.random()) * step)] + rng.random() for n in range(len(new)))
        return DeskLayout(retained, list(zip(new, positions, strict=True)))

    return layout_of


def tables(db: Database, name: str) -> list[Table]:
    """Hits on gold items, where a study has any that were submitted."""
    hits_by_person = hits(stored.checks(db, name))
    return [gold_hits(hits_by_person)] if hits_by_person else []


def hits(checks: Iterable[Check]) -> dict[str, list[tuple[bool, bool]]]:
    """Whether each annotator hit each gold item they submitted, and whether it was an attention check.

    An item is hit where every answer that is known lies within its tolerance; one without an answer is
    missed.
    """
    by_item: dict[tuple[str, int], list[Check]] = {}
    for check in checks:
        by_item.setdefault((check.annotator, check.item), []).append(check)
    by_person: dict[str, list[tuple[bool, bool]]] = {}
    for (annotator, _), item_checks in by_item.items():
        by_person.setdefault(annotator, []).append(
            (all(c.hit for c in item_checks), any(c.attention for c in item_checks))
        )
    return by_person


def read_gold(db: Database, name: str, file: Path, kind: KnownKind = "gold") -> list[Gold]:
    """The gold items, or training items, of a CSV file with `COLUMNS`.

    Raises ImportRefused with the line that cannot be used.
    """
    return from_csv(db, name, read_text(file, ImportRefused), str(file), kind)


def from_csv(db: Database, name: str, text: str, file: str, kind: KnownKind = "gold") -> list[Gold]:
    """The items of a CSV text with `COLUMNS`; `file` names it. Raises ImportRefused as `read_gold` does."""
    lines = csv.DictReader(StringIO(text))
    columns = lines.fieldnames or ()
    if missing := [column for column in ("key", "criterion", "answer") if column not in columns]:
        raise ImportRefused(f"{file}: the column {missing[0]} is missing. Columns are {', '.join(COLUMNS)}.")
    if unknown := [column for column in columns if column not in COLUMNS]:
        raise ImportRefused(f"{file}: there is no column “{unknown[0]}”. Columns are {', '.join(COLUMNS)}.")
    golds = entries(db, name, ((f"{file}, line {lines.line_num}", row) for row in lines), kind)
    if not golds:
        raise ImportRefused(f"{file}: there is no gold item below the column names.")
    return golds


def entries(
    db: Database,
    name: str,
    rows: Iterable[tuple[str, Mapping[str, str | None]]],
    kind: KnownKind = "gold",
) -> list[Gold]:
    """The known answers that rows of `COLUMNS` say, each with where it stands. Raises ImportRefused."""
    study = studies.get(db, name)
    study_units = {UnitKey(u["conversation_id"], u["turn"], u["other_id"]) for u in studies.units(db, name)}
    other_kind: KnownKind = "gold" if kind == "training" else "training"
    other_units = {gold.unit for gold in stored.gold(db, name, other_kind)}
    golds: dict[tuple[UnitKey, str], Gold] = {}
    file = ""
    for place, row in rows:
        file = place.partition(", line ")[0]
        cells = {column: (row.get(column) or "").strip() for column in COLUMNS}
        try:
            gold = _gold(db, study, study_units, cells)
            if (gold.unit, gold.criterion) in golds:
                raise StudyError("the item has an answer on this criterion already")
            if gold.unit in other_units:
                raise StudyError(f"“{cells['key']}” is one of the study's {other_kind} items")
        except StudyError as error:
            raise ImportRefused(f"{place}: {error}.") from error
        golds[gold.unit, gold.criterion] = gold
    by_name = criteria_by_name(study.criteria)
    for unit, name in golds:
        for other_name, dependence in by_name[name].when.items():
            present = golds.get((unit, other_name))
            if present is not None and not dependence.holds(by_name[other_name].scale, present.answer):
                word = by_name[other_name].scale.word(present.answer)
                raise ImportRefused(
                    f"{file}: “{name}” is not asked where {other_name} is “{word}”, the known answer of the "
                    "same item. Remove one of the two."
                )
    return list(golds.values())


def _gold(
    db: Database, study: studies.Study, study_units: Collection[UnitKey], cells: Mapping[str, str]
) -> Gold:
    number = _conversation(db, cells["key"])
    unit = UnitKey(number, _turn(db, study, number, cells["turn"]))
    if study.pairs != bool(cells["other"]):
        raise StudyError("of pairs two conversations are named, in key and other; of other studies one")
    if study.pairs:
        low, high = sorted((number, _conversation(db, cells["other"])))
        if low == high:
            raise StudyError(f"“{cells['key']}” is named twice")
        unit = UnitKey(low, None, high)
    if unit in study_units:
        raise StudyError(
            f"“{cells['key']}” is in the study already; a gold item must be a further conversation"
        )
    criteria = criteria_by_name(studies.criteria_of(db, study.name, unit.conversation_id, unit.turn))
    if cells["criterion"] not in criteria:
        raise StudyError(
            f"“{cells['criterion']}” is not a criterion of this study; its criteria are {', '.join(criteria)}"
        )
    if study.ranks:
        raise StudyError(
            "a ranking cannot have a known answer; rate the same conversations with another rubric"
        )
    if criteria[cells["criterion"]].scale.kind.content:
        raise StudyError(f"“{cells['criterion']}” is answered in free text, so it cannot have a known answer")
    answer = _answer(criteria[cells["criterion"]], cells["answer"]) * (-1 if number == unit.other_id else 1)
    try:
        tolerance = float(cells["tolerance"] or 0)
    except ValueError:
        tolerance = math.nan
    if not 0 <= tolerance < math.inf:
        raise StudyError(f"the tolerance “{cells['tolerance']}” is not a number of at least 0")
    if cells["attention"].lower() not in ("", "yes", "no"):
        raise StudyError(f"attention is yes or no, not “{cells['attention']}”")
    attention = cells["attention"].lower() == "yes"
    return Gold(unit, cells["criterion"], answer, tolerance, cells["explanation"], attention)


def _conversation(db: Database, key: str) -> int:
    """The id of a conversation. Raises StudyError."""
    if (number := conversations.find_id(db, key)) is None:
        raise StudyError(f"there is no conversation “{key}”")
    return number


def _turn(db: Database, study: studies.Study, conversation: int, cell: str) -> int | None:
    if not study.per_turn and not study.rubric:
        if cell:
            raise StudyError("the study rates whole conversations: leave the turn empty")
        return None
    if not cell and (not study.per_turn or any(criterion.whole for criterion in study.criteria)):
        return None
    turns = conversations.load(db, conversation).replied_turns
    if cell not in map(str, turns):
        raise StudyError(f"the turn is “{cell}”; the conversation's turns are {', '.join(map(str, turns))}")
    return int(cell)


def _answer(criterion: Criterion, cell: str) -> float:
    """An answer by its label or its number; of categories named by numbers the label holds."""
    if not cell:
        raise StudyError("the answer is missing")
    scale = criterion.scale
    answer = scale.read(cell)
    if answer is None or answer not in scale:
        raise StudyError(
            f"the answer {cell} is not on the scale of “{criterion.name}”, {scale.low:g} to {scale.high:g}"
        )
    return answer
