"""Counts of a judge's answers in a lake: by group and score, however many rows there are.

Files are read a batch at a time; what is kept grows with groups and scores, not with rows.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from concord.errors import ImportRefused, StudyError, not_found
from concord.lake.plan import ANSWER_COLUMNS
from concord.statistics.corrected import Moments

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 200_000
"""Rows that are counted at once."""
MOST_GROUPS = 5_000
MISSING = "(none)"
"""The value of a group where a row has none."""
UNITS = ("day", "week", "month")


class GroupColumn(NamedTuple):
    """A column by which answers are grouped; of a time its day, week or month where `unit` says so."""

    column: str
    unit: str = ""

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.column} ({self.unit})" if self.unit else self.column

    def value(self, text: str | None) -> str:
        """The group of a value."""
        if text is None or text == "":
            return MISSING
        if not self.unit:
            return text
        return period(text, self.unit) or MISSING


def by_of(texts: Sequence[str]) -> tuple[GroupColumn, ...]:
    """The columns that --by names: NAME, or NAME:week of a time. Raises StudyError."""
    columns = []
    for text in texts:
        column, _, unit = text.partition(":")
        if unit and unit not in UNITS:
            raise StudyError(f"--by {text}: write {column}:day, {column}:week or {column}:month.")
        columns.append(GroupColumn(column, unit))
    return tuple(columns)


_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def period(text: str, unit: str) -> str:
    """The day, ISO week or month of a time as ISO 8601 writes it; “” for what is no time."""
    parts = _DATE.match(text)
    if not parts:
        return ""
    try:
        day = date(*map(int, parts.groups()))
    except ValueError:
        return ""
    if unit == "day":
        return day.isoformat()
    if unit == "month":
        return f"{day:%Y-%m}"
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


def first_values(part: Path, columns: Sequence[str]) -> dict[str, list[str]]:
    """Values of columns at the beginning of a file of answers; none of a file that cannot be read."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(part) as file:
            batch = next(file.iter_batches(FIRST_ROWS, columns=list(columns)), None)
    except (OSError, pa.ArrowException):
        batch = None
    if batch is None:
        return {column: [] for column in columns}
    return {column: [text for text in batch.column(column).to_pylist() if text] for column in columns}


FIRST_ROWS = 100

Group = tuple[str, ...]


@dataclass
class AnswerCounts:
    """What a judge answered on a criterion: how often each score by group, failures by their class.

    `chars` are sums of the length of replies and of its square, over `replies` rows. `sampled` are the rows
    of the keys that were asked for: key and turn with score, groups and length.
    """

    columns: tuple[GroupColumn, ...]
    scores: dict[Group, Counter[float]] = field(default_factory=lambda: defaultdict(Counter))
    failures: dict[Group, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    refusals: int = 0
    chars: float = 0.0
    squares: float = 0.0
    sampled: dict[tuple[str, int | None], tuple[float, Group, int]] = field(default_factory=dict)
    configurations: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)

    @property
    def replies(self) -> int:
        """Rows with a score."""
        return sum(counts.total() for counts in self.scores.values())

    @property
    def failed(self) -> int:
        """Rows without one."""
        return sum(counts.total() for counts in self.failures.values())

    def moments(self, group: Mapping[int, str] = {}) -> Moments:
        """Those of the scores of a group, by the places of columns with their values; of all unless given."""
        return Moments.of_counts(self.of_group(group))

    def of_group(self, group: Mapping[int, str] = {}) -> Counter[float]:
        """How often each score stands in a group."""
        total = Counter[float]()
        for values, counts in self.scores.items():
            if all(values[place] == value for place, value in group.items()):
                total.update(counts)
        return total

    def failed_in(self, group: Mapping[int, str] = {}) -> int:
        """Failures in a group."""
        return sum(
            counts.total()
            for values, counts in self.failures.items()
            if all(values[place] == value for place, value in group.items())
        )

    def values(self, place: int) -> dict[str, int]:
        """The values of a column with the number of rows, those with a score."""
        counts_by = Counter[str]()
        for values, counts in self.scores.items():
            counts_by[values[place]] += counts.total()
        return dict(sorted(counts_by.items()))

    def length(self) -> Moments:
        """Those of the length of replies."""
        n = self.replies
        mean = self.chars / n if n else math.nan
        return Moments(n, mean, max(self.squares / n - mean**2, 0.0) if n else math.nan)


