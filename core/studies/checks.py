"""Repeats and gold items, mixed into what lies on annotators' desks."""

import csv
import math
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from sqlite_utils import Database

from concord.errors import ImportRefused, StudyError
from concord.files import read_text
from concord.rating import Criterion
from concord.statistics.hidden import annotator_retest, gold_hits
from concord.store import access, conversations, exclusions, placements, studies
from concord.store import known as stored
from concord.store.database import find
from concord.store.known import Check, Gold, Pair, UnitKey
from concord.store.placements import Placed
from concord.table import Cell, Column, Table

AFTER = 20
"""How many other items lie between an item and its repeat, unless told otherwise."""

COLUMNS = ("key", "turn", "criterion", "answer", "tolerance", "explanation", "attention")
"""The columns of a file of gold items; the last three, and `turn`, may be absent."""


def deal(db: Database, name: str, gone: Collection[str] = (), *, strictly: bool = False) -> None:
    """Place repeats and gold items of a study on everybody's desk; those that lie there and fit stay.

    Those that nobody has begun are taken from the desks of those in `gone`, and repeats of what was
    taken back from everywhere. With `strictly` it raises StudyError where somebody has too few items for
    their repeats; otherwise they get as many as fit.
    """
    study = studies.get(db, name)
    part, after = asked(study)
    gold = stored.items(db, name)
    for person, queue in {**dict.fromkeys(placements.people(db, name), ()), **_queues(db, name)}.items():
        rater = access.annotator_id(db, person)
        rng = random.Random(f"{study.seed} {name} {person}")
        there = placements.unrated(db, name, rater)
        count = 0 if person in gone else round(part * len(queue))
        if strictly and count > (fitting := max(0, len(queue) - after)):
            raise StudyError(
                f"{person} has {len(queue)} items: {fitting} of them, not {count}, can come again after "
                f"{after} others. Possible is --repeat-after {max(1, len(queue) - count)}."
            )
        _repeat(db, rater, queue, [i for i in there if i.purpose == "repeat"], count, after, rng)
        wanted = [] if person in gone else gold
        _mix_in(db, rater, queue, [i for i in there if i.purpose == "gold"], wanted, rng)


def asked(study: studies.Study) -> tuple[float, int]:
    """The share of everybody's items that comes again, and after how many others."""
    told = study.meta.get("repeats", {})
    return told.get("share", 0.0), told.get("after", AFTER)


class Queued(NamedTuple):
    """A rated item of a queue."""

    item: int
    position: float
    begun: bool


def _queues(db: Database, name: str) -> dict[str, Sequence[Queued]]:
    """Everybody's rated items in their order."""
    places = placements.positions(db, name)
    queues: defaultdict[str, list[Queued]] = defaultdict(list)
    for unit, person, begun, _ in placements.queues(db, name):
        queues[person].append(Queued(unit, places[unit, person], begun))
    return dict(queues)


def _reached(queue: Sequence[Queued]) -> int:
    """How many items lie up to the last one begun: nothing is put before it any more."""
    return max((place for place, item in enumerate(queue, 1) if item.begun), default=0)


def _repeat(
    db: Database,
    rater: int,
    queue: Sequence[Queued],
    there: Sequence[Placed],
    count: int,
    after: int,
    rng: random.Random,
) -> None:
    """Let `count` items of a queue come again, each after at least `after` others."""
    place_of = {item.item: place for place, item in enumerate(queue)}
    at = [item.position for item in queue]

    def fits(item: Placed) -> bool:
        if item.item not in place_of:
            return False
        return sum(at[place_of[item.item]] < position < item.position for position in at) >= after

    kept = [item for item in there if item.begun or fits(item)]
    free = [item for item in kept if not item.begun]
    surplus = free[len(free) - min(len(free), max(0, len(kept) - count)) :]
    kept = [item for item in kept if item not in surplus]
    placements.remove(db, [item.id for item in there if item not in kept])
    taken = {item.item for item in kept}
    open_to = [place for place in range(len(queue) - after) if queue[place].item not in taken]
    chosen = sorted(rng.sample(open_to, min(len(open_to), max(0, count - len(kept)))))
    last, first_free = len(queue) - 1, _reached(queue) - 1
    positions = [at[rng.randint(max(place + after, first_free), last)] + rng.random() for place in chosen]
    new = [(queue[place].item, position) for place, position in zip(chosen, positions, strict=True)]
    placements.place(db, rater, "repeat", new)


