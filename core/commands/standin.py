"""`concord standin`: serve the stand-in models offline, for the demo and for tests."""

from __future__ import annotations

import click


@click.command(name="standin")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=int, default=8601, show_default=True)
@click.option("--latency", type=float, default=0.0, help="Seconds each answer takes.")
@click.option("--seed", type=int, default=0, help="The same seed gives the same replies.")
@click.option("--require-key", default=None, help="Refuse calls that do not bring this key.")
def command(host: str, port: int, latency: float, seed: int, require_key: str | None) -> None:
    """Serve stand-in models over the OpenAI protocol. They follow rules; they are no language models."""
    from core.standin.server import serve

    serve(host, port, latency=latency, seed=seed, require_key=require_key)
