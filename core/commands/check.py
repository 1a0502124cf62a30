"""`concord check FILE`: how far a table of labels lets one trust its judges, without a workspace."""

from collections.abc import Callable
from datetime import date
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, cast

import click

from concord.commands import options
from concord.commands.printing import columns, echo

if TYPE_CHECKING:
    from concord.exchange.columns import TableOptions

WIDTH = 100
"""Columns of the answer where the terminal's are not known."""


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How a table is read: `reading`, a `concord.exchange.columns.TableOptions`."""

    @wraps(command)
    def read(*args: Any, **given: Any) -> Any:
        from concord.exchange.columns import TableOptions  # loads numpy

        names = ("human", "judge", "id", "by", "criterion", "scales", "passing", "gold")
        return command(*args, reading=TableOptions(*(given.pop(name) for name in names)), **given)

    options_of: Any = read
    for option in (
        options.several("--human", "Columns (or raters of a long table) that are people's."),
        options.several("--judge", "Columns (or raters of a long table) that are judges'."),
        options.several("--gold", "Columns (or raters of a long table) of gold labels, taken for right."),
        click.option("--id", default="", help="The column of ids; “none” numbers the rows."),
        options.several("--by", "Columns that divide the rows into groups, such as a model."),
        options.several("--criterion", "The criterion, as names of columns have it: fluency."),
        options.scales("the values do not show it"),
        click.option("--pass-from", "passing", type=float, help="Numbers pass from here on."),
    ):
        options_of = option(options_of)
    return cast(Callable[..., Any], options_of)


@click.command("check")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--labels",
    "people",
    metavar="LABELS",
    type=click.Path(path_type=Path),
    help="A second table with people's answers, joined by id.",
)
@click.option("--labels-id", default="", help="The column of ids of LABELS, where it is called otherwise.")
@table_options
@click.option("-v", "--verbose", is_flag=True, help="The whole overview instead of a screen.")
@options.several("--section", "Sections of the report; “all” for every one.")
@click.option(
    "--html", type=click.Path(path_type=Path), help="Write the report as one file that a browser opens."
)
@options.form()
@options.resamples("items")
@options.seed
def command(
    file: Path,
    people: Path | None,
    labels_id: str,
    verbose: bool,
    section: tuple[str, ...],
    html: Path | None,
    form: str,
    resamples: int,
    seed: int,
    reading: "TableOptions",
) -> None:
    """How far judges can be trusted, from one table of labels: CSV, TSV, Parquet, JSON, JSON Lines, Excel.

    A row is an answer, with what people said and what judges said in columns; or a row is a rating. People
    may have answered a part of the rows. Nothing is written but a report that --html names.
    """
    import json

    from concord.exchange import joined, labels
    from concord.reports import screen
    from concord.reports.agreement_report import Options, report_of

    join = None
    if people is None:
        table = labels.read(file, reading)
    else:
        table, join = joined.read(file, people, reading, labels_id=labels_id)
    report = report_of(table.of, Options(resamples=resamples, seed=seed), table.features)
    on = reading.criterion
    if html is not None:
        from concord.reports import page  # loads the templates

        text = page.page(
            report,
            table.keys,
            table.texts,
            made=date.today(),
            criterion=on,
            read=table.columns,
            warnings=table.warnings,
        )
        html.write_text(text, encoding="utf-8")
        echo(f"The report is in {html}.", err=True)
    if form == "json":
        whole = screen.screen_json(report, taken=table.columns, left_out=table.warnings, criterion=on)
        whole |= {"join": join.as_json()} if join else {}
        echo(json.dumps(whole, ensure_ascii=False, indent=2))
    elif section or verbose or form != "table":
        echo(report.document(form, sections=section, criterion=on, width=columns(WIDTH)), nl=False)
    else:
        same = f"concord check {quote(str(file))}"
        same += f" --labels {quote(str(people))}" if people else ""
        shown = on or report.main
        others = [name for name in report.criteria if name != shown]
        more = [*(f"{same} --criterion {quote(name)}" for name in others[:2]), f"{same} --html report.html"]
        more.append(f"{same} --section groups,distribution")
        echo(
            screen.screen(
                report,
                taken=table.columns,
                left_out=table.warnings,
                next_commands=more,
                criterion=on,
                width=min(columns(WIDTH), 120),
            ),
            nl=False,
        )
