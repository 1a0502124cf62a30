"""`concord mock`: serve the mock models offline, for the demo and for tests."""

from __future__ import annotations

import click


@click.command(name="mock")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=int, default=8601, show_default=True)
@click.option("--latency", type=float, default=0.0, help="Seconds each answer takes.")
@click.option("--seed", type=int, default=0, help="The same seed gives the same replies.")
@click.option("--require-key", default=None, help="Refuse calls that do not bring this key.")
def command(host: str, port: int, latency: float, seed: int, require_key: str | None) -> None:
    """Serve mock models over the OpenAI protocol. They follow rules; they are no language models."""
    from core.demo.mock.server import serve

    serve(host, port, latency=latency, seed=seed, require_key=require_key)
