"""`concord gate` and `concord drift`, with an exit code each: whether judges agree with people well enough;
whether a judge that judged the same items again gives the same scores.

0 is fine, 2 a finding, 1 that it could not run, a mistake in the call included.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from concord.commands import options
from concord.commands.check import table_options
from concord.commands.printing import echo
from concord.errors import ConcordError, ImportRefused

if TYPE_CHECKING:
    import pandas as pd

    from concord.exchange.columns import TableOptions
    from concord.exchange.labels import LabelTable
    from concord.questions import Scale
    from concord.reports.gate import Tested

SHOWN = 10
"""So many flips are named."""
MARGIN = 0.1
"""Of the width of the scale, the change that counts as none unless told."""

FINDING = 2
"""How a command exits whose judges did not pass."""
STATISTICS = ("spearman", "kendall", "pearson", "alpha", "weighted-kappa", "kappa")


_form = click.option(
    "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True
)


class OutcomeCommand(click.Command):
    """A command whose mistakes in the call exit with 1: 2 is a finding."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """The context; what is wrong in a call says so."""
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise click.ClickException(error.format_message()) from error


@click.command("gate", cls=OutcomeCommand)
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option("--study", default="", metavar="NAME", help="A study of the workspace, in place of a file.")
@click.option(
    "--min-agreement",
    "least",
    required=True,
    type=click.FloatRange(-1, 1),
    help="What the lower end of the interval has to reach.",
)
@click.option(
    "--statistic",
    type=click.Choice(STATISTICS),
    default=None,
    help="How agreement with people is measured; default: Cohen's κ of two answers and of categories, else "
    "Spearman's ρ.",
)
@options.several("--judges", "One judge, or several as a panel; unless given, the panel of all.")
@table_options
@_form
@options.resamples("items")
@options.seed
@click.pass_obj
def command(
    workspace: str,
    /,
    file: Path | None,
    study: str,
    least: float,
    statistic: Any,
    judges: tuple[str, ...],
    form: str,
    resamples: int,
    seed: int,
    reading: "TableOptions",
) -> None:
    """Exit with 2 unless judges agree with people at least so well: in FILE, or in a study of the workspace.

    0 is passed, 1 that it could not run. The lower end of the 95% interval counts, so that few items do not
    pass by luck. An agreement that is undefined, or has no interval, does not pass. One sentence says what
    was measured.

    Correlations, alpha and weighted kappa compare with the mean of people; kappa, and alpha of categories,
    with their majority.
    """
    if file and study:
        raise ConcordError("Name a FILE of labels or a study of the workspace, not both.")
    from concord.exchange import labels
    from concord.reports.agreement_report import Options, agreement_report, report_of
    from concord.reports.gate import gate
    from concord.workspace import Workspace

    report_options = Options(resamples=resamples, seed=seed)
    if file is not None:
        table = labels.read(file, reading)
        report, within = report_of(table.of, report_options, table.features), f" in {file.name}"
    else:
        with Workspace.open(workspace, create=False).read() as db:
            if not study:
                raise ConcordError("Name a FILE of labels, or a study of the workspace with --study.")
            report, within = agreement_report(db, study, report_options), f" in the study {study}"
    on = reading.criterion
    outcome = gate(report, least, criterion=on, judges=judges, statistic=statistic, within=within)
    _conclude("concord gate", [outcome], form)


@click.command("drift", cls=OutcomeCommand)
@click.argument("old", metavar="OLD", type=click.Path(path_type=Path))
@click.argument("new", metavar="NEW", type=click.Path(path_type=Path))
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    help="A mean change of at most so many points counts as none; a tenth of the scale unless given.",
)
@table_options
@_form
def drift(old: Path, new: Path, margin: float | None, form: str, reading: "TableOptions") -> None:
    """Exit with 2 unless every judge is shown to score the same items as before: OLD and NEW are two tables.

    Items are matched by their ids. The mean change has to lie within ± the margin with its 90% interval (a
    test of equivalence): a judge that was not shown to be the same does not pass. 0 is passed, 1 that it
    could not run. The items whose scores changed most are listed with their texts.
    """
    from concord.exchange import labels
    from concord.reports.gate import unchanged
    from concord.statistics import drift as statistics

    tables = [labels.read(path, reading, people=False) for path in (old, new)]
    criteria = tables[0].of.study.criteria
    judges = [judge for judge in tables[0].of.judges if judge in tables[1].of.judges]
    outcomes: list[Tested] = []
    for criterion in (c for c in criteria if c.name in (reading.criteria or [c.name for c in criteria])):
        for judge in judges:
            scores, scale = _common(tables, criterion.name, judge), criterion.scale
            before, after = scores.before.to_numpy(), scores.after.to_numpy()
            ends = (min(scale.low, *before, *after), max(scale.high, *before, *after))
            allowed = margin or MARGIN * (ends[1] - ends[0])
            change = statistics.drift(before, after, allowed, ends)
            outcomes.append(unchanged(f"{judge} on {criterion.name}", change))
            for line in _flips(tables[1], scores, scale) if form == "text" else ():
                echo(line)
    if not outcomes:
        raise ImportRefused(
            f"{old} and {new} have no judge in common: {', '.join(tables[0].of.judges) or 'none'} and "
            f"{', '.join(tables[1].of.judges) or 'none'}. Name the column of both with --judge."
        )
    _conclude("concord drift", outcomes, form)


def _conclude(suite: str, outcomes: Sequence["Tested"], form: str) -> None:
    """Print outcomes and end: with FINDING where one did not pass."""
    if form == "json":
        whole = {"suite": suite, "outcomes": [one._asdict() for one in outcomes]}
        echo(json.dumps(whole, ensure_ascii=False))
    else:
        for one in outcomes:
            echo(f"{'Passed' if one.passed else 'Not passed'}: {one.message}", err=not one.passed)
    if not all(one.passed for one in outcomes):
        sys.exit(FINDING)


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
