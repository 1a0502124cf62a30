"""Read a table of labels: a row an answer with what people and judges said in columns, or a rating a row.

What a column holds is read from its name and its values, and said in a line. Where that is unsure nothing is
guessed: the error names the option that says it.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from concord.arrays import Columns
from concord.conversation import Conversation, Message, Role, Unit
from concord.errors import ImportRefused, not_found
from concord.exchange import incoming, label_rows, ratings_csv, ratings_study
from concord.exchange.answer_words import CellReading, is_blank, reading_of, words
from concord.exchange.columns import NO_OPTIONS, FileTable, TableOptions, kinds_by_name
from concord.exchange.given import Given, RatingTable
from concord.exchange.raters import comparable, criteria_of_columns, whose
from concord.questions import Scale
from concord.rating import Rater, RaterKind
from concord.store.studies import FILE
from concord.studies.studies import StudyRatings

_BESIDE = ("texts", "questions", "groups", "criteria", "kinds")
"""Lists of names of columns that hold no answers."""
MOST_GROUPS = 60
MOST_JUDGES = 40
SHOWN = 3
"""So many cells that cannot be read are named."""

WHOSE: Mapping[str, RaterKind] = {"people": "human", "judges": "judge", "gold": "gold"}
"""Whose answers columns hold, as it is said."""
OF_FRAMES = {"unit": "item_id", "kind": "rater_type"}
"""Names of columns of Concord's own frames, and those of its files."""


class Treatment(TypedDict, total=False):
    """How ratings that were read become those of agreement: see `concord.exchange.incoming.measured`."""

    exclude_refused: bool
    cluster_by: Sequence[str] | None


@dataclass(frozen=True)
class RatingsFile:
    """Ratings that were read: with `scales` by criterion, conversations by item, and notes of how a table of
    labels was read.
    """

    table: RatingTable
    scales: Mapping[str, Scale]
    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class LabelTable:
    """A table that was read: its ratings, what its columns were taken for, warnings of what was left out.

    `keys` and `texts` are those of units, in the order of the table.
    """

    of: StudyRatings
    features: Columns
    columns: tuple[str, ...]
    warnings: tuple[str, ...]
    keys: Mapping[int, str]
    texts: Mapping[int, str]


class _Label(NamedTuple):
    """One answer as it stands in a table; `row` is the place of its row."""

    row: int
    criterion: str
    rater: str
    kind: RaterKind
    cell: Any


def read(
    source: Any, options: TableOptions = NO_OPTIONS, *, people: bool = True, **how: Unpack[Treatment]
) -> LabelTable:
    """Read a file (CSV, TSV, Parquet, JSON, JSON Lines, an Inspect log, Excel), a frame of pandas, polars or
    Arrow, a mapping of columns, or rows as mappings.

    `people` says whether people's answers are needed, `how` how refusals and clusters are treated. Raises
    ImportRefused for a table without judges' answers, or without people's where these are needed.
    """
    needed: tuple[RaterKind, ...] = ("human", "judge") if people else ("judge",)
    table = _table(source, options, needed)
    file, study, usual = _ratings(table), Path(table.name).stem, Treatment()
    given, scales, rows = file.table, file.scales, file.conversations
    alike = not rows or len({(scale.low, scale.high) for scale in scales.values()}) == 1
    uncounted = () if alike else given.criteria
    brought = ratings_study.incoming(None, given, study, scales=scales, uncounted=uncounted, brought=rows)
    if rows:
        brought = replace(brought, study=replace(brought.study, source=FILE))
        clusters = ("scenario",) if any("scenario" in one.facets for one in rows.values()) else ()
        usual = Treatment(exclude_refused=False, cluster_by=clusters)
    usual.update(how)
    of, features = incoming.measured(brought, **usual)
    units, _ = brought.given.units(brought.study.per_turn)
    rated = {n: brought.conversations[key] for n, (key, _) in enumerate(units, 1)}
    return LabelTable(
        of,
        features,
        table.notes,
        tuple(table.warnings),
        {unit: one.key.removeprefix(f"{study}/") for unit, one in rated.items()},
        {unit: "\n\n".join(message.content for message in one.messages) for unit, one in rated.items()},
    )


