"""How stable a leaderboard's order is, as plain values for JSON, as CSV (one figure a line), and what a reader has to know of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from core.reports.rank_stability import Beside, Orders, Rankings
from core.table import marked

COLUMNS = ("part", "figure", "a", "b", "value", "low", "high", "players", "conversations", "p", "reason")
SHOWN = 20
"""So many names that have no match are listed."""


def as_values(found: Rankings, beside: Beside | None = None) -> dict[str, Any]:
    """Everything, ready for JSON; undefined is null with a sibling "reason"."""
    return {
        "benchmark": found.benchmark,
        "language": found.language or None,
        "judges": list(found.judges),
        "players": list(found.players),
        "conversations": found.conversations,
        "resamples": found.resamples,
        "seed": found.seed,
        "simulated": found.simulated,
        "by_judge": _orders(found.by_judge),
        "by_interrogator": _orders(found.by_interrogator),
        "pools": {
            "best_two_by": found.pools.best_by,
            "pagerank": dict(found.pools.ranks),
            "pools": [
                {"name": pool.name, "weights": dict(pool.weights), **_why(pool.reason)}
                for pool in found.pools.pools
            ],
            **_orders(found.pools.orders),
        },
    } | ({} if beside is None else {"against": _beside(beside)})


def _orders(orders: Orders) -> dict[str, Any]:
    stability = orders.stability
    return {
        "rankings": [
            {"name": name, "conversations": orders.conversations[name], "scores": dict(scores)}
            for name, scores in orders.scores.items()
        ],
        "pairs": [
            {"a": t.a, "b": t.b, "tau": t.value, "ci": t.ci, "players": t.players, **_why(t.reason)}
            for t in stability.pairs
        ],
        "mean": {
            "tau": stability.mean,
            "ci": stability.ci,
            "pairs": stability.defined,
            **_why(stability.reason),
        },
    }


def _beside(beside: Beside) -> dict[str, Any]:
    f = beside.figures
    return {
        "file": beside.name,
        "by": beside.by,
        "spearman": f.spearman,
        "p": f.p,
        "n": f.n,
        **_why(f.reason or f.p_reason),
        "models": [{**asdict(placed), "rise": placed.rise} for placed in beside.placed],
        "only_here": list(beside.only_here),
        "only_there": list(beside.only_there),
    }


def _why(reason: str) -> dict[str, str]:
    return {"reason": reason} if reason else {}


def as_csv(found: Rankings, beside: Beside | None = None) -> str:
    """Every figure on a line of its own; an undefined one is an empty cell with its reason.

    part: judge, interrogator, pool, against. figure: score (a gave b), tau (of a and b), mean tau, weight (of judge b in pool a),
    spearman, rank here and rank there (of player a, called b there).
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for line in _lines(found, beside):
        writer.writerow({k: marked(v) if isinstance(v, str) else v for k, v in line.items()})
    return out.getvalue()


def _lines(found: Rankings, beside: Beside | None) -> Iterator[dict[str, Any]]:
    yield from _order_lines("judge", found.by_judge)
    yield from _order_lines("interrogator", found.by_interrogator)
    for pool in found.pools.pools:
        if pool.reason:
            yield {"part": "pool", "figure": "weight", "a": pool.name, "reason": pool.reason}
        for judge, weight in pool.weights.items():
            yield {"part": "pool", "figure": "weight", "a": pool.name, "b": judge, "value": weight}
    yield from _order_lines("pool", found.pools.orders)
    if beside is not None:
        f = beside.figures
        yield {
            "part": "against", "figure": "spearman", "b": beside.name, "value": f.spearman, "p": f.p, "players": f.n,
            "reason": f.reason or f.p_reason,
        }  # fmt: skip
        for placed in beside.placed:
            about = {"part": "against", "a": placed.player, "b": placed.model}
            yield {**about, "figure": "rank here", "value": placed.rank_here}
            yield {**about, "figure": "rank there", "value": placed.rank_there}


def _order_lines(part: str, orders: Orders) -> Iterator[dict[str, Any]]:
    for name, scores in orders.scores.items():
        for player, score in scores.items():
            yield {
                "part": part, "figure": "score", "a": name, "b": player, "value": score,
                "conversations": orders.conversations[name],
            }  # fmt: skip
    stability = orders.stability
    for t in stability.pairs:
        about = {"figure": "tau", "a": t.a, "b": t.b, "value": t.value, "players": t.players}
        yield {"part": part, **about, **_ends(t.ci), "reason": t.reason}
    mean = {"figure": "mean tau", "value": stability.mean, "reason": stability.reason}
    yield {"part": part, **mean, **_ends(stability.ci)}


def _ends(ci: tuple[float, float] | None) -> dict[str, float]:
    return {} if ci is None else {"low": ci[0], "high": ci[1]}


def notes(found: Rankings) -> list[str]:
    """What a reader has to know of the figures, one sentence each."""
    told = [
        f"Orders by mean final score, without the price on length, over the {found.conversations} conversations that all of "
        f"{', '.join(found.judges)} rated and none saw a refusal in. τ: Kendall's tau-b; 1 is the same order, 0 no relation, −1 the reverse. "
        f"95% intervals: percentile bootstrap, conversations drawn plainly (not within scenarios), {found.resamples} resamples, seed {found.seed}. "
        "A draw adds noise to every order, so these intervals lean towards less agreement and can end below the figure itself."
    ]
    pools = found.pools
    for pool in pools.pools:
        if pool.reason:
            told.append(f"The pool “{pool.name}” is undefined: {pool.reason}.")
    if any(pool.name == "best two" and pool.weights for pool in pools.pools):
        told.append(
            f"The best two judges were chosen by {pools.best_by}; weights are held as they are in resamples."
        )
    if pools.ranks:
        told.append(
            f"PageRank among the {len(pools.ranks)} models that both judge and play here: an edge from each judge to every other such "
            "model, as heavy as the mean final score it gave; none to itself; damping 0.85. Judges that do not play weigh nothing."
        )
    if found.simulated:
        told.append("Mock models take part: these figures say nothing about language models.")
    return told


def beside_notes(beside: Beside) -> list[str]:
    """What a reader has to know of the other ranking, one sentence each."""
    told = [
        f"This leaderboard's score (with its price on length) beside the {beside.by} in {beside.name}. Names are matched exactly, the rest "
        "without regard to case and with - _ and spaces taken for the same; ranks are among the models matched, ties at their mean rank."
    ]
    for names, where in ((beside.only_here, "on this leaderboard"), (beside.only_there, f"in {beside.name}")):
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            told.append(f"Only {where}: {', '.join(names[:SHOWN])}{more}.")
    return told
