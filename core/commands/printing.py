"""How commands print results: tables in the form that `--format` names."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click
from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from core.table import Table, as_document

UNCUT = 1000
"""Characters that no table is wide."""


def show(tables: Sequence[Table], form: str) -> None:
    """Print tables. CSV holds no notes, so that these go to standard error."""
    click.echo(as_document(tables, form), nl=False)
    if form == "csv":
        for note in dict.fromkeys(note for table in tables for note in (*table.notes, *table.reasons())):
            click.echo(note, err=True)


def console() -> Console:
    """Where a table of rich goes. A file or a pipe has no width, so that nothing is cut there."""
    return Console(width=None if sys.stdout.isatty() else UNCUT)


def table(title: str = "") -> RichTable:
    """An empty table of rich."""
    return RichTable(title=title or None, title_justify="left", box=box.SIMPLE)
