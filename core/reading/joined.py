"""People's answers in a file of their own, joined by id with the table that holds judges' answers."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Unpack

from concord.errors import ImportRefused, not_found
from concord.reading import labels, sources
from concord.reading.cells import is_blank
from concord.reading.layouts import Profiles, kind_of_source
from concord.reading.options import NO_OPTIONS, TableOptions
from concord.reading.table import FRAME, SourceTable
from concord.reading.vocabulary import kinds_by_name, words

MOST_NAMED = 3
"""So many ids are named as examples."""
_NO_ANSWERS = ("ids", "texts", "questions", "groups", "criteria", "kinds", "raters")
"""Lists of names of columns of a file of labels that hold no answers."""


@dataclass(frozen=True)
class Join:
    """How rows and labels met: `rows` of the table, how many of them are `labelled`, and what did not match.

    `unknown` are ids of labels that no row has, `alike` pairs of ids (of the labels, of the table) that
    differ in case, leading zeros or spaces alone, `repeated` ids that have the same label twice.
    """

    table_id: str
    labels_id: str
    rows: int
    labelled: int
    unknown: tuple[str, ...] = ()
    alike: tuple[tuple[str, str], ...] = ()
    repeated: tuple[str, ...] = ()
    without_id: int = 0

    def as_json(self) -> dict[str, Any]:
        """Plain values; ids as examples, each with their number."""
        lists = {name: value for name, value in asdict(self).items() if isinstance(value, tuple)}
        counts = {name: value for name, value in asdict(self).items() if name not in lists}
        return counts | {
            name: {"n": len(value), "examples": [*value[:MOST_NAMED]]} for name, value in lists.items()
        }

    def sentences(self) -> list[str]:
        """What a reader has to know of it, without a full stop."""
        lines = []
        if self.unknown:
            lines.append(f"ids of labels without a row: {len(self.unknown):,}, {_examples(self.unknown)}")
        if self.alike:
            pairs = [f"{of_label}” with “{of_row}" for of_label, of_row in self.alike]
            differ = "ids joined despite differences in case, zeros or spaces"
            lines.append(f"{differ}: {len(pairs):,}, {_examples(pairs)}")
        if self.repeated:
            twice = "ids with the same label twice, counted once"
            lines.append(f"{twice}: {len(self.repeated):,}, {_examples(self.repeated)}")
        if self.without_id:
            lines.append(f"labels without an id, which are excluded: {self.without_id:,}")
        return lines


class _Answer(NamedTuple):
    """One answer of a file of labels; `key` is its row's id, with the columns that tell equal ids apart."""

    key: tuple[str, ...]
    rater: str
    column: str
    cell: Any


def read(
    table: Any,
    people: Any,
    options: TableOptions = NO_OPTIONS,
    *,
    labels_id: str = "",
    other_columns: Sequence[str] = (),
    **treatment: Unpack[labels.Treatment],
) -> tuple[labels.LabelTable, Join]:
    """A table as `concord.reading.labels.read` reads it, with people's answers of another one.

    Of the columns `other_columns` those that `people` has are taken over as well.

    Both may be all that it takes. A row of `people` is an answer with a column a rater, or a rating; its ids
    stand in `labels_id`, else in the column that is called as the table's. Raises ImportRefused where ids
    have nothing in common, may mean several rows, or have two different labels; NotFound for a column.
    """
    records, table_options, join, name = join_labels(table, people, options, labels_id, other_columns)
    try:
        label_table = labels.read(records, table_options, **treatment)
    except ImportRefused as error:
        raise ImportRefused(str(error).replace(f"{FRAME}:", f"{name}:", 1)) from error
    return replace(label_table, warnings=(*label_table.warnings, *join.sentences())), join


def ratings(
    table: Any, people: Any, options: TableOptions = NO_OPTIONS, *, labels_id: str = ""
) -> labels.RatingsFile:
    """The ratings of a table with people's answers of another one, for an import: joined as `read` does.

    The notes say how many rows have labels, and what did not match. Raises ImportRefused, NotFound.
    """
    records, roles, join, name = join_labels(table, people, options, labels_id)
    source = sources.read(records)
    source.name = name
    ratings_file = labels.ratings_of(source, roles)
    labelled = f"rows with labels: {join.labelled:,} of {join.rows:,}"
    return replace(ratings_file, notes=(*ratings_file.notes, labelled, *join.sentences()))