def ratings(path: Path, options: TableOptions = NO_OPTIONS) -> RatingsFile:
    """The ratings of a file by people, judges or both: in Concord's own columns, or in any form that a table
    of labels has.

    Raises ImportRefused naming every line that is wrong, or what the file lacks; NotFound.
    """
    try:
        return _of_own(ratings_csv.read(path), options)
    except ratings_csv.ColumnMissing as error:
        own = error
    try:
        table = _table(path, options, ())
        file = _ratings(table)
    except ImportRefused as error:
        raise ImportRefused(f"{own} As a table of labels it is not read either: {error}") from error
    return replace(file, notes=(*table.notes, *table.warnings))


def _table(source: Any, options: TableOptions, needed: Collection[RaterKind]) -> FileTable:
    """The rows and columns of a table. Raises ImportRefused where there is none, NotFound for a column."""
    name, records, places, broken = label_rows.records(source)
    warnings = [_counted("row cannot be read", "rows cannot be read", broken)] if broken else []
    table = FileTable(name, options, records, places, warnings, needed)
    if not records:
        raise table.refusal("there is no row that can be read." + "".join(f" {one}" for one in broken[:1]))
    for column in (*options.by, *((table.id,) if table.id else ())):
        if column not in table.columns:
            raise not_found("column", column, table.columns)
    return table


def _ratings(table: FileTable) -> RatingsFile:
    """The ratings of a table. What its columns were taken for is noted in the table."""
    own = {OF_FRAMES.get(column.lower(), column.lower()): column for column in table.columns}
    if {*ratings_csv.REQUIRED} <= own.keys() and table.columns[own["score"]].numeric:
        return _own(table, own)
    long = _long(table)
    return _labelled(table, long or _wide(table), bool(long))


def _own(table: FileTable, own: Mapping[str, str]) -> RatingsFile:
    """A table in Concord's own form, with turns, repeats and texts; a row without a score is missing."""

    def numbered() -> Iterator[tuple[int, list[str]]]:
        yield 1, [*own]
        for place, record in zip(table.places, table.records, strict=True):
            if not is_blank(record.get(own["score"])):
                yield int(place.rpartition(" ")[2]), [_text(record.get(column)) for column in own.values()]

    file = ratings_csv.read_records(numbered(), table.name)
    if lacking := len(table.records) - len(file):
        have = "row has no score and is taken" if lacking == 1 else "rows have no score and are taken"
        table.warnings.append(f"{lacking} {have} as missing")
    table.roles["form"] = "Concord's own, a rating a row"
    for title, kind in WHOSE.items():
        if names := sorted({rater.name for rater in file.raters if rater.kind == kind}):
            table.roles[title] = ", ".join(names)
    return _of_own(file, table.options)


def _of_own(given: RatingTable, options: TableOptions) -> RatingsFile:
    """Ratings in Concord's own form. Raises ImportRefused for options that say again whose they are, or
    what passes.
    """
    stated = {"--human": options.people, "--judge": options.judges, "--gold": options.gold}
    if again := [option for option, raters in stated.items() if raters]:
        raise ImportRefused(
            f"{given.file} says in its column rater_type whose each rating is. Leave out {', '.join(again)}."
        )
    if options.passing is not None:
        raise ImportRefused(
            f"{given.file} has scores as Concord counts them, which --pass-from does not change. Write 1 for "
            "those that pass and 0 for the others."
        )
    return RatingsFile(given, options.scales)


def _text(cell: Any) -> str:
    """A cell as a file has it, nothing for what is missing."""
    if cell is None or cell != cell:
        return ""
    return str(int(cell)) if isinstance(cell, bool | np.bool_) else str(cell)


