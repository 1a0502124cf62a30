"""Read a table of labels: a row an answer with what people and judges said in columns, or a rating a row.

What a column holds is read from its name and its values, and said in a line. Where that is unsure nothing is
guessed: the error names the option that says it.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, Unpack

import numpy as np

from concord.arrays import Columns
from concord.conversation import Conversation, Message, Role, Unit
from concord.errors import ImportRefused, not_found
from concord.exchange import incoming, ratings_csv, ratings_study, rows
from concord.exchange.answer_words import CellReading, is_blank, number_of, one_of_two, reading_of, words
from concord.exchange.given import Given, RatingTable
from concord.exchange.incoming import Incoming, Measured
from concord.exchange.rows import FileRow
from concord.files.limits import FILE_BYTES
from concord.questions import Scale
from concord.rating import Criterion, Rater, RaterKind
from concord.store.studies import FILE, Study
from concord.studies.studies import StudyRatings

_WORDS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
_BESIDE = ("texts", "questions", "lengths", "groups", "criteria", "kinds")
"""Lists of names of columns that hold no answers."""
MOST_GROUPS = 60
MOST_JUDGES = 40
SHOWN = 3
"""So many cells that cannot be read are named."""


WHOSE: Mapping[str, RaterKind] = {"people": "human", "judges": "judge", "gold": "gold"}
"""Whose answers columns hold, as it is said."""
OF_FORMULAS = "formulas have no value there: save the file in Excel, or paste values over them"
"""What to do about cells that hold a formula, or its error."""
FRAME = "ratings"
"""What a table is called that is no file."""
OF_FRAMES = {"unit": "item_id", "kind": "rater_type"}
"""Names of columns of Concord's own frames, and those of its files."""


class Treatment(Measured, total=False):
    """How ratings that were read become those of agreement: see `concord.exchange.incoming.measured`."""

    exclude_refused: bool


@dataclass(frozen=True)
class TableOptions:
    """What a user states about the columns of a table; all of it optional.

    `people`, `judges` and `gold` are columns, or raters of a long table; `id` is “none” where rows are
    numbered. From `passing` on a number passes.
    """

    people: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    id: str = ""
    by: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)
    passing: float | None = None
    gold: tuple[str, ...] = ()

    @property
    def criterion(self) -> str:
        """The first criterion that is stated; “” where none is."""
        return self.criteria[0] if self.criteria else ""

    def command(self, name: str, *more: str) -> str:
        """The command for a table with these options and more, as it is typed."""
        stated = {"--human": self.people, "--judge": self.judges, "--gold": self.gold, "--by": self.by}
        stated |= {"--criterion": self.criteria, "--id": (self.id,) if self.id else ()}
        options = (f"{option} {quote(','.join(value))}" for option, value in stated.items() if value)
        return " ".join(["concord check", quote(name), *options, *more])


@dataclass(frozen=True, eq=False)
class LabelTable:
    """A table that was read: its ratings, what its columns were taken for, warnings of what was left out.

    `keys` and `texts` are those of units, in the order of the table. `records` are its rows, objects inside
    them as columns.
    """

    name: str
    of: StudyRatings
    features: Columns
    columns: tuple[str, ...]
    warnings: tuple[str, ...]
    keys: Mapping[int, str]
    texts: Mapping[int, str]
    records: Sequence[Mapping[str, Any]] = ()


class _Label(NamedTuple):
    """One answer as it stands in a table; `row` is the place of its row."""

    row: int
    criterion: str
    rater: str
    kind: RaterKind
    cell: Any


@dataclass
class _Table:
    """A table while it is read: its rows, where they stand, and what its columns were taken for."""

    name: str
    options: TableOptions
    records: list[Mapping[str, Any]]
    places: list[str]
    warnings: list[str]
    judges_alone: bool
    """Whether judges may stand without people."""
    columns: list[str] = field(init=False)
    roles: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    """The columns that hold answers, and in a long table those that say whose."""

    def __post_init__(self) -> None:
        self.columns = list(dict.fromkeys(column for record in self.records for column in record))

    @property
    def id(self) -> str:
        """The column of ids; “” where rows are numbered."""
        option = self.options.id
        return "" if option == "none" else option or self.named("ids")

    def named(self, names: str) -> str:
        """The first name of a list of data/columns.toml, in any case, that a column has; else “”."""
        by_name = {column.lower().rpartition("metadata.")[2]: column for column in reversed(self.columns)}
        return next((by_name[name] for name in words(names) if name in by_name), "")

    def values(self, column: str) -> list[Any]:
        return [record.get(column) for record in self.records]

    def refusal(self, message: str, *options: str) -> ImportRefused:
        """An error, with the command to type where options mend it."""
        command = f" Type: {self.options.command(self.name, *options)}" if options else ""
        if options and self.name == FRAME:
            stated = " ".join(options).replace("--", "").replace("pass-from", "pass_from").split()
            pairs = zip(stated[::2], stated[1::2], strict=True)
            command = " Give " + ", ".join(f"{option}={value.split(',')}" for option, value in pairs) + "."
        return ImportRefused(f"{self.name}: {message}{command}")


