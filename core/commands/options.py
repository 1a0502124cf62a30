"""Options that several commands share, so that they mean and default to the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def form(*forms: str) -> Callable[[F], F]:
    """`--format`: how figures are written, a table unless asked otherwise."""
    return click.option(
        "--format", "form", type=click.Choice(["table", *forms]), default="table", show_default=True
    )


def resamples(of: str) -> Callable[[F], F]:
    """`--resamples`: bootstrap draws of what is drawn."""
    return click.option(
        "--resamples",
        type=click.IntRange(0),
        default=1000,
        show_default=True,
        help=f"Bootstrap draws of {of}.",
    )


seed = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The same seed gives the same intervals.",
)


def measuring(command: F) -> F:
    """How a study is measured: `panels`, `runs`, `keep_refused` and `cluster_by`."""
    command = click.option(
        "--cluster",
        "cluster_by",
        metavar="FACET,…",
        default="",
        callback=lambda _context, _option, facets: _named(facets),
        help="Resample items that are alike in these facets together, such as those of one scenario: character,situation.",
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
        callback=lambda _context, _option, panels: tuple(map(_named, panels)),
        help="A panel of judges to measure beside the mean of all and every pair; may be repeated.",
    )(command)


def _named(panel: str) -> tuple[str, ...]:
    return tuple(name for part in panel.split(",") if (name := part.strip()))