def _mix_in(
    db: Database,
    rater: int,
    queue: Sequence[Queued],
    there: Sequence[Placed],
    wanted: Sequence[int],
    rng: random.Random,
) -> None:
    """Spread gold items over what somebody has still to rate; one who has rated everything gets none."""
    kept = [item for item in there if item.begun or item.item in wanted]
    placements.remove(db, [item.id for item in there if item not in kept])
    have = {item.item for item in kept}
    new = [item for item in wanted if item not in have]
    rng.shuffle(new)
    ahead = [item.position for item in queue[_reached(queue) :]]
    if ahead:
        step = len(ahead) / max(1, len(new))
        positions = [ahead[int((n + rng.random()) * step)] + rng.random() for n in range(len(new))]
        placements.place(db, rater, "gold", list(zip(new, positions, strict=True)))


def counts(db: Database, name: str) -> dict[str, tuple[int, int]]:
    """Everybody's number of repeats and of gold items, by name; empty where a study has none of either."""
    counted = {}
    for person in placements.people(db, name):
        there = placements.unrated(db, name, access.annotator_id(db, person))
        purposes = [item.purpose for item in there]
        counted[person] = purposes.count("repeat"), purposes.count("gold")
    return {person: of for person, of in counted.items() if any(of)}


def told(found: Mapping[str, tuple[int, int]]) -> str:
    """`counts` in words."""
    return ", ".join(f"{who} {again} repeats and {gold} gold items" for who, (again, gold) in found.items())


def figures(db: Database, name: str) -> list[Table]:
    """Test–retest on the mean of the counted criteria, and hits on gold items; those that a study has."""
    study, out = studies.get(db, name), [*exclusions.excluded(db, name)]
    ordered = [c.name for c in study.criteria if c.counted and not c.scale.nominal]
    found = []
    if pairs := answered_twice(stored.pairs(db, name), ordered):
        found.append(annotator_retest(pairs, excluded=out))
    if of := hits(stored.checks(db, name)):
        found.append(gold_hits(of, excluded=out))
    return found


def answered_twice(
    pairs: Iterable[Pair], criteria: Collection[str]
) -> dict[str, tuple[list[float], list[float]]]:
    """The first and the second answers of each annotator to the items that came again, by name.

    An answer to an item is the mean of these criteria; items without all of them twice are left out.
    """
    by_item: dict[tuple[str, int], list[Pair]] = {}
    for pair in pairs:
        if pair.criterion in criteria:
            by_item.setdefault((pair.annotator, pair.unit), []).append(pair)
    found: dict[str, tuple[list[float], list[float]]] = {}
    for (annotator, _), given in by_item.items():
        if len(given) == len(criteria):
            first, second = found.setdefault(annotator, ([], []))
            first.append(sum(pair.first for pair in given) / len(given))
            second.append(sum(pair.second for pair in given) / len(given))
    return found


def hits(checks: Iterable[Check], criterion: str = "") -> dict[str, list[tuple[bool, bool]]]:
    """Whether each annotator hit each gold item they submitted, and whether it was an attention check.

    An item is hit where every answer that is known (on the criterion) lies within its tolerance; one without
    an answer is missed.
    """
    by_item: dict[tuple[str, int], list[Check]] = {}
    for check in checks:
        if criterion in ("", check.criterion):
            by_item.setdefault((check.annotator, check.item), []).append(check)
    found: dict[str, list[tuple[bool, bool]]] = {}
    for (annotator, _), of in by_item.items():
        found.setdefault(annotator, []).append((all(c.hit for c in of), any(c.attention for c in of)))
    return found


def read_gold(db: Database, name: str, file: Path, *, training: bool = False) -> list[Gold]:
    """The gold items, or training items, of a CSV file with `COLUMNS`.

    Raises ImportRefused with the line that cannot be used.
    """
    study = studies.get(db, name)
    lines = csv.DictReader(StringIO(read_text(file, ImportRefused)))
    columns = lines.fieldnames or ()
    if missing := [column for column in ("key", "criterion", "answer") if column not in columns]:
        raise ImportRefused(f"{file}: the column {missing[0]} is missing. Columns are {', '.join(COLUMNS)}.")
    if unknown := [column for column in columns if column not in COLUMNS]:
        raise ImportRefused(f"{file}: there is no column “{unknown[0]}”. Columns are {', '.join(COLUMNS)}.")
    drawn = {UnitKey(u["conversation_id"], u["turn"]) for u in studies.units(db, name)}
    other = {gold.unit for gold in stored.gold(db, name, "gold" if training else "training")}
    found: dict[tuple[UnitKey, str], Gold] = {}
    for row in lines:
        given = {column: (row.get(column) or "").strip() for column in COLUMNS}
        try:
            gold = _gold(db, study, drawn, given)
            if (gold.unit, gold.criterion) in found:
                raise StudyError("the item has an answer on this criterion already")
            if gold.unit in other:
                of = "gold items" if training else "training items"
                raise StudyError(f"“{given['key']}” is one of the study's {of}")
        except StudyError as error:
            raise ImportRefused(f"{file}, line {lines.line_num}: {error}.") from error
        found[gold.unit, gold.criterion] = gold
    if not found:
        raise ImportRefused(f"{file}: there is no gold item below the column names.")
    return list(found.values())


