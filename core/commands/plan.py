"""`concord plan FILE`: how many rows to label, and which first, before any label exists."""

import random
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from concord.commands import options
from concord.commands.check import table_options
from concord.commands.printing import columns, echo
from concord.errors import ImportRefused

if TYPE_CHECKING:
    from concord.exchange.columns import TableOptions

PERSON = "human"
"""The column that a person fills."""


@click.command("plan")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@table_options
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write the rows in the order to label them, as CSV."
)
@options.form()
@options.seeded("gives the same order")
def command(file: Path, out: Path | None, form: str, seed: int, reading: "TableOptions") -> None:
    """How many rows a person should label, from a table of judges' answers: what intervals labels would give.

    With --out the rows are written in a random order, with an empty column “human” in front: fill it from the
    top, as far as you get, and call `concord check` on it. A random order makes what is labelled a random
    sample, whenever one stops; rows chosen otherwise would make the judge look better or worse than it is.
    """
    import numpy as np

    from concord.exchange import labels
    from concord.files import write_csv
    from concord.statistics.planning import expected
    from concord.table import as_document

    table = labels.read(file, reading, people=False)
    scores = table.of
    if not scores.judges:
        raise ImportRefused(f"{file} has no answers of a judge to plan from. Name their column with --judge.")
    judge = scores.judges[0]
    made = expected(np.asarray(scores.column("score")[scores.column("rater") == judge], dtype=np.float64))
    echo(as_document([made], form, width=columns(100)), nl=False)
    if out is None:
        echo(f"\nNext: concord plan {quote(str(file))} --out to_label.csv", err=True)
        return
    given = [*table.records]
    random.Random(seed).shuffle(given)
    names = [name for name in dict.fromkeys(name for row in given for name in row) if name != PERSON]
    with out.open("w", encoding="utf-8", newline="") as text:
        write_csv(text, [(PERSON, *names), *(("", *(row.get(name) for name in names)) for row in given)])
    echo(
        f"{len(given)} rows are in {out}: fill the column “{PERSON}” from the top, then concord check {out}",
        err=True,
    )
