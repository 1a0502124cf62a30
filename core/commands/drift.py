"""`concord drift`: whether a judge still judges as it did, from two tables, two columns, or a stream.

0 is fine, 2 a finding, 1 that it could not run, a mistake in the call included.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from concord.commands.check import table_options
from concord.commands.gate import FINDING, OutcomeCommand, conclude, outcome_form
from concord.commands.printing import columns, echo
from concord.errors import ConcordError, ImportRefused

if TYPE_CHECKING:
    import pandas as pd

    from concord.questions import Scale
    from concord.reading.labels import LabelTable
    from concord.reading.options import TableOptions
    from concord.reports.gate import Tested

MOST_SHOWN = 10
"""So many flips are named."""
MARGIN = 0.1
"""Of the width of the scale, the change that counts as none unless told."""


def _range(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[float, float] | None:
    """The ends of LOW..HIGH. Raises click.BadParameter."""
    if text is None:
        return None
    low, _, high = text.partition("..")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = (1.0, 0.0)
    if not ends[0] < ends[1]:
        raise click.BadParameter(f"“{text}” is not a range, such as 0.55..0.65.")
    return ends


@click.command("drift", cls=OutcomeCommand)
@click.argument("old", metavar="OLD", type=click.Path(path_type=Path))
@click.argument("new", metavar="[NEW]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    help=(
        "The largest mean change, in points, that counts as no change; default: a tenth of the scale; "
        "with --follow, no margin."
    ),
)
@click.option("--follow", is_flag=True, help="Read the table (NEW, or the only one) as a stream: see above.")
@click.option(
    "--min-agreement",
    "least",
    type=click.FloatRange(0, 1),
    default=None,
    help="With --follow: the least share of equal answers.",
)
@click.option(
    "--pass-rate",
    "rate",
    metavar="LOW..HIGH",
    default=None,
    callback=_range,
    help="With --follow: the range of the judge's pass rate (for scores, of its mean).",
)
@click.option("--time", default="", metavar="COLUMN", help="With --follow: sort the rows by this column.")
@table_options
@outcome_form
def command(
    old: Path,
    new: Path | None,
    margin: float | None,
    follow: bool,
    least: float | None,
    rate: tuple[float, float] | None,
    time: str,
    form: str,
    reading: "TableOptions",
) -> None:
    """Exit with 2 unless every judge is shown to score the same items as before.

    OLD and NEW are two tables; ids match their items. A single table has the scores of both times in two
    columns: --judge judge_may,judge_june names the earlier one first. A judge passes if the 90% interval of
    its mean change lies within ± the margin (a test of equivalence). The command lists the items whose scores
    changed most, with their texts.

    With --follow a table is a stream of judgements in the order of its rows, some with people's answers. Look
    at it as often as you like: over all looks, the probability of a false alarm is at most 5%. It exits with
    2 once agreement, or the judge's pass rate, is shown to have changed, or to have left the limits of
    --min-agreement, --pass-rate or the table OLD. Otherwise it exits with 0.

    0 is passed, 1 that it could not run.
    """
    if follow:
        _follow(old, new, margin or 0.0, least, rate, time, form, reading)
        return
    for option, value in (("--min-agreement", least), ("--pass-rate", rate), ("--time", time)):
        if value not in (None, ""):
            raise ConcordError(f"{option} needs --follow.")
    pairs, last = _columns(old, reading) if new is None else _tables(old, new, reading)
    outcomes: list[Tested] = []
    from concord.reports.gate import unchanged
    from concord.statistics import drift as statistics

    for pair, scores, scale in pairs:
        before = scores.before.to_numpy()
        after = scores.after.to_numpy()
        ends = (min(scale.low, *before, *after), max(scale.high, *before, *after))
        allowed = margin or MARGIN * (ends[1] - ends[0])
        outcomes.append(unchanged(pair, statistics.drift(before, after, allowed, ends)))
        for line in _flips(last, scores, scale) if form == "text" else ():
            echo(line)
    conclude("concord drift", outcomes, form)


Pair = tuple[str, "pd.DataFrame", "Scale"]
"""What is compared, the scores before and after of each item, and their scale."""


def _criteria(table: "LabelTable", reading: "TableOptions") -> list[tuple[str, "Scale"]]:
    """The criteria that are looked at, with their scales. Raises NotFound."""
    from concord.errors import check_known

    criteria = {one.name: one.scale for one in table.data.study.criteria}
    check_known("criterion", reading.criteria, criteria)
    return [(name, scale) for name, scale in criteria.items() if name in (reading.criteria or criteria)]


def _tables(old: Path, new: Path, reading: "TableOptions") -> tuple[list[Pair], "LabelTable"]:
    """Each judge of both tables on each criterion, and the table that has the texts."""
    from concord.reading import labels

    tables = [labels.read(path, reading, people=False) for path in (old, new)]
    judges = [judge for judge in tables[0].data.judges if judge in tables[1].data.judges]
    if not judges:
        raise ImportRefused(
            f"{old} and {new} have no judge in common: {', '.join(tables[0].data.judges) or 'none'} and "
            f"{', '.join(tables[1].data.judges) or 'none'}. Name the column of both with --judge."
        )
    pairs = []
    for name, scale in _criteria(tables[0], reading):
        for judge in judges:
            before, after = (_scores(table, name, judge) for table in tables)
            pairs.append((f"{judge} on {name}", _common(before, after, tables[1]), scale))
    return pairs, tables[1]


def _columns(path: Path, reading: "TableOptions") -> tuple[list[Pair], "LabelTable"]:
    """Two judges of one table on each criterion, the earlier first. Raises ImportRefused for one or three."""
    from concord.reading import labels

    table = labels.read(path, reading, people=False)
    judges = [judge for judge in reading.judges if judge in table.data.judges]
    # As the columns stand in the file: the earlier one is taken to stand first.
    judges = judges or [*table.data.table.query("kind == 'judge'").rater.drop_duplicates()]
    if len(judges) != 2:
        names = ", ".join(judges) or "none"
        judge_count = "1 judge" if len(judges) == 1 else f"{len(judges)} judges"
        raise ImportRefused(
            f"{path} has {judge_count} to compare: {names}. Give two columns, the earlier first: --judge "
            f"{','.join((*judges, 'EARLIER', 'LATER')[:2])}. Or give a second table, or --follow."
        )
    earlier, later = judges
    pairs = []
    for name, scale in _criteria(table, reading):
        before, after = (_scores(table, name, judge) for judge in (earlier, later))
        pairs.append((f"{earlier} → {later} on {name}", _common(before, after, table), scale))
    return pairs, table


def _scores(table: "LabelTable", criterion: str, judge: str) -> "pd.Series":
    """A judge's score of each item, by its key."""
    import pandas as pd

    rows = table.data.table.query("rater == @judge and criterion == @criterion")
    of_unit = rows.groupby("unit").score.last()
    return pd.Series({key: of_unit.get(unit) for unit, key in table.keys.items()}, dtype=float)