def set_gold(db: Database, name: str, golds: Sequence[Gold]) -> dict[str, int]:
    """Replace the gold items of a study and mix them into what lies on desks; returns everybody's number.

    Whoever has rated everything gets none. Raises NotFound.
    """
    stored.set_gold(db, name, golds)
    deal(db, name, {a.name for a in access.annotators(db, name) if a.revoked})
    return {
        person: sum(
            i.purpose == "gold" for i in placements.unrated(db, name, access.annotator_id(db, person))
        )
        for person in _queues(db, name)
    }


def gold_table(db: Database, name: str) -> Table:
    """The gold items of a study, one known answer a row. Raises NotFound."""
    rows: list[dict[str, Cell]] = []
    scales = {criterion.name: criterion.scale for criterion in studies.get(db, name).criteria}
    for gold in stored.gold(db, name):
        row: dict[str, Cell] = {
            "key": conversations.load(db, gold.unit.conversation_id).key,
            "turn": gold.unit.turn,
        }
        row |= {
            "criterion": gold.criterion,
            "answer": scales[gold.criterion].word(gold.answer),
            "tolerance": gold.tolerance,
        }
        rows.append(row | {"explanation": gold.explanation, "attention": "yes" if gold.attention else "no"})
    shown = studies.get(db, name).meta.get("feedback")
    told = f"Known answers are {'shown after an item is submitted' if shown else 'not shown to annotators'}."
    notes = (told,) if rows else ("The study has no gold items.",)
    return Table("gold_items", f"Gold items of {name}", tuple(map(Column, COLUMNS)), tuple(rows), notes=notes)


def set_feedback(db: Database, name: str, shown: bool) -> None:
    """Show annotators the known answers of gold items that they submit from now on, or no longer.

    An item whose answers were shown stays locked. Raises NotFound.
    """
    studies.remember(db, name, "feedback", shown)


def _gold(db: Database, study: studies.Study, drawn: Collection[UnitKey], given: Mapping[str, str]) -> Gold:
    conversation = find(db, "conversations", "id", key=given["key"])
    if conversation is None:
        raise StudyError(f"there is no conversation “{given['key']}”")
    number = conversation["id"]
    unit = UnitKey(number, _turn(db, study, number, given["turn"]))
    if unit in drawn:
        raise StudyError(
            f"“{given['key']}” is one of the study's own items; a gold item is a conversation beside them"
        )
    known = {c.name: c for c in studies.asked(db, study.name, unit.conversation_id)}
    if given["criterion"] not in known:
        raise StudyError(f"“{given['criterion']}” is not asked here; asked are {', '.join(known)}")
    answer = _answer(known[given["criterion"]], given["answer"])
    tolerance = _number(given["tolerance"] or "0", "tolerance")
    if tolerance < 0:
        raise StudyError(f"the tolerance {given['tolerance']} is below 0")
    if given["attention"].lower() not in ("", "yes", "no"):
        raise StudyError(f"attention is yes or no, not “{given['attention']}”")
    attention = given["attention"].lower() == "yes"
    return Gold(unit, given["criterion"], answer, tolerance, given["explanation"], attention)


def _turn(db: Database, study: studies.Study, conversation: int, given: str) -> int | None:
    if not study.per_turn and not study.rubric:
        if given:
            raise StudyError("the study rates whole conversations: leave the turn empty")
        return None
    if not given and not study.per_turn:
        return None
    turns = [turn.number for turn in conversations.load(db, conversation).turns() if turn.reply is not None]
    if given not in map(str, turns):
        raise StudyError(f"the turn is “{given}”; the conversation's turns are {', '.join(map(str, turns))}")
    return int(given)


def _answer(criterion: Criterion, given: str) -> float:
    """An answer by its label or its number; of categories named by numbers the label holds."""
    if not given:
        raise StudyError("the answer is missing")
    scale = criterion.scale
    labels = dict(zip(map(str.casefold, scale.labels), scale.values, strict=False))
    answer = labels.get(given.casefold()) if scale.nominal or not _is_number(given) else None
    if answer is None and _is_number(given):
        answer = _number(given, "answer")
    if answer is None or answer not in scale:
        raise StudyError(
            f"the answer {given} is not on the scale of “{criterion.name}”, {scale.low:g} to {scale.high:g}"
        )
    return answer


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _number(text: str, what: str) -> float:
    if not _is_number(text):
        raise StudyError(f"the {what} “{text}” is no number")
    return float(text)
