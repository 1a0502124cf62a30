"""The command `concord` and the list of its subcommands, which are imported when they are called."""

import importlib
import os
import re
import sys
from collections.abc import Sequence
from enum import StrEnum
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import click

from concord.codes import ErrorCode
from concord.errors import ConcordError
from concord.files import VERSION, has_half_characters, streams
from concord.files.plain import brief, plain
from concord.store.actor import acting

# name → (module, one-line help shown without loading the module). The module exports a click command called
# `command`, or so as what follows a colon.
COMMANDS: dict[str, tuple[str, str]] = {
    "check": ("concord.commands.check", "Say how far you can trust judges, from one table of labels."),
    "plan": ("concord.commands.plan", "Say how many rows to label, which ones, and at what cost."),
    "compare-systems": (
        "concord.commands.compare_systems",
        "Say which of several systems is higher, by one judge corrected by labels.",
    ),
    "demo": ("concord.commands.demo", "Put the demo into a workspace and open it."),
    "quickstart": (
        "concord.commands.quickstart",
        "From your own conversations to agreement, in one command.",
    ),
    "app": ("concord.commands.app", "Open a workspace in the browser."),
    "models": ("concord.commands.models", "List the models of models.toml, add one by kind of endpoint."),
    "doctor": ("concord.commands.doctor", "Check every configured model with small calls."),
    "run": ("concord.commands.run", "Generate conversations and have them judged."),
    "judge": ("concord.commands.judge", "Let judges rate stored conversations, or files of any size."),
    "sample": (
        "concord.commands.lake:sample_command",
        "Draw a sample for annotators from files of conversations.",
    ),
    "estimate": (
        "concord.commands.lake:estimate_command",
        "Estimate annotators' answers to everything that was judged.",
    ),
    "rubric": (
        "concord.commands.rubric",
        "Make, list and show rubrics: the questions to judges and annotators.",
    ),
    "compare": ("concord.commands.compare", "Have judges compare models two by two."),
    "study": ("concord.commands.study", "Draw a study, assign it to annotators, show its progress."),
    "people": ("concord.commands.people", "Invite annotators and researchers by link, withdraw links."),
    "crowd": (
        "concord.commands.crowd",
        "Open a study to annotators of Prolific or MTurk, and list payments.",
    ),
    "agreement": (
        "concord.commands.agreement",
        "Measure agreement of judges with annotators, and of annotators.",
    ),
    "gate": ("concord.commands.gate", "Fail unless judges agree with annotators well enough, for CI."),
    "drift": (
        "concord.commands.drift",
        "Test if a judge still judges as before: two tables, two columns, a stream.",
    ),
    "schema": ("concord.commands.schema", "Print the JSON schema of --format json."),
    "lab": ("concord.commands.lab", "Improve a judge, and measure the gain honestly."),
    "leaderboard": (
        "concord.commands.leaderboard",
        "Compare the models of a benchmark, and two rankings.",
    ),
    "import": ("concord.commands.exchange_in", "Read ratings or conversations into the workspace."),
    "export": ("concord.commands.exchange_out", "Write ratings or conversations as CSV or JSON Lines."),
    "link": ("concord.commands.app:link", "Print a link that opens the app on this machine, once."),
    "passphrase": ("concord.commands.app:passphrase", "Renew the researchers' passphrase."),
    "backup": ("concord.commands.copies:backup", "Copy the database while it is in use."),
    "verify": ("concord.commands.copies:verify", "Look for damage in the database, or in a backup."),
    "mock": ("concord.commands.demo:mock", "Serve a mock model on this machine."),
}