def _long(table: FileTable) -> list[_Label]:
    """The labels of a table with a rating a row; none for another."""
    rater, score, item = table.named("raters"), table.named("scores"), table.id
    criterion = table.named("criteria")
    kind = next((name for name, column in table.columns.items() if column.says_whose), "")
    if not rater and not any(kinds_by_name(c for c in table.columns if c not in (kind, score)).values()):
        rater = kind
    if not (rater and score and item) or len({*map(str, table.cells(item))}) == len(table.records):
        return []
    names = dict.fromkeys(str(value) for value in table.cells(rater) if not is_blank(value))
    stated = {}
    for name, value in zip(table.cells(rater), table.cells(kind), strict=False):
        if says := kinds_by_name([str(value)])[str(value)]:
            stated[str(name)] = says
    kinds = whose(table, names, names, stated, f"raters in the column {rater}")
    table.roles |= {"form": "a rating a row", "id": item, "raters": rater, "score": score}
    table.roles |= {"criterion": criterion} if criterion else {}
    table.used = {item, rater, score, kind, criterion}
    labels, first = [], dict[str, int]()
    for place, record in enumerate(table.records):
        if (by := kinds.get(str(record.get(rater)))) and not is_blank(record.get(item)):
            row = first.setdefault(str(record[item]).strip(), place)
            on = str(record.get(criterion) or "") if criterion else ""
            labels.append(_Label(row, on, str(record[rater]), by, record.get(score)))
    return labels


def _wide(table: FileTable) -> list[_Label]:
    """The labels of a table with a column a rater, and perhaps a criterion."""
    stated = (*table.options.people, *table.options.judges)
    by_name = {column.lower() for of in _BESIDE for column in words(of)}
    beside = {table.id, *table.options.by, *(c for c in table.columns if c.lower() in by_name)}
    may_be = [c for c, of in table.columns.items() if c in stated or (c not in beside and of.rated)]
    kinds = whose(table, may_be, table.columns, {})
    judges = [column for column, kind in kinds.items() if kind == "judge"]
    if len(judges) > MOST_JUDGES:
        raise table.refusal(
            f"{len(judges)} columns are taken for judges, such as {judges[0]} and {judges[1]}; at most "
            f"{MOST_JUDGES} are compared. Should they be rows? Else name some.",
            "--judge",
            quote(",".join(judges[:2])),
        )
    for one, other in ((a, b) for a in kinds for b in kinds if (kinds[a], kinds[b]) == ("human", "judge")):
        if table.cells(one) == table.cells(other) and table.columns[one].varies:
            table.warnings.append(f"{other} equals {one} in every row: is it a copy?")
    about = criteria_of_columns(table, kinds)
    comparable(table, about)
    table.roles |= {"id": table.id} if table.id else {}
    table.used = {table.id, *about}
    return [
        _Label(row, *of, record.get(column))
        for row, record in enumerate(table.records)
        for column, of in about.items()
    ]


def _groups(table: FileTable) -> list[str]:
    """The columns that divide the rows into groups: those told, else those with such a name."""
    if table.options.by:
        return list(table.options.by)
    by_name = {column.lower().rpartition("metadata.")[2]: column for column in table.columns}
    columns = [by_name[name] for name in words("groups") if name in by_name]
    several = {c: len({str(v) for v in table.cells(c) if not is_blank(v)}) for c in columns}
    most = min(MOST_GROUPS, len(table.records) - 1)
    return [column for column, n in several.items() if 1 < n <= most and column not in table.used]


def _scores(
    table: FileTable, labels: Sequence[_Label], keys: Sequence[str]
) -> tuple[dict[str, CellReading], dict[_Label, float]]:
    """How the answers on each criterion are read, and the score of each label, once.

    Raises ImportRefused for answers whose meaning is unsure, and for somebody who answers an item twice,
    otherwise each time.
    """
    readings: dict[str, CellReading] = {}
    scores: dict[tuple[int, str, str], tuple[_Label, float]] = {}
    unread: list[str] = []
    given = [label for label in labels if not is_blank(label.cell)]
    for name in dict.fromkeys(label.criterion for label in labels):
        own = [label for label in given if label.criterion == name]
        declared = table.options.scales.get(name, table.options.scales.get(""))
        cells = [(label.kind, label.rater, label.cell) for label in own]
        readings[name] = reading = reading_of(cells, declared, table.options.passing)
        if reading.problem:
            raise table.refusal(reading.problem, *reading.option)
        for label in own:
            if (score := reading.of_rater.get(label.rater, reading.score)(label.cell)) is None:
                unread.append(f"{table.places[label.row]}, {label.rater}: “{str(label.cell)[:40]}”")
            elif (before := scores.setdefault(label[:3], (label, score))[1]) != score:
                raise table.refusal(
                    f"{label.rater} answers “{keys[label.row]}” twice: {before:g} and {score:g}. Keep one."
                )
    if unread:
        one, several = "cell cannot be read and counts", "cells cannot be read and count"
        table.warnings.append(_counted(f"{one} as missing", f"{several} as missing", unread))
    answered = {label.kind for label, _ in scores.values()}
    for kind, who in (("human", "a person"), ("judge", "a judge")):
        names = dict.fromkeys(label.rater for label in labels if label.kind == kind)
        if kind not in answered and (names or kind in table.needed):
            examples = f"; {'; '.join(unread[:2])}" if unread else ": all cells are empty"
            raise table.refusal(f"no answer of {who} can be read in {', '.join(names)}{examples}.")
    return readings, dict(scores.values())


