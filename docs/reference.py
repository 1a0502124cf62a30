"""Write docs/reference/: every command with its options, and every public name of the library, for the site.

    python docs/reference.py

Both are made from the code, so that the site says what `--help` and `help()` say.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

import concord
from concord.cli import main as concord_command
from concord.runs.registry import SLICES

FOLDER = Path(__file__).parent / "reference"


def commands(command: click.Command, words: tuple[str, ...], parent: click.Context | None) -> Iterator[str]:
    """The help of a command and of those below it, as sections of Markdown."""
    context = click.Context(command, info_name=words[-1], parent=parent, max_content_width=100)
    yield f"{'#' * min(len(words), 3)} {' '.join(words)}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        names = command.list_commands(context)
        for name in [*names, *SLICES] if command is concord_command else names:
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from commands(inner, (*words, name), context)


def library() -> Iterator[str]:
    """The signature and the docstring of each public name, and of its public methods."""
    yield f"# Library reference\n\n{inspect.getdoc(concord)}\n"
    for name in concord.__all__:
        value = getattr(concord, name)
        yield f"## concord.{name}\n\n{documented(name, value)}"
        if inspect.isclass(value):
            for inner, member in inspect.getmembers(value):
                own = inner in vars(value) and not inner.startswith("_")
                if own and (inspect.isfunction(member) or isinstance(member, property)):
                    yield f"### {name}.{inner}\n\n{documented(inner, member)}"


def documented(name: str, value: object) -> str:
    """A signature, where there is one, above a docstring."""
    try:
        signature = f"{name}{inspect.signature(value)}" if callable(value) else name
    except ValueError:
        signature = name
    return f"```python\n{signature}\n```\n\n{inspect.getdoc(value)}\n"


def pages() -> dict[str, str]:
    """The Markdown of each page by the name of its file."""
    reference = ["# Command reference\n", *commands(concord_command, ("concord",), None)]
    reference[1] = reference[1].replace("# concord\n", "## concord\n", 1)
    return {"commands.md": "\n".join(reference), "library.md": "\n".join(library())}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
