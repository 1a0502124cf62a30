"""`concord quickstart FILE.jsonl`: from a file of conversations to agreement, in one command."""

import os
from pathlib import Path
from urllib.parse import urlencode

import click

from concord.commands import app, options
from concord.commands.printing import echo
from concord.commands.progress import carry_out
from concord.demo import workspace as demo
from concord.errors import ConcordError, ConfigError
from concord.exchange import conversations_file, conversations_import, survey_sentences
from concord.files import extras
from concord.llm import presets
from concord.llm.models import load_models
from concord.rubrics import rubric_store
from concord.rubrics.rubric_store import Numbered
from concord.runs import launching
from concord.runs.plans import JudgePlan
from concord.store import access, conversations
from concord.store import studies as stored_studies
from concord.store.conversations import Filter
from concord.studies import studies
from concord.workspace import Workspace

MOCKS = ("mock-judge-strict", "mock-judge-lenient")
"""The judges of `--mock`."""


@click.command("quickstart")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--rubric",
    "rubric_name",
    default="",
    metavar="NAME|FILE.toml",
    help="The rubric: one of the workspace, or a file, which is copied there.",
)
@options.several("--judges", "Models that rate; default: every chat model of models.toml.")
@click.option("--mock", is_flag=True, help="Use mock judges, which follow rules and are not language models.")
@options.number("--n", 20, "Conversations for annotators to rate.", minimum=1)
@options.several("--people", "The annotators; default: you.")
@click.option("--app/--no-app", "opens", default=True, help="Open the page of the study's agreement.")
@click.option(
    "--port",
    default=8501,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="0 takes any free one, unless the app is opened later (`--no-app`).",
)
@click.option("--browser/--no-browser", default=True, help="Open a browser window.")
@click.pass_obj
def command(
    folder: str,
    /,
    file: Path,
    rubric_name: str,
    judges: tuple[str, ...],
    mock: bool,
    n: int,
    people: tuple[str, ...],
    opens: bool,
    port: int,
    browser: bool,
) -> None:
    """Import conversations, draw a sample for annotators, have judges rate all, and show their agreement.

    Run the same command again to continue: it imports, draws and pays for everything once.
    """
    if not file.is_file():
        raise ConfigError(f"There is no file {file}.")
    extras.require("openai", "aiohttp", purpose="`concord quickstart`")
    if not (opens or port):
        raise ConfigError(
            "The links need the port that the app will have. With --no-app, give it with --port, or leave "
            "--port out for 8501."
        )
    # The port is taken before anything is stored or paid, and the links name it.
    listening = app.listen(port=port) if opens else None
    port = listening.getsockname()[1] if listening else port
    workspace = Workspace.open(folder)
    name = _rubric(workspace, rubric_name)
    rubric = rubric_store.find(workspace, name)
    if not rubric.rubric.criteria:
        raise ConfigError(
            f"The rubric {name} only asks which of two is better: concord import conversations {file} "
            f"--rubric {name}, then concord study pairs {name} --rubric {name}."
        )
    benchmark = _import_conversations(workspace, file)
    _study(workspace, rubric, benchmark, n)
    _invite(workspace, name, people or ("You",), port)
    if not opens:
        echo(f"The links open while the app runs: {app.call(workspace)} app --port {port}")
    if mock:
        _with_mocks(workspace)
    judges = judges or _judges(workspace, mock)
    plan = JudgePlan(benchmark, judges, rubric=name)
    with demo.serving(workspace):
        if not opens:
            carry_out(workspace, plan)
            echo(f"When annotators have answered: {app.call(workspace)} agreement --study {name}")
            return
        launching.start(workspace, plan)
        echo(f"Judges running: {', '.join(judges)}. The page shows agreement as answers arrive.")
        os.environ["CONCORD_WORKSPACE"] = str(workspace.path)
        page = f"agreement?{urlencode({'study': name})}"
        app.serve(browser=browser, page=page, listening=listening)


def _import_conversations(workspace: Workspace, file: Path) -> str:
    """Import the file; returns the name of its conversations."""
    survey = conversations_file.survey(file, conversations_file.FileOptions(file.stem))
    for line in survey_sentences.sentences(survey):
        echo(line)
    echo(conversations_import.store(workspace, survey))
    with workspace.read() as db:  # lines that Concord wrote may name another benchmark
        return file.stem if file.stem in survey.benchmarks else options.only_benchmark(db)


def _rubric(workspace: Workspace, rubric_name: str) -> str:
    """The name of the rubric: of the workspace's, or of a file, which is copied there."""
    available = rubric_store.names(workspace)
    if rubric_name.endswith(".toml"):
        return rubric_store.put(workspace, Path(rubric_name))
    if rubric_name:
        return rubric_store.find(workspace, rubric_name).rubric.name
    if len(available) == 1:
        return available[0]
    raise ConfigError(
        "Give a rubric: --rubric NAME or FILE.toml. `concord rubric new NAME` creates one"
        + (f"; there are {', '.join(available)}." if available else ".")
    )


def _study(workspace: Workspace, rubric: Numbered, benchmark: str, n: int) -> None:
    """Draw the study, which is called like its rubric, unless it is there."""
    name = rubric.rubric.name
    with workspace.write() as db:
        if name in stored_studies.names(db):
            asked_rubric = stored_studies.get(db, name).asked_rubric
            if asked_rubric is None or asked_rubric.hash != rubric.rubric.hash:
                raise ConcordError(
                    "The study uses another version of the rubric. Restore the file, or draw a study with "
                    f"another name: concord study draw NAME --n {n} --rubric {name}."
                )
            echo(f"The study “{name}” exists already.")
        else:
            selection = Filter(benchmark)
            n = min(n, conversations.count(db, selection))
            studies.draw_study(db, name, studies.StudyDraw(n, selection, rubric=rubric))
            echo(f"Study “{name}”: {len(stored_studies.units(db, name))} items of {n} conversations.")


def _invite(workspace: Workspace, study: str, people: tuple[str, ...], port: int) -> None:
    """Deal the study to people, and a link to those who have none: a new one would end the old one."""
    with workspace.write() as db:
        names = {a.name for a in access.annotators(db) if a.can_enter}
        links = studies.invite(db, [p for p in people if p not in names], f"http://localhost:{port}")
        items = studies.deal_study(db, study, people)
        # A link that cannot be printed is not stored.
        for person in people:
            place = f"at {links[person]}" if person in links else "by the earlier link"
            echo(f"{person}: {items[person]} items {place}")


def _with_mocks(workspace: Workspace) -> None:
    """Add the mock judges to models.toml, unless they are there."""
    available = load_models(workspace.models_path)
    missing = [name for name in MOCKS if name not in available]
    address = demo.ADDRESS.format(port=demo.free_port())
    for name in missing:
        presets.add(workspace.models_path, name, preset="mock", model=name, base_url=address)


def _judges(workspace: Workspace, mock: bool) -> tuple[str, ...]:
    models = load_models(workspace.models_path)
    judges = tuple(name for name, model in models.items() if model.kind == "chat" and model.simulated == mock)
    if not judges:
        raise ConfigError(
            f"No model is configured. Add one to {workspace.models_path}, as the file explains, or try "
            "--mock."
        )
    return judges
