"""`concord export …`: write ratings or conversations so that `concord import` reads them back to the same study."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import click

from core.errors import ConfigError, StudyError
from core.exchange import conversations_jsonl, ratings_csv
from core.store import studies
from core.workspace import Workspace

_OUT = click.option(
    "--out", type=click.Path(path_type=Path), help="The file to write; the terminal if left out."
)


@click.group("export")
def command() -> None:
    """Write what the workspace holds; a study's conversations and ratings, imported in this order, are the same study."""


@command.command("ratings")
@click.option("--study", default="", help="Only this study's ratings that count; default: every rating.")
@_OUT
@click.pass_obj
def _ratings(workspace: str, study: str, out: Path | None) -> None:
    """Ratings by people and judges in long form (CSV)."""
    with Workspace.open(workspace, create=False).read() as db:
        if study:
            studies.study_id(db, study)
        count = _write(out, lambda file: ratings_csv.write(db, file, study))
        if not count:
            raise StudyError(
                f"The study “{study}” has no ratings yet." if study else "There are no ratings yet."
            )
    click.echo(f"{count} ratings" + (f" in {out}." if out else "."), err=True)


@command.command("conversations")
@click.option("--study", default="", help="Only this study's, and what it asks; default: every conversation.")
@click.option("--benchmark", default="", help="Only this benchmark's.")
@_OUT
@click.pass_obj
def _conversations(workspace: str, study: str, benchmark: str, out: Path | None) -> None:
    """Conversations, and the study they belong to, as JSON Lines."""
    with Workspace.open(workspace, create=False).read() as db:
        count = _write(
            out, lambda file: conversations_jsonl.write(db, file, study=study, benchmark=benchmark)
        )
    click.echo(f"{count} conversations" + (f" in {out}." if out else "."), err=True)


def _write(out: Path | None, write: Callable[[TextIO], int]) -> int:
    """Into a file that appears when it is complete, or to the terminal."""
    if out is None:
        return write(sys.stdout)
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=out.parent, prefix=f".{out.name}.", delete=False
        ) as file:
            try:
                count = write(file.file)  # type: ignore[arg-type]
            except BaseException:
                os.unlink(file.name)
                raise
        os.replace(file.name, out)
    except OSError as error:
        raise ConfigError(f"{out} cannot be written: {error.strerror}.") from error
    return count