def read(
    source: Any, options: TableOptions = TableOptions(), *, people: bool = True, **measured: Unpack[Treatment]
) -> LabelTable:
    """Read a file (CSV, TSV, Parquet, JSON, JSON Lines, an Inspect log, Excel), a frame of pandas, polars or
    Arrow, a mapping of columns, or rows as mappings.

    `people` says whether people's answers are needed, `measured` how repeated runs, refusals and clusters
    are treated. Raises ImportRefused for a table without judges' answers, or without people's where these are
    needed.
    """
    given, name = _rows(source)
    broken: list[str] = []
    people_of: dict[str, int] = {}
    records: list[Mapping[str, Any]] = []
    places: list[str] = []
    for row in given:
        place = row.where.removeprefix(f"{name}, ")
        if row.fields is None:
            broken.append(f"{place} {row.wrong}")
            continue
        for fields in _outputs(row.fields):
            nested = any(isinstance(value, Mapping | list) for value in fields.values())
            records.append(dict(_flat(fields, people_of)) if nested else fields)
            places.append(place)
    warnings = [_counted("row cannot be read", "rows cannot be read", broken)] if broken else []
    table = _Table(name, options, records, places, warnings, not people)
    if not records:
        raise table.refusal("there is no row that can be read." + "".join(f" {one}" for one in broken[:1]))
    for column in (*options.by, *((table.id,) if table.id else ())):
        if column not in table.columns:
            raise not_found("column", column, table.columns)
    own = {OF_FRAMES.get(column.lower(), column.lower()): column for column in table.columns}
    if {*ratings_csv.REQUIRED} <= own.keys() and _numeric(table.values(own["score"])):
        return _own(table, own, **measured)
    long = _long(table)
    return _ratings(table, long or _wide(table), bool(long), **measured)


def _rows(source: Any) -> tuple[Iterable[FileRow], str]:
    """The rows of a file, a frame, columns or mappings, and what messages call it."""
    if isinstance(source, str | Path):
        path = Path(source)
        sheet = path.suffix.lower() in (".xlsx", ".xlsm") and path.is_file()
        return _sheet(path) if sheet else rows.read(path), str(path)
    if isinstance(source, Mapping):
        import pandas as pd

        source = pd.DataFrame(source)
    elif not hasattr(source, "iloc") and hasattr(source, "__arrow_c_stream__"):
        import pyarrow as pa

        source = pa.table(source)
    frame = source.to_pandas() if hasattr(source, "to_pandas") else source
    if hasattr(frame, "to_dict"):
        records = frame.astype(object).where(frame.notna(), None).to_dict("records")
        frame = ({str(column): cell for column, cell in record.items()} for record in records)
    return (FileRow(f"row {number}", row) for number, row in enumerate(frame, 1)), FRAME


