"""`concord drift OLD NEW`: whether a judge that judged the same items again gives the same scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from concord.commands import outcomes
from concord.commands.check import table_options
from concord.commands.printing import echo
from concord.errors import ImportRefused
from concord.reports.gate import Tested

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from concord.exchange.columns import TableOptions
    from concord.exchange.labels import LabelTable
    from concord.questions import Scale

SHOWN = 10
"""So many flips are named."""
MARGIN = 0.1
"""Of the width of the scale, the change that counts as none unless told."""


@click.command("drift", cls=outcomes.OutcomeCommand)
@click.argument("old", metavar="OLD", type=click.Path(path_type=Path))
@click.argument("new", metavar="NEW", type=click.Path(path_type=Path))
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    help="A mean change of at most so many points counts as none; a tenth of the scale unless given.",
)
@click.option(
    "--every-look",
    is_flag=True,
    help="NEW grows and is looked at again and again: intervals hold at each look.",
)
@table_options
@outcomes.form
def command(
    old: Path, new: Path, margin: float | None, every_look: bool, form: str, reading: "TableOptions"
) -> None:
    """Exit with 2 unless every judge is shown to score the same items as before: OLD and NEW are two tables.

    Items are matched by their ids. The mean change has to lie within ± the margin with its 90% interval (a
    test of equivalence): a judge that was not shown to be the same does not pass. 0 is passed, 1 that it
    could not run. The items whose scores changed most are listed with their texts.
    """
    from concord.exchange import labels
    from concord.reports.gate import unchanged
    from concord.statistics import drift as statistics

    tables = [labels.read(path, reading, people=False) for path in (old, new)]
    asked = tables[0].of.study.criteria
    judges = [judge for judge in tables[0].of.judges if judge in tables[1].of.judges]
    outcomes_: list[Tested] = []
    for criterion in (c for c in asked if c.name in (reading.criteria or [c.name for c in asked])):
        for judge in judges:
            keys, before, after = _common(tables, criterion.name, judge)
            ends = (min(criterion.scale.low, *before, *after), max(criterion.scale.high, *before, *after))
            allowed = margin or MARGIN * (ends[1] - ends[0])
            drift = statistics.drift(before, after, allowed, ends, every_look=every_look)
            outcomes_.append(unchanged(f"{judge} on {criterion.name}", drift))
            for line in _flips(tables[1], keys, before, after, criterion.scale) if form == "text" else ():
                echo(line)
    if not outcomes_:
        raise ImportRefused(
            f"{old} and {new} have no judge in common: {', '.join(tables[0].of.judges)} and "
            f"{', '.join(tables[1].of.judges)}. Name the column of both with --judge."
        )
    outcomes.conclude("concord drift", outcomes_, form, str(new))


def _common(
    tables: Sequence["LabelTable"], criterion: str, judge: str
) -> tuple[list[str], "npt.NDArray[np.float64]", "npt.NDArray[np.float64]"]:
    """The keys of items that both tables have, in the order of the second, and the judge's two scores."""
    import numpy as np

    old, new = (
        {
            table.keys[unit]: score
            for unit, rater, on, score in zip(
                *(table.of.column(name).tolist() for name in ("unit", "rater", "criterion", "score")),
                strict=True,
            )
            if (rater, on) == (judge, criterion)
        }
        for table in tables
    )
    keys = [key for key in tables[1].keys.values() if key in old and key in new]
    before, after = (np.array([scores[key] for key in keys], dtype=np.float64) for scores in (old, new))
    return keys, before, after


def _flips(
    table: "LabelTable",
    keys: Sequence[str],
    before: "npt.NDArray[np.float64]",
    after: "npt.NDArray[np.float64]",
    scale: "Scale",
) -> list[str]:
    """The items whose scores changed most, a line each."""
    texts = {table.keys[unit]: " ".join(text.split())[:70] for unit, text in table.texts.items()}
    changed = [
        (-abs(new - old), key, f"{key}: {scale.word(old)} → {scale.word(new)}  {texts.get(key, '')}".rstrip())
        for key, old, new in zip(keys, before, after, strict=True)
        if new != old
    ]
    lines = [line for *_, line in sorted(changed)[:SHOWN]]
    more = len(changed) - SHOWN
    return [*lines, f"… and {more} more items."] if more > 0 else lines