def join_labels(
    table: Any, people: Any, options: TableOptions, labels_id: str, other_columns: Sequence[str] = ()
) -> tuple[list[dict[str, Any]], TableOptions, Join, str]:
    """The rows of a table with people's answers, whose these are, how they met, and what messages call both.

    In a table with a rating a row each answer is a row more; else it stands in a column of its row.
    """
    judged = _file(table, options)
    labelled = _file(people, TableOptions(id=labels_id))
    if labelled.name == FRAME:
        labelled.name = "labels"
    row_id, label_id = _ids(judged, labelled)
    rater = judged.listed_column("raters")
    score = judged.listed_column("scores")
    ids = [id_text(cell) for cell in judged.cells(row_id)]
    long = bool(rater and score) and len({*ids}) < len(ids)
    distinguishing = (
        [] if long or len({*ids}) == len(ids) else _distinguishing_columns(judged, labelled, row_id, label_id)
    )
    rows: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(_keys(judged, row_id, distinguishing)):
        rows.setdefault(key, []).append(place)
    answers, without_id = _answers(labelled, judged, label_id, distinguishing, options, other_columns)
    matched, alike = _matched(judged, labelled, rows, [*dict.fromkeys(one.key for one in answers)])
    cells: dict[tuple[tuple[str, ...], str], _Answer] = {}
    repeated: dict[str, None] = {}
    for one in answers:
        if (before := cells.setdefault((one.key, one.column), one)) is not one:
            if str(before.cell).strip() != str(one.cell).strip():
                raise labelled.refusal(
                    f"“{one.key[0]}” has two labels in {one.column}: {before.cell} and {one.cell}. Keep one, "
                    "or name the annotator of each row in a column “annotator”."
                )
            repeated[one.key[0]] = None
    records = [dict(record) for record in judged.records]
    criteria = _shared_criteria(labelled, judged, answers)
    for record in records if criteria else ():
        for column in criteria:
            record[f"judge {column}"] = record.pop(column)
    for one in cells.values():
        for place in matched.get(one.key, ())[: 1 if long else None]:
            if long:
                records.append(_rating(judged, records[place], one))
            else:
                _fill(judged, labelled, records[place], one)
    for record, key in zip(labelled.records, _keys(labelled, label_id, distinguishing), strict=True):
        for column in (column for column in other_columns if column in labelled.columns):
            for place in matched.get(key, ()):
                records[place][column] = record.get(column)
    labelled_rows = {place for key in matched for place in matched[key]}
    join = Join(
        row_id,
        label_id,
        len(rows) if long else len(judged.records),
        len({ids[place] for place in labelled_rows}) if long else len(labelled_rows),
        tuple(key[0] for key in dict.fromkeys(one.key for one in answers) if key not in matched),
        alike,
        (*repeated,),
        without_id,
    )
    columns = dict.fromkeys((one.rater or one.column) if long else one.column for one in answers)
    table_options = replace(options, id=options.id or row_id)
    if not (options.people or (long and _kind(judged))):
        names_of_raters = _texts(judged, rater) if long else judged.columns
        other_people = (name for name, kind in kinds_by_name(names_of_raters).items() if kind == "human")
        table_options = replace(
            table_options, people=(*columns, *(name for name in other_people if name not in columns))
        )
    return records, table_options, join, f"{judged.name} with {labelled.name}"


def id_text(cell: Any) -> str:
    """An id as text, without spaces around it; a whole number has no decimals."""
    if is_blank(cell):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def loose(text: str) -> str:
    """What an id has beyond case, runs of spaces, leading zeros, and the “.0” that a sheet adds."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    number = re.fullmatch(r"0*(\d+?)(?:\.0+)?", folded)
    return number[1] if number else folded


def _file(source: Any, options: TableOptions) -> SourceTable:
    """The rows and columns of a source. Raises ImportRefused where it has none, NotFound for its ids."""
    table = sources.read(source)
    table.options = options
    if table.id and table.id not in table.columns:
        raise not_found("column", table.id, table.columns)
    return table


def _ids(judged: SourceTable, labelled: SourceTable) -> tuple[str, str]:
    """The columns of ids of both: those stated, else of one name that both have, else each one's usual."""
    in_labels = {name.lower(): name for name in labelled.columns}
    shared = [
        (name, in_labels[name.lower()])
        for listed in words("ids")
        for name in judged.columns
        if name.lower() == listed and listed in in_labels
    ]
    stated_id = judged.options.id
    if stated_id == "none":
        raise judged.refusal("labels are joined by id, but --id none means that the rows have no ids.")
    row_id = stated_id or (shared[0][0] if shared and not labelled.options.id else judged.id)
    name_in_labels = in_labels.get(row_id.lower(), "")
    label_id = labelled.options.id or name_in_labels or labelled.id
    for table, column, option in ((judged, row_id, "--id"), (labelled, label_id, "--labels-id")):
        if not column:
            names = ", ".join([*table.columns][:12])
            raise table.refusal(f"which column has the ids? Columns: {names}.", option, "COLUMN")
    return row_id, label_id


