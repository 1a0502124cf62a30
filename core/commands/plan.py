"""`concord plan FILE`: how many rows to label, which ones, and what it costs, before anybody labels."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from concord.codes import LabelDraw, PlanFigure
from concord.commands import options
from concord.commands.check import table_options
from concord.commands.printing import columns, echo
from concord.errors import ConcordError
from concord.table import FORMS, as_document

if TYPE_CHECKING:
    from concord.reading.labels import LabelTable
    from concord.reading.options import TableOptions
    from concord.reports.plan import LabelPlan

_price = click.FloatRange(min=0)


@click.command("plan")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--for",
    "figure",
    type=click.Choice([figure.value for figure in PlanFigure]),
    default=PlanFigure.AGREEMENT.value,
    show_default=True,
    help=(
        "The purpose of the labels: agreement with annotators, the corrected pass rate or mean, "
        "sensitivity, specificity, or whether the judge is as good as another annotator."
    ),
)
@click.option(
    "--width",
    "half_width",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    help="The goal: an interval of ± this; for rates, 0.05 means 5 percentage points.",
)
@click.option(
    "--bar", type=float, default=None, help=("The goal: show that the figure is above or below this.")
)
@click.option(
    "--expect",
    "agreement",
    type=click.FloatRange(0, 1, max_open=True),
    default=None,
    help="The agreement (κ or ρ) to plan with; default: that of the labels in FILE, or 0.7.",
)
@options.number("--annotators", 1, "Annotators on each row.", minimum=1)
@click.option("--price", type=_price, default=0.0, help="The price of a label.")
@click.option("--seconds", type=_price, default=0.0, help="Seconds per label.")
@click.option(
    "--judge-price", type=_price, default=0.0, help="The price of judging a row, all judges together."
)
@click.option(
    "--rows",
    "log",
    type=click.IntRange(1),
    default=None,
    help="The number of all rows: shows the precision and cost of judging a part of them.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the rows to label, as CSV.")
@click.option(
    "--draw",
    type=click.Choice([draw.value for draw in LabelDraw]),
    default=LabelDraw.RANDOM.value,
    show_default=True,
    help="How --out samples: at random, or with more of the judge's rarer answer, with weights.",
)
@click.option(
    "--labels", type=click.IntRange(1), default=None, help="The number of rows to label, if there is no goal."
)
@table_options
@options.form()
@options.seeded("draws the same rows")
def command(
    file: Path,
    figure: str,
    half_width: float | None,
    bar: float | None,
    agreement: float | None,
    annotators: int,
    price: float,
    seconds: float,
    judge_price: float,
    log: int | None,
    out: Path | None,
    draw: str,
    labels: int | None,
    form: str,
    seed: int,
    reading: "TableOptions",
) -> None:
    """Say how many rows to label, which ones, and at what cost, from a judge's scores alone or a pilot.

    FILE has the judge's answers, and possibly some annotators'. Without a goal (--width or --bar) the tables
    show the width of the intervals. --out writes the rows to label without the judge's answers: fill the
    column human from the top, as far as you get, then `concord check FILE --labels OUT`.
    """
    from concord.reading import labels as label_tables
    from concord.reports.plan import PlanOptions, plan

    if half_width is not None and bar is not None:
        raise ConcordError("Give either --width or --bar.")
    table = label_tables.read(file, reading, people=False)
    plan_options = PlanOptions(
        PlanFigure(figure),
        half_width,
        bar,
        agreement,
        annotators,
        price,
        seconds,
        judge_price,
        log or 0,
        labels or 0,
    )
    label_plan = plan(table.data, reading.criterion, next(iter(reading.judges), ""), plan_options)
    if form == FORMS[0]:
        for sentence in label_plan.sentences:
            echo(sentence)
        echo()
    echo(as_document(label_plan.tables, form, width=columns(100)), nl=False)
    if out is not None:
        _write(out, table, label_plan, LabelDraw(draw), labels or 0, seed)


def _write(
    target: Path, table: "LabelTable", plan: "LabelPlan", draw: LabelDraw, labels: int, seed: int
) -> None:
    """Write the rows to label: id, groups and text, an empty column `human`, and each row's weight."""
    from concord.files import write_csv

    if target.exists():
        raise ConcordError(f"{target} exists; labels in it would be lost. Name another file.")
    sample = plan.rows(draw, labels, seed)
    players = table.data.of_units("player")
    groups: dict[str, Mapping[Any, str]] = {**table.data.facets}
    if len({*players.values()}) > 1:
        groups = {"model": players, **groups}
    rows: list[Sequence[object]] = [["id", *groups, "response", "human", "weight"]]
    for place, weight in zip(sample.places.tolist(), sample.weights.tolist(), strict=True):
        unit: Any = plan.units[place]
        context = [values_of_unit.get(unit, "") for values_of_unit in groups.values()]
        rows.append([table.keys[unit], *context, table.texts.get(unit, ""), "", f"{weight:.6g}"])
    try:
        with target.open("w", encoding="utf-8", newline="") as stream:
            write_csv(stream, rows)
    except OSError as error:
        raise ConcordError(f"{target} cannot be written: {error.strerror}. Name another file.") from error
    echo(f"{len(rows) - 1} rows to label are in {target}, in the order to label them.", err=True)
