"""`concord run BENCHMARK …`: generate conversations and have them judged; continue a run, forget a batch."""

from pathlib import Path
from typing import Any

import click

from concord.commands.options import NAMES, workspace
from concord.commands.printing import echo
from concord.commands.progress import carry_out, running
from concord.errors import check_known
from concord.runs import launching
from concord.runs.benchmark import Benchmark, Option, Role
from concord.runs.plans import PlayPlan, from_dict
from concord.runs.registry import BENCHMARKS
from concord.store import batches, runs
from concord.workspace import Workspace


class _Benchmarks(click.Group):
    """A command for each benchmark, those of the workspace's models.toml too."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *BENCHMARKS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        benchmark = BENCHMARKS.get(cmd_name)
        return _command(benchmark) if benchmark else super().get_command(ctx, cmd_name)


@click.group(name="run", cls=_Benchmarks)
def command() -> None:
    """Generate conversations and have them judged. The same command continues a run that was interrupted."""


def _command(benchmark: Benchmark) -> click.Command:
    roles = benchmark.roles
    options = benchmark.options

    @click.pass_obj
    def invoke(folder: str, /, **values: Any) -> None:
        models = {role.name: values.pop(role.name) for role in roles}
        option_values = {option.name: values.pop(option.name) for option in options}
        carry_out(workspace(folder), PlayPlan(benchmark.name, models, option_values), **values)

    params: list[click.Parameter] = [_role(role) for role in roles]
    params += [_option(option) for option in options]
    subcommand = click.Command(
        benchmark.name, params=params, callback=invoke, help=benchmark.description, short_help=benchmark.title
    )
    return running(subcommand)


KINDS: dict[str, dict[str, Any]] = {
    "switch": {"is_flag": True},
    "count": {"type": int, "show_default": True},
    "choices": {"type": NAMES},
    "choice": {"show_default": True},
}


def _role(role: Role) -> click.Option:
    settings: dict[str, Any] = {"required": role.required, "default": None if role.required else ()}
    metavar = None if role.multiple else "MODEL"
    return click.Option([f"--{role.name}"], type=NAMES, metavar=metavar, help=role.help, **settings)


def _option(option: Option) -> click.Option:
    flag = f"--{option.name.replace('_', '-')}"
    return click.Option([flag], default=option.default, help=option.help, **KINDS[option.kind])


@command.command("resume")
@click.argument("number", type=int)
@running
@click.pass_obj
def resume(folder: str, /, number: int, **arguments: Any) -> None:
    """Continue run NUMBER of this workspace, with its plan, and its --max-cost unless you set another one."""
    workspace_ = Workspace.open(folder, create=False)
    with workspace_.read() as db:
        run = runs.get(db, number)
    if arguments["max_cost"] is None:
        arguments["max_cost"] = run.max_cost
    carry_out(workspace_, from_dict(run.plan), **arguments)


@command.command("plan")
@click.argument("file", type=click.Path(path_type=Path))
@running
@click.pass_obj
def plan(folder: str, /, file: Path, **arguments: Any) -> None:
    """Run the plan in FILE, the JSON of the runs page."""
    carry_out(workspace(folder), launching.read_plan(file), **arguments)


@command.command("forget-batch")
@click.argument("number", type=int)
@click.pass_obj
def forget_batch(folder: str, /, number: int) -> None:
    """Cancel batch NUMBER, which the endpoint has lost: its calls are repeated and paid again."""
    with Workspace.open(folder, create=False).write() as db:
        waiting = {str(one.id): one for one in batches.waiting(db)}
        check_known("batch that waits with number", str(number), waiting)
        batches.end(db, number, "given up", "Forgotten on request.")
    echo(f"Forgotten. The next run repeats its {waiting[str(number)].lines:,} calls.")
