"""`concord compare-systems FILE`: which of several systems annotators would score higher, by one judge."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from concord.commands import options
from concord.commands.check import table_options
from concord.commands.printing import show
from concord.errors import ConcordError

if TYPE_CHECKING:
    from concord.reading.options import TableOptions


@click.command("compare-systems")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--system", default="", metavar="COLUMN", help="The column of systems: model, system or player."
)
@click.option("--against", default="", metavar="NAME", help="Compare each system with this one only.")
@click.option(
    "--paired/--unpaired",
    "paired",
    default=None,
    help="Whether to compare systems item by item; default: if most items have both.",
)
@table_options
@options.form()
def command(
    file: Path, system: str, against: str, paired: bool | None, form: str, reading: "TableOptions"
) -> None:
    """Say which of several systems annotators would score higher, from one judge and some labels.

    A row of FILE is a system's answer to an item: an id that the systems share, the system, the judge's
    score, and on some rows the annotators' score. The labels correct the judge's difference.
    """
    from concord.reading import labels, sources
    from concord.reports.system_pairs import system_tables

    table = sources.read(file)
    table.options = reading
    column = system or table.listed_column("players")
    if not column:
        names = ", ".join([*table.columns][:12])
        raise ConcordError(f"{file}: which column has the systems? It has {names}. Add: --system COLUMN")
    item = table.id
    key_columns = (column, *(name for name in reading.group_columns if name != column))
    other_columns = (column, item) if item and item != column else (column,)
    read = labels.read(
        file, replace(reading, group_columns=key_columns, other_columns=other_columns), people=False
    )
    if not read.other_cells:
        raise ConcordError(
            f"{file} has one rating per row (Concord's own format). Give a table with one answer per row."
        )
    cells = [*read.other_cells.values()]
    tables = system_tables(
        read.data,
        cells[0],
        cells[1] if len(cells) > 1 else {},
        criterion=reading.criterion,
        judge=next(iter(reading.judges), ""),
        against=against,
        paired=paired,
    )
    show(tables, form)
