"""`concord check FILE`: how far a table of labels lets one trust its judges, without a workspace."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import wraps
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any, cast

import click

from concord.codes import Advice, Claim
from concord.commands import options
from concord.commands.printing import columns, echo, write_text

if TYPE_CHECKING:
    from concord.reading.drawn import LabelSource
    from concord.reading.options import TableOptions
    from concord.reports.agreement_report import AgreementReport

OPTIONS = {
    "human": "people",
    "judge": "judges",
    "gold": "gold",
    "id": "id",
    "text": "text",
    "by": "group_columns",
    "criterion": "criteria",
    "rater": "rater",
    "score": "score",
    "kind": "kind",
    "criterion_column": "criterion_column",
    "run": "run",
    "missing": "missing",
    "categories": "categories",
    "scales": "scales",
    "passing": "passing",
    "excluded": "excluded",
}
"""Options of commands, and the fields of `TableOptions` that they fill."""
NOT_REPEATED = {"--section", "--html", "--format", "--resamples", "--seed"}
"""Options that a next command does not need."""
NOT_OF_PLAN = {*NOT_REPEATED, "--labels", "--labels-id", "--weight", "--strata", "--look", "--agreement"}
"""Options that `concord plan` does not take, or takes in another sense."""
WIDTH = 100
"""Columns of the answer where the terminal's are not known."""


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How a table is read: `reading`, a `concord.reading.options.TableOptions`."""

    @wraps(command)
    def read(*args: Any, **values: Any) -> Any:
        from concord.reading.options import TableOptions, order_of  # loads numpy

        settings = {option: values.pop(name) for name, option in OPTIONS.items()}
        settings["order"] = order_of(values.pop("order"))
        return command(*args, reading=TableOptions(**settings), **values)

    options_of: Any = read
    for option in (
        options.several("--human", "Columns of annotators (or raters, in a table with one rating per row)."),
        options.several("--judge", "Columns of judges (or raters, in a table with one rating per row)."),
        options.several("--gold", "Columns (or raters) of gold labels, which count as right."),
        click.option("--id", default="", help="The column of ids; “none” numbers the rows."),
        click.option("--text", default="", help="The column of the rated text."),
        options.several("--by", "Columns that divide the rows into groups, such as a model."),
        click.option(
            "--exclude",
            "excluded",
            multiple=True,
            metavar="COLUMN=VALUE",
            callback=lambda _context, _option, texts: tuple(map(group, texts)),
            help="A group of rows to exclude, such as topic=medical; may be repeated.",
        ),
        options.several("--criterion", "The criterion, as in the column names: fluency."),
        click.option("--rater", default="", help="In a table with one rating per row: the column of raters."),
        click.option(
            "--score", default="", help="In a table with one rating per row: the column of answers."
        ),
        click.option(
            "--kind", default="", help="In a table with one rating per row: the column with human or judge."
        ),
        click.option("--criterion-column", default="", help="The column with the criterion of each row."),
        click.option("--run", default="", help="The column with the number of a judge's run."),
        options.several("--missing", "Values that mean a missing answer, such as -1; “none”: no value does."),
        options.several(
            "--categories", "The answers, if they have no order, such as numbers used as names: 1,2,3."
        ),
        click.option("--order", default="", help="The order of the answers: “poor<fair<good”."),
        options.scales("the values do not show it"),
        click.option("--pass-from", "passing", type=float, help="Numbers from here on are a pass."),
    ):
        options_of = option(options_of)
    return cast(Callable[..., Any], options_of)


def group(text: str) -> tuple[str, str]:
    """The column and the value of “topic=medical”. Raises click.BadParameter."""
    from concord.errors import ConfigError
    from concord.reading.options import group_of  # loads numpy

    try:
        return group_of(text)
    except ConfigError as error:
        raise click.BadParameter(str(error)) from error


def criterion_called(criteria: Iterable[str], name: str) -> str:
    """A criterion's name as the table has it, for one that is stated in any case."""
    return next((one for one in criteria if one.casefold() == name.casefold()), name)


def label_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where people's labels come from and how their rows were drawn: `source`, a `LabelSource`."""

    @wraps(command)
    def read(*args: Any, **values: Any) -> Any:
        from concord.reading.drawn import LabelSource  # loads numpy

        names = ("people", "labels_id", "weight", "strata")
        return command(*args, source=LabelSource(*(values.pop(name) for name in names)), **values)

    options_of: Any = read
    weight = "A column: how many rows each labelled row represents, for labels that are not a random sample."
    strata = "A column, or a judge, whose values are the strata of the labelled sample."
    for option in (
        click.option("--strata", default="", metavar="COLUMN|JUDGE", help=strata),
        click.option("--weight", default="", metavar="COLUMN", help=weight),
        click.option("--labels-id", default="", help="The column of ids in LABELS, if it differs."),
        click.option(
            "--labels",
            "people",
            metavar="LABELS",
            type=click.Path(path_type=Path),
            help="A second table with annotators' labels, joined by id.",
        ),
    ):
        options_of = option(options_of)
    return cast(Callable[..., Any], options_of)