def _common(before: "pd.Series", after: "pd.Series", table: "LabelTable") -> "pd.DataFrame":
    """The scores of the items that have both, in the order of a table."""
    import pandas as pd

    return pd.DataFrame({"before": before, "after": after}).reindex([*table.keys.values()]).dropna()


def _flips(table: "LabelTable", scores: "pd.DataFrame", scale: "Scale") -> list[str]:
    """The items whose scores changed most, a line each."""
    texts = {table.keys[unit]: " ".join(text.split())[:70] for unit, text in table.texts.items()}
    changes = (scores.after - scores.before).abs().rename_axis("key").reset_index(name="by")
    changed = changes[changes.by > 0].sort_values(["by", "key"], ascending=[False, True]).key
    lines = [
        f"{key}: {scale.word(scores.before[key])} → {scale.word(scores.after[key])}  {texts[key]}".rstrip()
        for key in changed[:MOST_SHOWN]
    ]
    rest = len(changed) - MOST_SHOWN
    return [*lines, f"… and {rest} more items."] if rest > 0 else lines


def _follow(
    old: Path,
    new: Path | None,
    margin: float,
    least: float | None,
    rate: tuple[float, float] | None,
    time: str,
    form: str,
    reading: "TableOptions",
) -> None:
    """Print where a stream is, and exit with FINDING where something was shown."""
    from concord.reading import labels
    from concord.reports.stream import RangeSource, RatedTable, sentences, stream_table
    from concord.table import as_markdown, as_text, as_values

    if old is not None and new is not None and (least is not None or rate is not None):
        raise ConcordError("Use either a table OLD or --min-agreement and --pass-rate.")

    def rated(source: Any) -> RatedTable:
        table = labels.read(source, reading, people=False)
        criteria[:] = [name for name, _ in _criteria(table, reading)]
        return RatedTable(table.data, table.keys)

    criteria: list[str] = []
    reference = None if new is None else rated(old)
    rows = _sorted(new or old, time) if time else (new or old)
    stream = rated(rows)
    expected = RangeSource(
        agreement=None if least is None else (least, 1.0), rate=rate, table=reference, margin=margin
    )
    table, has_findings = stream_table(stream, criteria, expected, name=str(new or old))
    if form == "json":
        document = as_values(table) | {"suite": "concord drift --follow", "passed": not has_findings}
        echo(json.dumps(document, ensure_ascii=False))
    elif form == "markdown":
        from concord.reports.gate import Tested, comment

        suite = "concord drift --follow"
        echo(comment(suite, [Tested("", not has_findings, sentence) for sentence in sentences(table)]))
        echo(as_markdown(table))
    else:
        echo(as_text(table, columns(100)))
        for sentence in sentences(table):
            echo(f"{'Not passed' if has_findings else 'Passed'}: {sentence}", err=has_findings)
    if has_findings:
        sys.exit(FINDING)


def _sorted(path: Path, time: str) -> Sequence[Mapping[str, Any]]:
    """The rows of a file by a column of times or numbers. Raises ImportRefused, NotFound."""
    from concord.errors import not_found
    from concord.reading import sources
    from concord.reading.cells import number_of

    table = sources.read(path)
    rows = table.records
    if time not in table.columns:
        raise not_found("column", time, table.columns)
    numbers = [number for row in rows if (number := number_of(row.get(time))) is not None]
    if len(numbers) == len(rows):
        return [rows[place] for place in sorted(range(len(rows)), key=numbers.__getitem__)]
    import pandas as pd

    times = pd.to_datetime([str(row.get(time)) for row in rows], format="ISO8601", utc=True, errors="coerce")
    if (wrong := times.isna()).any():
        place = int(wrong.argmax())
        raise ImportRefused(
            f"{path}, {table.place(place)}: “{str(rows[place].get(time) or '')[:40]}” in {time} is not a "
            "time. Write times as 2026-03-31, 2026-03-31T12:00 or numbers."
        )
    return [rows[place] for place in times.argsort(kind="stable")]