class _Lazy(click.Group):
    """A group whose commands are imported when called, so that `concord --help` is quick.

    A benchmark's own commands are those of its slice: `concord BENCHMARK …`.
    """

    def main(self, *args: Any, **options: Any) -> Any:
        """Call a command; one that cannot print ends with a sentence, as a full disk may be behind it.

        Products are small: threads of the linear algebra wait for each other longer than they compute.
        """
        streams.prepare()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if "sqlite_utils" not in sys.modules:
            sys.meta_path.insert(0, _WithoutPandas())
        try:
            return super().main(*args, **options)
        except OSError:
            if not (reason := streams.output_error()):
                raise
            click.ClickException(f"Standard output cannot be written: {reason}.").show()
            raise SystemExit(1) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            module, _, name = COMMANDS[cmd_name][0].partition(":")
            command: click.Command = getattr(importlib.import_module(module), name or "command")
            return command
        from concord.runs.registry import BENCHMARKS, SLICES, part, slice_of

        if cmd_name in (*SLICES, *BENCHMARKS):
            own = part(cmd_name if cmd_name in SLICES else slice_of(cmd_name), "commands")
            return own.command if own else None
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])
            formatter.write_dl(
                [("BENCHMARK", "The commands of one benchmark; `concord run --help` lists benchmarks.")]
            )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse words that are not UTF-8: no file and no database can keep them."""
        ctx.meta[_JSON] = _asks_for_json(args)
        try:
            if wrong := next((word for word in args if has_half_characters(word)), None):
                raise click.UsageError(f"“{plain(wrong)}” is not UTF-8.", ctx)
            return super().parse_args(ctx, args)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.ClickException as error:
            raise _printed(ctx, error) from error

    def invoke(self, ctx: click.Context) -> object:
        try:
            _know_own_benchmarks(Path(ctx.params["workspace"]).expanduser().resolve())
            return super().invoke(ctx)
        except ConcordError as error:
            from concord.commands import printing

            sentence = plain(printing.with_workspace(brief(str(error))))
            raise _printed(ctx, click.ClickException(sentence), error.code) from error
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            usage = click.UsageError(plain(brief(error.format_message())), error.ctx)
            raise _printed(ctx, usage) from error
        except click.ClickException as error:
            raise _printed(ctx, error) from error


_JSON = "concord.json"
"""Where a context keeps whether the call has `--format json`."""


def _asks_for_json(args: Sequence[str]) -> bool:
    """Whether the words of a call have `--format json`; no context knows it of a call with a mistake."""
    options = args[: args.index("--")] if "--" in args else args
    return "--format=json" in options or ("--format", "json") in pairwise(options)


class _JsonError(click.ClickException):
    """An error as one line of JSON on standard error, with the exit code that it has as a sentence."""

    def __init__(self, message: str, code: StrEnum, exit_code: int) -> None:
        super().__init__(message)
        self.code = code
        self.exit_code = exit_code  # type: ignore[misc]  # click has it per class

    def show(self, file: IO[Any] | None = None) -> None:
        from concord.commands import printing

        printing.show_error(self.code.value, self.message)


def _printed(
    ctx: click.Context, error: click.ClickException, code: StrEnum | None = None
) -> click.ClickException:
    """The error as the call wants it printed: a sentence, or JSON with its code."""
    if not ctx.meta[_JSON]:
        return error
    if code is None:
        # `concord gate` makes another exit code of a mistake in the call.
        mistake = isinstance(error, click.UsageError) or isinstance(error.__cause__, click.UsageError)
        code = ErrorCode.USAGE if mistake else ErrorCode.FAILED
    return _JsonError(plain(error.format_message()), code, error.exit_code)


class _WithoutPandas:
    """Loads sqlite-utils, where a command needs it, without pandas.

    It imports that for one type of column that Concord has none of, which takes three tenths of a second,
    half the time of a command. For a process with one thread only: an import of pandas at the same time would
    fail.
    """

    _own: Any = None
    """The loader of sqlite-utils."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module with this loader, once; every other one is left to Python."""
        if name != "sqlite_utils":
            return None
        sys.meta_path.remove(self)
        if (spec := find_spec(name)) is None or "pandas" in sys.modules:
            return None
        self._own, spec.loader = spec.loader, self  # type: ignore[assignment]
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Python makes it."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Load it while there is no pandas to be found."""
        sys.modules["pandas"] = None  # type: ignore[assignment]
        try:
            self._own.exec_module(module)
        finally:
            del sys.modules["pandas"]


def _know_own_benchmarks(folder: Path) -> None:
    """Register what the workspace's models.toml lists; without a list nothing is imported."""
    try:
        listed = re.search(rb"^\s*benchmarks\b", (folder / "models.toml").read_bytes(), re.M)
    except OSError:
        return  # the command that needs the file reports it
    if listed:
        from concord.runs.registry import register_own

        register_own(folder)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, package_name="concord-eval")
@click.option(
    "--workspace",
    metavar="DIR",
    envvar="CONCORD_WORKSPACE",
    default="workspace",
    show_default=True,
    help="The folder of the database, models.toml and your own prompts.",
)
@click.option(
    "--by",
    metavar="NAME",
    envvar="CONCORD_BY",
    default="researcher",
    show_default=True,
    help="Your name in the audit log.",
)
@click.pass_context
def main(ctx: click.Context, workspace: str, by: str) -> None:
    """How far can I trust my LLM judges, and where do they fail?"""
    ctx.obj = workspace
    ctx.with_resource(acting(by))


if __name__ == "__main__":
    main()
