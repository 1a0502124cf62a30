"""How commands print results: tables in the form that `--format` names."""

from __future__ import annotations

from collections.abc import Sequence

import click

from core.table import Table, as_document


def show(tables: Sequence[Table], form: str) -> None:
    """Print tables. CSV holds no notes, so that these go to standard error."""
    click.echo(as_document(tables, form), nl=False)
    if form == "csv":
        for note in dict.fromkeys(note for table in tables for note in (*table.notes, *table.reasons())):
            click.echo(note, err=True)
