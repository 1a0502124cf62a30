"""Options that several commands share, so that they mean and default to the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from concord.commands.printing import echo
from concord.errors import ConcordError, StudyError, not_found
from concord.table import FORMS

if TYPE_CHECKING:
    from sqlite_utils import Database

    from concord.workspace import Workspace


MOST_RESAMPLES = 100_000
"""More draws than this move no end of an interval that one would print."""

Facets = dict[str, tuple[str, ...]]
"""The values allowed, by name, as `--where` gives them."""

F = TypeVar("F", bound=Callable[..., Any])


class _Names(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions of click
    name = "A,B,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        return value if isinstance(value, tuple) else names(value)


NAMES = _Names()
"""Names separated by commas, as a tuple."""


class Repeatable(click.Command):
    """A command that can be printed again as it was typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the options as texts, before they are converted."""
        ctx.meta[_TYPED] = self.make_parser(ctx).parse_args(list(args))[0]
        return super().parse_args(ctx, args)


_TYPED = "concord.typed"


def typed(context: click.Context) -> dict[str, tuple[str, ...]]:
    """The options that a user typed after a `Repeatable` command, each with its texts, flags excluded."""
    options: dict[str, tuple[str, ...]] = {}
    for parameter in context.command.params:
        value = context.meta[_TYPED].get(parameter.name)
        if isinstance(parameter, click.Option) and not parameter.is_flag and value is not None:
            options[parameter.opts[0]] = tuple(value) if parameter.multiple else (value,)
    return options


def workspace(folder: str) -> Workspace:
    """Open a workspace. Where there was none one is made, and said to be: it may be the wrong folder."""
    from concord.workspace import Workspace

    exists = Workspace(Path(folder).expanduser().resolve()).db_path.exists()
    workspace_ = Workspace.open(folder)
    if not exists:
        echo(f"Created a workspace in {workspace_.path}; use --workspace for another folder.", err=True)
    return workspace_


def form(*forms: str) -> Callable[[F], F]:
    """`--format`: how tables are written, as text unless asked otherwise."""
    choices = ["table", *forms] if forms else list(FORMS)
    return click.option("--format", "form", type=click.Choice(choices), default="table", show_default=True)


def several(name: str, help: str, *, required: bool = False) -> Callable[[F], F]:
    """An option that takes names separated by commas, as a tuple."""
    return click.option(name, type=NAMES, required=required, default=None if required else (), help=help)


def number(
    name: str, default: int, help: str, *, minimum: int = 0, maximum: int | None = None
) -> Callable[[F], F]:
    """An option that takes a whole number within bounds."""
    return click.option(
        name, type=click.IntRange(minimum, maximum), default=default, show_default=True, help=help
    )


def resamples(noun: str) -> Callable[[F], F]:
    """`--resamples`: bootstrap draws of what is drawn."""
    return number("--resamples", 1000, f"Bootstrap draws of {noun}.", maximum=MOST_RESAMPLES)


def seeded(effect: str) -> Callable[[F], F]:
    """`--seed`: the same seed gives the same result."""
    return number("--seed", 0, f"The same seed {effect}.")


seed = seeded("gives the same intervals")


def reason(help: str = "The reason; it is stored with the time and the name.") -> Callable[[F], F]:
    """`--reason`, without which nothing is decided."""
    return click.option("--reason", required=True, help=help)


def figures(noun: str) -> Callable[[F], F]:
    """How figures are measured and written: `form`, `resamples` (draws of what is drawn) and `seed`."""
    return lambda command: form()(resamples(noun)(seed(command)))


def judging(command: F) -> F:
    """How judges are asked: `version` of the prompt and `judge_repeats`."""
    help_text = "Version of the judge's prompt; default: the benchmark's own."
    repeats = number("--judge-repeats", 1, "Times a judge is asked the same.", minimum=1)
    return click.option("--version", default="", help=help_text)(repeats(command))


def filters(noun: str) -> Callable[[F], F]:
    """`--where`, which may be repeated: only what has these values of a facet, language, player or prompt."""
    return click.option(
        "--where",
        "facets",
        multiple=True,
        metavar="FACET=A,B",
        callback=lambda _context, _option, texts: dict(map(facet, texts)),
        help=f"Only {noun} with these values, such as language=en or character=tully,pilot; may be repeated.",
    )


def benchmark_option(command: F) -> F:
    """`--benchmark`: whose conversations."""
    help_text = "The benchmark of the conversations; required if the workspace has several."
    return click.option("--benchmark", default="", help=help_text)(command)


def only_benchmark(db: Database) -> str:
    """The benchmark of all stored conversations. Raises StudyError where there is none, or several."""
    from concord.store import conversations

    known_benchmarks = conversations.values(db)["benchmark"]
    if len(known_benchmarks) == 1:
        return known_benchmarks[0]
    if not known_benchmarks:
        raise StudyError("There are no conversations. Generate some with `concord run`, or import some.")
    raise StudyError(
        f"The workspace holds several benchmarks. Choose one with --benchmark: {', '.join(known_benchmarks)}."
    )


def benchmark_of(db: Database, name: str) -> str:
    """The benchmark of stored conversations that is named, or the only one. Raises NotFound, StudyError."""
    from concord.store import conversations

    if not name:
        return only_benchmark(db)
    if name not in (known_benchmarks := conversations.values(db)["benchmark"]):
        raise not_found("benchmark with conversations", name, known_benchmarks)
    return name


def table(command: F) -> F:
    """What a leaderboard is made of: `facets`, `judges` and `weights`."""
    panel = "The panel; default: every judge that answered the benchmark's own version of the prompt."
    help_text = "Weights of the criteria in the overall score; default: equal."
    command = click.option("--weights", metavar="1,2,1", default="", help=help_text)(command)
    return filters("conversations")(several("--judges", panel)(command))


def _usual_margin() -> float:
    from concord.statistics.claims import MARGIN  # loads numpy

    return MARGIN


def look(command: F) -> F:
    """`look`: which look at a growing table this is, 0 where it is looked at once."""
    return click.option(
        "--look",
        type=click.IntRange(1),
        default=None,
        metavar="K",
        callback=lambda _context, _option, value: value or 0,
        help="Which look at a growing table or study this is, of at most five: each widens the verdict's "
        "interval. All looks together are wrong in about 5% of studies, in 2.5% where the first one is "
        "look 1. Looks at a study are counted.",
    )(command)


def agreement(command: F) -> F:
    """`agreement`: whether the verdict on scores is about their order, or about their level as well."""
    return click.option(
        "--agreement",
        type=click.Choice(["order", "absolute"]),
        default="order",
        help="The verdict on scores: by their order (Spearman's ρ), or by order and level (κ with "
        "quadratic weights).",
    )(command)


def measuring(command: F) -> F:
    """How a study is measured: `keep_refused`, `cluster_by`, `people`,
    `cuts`, `scales`, `margin`, `look` and `agreement`.
    """
    alike = (
        "Resample items with the same values of these facets together: character,situation. "
        "Default: items of one scenario; “none”: single items."
    )
    people = (
        "Which annotators intervals cover: those of the study, or annotators like them (default "
        "if at least five rated half of the items each)."
    )
    help_text = "Count conversations in which a judge saw a refusal."
    cut = "Scores from here on are a pass (default: the middle of the scale); may be repeated."
    scale = (
        "The scale on which annotators and judges answer a criterion (1..5 alone: every one), "
        "instead of the study's; may be repeated."
    )
    for option in (
        click.option(
            "--cluster",
            "cluster_by",
            type=NAMES,
            default=None,
            metavar="FACET,…",
            callback=lambda _context, _option, value: () if value == ("none",) else value,
            help=alike,
        ),
        click.option("--people", type=click.Choice(["these", "like-these"]), default=None, help=people),
        click.option("--keep-refused", is_flag=True, help=help_text),
        click.option(
            "--margin",
            type=click.FloatRange(0, 2),
            default=None,
            callback=lambda _context, _option, value: _usual_margin() if value is None else value,
            help=(
                "The margin: how much lower than another annotator's a judge's agreement may be; 0.1 "
                "by default."
            ),
        ),
        look,
        agreement,
        click.option(
            "--cut",
            "cuts",
            multiple=True,
            metavar="CRITERION=SCORE",
            callback=lambda _context, _option, texts: tuple(map(cut_of, texts)),
            help=cut,
        ),
        _scales(tuple, scale),
    ):
        command = option(command)
    return command


def scales(condition: str) -> Callable[[F], F]:
    """`--scale CRITERION=1..5`, which may be repeated: the scales of criteria, by name (“”: of every one)."""
    alone = f"The scale of a criterion (1..5 alone: of all), if {condition}; "
    return _scales(dict, f"{alone}with words: CRITERION=1:bad,2:good.")


def _scales(container: type[tuple[Any, ...]] | type[dict[Any, Any]], help: str) -> Callable[[F], F]:
    """`--scale`, its criteria with their scales kept as a tuple of pairs or as a dict."""

    def read(_context: click.Context, _option: click.Parameter, texts: Sequence[str]) -> Any:
        if not texts:
            return container()
        from concord.studies.scales import named_scale  # loads numpy

        return container(map(named_scale, texts))

    return click.option(
        "--scale", "scales", multiple=True, metavar="CRITERION=1..5", callback=read, help=help
    )


def names(text: str) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(name for part in text.split(",") if (name := part.strip()))


def facet(text: str) -> tuple[str, tuple[str, ...]]:
    """The name and the values of `FACET=A,B`. Raises ConcordError."""
    name, _, values = text.partition("=")
    if not name.strip() or not names(values):
        raise ConcordError(
            f"“{text}” is not of the form FACET=VALUE, such as language=en or character=tully,pilot."
        )
    return name.strip(), names(values)


def cut_of(text: str) -> tuple[str, float]:
    """The criterion and the score of `CRITERION=SCORE`. Raises ConcordError."""
    from concord.studies.scales import of_criterion  # loads numpy

    criterion, score = of_criterion(text)
    try:
        cut = float(score)
    except ValueError:
        cut = math.nan
    if not criterion or not math.isfinite(cut):
        raise ConcordError(f"“{text}” is not of the form CRITERION=SCORE, such as fluency=4.")
    return criterion, cut


def pairs(_context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE, which may be repeated, as a mapping."""
    for text in texts:
        if not all(part.strip() for part in text.partition("=")):
            raise ConcordError(f"{option.opts[0]} {text}: it must be NAME=VALUE.")
    return {name.strip(): value.strip() for name, _, value in (text.partition("=") for text in texts)}


