"""What every command owes: it exists, has help, and answers a workspace that cannot be with one sentence."""

import click
import pytest
from click.testing import CliRunner

from concord.cli import COMMANDS, main
from concord.runs.registry import SLICES, part

# These serve, or list what ships, and need no workspace that is there.
ELSEWHERE = {"mock", "app", "models presets", "schema"}


def parts(command, name=""):
    """Every command that can be called, by name."""
    if isinstance(command, click.Group):
        for word in command.list_commands(click.Context(command)):
            yield from parts(command.get_command(click.Context(command), word), f"{name} {word}".strip())
    else:
        yield name, command


THERE: dict[str, click.Command | None] = {
    name: main.get_command(click.Context(main), name) for name in COMMANDS
}
PARTS = {words: command for name in THERE for words, command in parts(THERE[name], name)}
PARTS |= {
    name: command
    for slice_name in SLICES
    if (own := part(slice_name, "commands"))
    for name, command in parts(own.command, slice_name)
}


def something_for(parameter):
    match parameter.type:
        case click.Choice(choices=(first, *_)):
            return first
        case click.types.FloatParamType():
            return "0.5"
        case click.types.IntParamType():
            return "12"
    return "pingpong" if parameter.name == "benchmark" else "something long"


def asked(name):
    """A call of a command with something for each thing it requires."""
    given = name.split()
    for parameter in PARTS[name].params:
        if parameter.required or (isinstance(parameter, click.Option) and parameter.prompt):
            option = [parameter.opts[0]] if isinstance(parameter, click.Option) else []
            given += [*option, something_for(parameter)]
    return given


def reads_a_file_first(name):
    return any(p.required and isinstance(p.type, click.Path) for p in PARTS[name].params)


def call(*args):
    return CliRunner().invoke(main, list(map(str, args)), env={"CONCORD_WORKSPACE": None})


def one_sentence(done):
    assert isinstance(done.exception, SystemExit), repr(done.exception)
    assert done.exit_code != 0
    assert "Traceback" not in done.output
    assert done.output.strip().splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize("name", COMMANDS)
def test_it_exists_as_listed(name):
    _, text = COMMANDS[name]
    command = THERE[name]
    assert isinstance(command, click.Command)
    assert text.endswith(".")
    shown = call(name, "--help")
    assert shown.exit_code == 0
    assert "Usage:" in shown.output
    assert command.help


@pytest.mark.parametrize("name", sorted(PARTS))
def test_each_part_of_it_has_help(name):
    shown = call(*name.split(), "--help")
    assert shown.exit_code == 0
    assert len(shown.output.splitlines()) > 3


@pytest.mark.parametrize("name", sorted(name for name in PARTS if not {name, name.split()[0]} & ELSEWHERE))
def test_a_workspace_that_cannot_be_is_one_sentence(name, tmp_path):
    """A file stands where the folder should be."""
    place = tmp_path / "file"
    place.write_text("not a folder")
    done = call("--workspace", place, *asked(name))
    one_sentence(done)
    assert reads_a_file_first(name) or str(place) in done.output
    assert place.read_text() == "not a folder"


@pytest.mark.parametrize(
    "name",
    sorted(name for name in PARTS if name.split()[0] in ("study", "people", "agreement", "export")),
)
def test_what_only_reads_makes_no_workspace(name, tmp_path):
    done = call("--workspace", tmp_path / "new", *asked(name))
    one_sentence(done)
    assert "There is no Concord workspace" in done.output
    assert not (tmp_path / "new").exists()


def test_help_names_no_benchmark():
    shown = call("--help").output.lower()
    assert not [name for name in SLICES if name in shown]


def test_an_unknown_command_is_one_sentence():
    done = call("agreemint")
    one_sentence(done)
    assert "No such command" in done.output
