"""How commands print tables: to the width of a terminal; a file or a pipe has no width, so nothing is cut there."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.table import Table

UNCUT = 1000
"""Characters that no table of ours is wide."""


def console() -> Console:
    """Where tables go."""
    return Console(width=None if sys.stdout.isatty() else UNCUT)


def table(title: str = "") -> Table:
    """An empty table in the one style of all commands."""
    return Table(title=title or None, title_justify="left", box=box.SIMPLE)