def next_commands(
    report: "AgreementReport", criterion: str, file: Path, typed: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """What to type after the answer on a criterion, as the answer advises it.

    `typed` are the options of the command that gave the answer; each next command has those that it takes.
    """

    def check(option: str, value: str) -> str:
        excluded = typed.get("--exclude", ()) if option == "--exclude" else ()
        changed = {name: texts for name, texts in typed.items() if name not in NOT_REPEATED}
        return command_line("check", file, changed | {option: (*excluded, value)})

    criteria = [name for name in report.criteria if name != criterion]
    commands = [*(check("--criterion", name) for name in criteria[:2]), check("--html", "report.html")]
    verdict = report.verdict(criterion)
    failing = [flag for flag in verdict.flags if flag.failing]
    if failing:
        commands.append(check("--exclude", "=".join(failing[0].group)))
    elif verdict.advice == Advice.EXCLUDE_JUDGE:
        rest = [judge for judge in verdict.members if judge not in verdict.exclude]
        commands.append(check("--judge", ",".join(rest)))
    elif verdict.advice == Advice.CHECK_ANNOTATOR:
        annotators = report.ratings.people
        rest = [annotators[place] for place in report.ratings[criterion].people.tolist()]
        commands.append(check("--human", ",".join(name for name in rest if name != verdict.decided_by)))
    elif verdict.advice in (Advice.LABEL_MORE, Advice.ADD_ANNOTATOR):
        plan = {name: texts for name, texts in typed.items() if name not in NOT_OF_PLAN}
        if any(flag.claim == Claim.RARE for flag in verdict.flags):
            plan["--draw"] = ("by_answer",)
        commands.append(command_line("plan", file, plan | {"--out": ("to_label.csv",)}))
    else:
        commands.append(check("--section", "groups,distribution"))
    return commands


def command_line(command: str, file: Path, options_: Mapping[str, tuple[str, ...]]) -> str:
    """A command on a file as it is typed in a shell; an option with several texts is repeated."""
    words = ["concord", command, str(file)]
    for option, texts in options_.items():
        for text in texts:
            words += [option, text]
    return join(words)


@click.command("check", cls=options.Repeatable)
@click.pass_context
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@label_options
@table_options
@click.option("-v", "--verbose", is_flag=True, help="Print the whole overview instead of one screen.")
@options.several("--section", "Sections of the report; “all” for every one.")
@click.option("--html", type=click.Path(path_type=Path), help="Write the report as one HTML file.")
@options.look
@options.agreement
@options.form()
@options.resamples("items")
@options.seed
def command(
    context: click.Context,
    file: Path,
    verbose: bool,
    section: tuple[str, ...],
    html: Path | None,
    form: str,
    resamples: int,
    seed: int,
    look: int,
    agreement: Any,
    reading: "TableOptions",
    source: "LabelSource",
) -> None:
    """Say how far you can trust judges, from one table of labels: CSV, TSV, Parquet, JSON, JSON Lines, Excel.

    A row is an item, with a column per annotator and per judge; or a row is one rating. Annotators may have
    labelled a part of the rows. Only --html writes a file.
    """
    import json

    from concord.llm.families import families_of_names
    from concord.reading import drawn
    from concord.reports import screen
    from concord.reports.agreement_report import Options, report_of

    table, labels = drawn.read(file, reading, source)
    models = {*table.data.judges, *map(str, table.data.of_units("player").values())}
    families = families_of_names(sorted(models))
    options_ = Options(resamples=resamples, seed=seed, look=look, agreement=agreement, families=families)
    report = report_of(table.data, options_, table.features)
    criterion_name = criterion_called(report.criteria, reading.criterion)
    if html is not None:
        from concord.reports import page  # loads the templates

        text = page.page(
            report,
            table.keys,
            table.texts,
            date_made=date.today(),
            criterion=criterion_name,
            read=table.columns,
            warnings=table.warnings,
        )
        write_text(html, text)
        echo(f"The report is in {html}.", err=True)
    if form == "json":
        document = screen.screen_json(
            report, provenance=table.columns, left_out=table.warnings, criterion=criterion_name
        )
        document |= {"join": labels.as_json()} if labels else {}
        echo(json.dumps(document, ensure_ascii=False, indent=2))
    elif section or verbose or form != "table":
        echo(
            report.document(form, sections=section, criterion=criterion_name, width=columns(WIDTH)), nl=False
        )
    else:
        main = criterion_name or report.main
        suggestions = next_commands(report, main, file, options.typed(context))
        echo(
            screen.screen(
                report,
                provenance=table.columns,
                left_out=table.warnings,
                next_commands=suggestions,
                criterion=criterion_name,
                width=min(columns(WIDTH), 120),
            ),
            nl=False,
        )