def count(
    parts: Sequence[Path], criterion: str, groupings: Sequence[GroupColumn] = (), keys: Collection[str] = ()
) -> AnswerCounts:
    """Count the answers of files on a criterion, and read those of some keys.

    Raises StudyError for a column that the files do not have, or that has too many values, ImportRefused for
    a file that cannot be read.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = AnswerCounts(tuple(groupings))
    target = pa.array(sorted(keys), pa.string())
    columns = ["key", "turn", "score", "failure_class", "refused", "chars", "configuration", "model"]
    for batch in _batches(parts, criterion, [*columns, *dict.fromkeys(one.column for one in groupings)]):
        _add(counts, batch, groupings)
        if len(counts.scores) > MOST_GROUPS:
            raise StudyError(
                f"{' and '.join(one.name for one in groupings)} make more than {MOST_GROUPS:,} groups. "
                "Group a time by its week, NAME:week."
            )
        if len(target):
            for row in batch.filter(pc.is_in(batch.column("key"), value_set=target)).to_pylist():
                if row["score"] is not None:
                    group = tuple(one.value(row[one.column]) for one in groupings)
                    counts.sampled[row["key"], row["turn"]] = (row["score"], group, row["chars"])
    return counts


def _batches(parts: Sequence[Path], criterion: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The rows on a criterion, ROWS or so at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import dataset

    if not parts:
        return
    try:
        full = dataset.dataset([str(part) for part in parts], format="parquet")
        names = set(full.schema.names)
        if lacking := [name for name in columns if name not in names]:
            inner = sorted(names - ANSWER_COLUMNS.keys())
            raise StudyError(
                f"{not_found('column', lacking[0], inner)} Columns of the files are kept with `concord judge "
                "… --keep NAME`."
            )
        selection = pc.field("criterion") == criterion
        scanner = full.scanner(
            columns=list(columns), filter=selection, batch_readahead=4, fragment_readahead=2
        )
        waiting: list[pa.RecordBatch] = []
        rows = 0
        for batch in scanner.to_batches():
            waiting.append(batch)
            rows += batch.num_rows
            if rows >= ROWS:
                yield pa.Table.from_batches(waiting)
                waiting = []
                rows = 0
        if rows:
            yield pa.Table.from_batches(waiting)
    except (OSError, pa.ArrowException) as error:
        raise ImportRefused(f"The answers cannot be read: {str(error).splitlines()[0][:200]}.") from error


def _add(counts: AnswerCounts, table: pa.Table, columns: Sequence[GroupColumn]) -> None:
    """Count a batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for one in columns:
        if one.unit:
            place = table.schema.get_field_index(one.column)
            days = pc.utf8_slice_codeunits(table.column(one.column), 0, 10)
            table = table.set_column(place, one.column, days)
    chars = table.column("chars").cast(pa.float64())
    squares = pc.multiply(chars, chars)
    table = table.append_column("_squares", squares)
    names = list(dict.fromkeys(one.column for one in columns))
    grouped = table.group_by([*names, "score", "failure_class", "configuration", "model"]).aggregate(
        [("key", "count"), ("chars", "sum"), ("_squares", "sum"), ("refused", "sum")]
    )
    for row in grouped.to_pylist():
        group: Group = tuple(one.value(row[one.column]) for one in columns)
        number = row["key_count"]
        counts.refusals += row["refused_sum"] or 0
        counts.configurations[row["configuration"]] += number
        counts.models[row["model"]] += number
        if row["score"] is None:
            counts.failures[group][row["failure_class"]] += number
        else:
            counts.scores[group][row["score"]] += number
            counts.chars += row["chars_sum"]
            counts.squares += row["_squares_sum"]
