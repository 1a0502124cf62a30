"""`concord local`: serve a language model on this machine."""

import signal
import threading

import click

from concord.commands.printing import echo


@click.group(name="local")
def command() -> None:
    """Serve a language model on this machine, without an endpoint elsewhere."""


@command.command("serve")
@click.option("--model", default="", metavar="FILE", help="A model in the GGUF format; else the small one.")
@click.option("--name", default="local", show_default=True, help="Its name at the endpoint.")
@click.option("--port", default=8602, show_default=True, help="0 takes a free one; the line printed says it.")
@click.option("--parallel", default=2, show_default=True, help="Calls that are answered at once.")
@click.option("--context", default=8192, show_default=True, help="Tokens that a call may hold.")
@click.option("--threads", default=0, show_default=True, help="0 takes as many as there are cores.")
def serve(model: str, name: str, port: int, parallel: int, context: int, threads: int) -> None:
    """Serve a GGUF model by llama.cpp until Ctrl+C, and print its entry for models.toml."""
    from concord.llm.local import served, weights

    stop = threading.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: stop.set())
    file = weights(model)
    with served(file, name=name, port=port, parallel=parallel, context=context, threads=threads) as base_url:
        echo(f"{file.name} answers at {base_url} until Ctrl+C. Its entry for models.toml:")
        echo(f'\n[models.{name}]\nbase_url = "{base_url}"\nmax_concurrency = {parallel}\n')
        stop.wait()