def _distinguishing_columns(
    judged: SourceTable, labelled: SourceTable, row_id: str, label_id: str
) -> list[str]:
    """The columns that tell rows of one id apart, which both have. Raises ImportRefused where none does."""
    groups = [*judged.options.group_columns, *(c for c in judged.columns if c.lower() in words("groups"))]
    common = [c for c in dict.fromkeys(groups) if c in labelled.columns and c not in (row_id, label_id)]
    keys = [*_keys(judged, row_id, common)]
    if len({*keys}) == len(keys):
        return common
    twice = next(key for key in keys if keys.count(key) > 1)
    differ = [c for c in dict.fromkeys(groups) if len({*map(str, judged.cells(c))}) > 1]
    remedy = f"Add the column {differ[0]} to the labels" if differ else "Give each row a unique id"
    raise judged.refusal(
        f"{' · '.join(twice)} stands in {keys.count(twice)} rows: a label could belong to any of them. "
        f"{remedy}."
    )


def _keys(table: SourceTable, column: str, distinguishing: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The id of each row, with what tells equal ids apart."""
    for record in table.records:
        yield (
            id_text(record.get(column)),
            *(id_text(record.get(extra_column)) for extra_column in distinguishing),
        )


def _answers(
    labelled: SourceTable,
    judged: SourceTable,
    label_id: str,
    distinguishing: Sequence[str],
    options: TableOptions,
    other_columns: Sequence[str] = (),
) -> tuple[list[_Answer], int]:
    """The answers of a file of labels, and how many of its rows have answers but no id."""
    rater = labelled.listed_column("raters")
    criterion = labelled.listed_column("criteria")
    columns = _answer_columns(
        labelled, judged, label_id, {*distinguishing, *other_columns, rater, criterion}, options
    )
    raters = {text: place for place, text in enumerate(_texts(labelled, rater), 1)}
    criteria_alike = _same_criteria(judged, columns, options)
    several = len(columns) > 1 or bool(criterion) or criteria_alike

    def answer_column(annotator: str, question: str) -> str:
        if not rater:
            return f"human {question}" if criterion or criteria_alike else question
        if several:
            return f"human {raters[annotator]} {question}"
        return f"human {annotator}" if annotator in judged.columns else annotator

    answers = []
    without_id = 0
    for record, key in zip(labelled.records, _keys(labelled, label_id, distinguishing), strict=True):
        cells = {column: record.get(column) for column in columns}
        cells = {column: cell for column, cell in cells.items() if not is_blank(cell)}
        if not key[0]:
            without_id += bool(cells)
            continue
        annotator = id_text(record.get(rater)) if rater else ""
        if rater and not annotator:
            continue
        for column, cell in cells.items():
            question = id_text(record.get(criterion)) if criterion else column
            answers.append(_Answer(key, annotator, answer_column(annotator, question), cell))
    if not answers:
        raise labelled.refusal(f"no row has an id in {label_id} and an answer in {', '.join(columns)}.")
    return answers, without_id


def _texts(table: SourceTable, column: str) -> Iterable[str]:
    return dict.fromkeys(id_text(cell) for cell in table.cells(column) if not is_blank(cell))


def _answer_columns(
    labelled: SourceTable, judged: SourceTable, label_id: str, other_columns: set[str], options: TableOptions
) -> list[str]:
    """The columns of people's answers: those stated, else those whose names say so, else all that may be.

    A column that the table has too, with answers of its own, is none unless its name says so.
    """
    if options.people:
        stated_columns = [column for column in options.people if column in labelled.columns]
        if not stated_columns:
            raise not_found("column", options.people[0], labelled.columns)
        return stated_columns
    names = {name for list_name in _NO_ANSWERS for name in words(list_name)}
    profiles = Profiles(labelled)
    may_be = [
        column
        for column in profiles
        if profiles[column].may_answer
        and column != label_id
        and column not in other_columns
        and column.lower() not in names
    ]
    score = labelled.listed_column("scores")
    if labelled.listed_column("raters") and score:
        return [score]
    kinds = kinds_by_name(may_be)
    people = [column for column in may_be if kinds[column] == "human"]
    unnamed = [column for column in may_be if kinds[column] is None and not _has_cells(judged, column)]
    shared = [column for column in may_be if kinds[column] is None and _has_cells(judged, column)]
    if not (chosen_columns := people or unnamed or _alike_answers(labelled, judged, shared)):
        columns = ", ".join([*labelled.columns][:12])
        raise labelled.refusal(f"no column has annotators' answers. Columns: {columns}.", "--human", "COLUMN")
    return chosen_columns


def _shared_criteria(labelled: SourceTable, judged: SourceTable, answers: Sequence[_Answer]) -> list[str]:
    """The columns that are a criterion of both files, by what people's answers are called."""
    columns = {one.column for one in answers} - {*judged.columns}
    shared = [name for name in judged.columns if name in labelled.columns]
    return [
        name for name in shared if any(re.fullmatch(rf"human (\d+ )?{re.escape(name)}", c) for c in columns)
    ]


def _alike_answers(labelled: SourceTable, judged: SourceTable, columns: Sequence[str]) -> list[str]:
    """The columns that both files have with answers like each other's: criteria that both raters answered."""
    of_labels = Profiles(labelled)
    of_table = Profiles(judged)
    return [column for column in columns if of_labels[column].answers.alike(of_table[column].answers)]


def _same_criteria(judged: SourceTable, columns: Sequence[str], options: TableOptions) -> bool:
    """Whether people's columns are called as the judge's: each name is a criterion."""
    return not options.raters and all(
        _has_cells(judged, column) and kinds_by_name([column])[column] is None for column in columns
    )


def _has_cells(table: SourceTable, column: str) -> bool:
    """Whether a table has this column with something in it."""
    return column in table.columns and bool(table.texts(column))


def _matched(
    judged: SourceTable,
    labelled: SourceTable,
    rows: Mapping[tuple[str, ...], list[int]],
    keys: Sequence[tuple[str, ...]],
) -> tuple[dict[tuple[str, ...], list[int]], tuple[tuple[str, str], ...]]:
    """The rows of each label that has some, and the pairs of ids that match but for their spelling."""
    matched = {key: rows[key] for key in keys if key in rows}
    spelled: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for key in rows:
        spelled.setdefault(tuple(map(loose, key)), []).append(key)
    alike: dict[tuple[str, ...], tuple[str, ...]] = {}
    for key in (key for key in keys if key not in rows):
        for candidate in (candidates := spelled.get(tuple(map(loose, key)), [])):
            if len(candidates) > 1 or candidate in matched or candidate in alike.values():
                spellings = [*candidates, *(k for k in (*matched, *alike) if k != key)]
                close = [
                    k[0] for k in dict.fromkeys(spellings) if tuple(map(loose, k)) == tuple(map(loose, key))
                ]
                raise labelled.refusal(
                    f"the id “{key[0]}” is ambiguous with {', '.join(f'“{c}”' for c in close[:MOST_NAMED])}: "
                    "they differ only in case, zeros or spaces. Write the ids the same way in both files."
                )
            alike[key] = candidate
    matched |= {key: rows[candidate] for key, candidate in alike.items()}
    if not matched:
        raise labelled.refusal(
            f"none of its {len(keys):,} ids is one of {judged.name}, which has ids such as "
            f"{_examples([key[0] for key in rows])}; the labels have {_examples([key[0] for key in keys])}. "
            "Name the columns of ids with --id and --labels-id."
        )
    return matched, tuple((key[0], candidate[0]) for key, candidate in alike.items())


def _rating(judged: SourceTable, row: Mapping[str, Any], answer: _Answer) -> dict[str, Any]:
    """An answer as one more row of a table with a rating a row."""
    kind = _kind(judged)
    identifying = {judged.id, judged.listed_column("criteria"), *judged.options.group_columns} - {""}
    score = {
        judged.listed_column("raters"): answer.rater or answer.column,
        judged.listed_column("scores"): answer.cell,
    }
    return {name: row.get(name) for name in identifying} | score | ({kind: "human"} if kind else {})


def _kind(table: SourceTable) -> str:
    """The column that says whose each rating is; “” without one."""
    kind_columns = [name for name in table.columns if name.lower() in words("kinds")]
    return next(
        (
            name
            for name in kind_columns
            if len(texts := table.texts(name)) > 1 and None not in {*map(kind_of_source, texts)}
        ),
        "",
    )


def _fill(judged: SourceTable, labelled: SourceTable, row: dict[str, Any], answer: _Answer) -> None:
    """Put an answer into its row. Raises ImportRefused where another one stands there."""
    before = row.get(answer.column)
    if not is_blank(before) and str(before).strip() != str(answer.cell).strip():
        raise labelled.refusal(
            f"the column {answer.column} stands in {judged.name} too, with another answer for "
            f"“{answer.key[0]}”: {before} and {answer.cell}. Rename one of the columns."
        )
    row[answer.column] = answer.cell


def _examples(texts: Sequence[str]) -> str:
    quoted = ", ".join(f"“{text[:40]}”" for text in texts[:MOST_NAMED])
    return f"{quoted} …" if len(texts) > MOST_NAMED else quoted