def roles(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """NAME=ROLE as a mapping of names in lower case."""
    role_of_column = pairs(context, option, texts)
    for name, role in role_of_column.items():
        if role not in ROLES:
            raise ConcordError(f"--role {name}={role}: it must be one of {', '.join(ROLES)}.")
    return {name.lower(): role for name, role in role_of_column.items()}


ROLES = ("system", "user", "assistant", "tool")

LAKE = ("rubric", "out", "workers", "cluster", "shard", "keep", "name", "mapping", "roles", "partition")
"""The options of `lake`."""


def lake(command: F) -> F:
    """How files of conversations are judged: what `LAKE` names."""
    for option in (
        click.option("--rubric", default="", metavar="R", help="With --out: a rubric, by name or as a file."),
        click.option("--out", default="", metavar="DIR", help="Judge files; write the answers here."),
        click.option(
            "--workers", type=click.IntRange(1), default=None, help="With --out: processes of this machine."
        ),
        click.option(
            "--cluster", metavar="tcp://…", default="", help="With --out: the workers of this Dask scheduler."
        ),
        click.option(
            "--shard",
            default="",
            metavar="I/N",
            help="With --out: only the I-th of N parts, by hash of keys.",
        ),
        several("--keep", "With --out: columns kept beside answers, NAME or NAME=PATH."),
        click.option(
            "--name", default="", help="With --out: the name that conversations have in a workspace (lake)."
        ),
        click.option(
            "--map",
            "mapping",
            multiple=True,
            metavar="NAME=PATH",
            callback=pairs,
            help="With --out: where something lies in a row, as in `concord import conversations`.",
        ),
        click.option(
            "--role",
            "roles",
            multiple=True,
            metavar="NAME=user",
            callback=roles,
            help="With --out: who a speaker is, as in `concord import conversations`.",
        ),
        click.option(
            "--partition",
            type=click.IntRange(1),
            default=None,
            help="With --out: conversations of a partition, about (1000).",
        ),
    ):
        command = option(command)
    return command
