"""`python -m core.demo.mock --port 8601`: the mock server as a process of its own."""

from __future__ import annotations

import click

from core.demo.mock.faults import read_faults
from core.demo.mock.server import serve
from core.errors import ConcordError


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option(
    "--port", default=8601, show_default=True, help="0 takes a free one; the line printed says which."
)
@click.option(
    "--latency", default=0.0, show_default=True, help="Seconds from a request's arrival to its answer."
)
@click.option("--seed", default=0, show_default=True, help="Another seed, other replies.")
@click.option(
    "--require-key", default=None, help="Answer 401 to calls without this key (for tests; not a secret)."
)
@click.option("--faults", default="", help="Every n-th call goes wrong, as in rate_limit=5,server_error=7.")
def main(host: str, port: int, latency: float, seed: int, require_key: str | None, faults: str) -> None:
    """Serve Concord's mock models until interrupted."""
    try:
        serve(host, port, latency, seed, require_key, read_faults(faults))
    except ConcordError as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()