def _labelled(table: FileTable, labels: Sequence[_Label], long: bool) -> RatingsFile:
    """The ratings of the labels that can be read."""
    groups = _groups(table)
    keys = _keys(table, groups, long)
    readings, scores = _scores(table, labels, keys)
    names = {name: name or ("label" if r.scale.named else "score") for name, r in readings.items()}
    text, question = table.named("texts"), table.named("questions")
    text = "" if text in table.used else text
    player = next((c for c in groups if c.lower().rpartition(".")[2] in words("players")), "")
    facets = [column for column in groups if column != player]
    conversations = {}
    for row in dict.fromkeys(label.row for label in scores):
        record = {**table.records[row], "": None}  # a column that there is not is called “”
        texts: dict[Role, Any] = {"user": record.get(question), "assistant": record.get(text)}
        conversations[keys[row]] = Conversation(
            "",
            keys[row],
            str(record.get(player) or "unknown"),
            tuple(Message(role, str(said)) for role, said in texts.items() if not is_blank(said)),
            facets={c: str(record[c]).strip() for c in facets if not is_blank(record.get(c))},
        )
    if not long and (empty := len(table.records) - len(conversations)):
        have = "row has" if empty == 1 else "rows have"
        table.warnings.append(f"{empty} {have} no answer at all")
    for title, kind in WHOSE.items():
        if raters := dict.fromkeys(one.rater for one in labels if one.kind == kind):
            table.roles[title] = ", ".join(raters)
    shown = [*dict.fromkeys(filter(None, (question, text)))]
    ignored = [c for c in table.columns if c not in {*table.used, *groups, *shown}]
    for role, columns in (
        ("criteria", [*readings] if len(readings) > 1 else []),
        ("group", groups),
        ("text", shown if text else []),
        ("ignored", [*ignored[:8], *(["…"] if len(ignored) > 8 else [])]),
    ):
        table.roles |= {role: ", ".join(columns)} if columns else {}
    table.roles |= {names[name]: readings[name].description for name in [*readings][:6]}
    given = (
        Given(
            Unit(keys[label.row]),
            names[label.criterion],
            Rater(label.rater, label.kind),
            score,
            where=f"{table.name}, {table.places[label.row]}",
        )
        for label, score in scores.items()
    )
    scales = {names[name]: reading.scale for name, reading in readings.items()}
    return RatingsFile(RatingTable.of(given, table.name), scales, conversations)


def _keys(table: FileTable, groups: Sequence[str], long: bool) -> list[str]:
    """The id of each row. Ids that come again are told apart by the groups, else refused."""
    ids = ["" if is_blank(value) else str(value).strip() for value in table.cells(table.id)]
    ids = [key or f"row {number}" for number, key in enumerate(ids or [""] * len(table.records), 1)]
    if long or len(set(ids)) == len(ids):
        return ids
    whole = [
        " · ".join([key, *(str(record.get(column, "")) for column in groups)])
        for key, record in zip(ids, table.records, strict=True)
    ]
    if len(set(whole)) == len(ids):
        return whole
    twice = [key for key, n in Counter(ids).items() if n > 1]
    ids_stand = "1 id stands" if len(twice) == 1 else f"{len(twice)} ids stand"
    raise table.refusal(
        f"{ids_stand} in several rows of the column {table.id}, such as “{twice[0]}”. Where each row is an "
        "answer of its own, number the rows.",
        "--id none",
    )


def _counted(one: str, several: str, which: Sequence[str]) -> str:
    """A warning with the number of places and the first of them."""
    what = one if len(which) == 1 else several
    return f"{len(which)} {what}: {'; '.join(which[:SHOWN])}{' …' if len(which) > SHOWN else ''}"
