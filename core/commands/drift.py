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
    import pandas as pd

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
@table_options
@outcomes.form
def command(old: Path, new: Path, margin: float | None, form: str, reading: "TableOptions") -> None:
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
            scores, scale = _common(tables, criterion.name, judge), criterion.scale
            before, after = scores.before.to_numpy(), scores.after.to_numpy()
            ends = (min(scale.low, *before, *after), max(scale.high, *before, *after))
            allowed = margin or MARGIN * (ends[1] - ends[0])
            drift = statistics.drift(before, after, allowed, ends)
            outcomes_.append(unchanged(f"{judge} on {criterion.name}", drift))
            for line in _flips(tables[1], scores, scale) if form == "text" else ():
                echo(line)
    if not outcomes_:
        raise ImportRefused(
            f"{old} and {new} have no judge in common: {', '.join(tables[0].of.judges) or 'none'} and "
            f"{', '.join(tables[1].of.judges) or 'none'}. Name the column of both with --judge."
        )
    outcomes.conclude("concord drift", outcomes_, form, str(new))


def _common(tables: Sequence["LabelTable"], criterion: str, judge: str) -> "pd.DataFrame":
    """A judge's scores of the items that both tables have, before and after, by their keys, in the order of
    the second table.
    """
    import pandas as pd

    scores = {}
    for when, table in zip(("before", "after"), tables, strict=True):
        rows = table.of.table.query("rater == @judge and criterion == @criterion")
        of_unit = rows.groupby("unit").score.last()
        scores[when] = pd.Series({key: of_unit.get(unit) for unit, key in table.keys.items()}, dtype=float)
    return pd.DataFrame(scores).loc[[*tables[1].keys.values()]].dropna()


def _flips(table: "LabelTable", scores: "pd.DataFrame", scale: "Scale") -> list[str]:
    """The items whose scores changed most, a line each."""
    texts = {table.keys[unit]: " ".join(text.split())[:70] for unit, text in table.texts.items()}
    changes = (scores.after - scores.before).abs().rename_axis("key").reset_index(name="by")
    changed = changes[changes.by > 0].sort_values(["by", "key"], ascending=[False, True]).key
    lines = [
        f"{key}: {scale.word(scores.before[key])} → {scale.word(scores.after[key])}  {texts[key]}".rstrip()
        for key in changed[:SHOWN]
    ]
    more = len(changed) - SHOWN
    return [*lines, f"… and {more} more items."] if more > 0 else lines
