"""`python -m tests.mock`: serve the mock models of the tests, with latency, faults and refusals at will."""

from functools import partial
from typing import Any

import click

from concord.demo.server import serve
from tests.mock.faults import read_faults
from tests.mock.server import make_app


@click.command(name="mock")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8601, show_default=True, help="0 takes a free one; the line printed says it.")
@click.option("--latency", default=0.0, show_default=True, help="Seconds from a request to its answer.")
@click.option("--jitter", default=0.0, show_default=True, help="The share by which latency varies.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same replies.")
@click.option("--require-key", help="Refuse calls that do not bring this key (for tests; not a secret).")
@click.option("--like", default="", metavar="KIND", help="Refuse what this kind of endpoint refuses.")
@click.option("--faults", default="", help="Every n-th call goes wrong, as in rate_limit=5,server_error=7.")
def command(host: str, port: int, faults: str, **how: Any) -> None:
    """Serve mock models over the OpenAI protocol. They follow rules; they are no language models."""
    make = partial(make_app, faults=read_faults(faults), **how)
    serve(make, host, port)


if __name__ == "__main__":
    command()
