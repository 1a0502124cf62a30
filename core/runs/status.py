"""Where a run stands, in words."""

from __future__ import annotations

from core.store.runs import Progress


def sentence(p: Progress) -> str:
    """Where a run stands, in one line."""
    rate = p.spent.calls / p.elapsed if p.elapsed > 0 else 0.0
    parts = [f"{p.stored + p.done:,} of {p.planned:,} stored"]
    if p.failed:
        parts.append(f"{p.failed:,} failed")
    parts += [
        f"{p.spent.calls:,} calls ({rate:.1f}/s)",
        f"{p.spent.input_tokens + p.spent.output_tokens:,} tokens",
        f"cost {p.spent.cost:.2f}",
    ]
    if p.state == "running" and p.seconds_left is not None:
        parts.append(f"{duration(p.seconds_left)} left")
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
