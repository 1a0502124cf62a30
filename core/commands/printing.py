"""How commands print: text that a terminal shows letter for letter, and tables in the form of `--format`."""

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from click.core import ParameterSource

from concord.errors import ConcordError
from concord.files import streams
from concord.files.plain import pasteable, plain
from concord.table import Table, as_document


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text; names and models' words in it can neither steer the terminal nor break JSON.

    Commands in it name the workspace, where it was named.
    """
    click.echo(plain(with_workspace(str(text))), err=err, nl=nl)


def with_workspace(text: str) -> str:
    """A text whose commands name the workspace as this command did, so that they can be pasted."""
    context = click.get_current_context(silent=True)
    root = context.find_root() if context else None
    if root is None or root.get_parameter_source("workspace") is not ParameterSource.COMMANDLINE:
        return text
    return pasteable(text, f"concord --workspace {shlex.quote(root.params['workspace'])}")


def show_error(code: str, message: str) -> None:
    """Print an error as one line of JSON on standard error. `message` is plain already."""
    click.echo(json.dumps({"error": {"code": code, "message": message}}, ensure_ascii=False), err=True)


def require_output() -> None:
    """Raise ConcordError where standard output is closed: what is printed only once would be lost."""
    if streams.output_is_closed():
        raise ConcordError(
            "Standard output is closed, and this command shows its result only once. Nothing was done. Run "
            "it with output to a terminal or a file."
        )


def columns(unknown: int) -> int:
    """How many columns the terminal has; `unknown` where there is none."""
    return shutil.get_terminal_size((unknown, 24)).columns


def write_text(path: Path, text: str) -> None:
    """Write a file that an option names. Raises ConcordError where it cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConcordError(f"{path} cannot be written: {error.strerror}. Name another file.") from error


def show(tables: Sequence[Table], form: str) -> None:
    """Print tables. CSV holds no notes, so that these go to standard error."""
    click.echo(plain(as_document(tables, form)), nl=False)
    if form == "csv":
        for note in dict.fromkeys(note for table in tables for note in (*table.notes, *table.reasons())):
            echo(note, err=True)


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None]]:
    """A bar on the terminal, if there is one, moved by the share that is done (0 to 1), if it is known."""
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    with bar:
        task = bar.add_task(label, total=None)
        yield lambda share: bar.update(task, total=1.0, completed=share)
