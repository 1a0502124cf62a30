"""The papers' tables: how players compare on what a panel of judges gave their conversations.

The table is PingPong's (FACTS of the paper: means over conversations, refusals apart, a length penalty, ranks that are shared
within a margin) and serves every benchmark whose judges rate criteria on a scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from sqlite_utils import Database

from core.agreement.resampling import draws, interval
from core.benchmarks import get
from core.benchmarks.benchmark import Benchmark
from core.errors import ConcordError, not_found
from core.rating import Criterion
from core.store import tables

FINAL = "final"
REFUSAL = "refusal"
"""The criterion, rated 0 or 1, that says a player would not take part."""

PENALTY = 0.07
"""The most that long replies can cost: a share of the score."""

MARGIN = 0.06
"""Players this close to the first of a group share its rank."""

DIGITS = 9
"""Averages are rounded to so many digits before they are compared, so that equal ones are equal."""


@dataclass(frozen=True)
class Rated:
    """Conversations and what judges gave them, as `core.store.tables` reads them; `simulated` are judges that are no language models."""

    benchmark: str
    language: str
    conversations: pd.DataFrame
    scores: pd.DataFrame
    simulated: frozenset[str] = frozenset()

    @property
    def judges(self) -> tuple[str, ...]:
        """Everyone who rated, by name."""
        return tuple(sorted(self.scores.judge.unique()))


@dataclass(frozen=True)
class Figure:
    """A mean with its 95% interval, each None where it is undefined; `reason` says why."""

    value: float | None
    ci: tuple[float, float] | None = None
    reason: str = ""

    @property
    def half_width(self) -> float | None:
        """Half of the interval's width, shown behind ±."""
        return None if self.ci is None else round((self.ci[1] - self.ci[0]) / 2, DIGITS)


@dataclass(frozen=True)
class Standing:
    """One player's row. `judged` = `n` + `refused` + `incomplete` conversations; means are over the `n`.

    `incomplete`: a judge of the panel has not (or not usably) answered, so that the mean of the rest would lean its way; these
    enter no column. `refused`: of the complete ones, those in which a judge of the panel saw a refusal. `refusal_ratio` and
    `reply_chars` (the mean length of a reply) are over the complete ones, refused or not, None where there is none; `factor` is
    what the length costs, `score` the final score times that.
    """

    player: str
    rank: int | None
    score: Figure
    final: Figure
    criteria: Mapping[str, Figure]
    refusal_ratio: float | None
    reply_chars: float | None
    factor: float | None
    n: int
    judged: int
    refused: int
    incomplete: int
    simulated: bool


@dataclass(frozen=True)
class Leaderboard:
    """A table of players, best first, and all it rests on."""

    benchmark: str
    language: str
    judges: tuple[str, ...]
    weights: Mapping[str, float]
    standings: tuple[Standing, ...]
    resamples: int
    seed: int
    simulated: tuple[str, ...]
    """Judges that are no language models."""
    scored: pd.DataFrame = field(repr=False, compare=False)
    """What the panel gave each conversation, as `panel_scores` gives it."""
    passed_over: tuple[str, ...] = ()
    """Judges left out because no conversation was rated by all, where nobody named a panel."""


def weightings(criteria: Sequence[Criterion]) -> dict[str, dict[str, float]]:
    """The weights one can choose: all alike, or one criterion counted twice."""
    counted = [c for c in criteria if c.counted]
    found = {"All alike": {c.name: 1.0 for c in counted}}
    for twice in counted:
        found[f"{twice.label} twice"] = {c.name: 2.0 if c is twice else 1.0 for c in counted}
    return found


def compares(system: Benchmark) -> bool:
    """Whether a benchmark has criteria that enter a final score."""
    return any(c.counted for c in system.criteria)


def gather(
    db: Database, benchmark: str, *, language: str = "", facets: Mapping[str, Sequence[str]] | None = None
) -> Rated:
    """What a benchmark's table is made of. Raises NotFound for an unknown benchmark, ConcordError where no judge has rated anything."""
    system = get(benchmark)
    names = [c.name for c in system.criteria]
    if not compares(system):
        raise ConcordError(
            f"Judges do not rate {system.title} by criteria that could be averaged, so it has no such table."
        )
    scores = tables.scores(db, benchmark, names, language=language, facets=facets)
    if scores.empty:
        where = f" in “{language}”" if language else ""
        raise ConcordError(
            f"No judge has rated any {system.title} conversation{where} yet. Start a run with judges, "
            f"or have what is stored rated with `concord judge {benchmark}`."
        )
    return Rated(
        benchmark,
        language,
        tables.conversations(db, benchmark, language=language, facets=facets),
        scores,
        frozenset(name for name, simulated in tables.judges(db, benchmark).values() if simulated),
    )


