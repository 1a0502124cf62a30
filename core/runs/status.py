"""Sentences that say where a run stands, and what one will take."""

from concord.rating import Spent
from concord.runs.planning import Survey
from concord.store.runs import Progress


def sentence(p: Progress) -> str:
    """Where a run stands, in one line."""
    rate = p.spent.calls / p.elapsed if p.elapsed > 0 else 0.0
    parts = [f"{p.stored + p.done:,} of {p.planned:,} stored"]
    if p.failed:
        parts.append(f"{p.failed:,} failed")
    parts.append(f"{p.spent.calls:,} calls ({rate:.1f}/s)")
    parts += [tokens(p.spent), f"cost {cost(p)}"]
    if p.state == "running" and p.seconds_left is not None:
        parts.append(f"{duration(p.seconds_left)} left")
    if p.state == "running" and p.message:
        parts.append(p.message)
    return " · ".join(parts)


def cost(p: Progress, paid_in: str = "") -> str:
    """What a run has cost, and its spending limit, which holds for all runs of its plan together."""
    if p.max_cost is None:
        return p.spent.price(paid_in)
    others_cost = f", {p.elsewhere:,.2f} by other runs of its plan" if p.elsewhere else ""
    return f"{p.spent.price()} of {p.max_cost:,g} {paid_in}".rstrip() + others_cost


def tokens(usage: Spent) -> str:
    """Tokens in and out, and how many of them the endpoint had in its prompt cache."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{usage.input_tokens + usage.output_tokens:,} tokens{cached}"


def duration(seconds: float) -> str:
    """Seconds in the unit a person would use."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def calls(survey: Survey) -> list[str]:
    """The calls and tokens of an estimate, a line a model, and how many of the calls are paid already."""
    lines = []
    for name, number in survey.calls.items():
        (tokens_in, tokens_out) = survey.tokens[name]
        is_measured = name in survey.measured_models
        token_words = f"about {tokens_in:,.0f} tokens in and {tokens_out:,.0f} out"
        basis = "from the texts that are stored" if name in survey.by_text else "a guess"
        lines.append(f"{name}: {number:,} calls, {token_words} ({'measured here' if is_measured else basis})")
    if survey.noted:
        words = "of these calls were answered before an interruption and are not paid again."
        lines.append(f"{survey.noted:,} {words}")
    return lines