def _outputs(fields: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The replies in a row of promptfoo's table, whose status is the judge's; another row as it is."""
    outputs = fields.get(rows.OUTPUTS)
    if not isinstance(outputs, list) or not all(isinstance(output, Mapping) for output in outputs):
        return [fields]
    test = {name: value for name, value in fields.items() if name != rows.OUTPUTS}
    names = {"player": "model", "prompt": "variant", "text": "response", "Status": "judge"}
    return [{**test, **{names.get(name, name): value for name, value in each.items()}} for each in outputs]


def _numeric(values: Sequence[Any]) -> bool:
    """Whether most of the values that are given are numbers."""
    given = [value for value in values if not is_blank(value)]
    return 2 * sum(number_of(value) is not None for value in given) > len(given)


def _own(table: _Table, own: Mapping[str, str], **measured: Unpack[Treatment]) -> LabelTable:
    """A table in Concord's own form, with turns, repeats and texts; a row without a score is missing."""
    scored = [not is_blank(score) for score in table.values(own["score"])]

    def numbered() -> Iterator[tuple[int, list[str]]]:
        yield 1, [*own]
        for place, record, given in zip(table.places, table.records, scored, strict=True):
            cells = (record.get(column) for column in own.values())
            if given:
                yield int(place.rpartition(" ")[2]), [_text(cell) for cell in cells]

    file = ratings_csv.read_records(numbered(), table.name)
    if lacking := len(scored) - sum(scored):
        have = "row has no score and is taken" if lacking == 1 else "rows have no score and are taken"
        table.warnings.append(f"{lacking} {have} as missing")
    scales = table.options.scales
    brought = ratings_study.incoming(None, file, Path(table.name).stem, scales=scales)
    table.roles["form"] = "Concord's own, a rating a row"
    for whose, kind in WHOSE.items():
        if names := sorted({rater.name for rater in brought.given.raters if rater.kind == kind}):
            table.roles[whose] = ", ".join(names)
    return _measured(table, brought, **measured)


def _text(cell: Any) -> str:
    """A cell as a file has it, nothing for what is missing."""
    if cell is None or cell != cell:
        return ""
    return str(int(cell)) if isinstance(cell, bool | np.bool_) else str(cell)


def _measured(table: _Table, brought: Incoming, **how: Unpack[Treatment]) -> LabelTable:
    of, features = incoming.measured(brought, **how)
    units, _ = brought.given.units(brought.study.per_turn)
    told = {n: brought.conversations[key] for n, (key, _) in enumerate(units, 1)}
    return LabelTable(
        table.name,
        of,
        features,
        tuple(f"{role}: {column}" for role, column in table.roles.items()),
        tuple(table.warnings),
        {unit: one.key.removeprefix(f"{of.study.name}/") for unit, one in told.items()},
        {unit: "\n\n".join(message.content for message in one.messages) for unit, one in told.items()},
        table.records,
    )


def _flat(value: Mapping[str, Any], people: dict[str, int], before: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a row with objects inside as columns: scores by name, other fields by their path.

    `people` are numbered as they come.
    """
    for name, inner in value.items():
        path = f"{before}{name}"
        if name == rows.AROUND:
            continue
        if isinstance(inner, Mapping):
            score = next((inner[key] for key in ("score", "value") if _plain(inner.get(key))), None)
            parts = {key: part for key, part in inner.items() if isinstance(part, list)}
            yield from ((path, score),) if score is not None else ()
            yield from _flat(inner if score is None else parts, people, f"{path}.")
        elif isinstance(inner, list) and all(isinstance(entry, Mapping) for entry in inner):
            yield from _named(inner, people, path)
        else:
            yield path, inner if _plain(inner) or inner is None else str(inner)


def _named(
    entries: Sequence[Mapping[str, Any]], people: dict[str, int], path: str
) -> Iterator[tuple[str, Any]]:
    """Entries with a score, and a name or rater, as columns, one a person; of messages the last."""
    listed = path.rpartition(".")[2]
    for entry in entries:
        feedback, assertion = (
            of if isinstance(of := entry.get(inner), Mapping) else {} for inner in ("feedback", "assertion")
        )
        about = {**entry, **feedback, "metric": assertion.get("type", entry.get("metric")), **assertion}
        criteria = ("assessment_name", "name", *words("criteria"))
        name = str(next((about[key] for key in criteria if about.get(key)), ""))
        rater = next((about[key] for key in words("raters") if _plain(about.get(key))), None)
        scores = ("pass", "score", "value", "success", *(words("scores") if rater is not None else ()))
        score = next((about[key] for key in scores if _plain(about.get(key))), None)
        if score is None or not (name or rater is not None):
            continue
        source = about.get("source")
        source = source if isinstance(source, Mapping) else {"source_type": source or ""}
        kind = str(source.get("source_type", "")).upper()
        whose: RaterKind | None = None
        if rater is not None:
            stated = [*(about.get(key) for key in words("kinds")), rater]
            whose = next(filter(None, (_kinds([str(text)])[str(text)] for text in stated)), None)
        if kind in ("HUMAN", "ANNOTATION") or assertion.get("type") == "human":
            whose = "human"
        elif kind or listed.lower() in words("by_judges"):
            whose = whose or "judge"
        elif rater is not None and listed.lower() in words("by_people"):
            whose = whose or "human"
        if whose == "human":
            who = str(rater or source.get("source_id") or about.get("authorUserId") or "")
            on = "" if name == "human" else f" {name}"
            yield f"human {people.setdefault(who, len(people) + 1)}{on}".rstrip(), score
        else:
            about_whom = f"{rater or ''} {name}".strip()
            yield f"judge {about_whom}" if whose else f"{listed}.{about_whom}", score
    if entries and "content" in entries[-1]:
        yield path, str(entries[-1]["content"])


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def _tokens(column: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(column)]


def _kinds(names: Iterable[str]) -> dict[str, RaterKind | None]:
    """Whose answers columns hold by their names; None where a name does not say, or says both.

    Words that only may be people's count where no name says so for sure, and judges' likewise.
    """
    tokens = {name: set(_tokens(name)) for name in names}
    kinds: dict[str, RaterKind | None] = dict.fromkeys(tokens)
    for sure in ("", "maybe_"):
        people, judges = (set(words(f"{sure}{whose}")) for whose in ("people", "judges"))
        known = {*kinds.values()}
        for name, of in tokens.items():
            theirs, its = not of.isdisjoint(people), not of.isdisjoint(judges)
            kind: RaterKind = "human" if theirs else "judge"
            if kinds[name] is None and theirs != its and kind not in known:
                kinds[name] = kind
    return kinds


def _rated(table: _Table, column: str) -> bool:
    """Whether the values of a column may be answers: numbers, or few short words."""
    tokens = [word for word in _tokens(column) if not word.isdigit()]
    if tokens and tokens[-1] in words("no_rating"):
        return False
    given = [value for value in table.values(column) if not is_blank(value)]
    texts = {str(value).strip() for value in given}
    numbers = sum(number_of(value) is not None for value in given)
    few = len(texts) <= 20 and all(len(text) <= 40 for text in texts)
    return bool(given) and (numbers > 0.5 * len(given) or few)


def _texts(table: _Table, column: str) -> list[str]:
    """The different values of a column as text, in the order of the table."""
    return [*dict.fromkeys(str(value).strip() for value in table.values(column) if not is_blank(value))]


def _answers(table: _Table, column: str) -> set[str]:
    """The different answers of a column; numbers and words that pass or fail can be compared and are “”."""
    read = ((text, number_of(text) is None and one_of_two(text) is None) for text in _texts(table, column))
    return {text.lower() if word else "" for text, word in read}


def _no_labels(table: _Table, column: str) -> str:
    """What a column of text holds, in words."""
    texts = _texts(table, column)
    return f"{column} holds {len(texts)} different texts, such as “{texts[0][:40]}”, not labels"


def _of_text(table: _Table) -> list[str]:
    """The columns that are named as a person's or a judge's answers, or labels, and hold text."""
    named = {*words("people"), *words("judges"), *words("maybe_people")} - {*words("gold")}
    return [
        column
        for column in table.columns
        if not named.isdisjoint(tokens := _tokens(column))
        and tokens[-1] not in words("no_rating")
        and column.lower() not in words("raters")
        and len(_texts(table, column)) > 1
        and not _rated(table, column)
    ]


def _long(table: _Table) -> list[_Label]:
    """The labels of a table with a rating a row; none for another."""
    rater, score, item = table.named("raters"), table.named("scores"), table.id
    criterion = table.named("criteria")
    kind = next((column for column in table.columns if _says_whose(table, column)), "")
    if not rater and not any(_kinds(c for c in table.columns if c not in (kind, score)).values()):
        rater = kind
    if not (rater and score and item) or len(set(map(str, table.values(item)))) == len(table.records):
        return []
    names = dict.fromkeys(str(value) for value in table.values(rater) if not is_blank(value))
    stated = {}
    for name, value in zip(table.values(rater), table.values(kind) if kind else (), strict=False):
        if says := _kinds([str(value)])[str(value)]:
            stated[str(name)] = says
    kinds = _whose(table, names, names, stated, f"raters in the column {rater}")
    table.roles |= {"form": "a rating a row", "id": item, "raters": rater, "score": score}
    table.roles |= {"criterion": criterion} if criterion else {}
    table.used = {item, rater, score, kind, criterion}
    labels, first = [], dict[str, int]()
    for place, record in enumerate(table.records):
        if (whose := kinds.get(str(record.get(rater)))) and not is_blank(record.get(item)):
            row = first.setdefault(str(record[item]).strip(), place)
            on = str(record.get(criterion) or "") if criterion else ""
            labels.append(_Label(row, on, str(record[rater]), whose, record.get(score)))
    return labels


def _says_whose(table: _Table, column: str) -> bool:
    """Whether a column of a known name says of every rating whether it is a person's or a judge's."""
    given = {str(value) for value in table.values(column) if not is_blank(value)}
    return column.lower() in words("kinds") and None not in _kinds(given).values() and len(given) > 1


def _wide(table: _Table) -> list[_Label]:
    """The labels of a table with a column a rater, and perhaps a criterion."""
    stated = (*table.options.people, *table.options.judges)
    by_name = {column.lower() for of in _BESIDE for column in words(of)}
    beside = {table.id, *table.options.by, *(c for c in table.columns if c.lower() in by_name)}
    may_be = [c for c in table.columns if c in stated or (c not in beside and _rated(table, c))]
    kinds = _whose(table, may_be, table.columns, {}, "columns")
    judges = [column for column, kind in kinds.items() if kind == "judge"]
    if len(judges) > MOST_JUDGES:
        raise table.refusal(
            f"{len(judges)} columns are taken for judges, such as {judges[0]} and {judges[1]}; at most "
            f"{MOST_JUDGES} are compared. Should they be rows? Else name some.",
            "--judge",
            quote(",".join(judges[:2])),
        )
    for one, other in ((a, b) for a in kinds for b in kinds if (kinds[a], kinds[b]) == ("human", "judge")):
        if table.values(one) == table.values(other) and len(set(map(str, table.values(one)))) > 1:
            table.warnings.append(f"{other} equals {one} in every row: is it a copy?")
    about = _criteria(table, kinds)
    _comparable(table, about)
    if not table.options.judges:
        table.warnings += [
            f"{_no_labels(table, c)}, and is not used" for c in _of_text(table) if c not in kinds
        ]
        if len({criterion for criterion, *_ in about.values()}) == 1:
            _unused(table, may_be, kinds)
    table.roles |= {"id": table.id} if table.id else {}
    table.used = {table.id, *about}
    return [
        _Label(row, *of, record.get(column))
        for row, record in enumerate(table.records)
        for column, of in about.items()
    ]


def _comparable(table: _Table, about: Mapping[str, tuple[str, str, RaterKind]]) -> None:
    """Raises ImportRefused for a column that shares no answer with any other on its criterion.

    Columns of one answer are left out, as are those of formulas, which are told where cells are read.
    """
    if table.options.scales or table.options.passing is not None:
        return
    texts = {column: _texts(table, column) for column in about}
    several = [c for c, of in texts.items() if len(of) > 1 and not of[0].startswith(("=", "#"))]
    answers = {column: _answers(table, column) for column in several}
    for column, own in answers.items():
        others = [c for c in several if c != column and about[c][0] == about[column][0]]
        if not others or any(not own.isdisjoint(answers[other]) for other in others):
            continue
        if text := next((c for c in (column, *others) if not _rated(table, c)), ""):
            raise table.refusal(f"{_no_labels(table, text)}. Name other columns with --human and --judge.")
        one, other = (f"{c} ({', '.join(texts[c][:SHOWN])})" for c in (column, others[0]))
        raise table.refusal(
            f"{one} and {other} share no answer. With --human and --judge name columns that answer the same "
            "question."
        )


def _unused(table: _Table, columns: Sequence[str], kinds: Mapping[str, RaterKind]) -> None:
    """Warns of columns whose names do not say whose they are, with the answers of those that are used."""
    given = {_answer(text) for column in kinds for text in _texts(table, column)}
    by_name = _kinds(columns)
    same = []
    for column in columns:
        own = {*map(_answer, _texts(table, column))}
        labels = own == given or not any(isinstance(answer, float) for answer in own)
        if column not in kinds and by_name[column] is None and len(own) > 1 and own <= given and labels:
            same.append(column)
    if same:
        judges = [*(column for column, kind in kinds.items() if kind == "judge"), *same]
        option = f"judge={judges}" if table.name == FRAME else f"--judge {quote(','.join(judges))}"
        hold = "holds the same answers and is" if len(same) == 1 else "hold the same answers and are"
        whose = "it for a judge" if len(same) == 1 else "them for judges"
        table.warnings.append(f"{', '.join(same)} {hold} not used: {option} takes {whose}")


def _whose(
    table: _Table,
    names: Collection[str],
    known: Collection[str],
    stated: Mapping[str, RaterKind],
    what: str,
) -> dict[str, RaterKind]:
    """The people and judges among columns (or raters): as options say, then as `stated`, then by their names.

    Where options name people, nobody else is one, and judges likewise. Raises NotFound for a name in options
    that is not `known`, ImportRefused where it is not known who the people are, or the judges.
    """
    kinds = {**_kinds(names), **stated}
    options: dict[RaterKind, tuple[str, ...]]
    options = {"human": table.options.people, "judge": table.options.judges, "gold": table.options.gold}
    for kind, own in options.items():
        kinds = {name: None if own and kind == by_name else by_name for name, by_name in kinds.items()}
    for kind, own in options.items():
        for name in own:
            if name not in known:
                raise not_found(what.partition("s")[0], name, known)
            kinds[name] = kind
    kinds = _with_gold(table, kinds)
    people, judges, unsure = (
        [name for name, kind in kinds.items() if kind == wanted] for wanted in ("human", "judge", None)
    )
    vary = [name for name in unsure if name not in table.columns or len({*map(str, table.values(name))}) > 1]
    unsure = vary or unsure
    if judges and (people or table.judges_alone):
        return {name: kind for name, kind in kinds.items() if kind}
    apart: list[str] = []
    if (sure := people or judges) and what == "columns" and not table.options.scales:
        given = {answer for name in sure for answer in _answers(table, name)}
        apart = [name for name in unsure if given.isdisjoint(_answers(table, name))]
    unsure = [name for name in unsure if name not in apart]
    lacking = "a person's" if not people else "a judge's"
    for column in table.columns:
        cell = str(table.values(column)[0])
        if cell.startswith(("[{'", "{'")):
            raise table.refusal(
                f"the column {column} holds objects of Python as text. Write the table as JSON: "
                'frame.to_json(FILE, orient="records").'
            )
        if cell.startswith("=") and column not in kinds:
            raise table.refusal(f"the column {column} holds “{cell[:40]}”: {OF_FORMULAS}.")
    if not unsure:
        columns = ", ".join(table.columns[:12])
        message = f"no {what} are known to be {lacking}, and none is left that could be. It has {columns}."
        if what == "columns":
            message += "".join(f" {_no_labels(table, column)}." for column in _of_text(table)[:SHOWN])
        message += f" No answer of {sure[0]} stands in {', '.join(apart[:8])}." if apart else ""
        same = table.options.command(table.name)
        if judges:
            label = f"{same.replace('check', 'plan', 1)} --out to_label.csv"
            raise table.refusal(message + ("" if table.name == FRAME else f" To label rows, type: {label}"))
        raise table.refusal(
            f"{message} Add a column of a judge's answers, such as “judge”"
            + ("." if table.name == FRAME else f", then type: {same}")
        )
    if len(unsure) == 1 and not people and not judges:
        raise table.refusal(
            f"{unsure[0]} alone could hold answers. People and judges need a column each, or a column that "
            "names the rater of every row."
        )
    theirs, its = (unsure, []) if judges else (unsure[:-1] or unsure, unsure[-1:])
    raise table.refusal(
        f"which {what} are {lacking}? It may be {', '.join(unsure[:8])}.",
        *(() if people else ("--human", quote(",".join(theirs)))),
        *(("--judge", quote(its[0])) if its else ()),
    )


def _with_gold(table: _Table, kinds: Mapping[str, RaterKind | None]) -> dict[str, RaterKind | None]:
    """The kinds with gold labels told from people by their names. Where nobody else is a person, they stand
    for one.

    A name that may be something else, such as “reference”, says it of a column only whose answers people or
    judges give too.
    """
    stated = {*table.options.people, *table.options.judges}
    given = {
        _answer(cell)
        for name, kind in kinds.items()
        if kind and name in table.columns
        for cell in table.values(name)
    }
    gold: dict[str, RaterKind | None] = {
        name: "gold"
        for name, kind in kinds.items()
        if name not in stated
        and (kind == "gold" or (kind != "judge" and not set(words("gold")).isdisjoint(_tokens(name))))
        and (kind or name not in table.columns or {*map(_answer, table.values(name))} <= {"", *given})
    }
    if any(kind == "human" and name not in gold for name, kind in kinds.items()):
        return {**kinds, **gold}
    return {name: "human" if kind == "gold" else kind for name, kind in kinds.items()}


def _answer(cell: Any) -> str | float:
    """A cell as others with the same answer are; “” for none."""
    number = number_of(cell)
    return "" if is_blank(cell) else str(cell).strip().lower() if number is None else number


def _criteria(table: _Table, kinds: Mapping[str, RaterKind]) -> dict[str, tuple[str, str, RaterKind]]:
    """Each column's criterion (“” for the only one), rater and kind."""
    rest = {column: _about(column, table.options.criteria) for column in kinds}
    by = {kind: {rest[c] for c in kinds if kinds[c] == kind} for kind in ("human", "judge")}
    shared = (by["human"] & by["judge"]) - {""}
    if not shared:
        return {column: ("", column, kind) for column, kind in kinds.items()}
    about = {}
    for column, kind in kinds.items():
        if rest[column] in shared:
            of_criterion = set(rest[column].split("_"))
            rater = " ".join(word for word in _tokens(column) if word not in of_criterion) or kind
            about[column] = (rest[column], rater, kind)
    return about


def _about(column: str, criteria: Sequence[str]) -> str:
    """The criterion that a column's name holds beside whose answers they are."""
    tokens = _tokens(column)
    for criterion in criteria:
        if set(_tokens(criterion)) <= set(tokens):
            return "_".join(_tokens(criterion))
    known = {*words("people"), *words("judges"), *words("plain")}
    return "_".join(w for w in tokens if w not in known and not w.isdigit() and len(w) > 1)


def _groups(table: _Table) -> list[str]:
    """The columns that divide the rows into groups: those told, else those with such a name."""
    if table.options.by:
        return list(table.options.by)
    by_name = {column.lower().rpartition("metadata.")[2]: column for column in table.columns}
    columns = [by_name[name] for name in words("groups") if name in by_name]
    several = {c: len({str(v) for v in table.values(c) if not is_blank(v)}) for c in columns}
    most = min(MOST_GROUPS, len(table.records) - 1)
    return [column for column, n in several.items() if 1 < n <= most and column not in table.used]


def _scores(
    table: _Table, labels: Sequence[_Label], keys: Sequence[str]
) -> tuple[dict[str, CellReading], dict[_Label, float]]:
    """How the answers on each criterion are read, and the score of each label, once.

    Raises ImportRefused for answers whose meaning is unsure, and for somebody who answers an item twice,
    otherwise each time.
    """
    readings: dict[str, CellReading] = {}
    by_criterion: dict[str, list[_Label]] = {}
    for label in labels:
        by_criterion.setdefault(label.criterion, []).append(label)
    scores: dict[tuple[int, str, str], tuple[_Label, float]] = {}
    unread: list[str] = []
    for name, own in by_criterion.items():
        declared = table.options.scales.get(name, table.options.scales.get(""))
        cells = [(label.kind, label.rater, label.cell) for label in own if not is_blank(label.cell)]
        readings[name] = reading = reading_of(cells, declared, table.options.passing)
        if reading.problem:
            raise table.refusal(reading.problem, *reading.option)
        for label in own:
            if is_blank(label.cell):
                continue
            if (score := reading.of_rater.get(label.rater, reading.score)(label.cell)) is None:
                unread.append(f"{table.places[label.row]}, {label.rater}: “{str(label.cell)[:40]}”")
            elif (before := scores.setdefault(label[:3], (label, score))[1]) != score:
                raise table.refusal(
                    f"{label.rater} answers “{keys[label.row]}” twice: {before:g} and {score:g}. Keep one."
                )
    if unread:
        one, several = "cell cannot be read and counts", "cells cannot be read and count"
        table.warnings.append(_counted(f"{one} as missing", f"{several} as missing", unread))
        if any("“=" in one or "“#" in one for one in unread):
            table.warnings.append(OF_FORMULAS)
    answered = {label.kind for label, _ in scores.values()}
    for kind, who in (("human", "a person"), ("judge", "a judge")):
        names = dict.fromkeys(label.rater for label in labels if label.kind == kind)
        if kind not in answered and (names or not table.judges_alone):
            examples = f"; {'; '.join(unread[:2])}" if unread else ": all cells are empty"
            advice = f" {OF_FORMULAS}." if OF_FORMULAS in table.warnings else ""
            raise table.refusal(f"no answer of {who} can be read in {', '.join(names)}{examples}.{advice}")
    return readings, dict(scores.values())


def _ratings(table: _Table, labels: Sequence[_Label], long: bool, **how: Unpack[Treatment]) -> LabelTable:
    """The ratings of the labels that can be read."""
    groups = _groups(table)
    keys = _keys(table, groups, long)
    readings, scores = _scores(table, labels, keys)
    of_criterion = {name: name or ("label" if r.scale.named else "score") for name, r in readings.items()}
    alike = len({(r.scale.low, r.scale.high) for r in readings.values()}) == 1
    text, question, length = table.named("texts"), table.named("questions"), table.named("lengths")
    text = "" if text in table.used else text
    player = next((c for c in groups if c.lower().rpartition(".")[2] in words("players")), "")
    brought = Incoming(
        Study(
            Path(table.name).stem,
            tuple(
                Criterion(of_criterion[name], of_criterion[name], reading.scale, counted=alike)
                for name, reading in readings.items()
            ),
            source=FILE,
        ),
        RatingTable.of(
            Given(Unit(keys[one.row]), of_criterion[one.criterion], Rater(one.rater, one.kind), score)
            for one, score in scores.items()
        ),
        {
            keys[row]: _conversation(
                keys[row], table.records[row], {"user": question, "assistant": text}, player, groups
            )
            for row in dict.fromkeys(label.row for label in scores)
        },
    )
    if not long and (empty := len(table.records) - len(brought.conversations)):
        have = "row has" if empty == 1 else "rows have"
        table.warnings.append(f"{empty} {have} no answer at all")
    for whose, kind in WHOSE.items():
        if names := dict.fromkeys(one.rater for one in labels if one.kind == kind):
            table.roles[whose] = ", ".join(names)
    shown = [*dict.fromkeys(filter(None, (question, text)))]
    ignored = [c for c in table.columns if c not in {*table.used, *groups, *shown, length}]
    for role, columns in (
        ("criteria", [*readings] if len(readings) > 1 else []),
        ("length", [length] if length else []),
        ("group", groups),
        ("text", shown if text else []),
        ("ignored", [*ignored[:8], *(["…"] if len(ignored) > 8 else [])]),
    ):
        table.roles |= {role: ", ".join(columns)} if columns else {}
    table.roles |= {of_criterion[name]: readings[name].description for name in [*readings][:6]}
    together = ("scenario",) if "scenario" in groups else ()
    usual: Treatment = {"exclude_refused": False, "cluster_by": together}
    usual.update(how)
    measured = _measured(table, brought, **usual)
    if not length:
        return measured
    of_key = {key: number_of(record.get(length)) for key, record in zip(keys, table.records, strict=True)}
    lengths = [of_key[measured.keys[unit]] for unit in measured.features["unit"].tolist()]
    chars = np.array(lengths, dtype=np.float64)
    return replace(measured, features={**measured.features, "reply_chars": chars})


def _keys(table: _Table, groups: Sequence[str], long: bool) -> list[str]:
    """The id of each row. Ids that come again are told apart by the groups, else refused."""
    if not table.id:
        return [f"row {number}" for number in range(1, len(table.records) + 1)]
    ids = ["" if is_blank(value) else str(value).strip() for value in table.values(table.id)]
    ids = [key or f"row {number}" for number, key in enumerate(ids, 1)]
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


def _conversation(
    key: str, record: Mapping[str, Any], columns: Mapping[Role, str], player: str, groups: Sequence[str]
) -> Conversation:
    """What a row says of an answer: its question and text, who wrote it, its groups."""
    texts = ((role, record.get(column)) for role, column in columns.items() if column)
    facets = {column: record.get(column) for column in groups if column != player}
    return Conversation(
        "",
        key,
        str(record.get(player) or "unknown") if player else "unknown",
        tuple(Message(role, str(text)) for role, text in texts if not is_blank(text)),
        facets={column: str(value).strip() for column, value in facets.items() if not is_blank(value)},
    )


def _counted(one: str, several: str, which: Sequence[str]) -> str:
    """A warning with the number of places and the first of them."""
    what = one if len(which) == 1 else several
    return f"{len(which)} {what}: {'; '.join(which[:SHOWN])}{' …' if len(which) > SHOWN else ''}"


def _grid(book: Any) -> list[tuple[Any, ...]]:
    """The cells of the first sheet of a workbook of openpyxl, row by row, which is closed.

    How large the sheet says it is is not believed: some writers state one cell.
    """
    with closing(book):
        sheet = book.worksheets[0]
        sheet.reset_dimensions()
        return list(sheet.values)


def _sheet(path: Path) -> Iterator[FileRow]:
    """The rows of the first sheet of an Excel file; of a formula its value, or itself where it has none."""
    if (size := path.stat().st_size) > FILE_BYTES:
        raise ImportRefused(f"{path} ({size:,} bytes) is larger than {FILE_BYTES:,} bytes. Split it.")
    try:
        import openpyxl

        with zipfile.ZipFile(path) as archive:
            if (size := sum(part.file_size for part in archive.infolist())) > FILE_BYTES:
                raise ImportRefused(f"{path} takes {size:,} bytes unpacked. Split it.")
        sheets = [_grid(openpyxl.load_workbook(path, read_only=True, data_only=of)) for of in (True, False)]
        lines = [
            [
                getattr(formula, "text", formula) if value is None else value
                for value, formula in zip_longest(*both)
            ]
            for both in zip_longest(*sheets, fillvalue=())
        ]
    except ImportError:
        raise ImportRefused(
            f"{path} is a spreadsheet: install Concord with its extra “excel”, or save the sheet as CSV."
        ) from None
    except (OSError, ValueError, KeyError, IndexError, TypeError, SyntaxError, zipfile.BadZipFile) as error:
        raise ImportRefused(f"{path} cannot be read as a spreadsheet: {str(error)[:200]}.") from error
    names = ["" if name is None else str(name).strip() for name in (lines or [[]])[0]]
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise ImportRefused(f"{path}, row 1: two columns are called {twice[0]}. Rename one of them.")
    for number, cells in enumerate(lines[1:], 2):
        if any(cell is not None for cell in cells):
            named = {name: cell for name, cell in zip_longest(names, cells) if name}
            yield FileRow(f"{path}, row {number}", named)
