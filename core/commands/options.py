"""Options that several commands share, so that they mean and default to the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from core.errors import ConcordError
from core.table import FORMS

MOST_RESAMPLES = 100_000
"""More draws than this move no end of an interval that one would print."""

Facets = dict[str, tuple[str, ...]]
"""The values allowed, by name, as `--where` gives them."""

F = TypeVar("F", bound=Callable[..., Any])


def form(*forms: str) -> Callable[[F], F]:
    """`--format`: how tables are written, as text unless asked otherwise."""
    offered = ["table", *forms] if forms else list(FORMS)
    return click.option("--format", "form", type=click.Choice(offered), default="table", show_default=True)


def replaced(old: str, new: str) -> Callable[[F], F]:
    """A former option, refused by a sentence that names the new one."""

    def refuse(_context: click.Context, _option: click.Parameter, given: object) -> None:
        if given is not None:
            raise ConcordError(f"{old} is now {new}.")

    return click.option(old, hidden=True, expose_value=False, callback=refuse)


def several(name: str, help: str, *, required: bool = False) -> Callable[[F], F]:
    """An option that takes names separated by commas, as a tuple."""
    return click.option(
        name,
        metavar="A,B,…",
        required=required,
        callback=lambda _context, _option, given: names(given),
        help=help,
    )


def resamples(of: str) -> Callable[[F], F]:
    """`--resamples`: bootstrap draws of what is drawn."""
    return click.option(
        "--resamples",
        type=click.IntRange(0, MOST_RESAMPLES),
        default=1000,
        show_default=True,
        help=f"Bootstrap draws of {of}.",
    )


def seeded(what: str) -> Callable[[F], F]:
    """`--seed`: the same seed gives the same result."""
    return click.option(
        "--seed", type=click.IntRange(0), default=0, show_default=True, help=f"The same seed {what}."
    )


seed = seeded("gives the same intervals")


def figures(of: str) -> Callable[[F], F]:
    """How figures are measured and written: `form`, `resamples` (draws of what is drawn) and `seed`."""
    return lambda command: form()(resamples(of)(seed(command)))


def judging(command: F) -> F:
    """How judges are asked: `version` of the prompt and `judge_repeats`."""
    command = click.option(
        "--judge-repeats",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Times a judge is asked the same.",
    )(command)
    return click.option(
        "--version", default="", help="Version of the judge's prompt; the benchmark's own unless given."
    )(command)


def where(what: str) -> Callable[[F], F]:
    """`--where`, which may be repeated: only what has these values of a facet, language, player or prompt."""
    return click.option(
        "--where",
        "facets",
        multiple=True,
        metavar="FACET=A,B",
        callback=lambda _context, _option, given: dict(map(facet, given)),
        help=f"Only {what} with these values, such as language=en or character=tully,pilot; may be repeated.",
    )


def table(command: F) -> F:
    """What a leaderboard is made of: `facets`, `judges` and `weights`."""
    command = click.option(
        "--weights",
        metavar="1,2,1",
        default="",
        help="Weights of the criteria in final; all alike unless given.",
    )(command)
    command = several(
        "--judges",
        "The panel; unless given, every judge who answered the benchmark's own version of the prompt.",
    )(command)
    return where("conversations")(replaced("--language", "--where language=VALUE")(command))


def measuring(command: F) -> F:
    """How a study is measured: `panels`, `runs`, `keep_refused` and `cluster_by`."""
    command = click.option(
        "--cluster",
        "cluster_by",
        metavar="FACET,…",
        default="",
        callback=lambda _context, _option, facets: names(facets),
        help="Resample items that are alike in these facets together, such as those of one scenario: "
        "character,situation.",
    )(command)
    command = click.option(
        "--keep-refused", is_flag=True, help="Count conversations in which a judge saw a refusal."
    )(command)
    command = click.option(
        "--runs",
        type=click.Choice(["mean", "single"]),
        default="mean",
        show_default=True,
        help="Repeated runs of a judge: their mean, or each by itself.",
    )(command)
    return click.option(
        "--panel",
        "panels",
        metavar="A,B,…",
        multiple=True,
        callback=lambda _context, _option, panels: tuple(map(names, panels)),
        help="A panel of judges to measure beside the mean of all and every pair; may be repeated.",
    )(command)


def names(text: str | None) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(name for part in (text or "").split(",") if (name := part.strip()))


def facet(text: str) -> tuple[str, tuple[str, ...]]:
    """The name and the values of `FACET=A,B`. Raises ConcordError."""
    name, _, values = text.partition("=")
    if not name.strip() or not names(values):
        raise ConcordError(f"“{text}” is no FACET=VALUE, such as language=en or character=tully,pilot.")
    return name.strip(), names(values)
