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