def leaderboard(
    rated: Rated,
    *,
    judges: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Leaderboard:
    """A benchmark's table over a panel of judges (all who rated, unless named). Raises NotFound for a judge who rated nothing here.

    Where all are asked for and no conversation was rated by all of them (each rated what it played itself, say), the panel is the one who
    rated most; the others are `passed_over`.
    """
    counted = [c.name for c in get(rated.benchmark).criteria if c.counted]
    weighed = _weights(weights, counted)
    for name in judges:
        if name not in rated.judges:
            raise not_found("judge", name, rated.judges)
    panel = tuple(dict.fromkeys(judges)) or rated.judges
    scored = panel_scores(rated.conversations, rated.scores, panel, weighed)
    passed_over: tuple[str, ...] = ()
    if len(panel) > 1 and set(panel) == set(rated.judges) and not scored.complete.any():
        most = str(rated.scores.groupby("judge").conversation.nunique().sort_index().idxmax())
        passed_over = tuple(name for name in panel if name != most)
        panel = (most,)
        scored = panel_scores(rated.conversations, rated.scores, panel, weighed)
    placed = tuple(standings(scored, counted, resamples=resamples, seed=seed))
    simulated = tuple(name for name in panel if name in rated.simulated)
    return Leaderboard(
        rated.benchmark,
        rated.language,
        panel,
        weighed,
        placed,
        resamples,
        seed,
        simulated,
        scored,
        passed_over,
    )


def panel_scores(
    conversations: pd.DataFrame, scores: pd.DataFrame, panel: Sequence[str], weights: Mapping[str, float]
) -> pd.DataFrame:
    """What the panel gave each conversation it rated: one row a conversation, one column a criterion, and final.

    Adds to `conversations` the columns refused (a judge saw a refusal) and complete (every judge rated every criterion); a
    criterion is the mean over judges of their mean over turns, nan where the row is not complete; final their weighted mean.
    """
    counted = list(weights)
    scores = scores[scores.judge.isin(panel)]
    by_conversation = scores.groupby("conversation")
    sums, given = by_conversation[counted].sum(min_count=1), by_conversation[counted].count()
    found = conversations.loc[conversations.index.isin(sums.index)].copy()
    found["refused"] = (
        found.index.isin(scores.conversation[scores[REFUSAL] > 0]) if REFUSAL in scores else False
    )
    found["complete"] = given.eq(len(panel)).all(axis=1).reindex(found.index)
    means = (sums / len(panel)).reindex(found.index).where(found.complete)
    weighted = means * pd.Series(weights)
    found[FINAL] = (weighted.sum(axis=1, skipna=False) / sum(weights.values())).round(DIGITS)
    return found.join(means.round(DIGITS))


def standings(
    scored: pd.DataFrame, criteria: Sequence[str], *, resamples: int = 1000, seed: int = 0
) -> list[Standing]:
    """One row a player, best first. `scored` as `panel_scores` gives it; conversations are resampled for the intervals.

    A player without a scored conversation has no means and no rank, and comes last.
    """
    lengths = {
        str(player): _length(rows[rows.complete]) for player, rows in scored.groupby("player", sort=True)
    }
    known = [length for length in lengths.values() if length is not None]
    middle = float(np.median(known)) if known else None
    found = []
    for player, rows in scored.groupby("player", sort=True):
        length = lengths[str(player)]
        factor = length_factor(length, middle)
        complete = rows[rows.complete]
        usable = complete[~complete.refused]
        figures = dict(
            zip(
                [FINAL, *criteria],
                _figures(usable[[FINAL, *criteria]].to_numpy(float), resamples, seed),
                strict=True,
            )
        )
        final = figures.pop(FINAL)
        refused = int(complete.refused.sum())
        found.append(
            Standing(
                str(player), None, _times(final, factor), final, figures, refused / len(complete) if len(complete) else None,
                length, factor, len(usable), len(rows), refused, len(rows) - len(complete), bool(rows.simulated.any()),
            )
        )  # fmt: skip
    return _ranked(found)


def length_factor(length: float | None, middle: float | None) -> float | None:
    """What the length of replies makes of a score: 1 + (median / length − 1) × 0.07, between 0.93 and 1; None without replies."""
    if length is None or middle is None:
        return None
    if length == 0:
        return 1.0
    return min(1.0, max(1 - PENALTY, 1 + (middle / length - 1) * PENALTY))


def ranks(scores: Sequence[float]) -> list[int]:
    """Ranks of scores that fall: a score shares the rank of the first of its group while within 0.06 of it, else it takes its own place."""
    found: list[int] = []
    first, rank = 0.0, 0
    for place, score in enumerate(scores, start=1):
        if not found or round(first - score, DIGITS) > MARGIN:
            first, rank = score, place
        found.append(rank)
    return found


def grid(scored: pd.DataFrame, facets: pd.DataFrame, player: str, value: str = FINAL) -> pd.DataFrame:
    """One player's conversations by two facets: rows, columns, value (mean over the cell's scored conversations, nan without any),
    conversations (their ids, refused and incomplete ones too), refused (how many)."""
    mine = scored[scored.player == player].join(facets, how="inner")
    down, across = facets.columns[:2]
    cells = []
    for (row, column), rows in mine.groupby([down, across], sort=True):
        usable = rows[rows.complete & ~rows.refused][value]
        cells.append(
            {
                "row": row, "column": column, "value": usable.mean() if len(usable) else np.nan,
                "conversations": tuple(int(i) for i in rows.index), "refused": int(rows.refused.sum()),
            }
        )  # fmt: skip
    return pd.DataFrame(cells, columns=["row", "column", "value", "conversations", "refused"])


def _weights(weights: Mapping[str, float] | None, counted: Sequence[str]) -> dict[str, float]:
    chosen = dict.fromkeys(counted, 1.0) if weights is None else dict(weights)
    for name in chosen:
        if name not in counted:
            raise not_found("counted criterion", name, counted)
    if not chosen or min(chosen.values()) < 0 or sum(chosen.values()) <= 0:
        raise ConcordError("Weights must not be negative, and at least one must be above 0.")
    return {name: chosen.get(name, 0.0) for name in counted}


def _length(rows: pd.DataFrame) -> float | None:
    replies = int(rows.turns.sum())
    return round(int(rows.reply_chars.sum()) / replies, DIGITS) if replies else None


def _figures(values: npt.NDArray[np.float64], resamples: int, seed: int) -> list[Figure]:
    """The mean of each column with its interval: the same resampled conversations for all columns."""
    n, columns = values.shape
    if n == 0:
        return [Figure(None, None, "no conversation to average")] * columns
    means = [round(float(total) / n, DIGITS) for total in values.sum(axis=0)]
    if n == 1:
        return [Figure(mean, None, "one conversation has no spread") for mean in means]
    resampled = np.concatenate(
        [w.T @ values / n for w in draws(n, resamples, seed)] or [np.empty((0, columns))]
    )
    found = []
    for mean, column in zip(means, resampled.T, strict=True):
        low, high, reason = interval(column)
        ends = None if low is None or high is None else (round(low, DIGITS), round(high, DIGITS))
        found.append(Figure(mean, ends, reason))
    return found


def _times(figure: Figure, factor: float | None) -> Figure:
    if figure.value is None or factor is None:
        return Figure(None, None, figure.reason or "no replies to measure")
    ends = (
        None
        if figure.ci is None
        else (round(figure.ci[0] * factor, DIGITS), round(figure.ci[1] * factor, DIGITS))
    )
    return Figure(round(figure.value * factor, DIGITS), ends, figure.reason)


def _ranked(found: list[Standing]) -> list[Standing]:
    placed = [(s.score.value, s) for s in found if s.score.value is not None]
    placed.sort(key=lambda pair: (-pair[0], pair[1].player))
    places = ranks([value for value, _ in placed])
    unplaced = [s for s in found if s.score.value is None]
    return [replace(s, rank=rank) for (_, s), rank in zip(placed, places, strict=True)] + unplaced
