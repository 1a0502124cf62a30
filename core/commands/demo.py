"""`concord demo`: put the recorded demo into a workspace, once, and open it; `concord mock`: its models."""

import os
from functools import partial

import click

from concord.commands.printing import echo
from concord.demo import workspace as demo
from concord.demo.exchanges import exchange
from concord.files import extras
from concord.store import access
from concord.workspace import Workspace

DEMO_FOLDER = "demo"


@click.command(name="demo")
@click.option("--app/--no-app", default=True, help="Open the app with the demo.")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8501, show_default=True, type=int)
@click.option("--browser/--no-browser", default=True, help="Open a browser window.")
@click.pass_context
def command(ctx: click.Context, app: bool, host: str, port: int, browser: bool) -> None:
    """Put the recorded demo into a workspace (./demo unless --workspace names another), and open it."""
    source = ctx.parent.get_parameter_source("workspace") if ctx.parent else None
    has_folder = source is not None and source.name != "DEFAULT"
    extras.require("streamlit", "uvicorn", "aiohttp", purpose="`concord demo`")
    workspace = Workspace.open(ctx.obj if has_folder else DEMO_FOLDER)
    if demo.is_there(workspace):
        echo(f"The demo workspace is ready in {workspace.path}.")
    else:
        demo.load(workspace)
        echo(f"The demo workspace is in {workspace.path}. Everything in it comes from mock models.")
    from concord.commands.app import call, serve

    if not app:
        echo(f"Open it: {call(workspace)} app")
        echo("To start runs in it, also serve the mock models: concord mock")
        return

    os.environ["CONCORD_WORKSPACE"] = str(workspace.path)
    with workspace.write() as db:
        token = access.invite(db, demo.VISITOR)
    address = f"http://{'localhost' if host == '127.0.0.1' else host}:{port}"
    echo(f"To try the annotator's desk, open {address}/rate?token={token}")
    with demo.serving(workspace):
        serve(host, port, browser=browser)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8601, show_default=True, help="0 takes a free one; the line printed says it.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same replies.")
@click.option("--like", default="", metavar="KIND", help="Refuse and answer as this kind of endpoint does.")
def mock(host: str, port: int, seed: int, like: str) -> None:
    """Serve a mock model over the OpenAI protocol, under any name that begins with “mock-”.

    It follows one rule for every request and is not a language model. Its replies fit the JSON schema of the
    request. With `--like` it behaves like a kind of endpoint of `concord models presets`, such as groq.
    """
    exchange(like)
    server = demo.mock_server()
    server.serve(partial(server.make_app, seed, like), host, port)
