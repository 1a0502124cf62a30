"""How a run's progress is told on a terminal: a live line, or plain lines where there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from core.runs.planning import Survey
from core.runs.status import sentence
from core.store.runs import Progress

PLAIN_SECONDS = 5.0


class Watcher:
    """Shows each beat of a run."""

    def __init__(self, live: Live | None, stage: Callable[[], str]):
        self.live = live
        self.stage = stage
        self.last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        """Draw it, or say it every few seconds."""
        if self.live is not None:
            self.live.update(Text(_bar(progress) + " " + self._told(progress)))
        elif time.monotonic() - self.last >= PLAIN_SECONDS:
            self.last = time.monotonic()
            click.echo(self._told(progress))

    def _told(self, progress: Progress) -> str:
        return " · ".join(filter(None, [sentence(progress), self.stage()]))


@contextmanager
def watching(stage: Callable[[], str] = str) -> Iterator[Watcher]:
    """A watcher for the length of a run; `stage` says how far plays that take long have come."""
    if sys.stdout.isatty():
        with Live(console=Console(), refresh_per_second=4, transient=True) as live:
            yield Watcher(live, stage)
    else:
        yield Watcher(None, stage)


def estimate(found: Survey) -> str:
    """What a run would do, before it does."""
    lines = [
        f"{found.planned:,} pieces planned (conversations and judgements), {found.stored:,} stored, {found.left:,} left to make."
    ]
    if found.failed:
        lines.append(f"{found.failed:,} judgements failed before; --retry-failed asks for them again.")
    return "\n".join([*lines, calls_and_cost(found)])


def calls_and_cost(found: Survey) -> str:
    """The calls of each model with their tokens, and what all of it is estimated to cost."""
    lines = []
    for name, calls in found.calls.items():
        tokens_in, tokens_out = found.tokens[name]
        basis = "measured here" if name in found.measured else "a guess"
        lines.append(
            f"  {name}: {calls:,} calls, about {tokens_in:,.0f} tokens in and {tokens_out:,.0f} out ({basis})"
        )
    if found.noted:
        lines.append(
            f"  {found.noted:,} of these calls were answered before an interruption and are not paid again."
        )
    lines.append(f"Estimated cost: {found.cost:.2f}" + (" at most" if found.noted else "") + _unpriced(found))
    return "\n".join(lines)


def _unpriced(found: Survey) -> str:
    if not found.unpriced:
        return ""
    return f", without {', '.join(sorted(found.unpriced))}, whose price is not in models.toml"


def _bar(p: Progress, width: int = 24) -> str:
    filled = round(width * (p.stored + p.done + p.failed) / p.planned) if p.planned else width
    return "█" * filled + "░" * (width - filled)
