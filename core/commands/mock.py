"""`concord mock`: serve the mock model offline, to try Concord without a key."""

from functools import partial

import click


@click.command(name="mock")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8601, show_default=True, help="0 takes a free one; the line printed says it.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same replies.")
def command(host: str, port: int, seed: int) -> None:
    """Serve a mock model over the OpenAI protocol, under any name that begins with “mock-”.

    It follows one rule for every request and is no language model. It fits whatever JSON schema is sent.
    """
    from concord.demo.server import make_app, serve

    serve(partial(make_app, seed), host, port)
