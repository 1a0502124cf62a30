"""The leaderboard of every benchmark whose judges rate criteria and whose slice has none of its own.

Scores are means over conversations, with a penalty for long replies; refusals are excluded; players within a
margin share a rank.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from concord import scores
from concord.codes import IntervalMethod
from concord.errors import ConcordError, check_known
from concord.estimate import Estimate, undefined
from concord.rating import Criterion
from concord.reports.rated import Rated
from concord.scores import DIGITS, FINAL, no_final
from concord.statistics.intervals import Ends, bounded, described
from concord.statistics.rankings import open_places
from concord.statistics.resampling import mean_estimates
from concord.table import Cell, Column, Table

PENALTY = 0.07
"""The most that long replies can cost: a share of the score."""

MARGIN = 0.06
"""Players this close to the first of a group share its rank."""

MOCKS = "Some results come from rule-based mock models. They say nothing about language models."


@dataclass(frozen=True)
class PlayerResult:
    """One player's row: means over `n` of the `judged` conversations, and `places`, the ranks left open.

    `judged` = `n` + `refused` + `incomplete`.

    `incomplete`: a judge of the panel has no usable answer; these enter no column, because the mean of the
    other judges would be biased. `refused`: the complete ones in which a judge of the panel saw a refusal.
    `refusal_ratio` and `reply_chars` (the mean length of a reply) are over all complete ones. `score` is the
    final score times `length_factor`, the penalty for length. `failed` are conversations that could not be
    made because a reply of the player stayed unusable; they enter no other column. `cut` are those rated in
    which a reply of the player truncated at the length limit.
    """

    player: str
    rank: int | None
    places: str
    score: Estimate
    final: Estimate
    criteria: Mapping[str, Estimate]
    refusal_ratio: float | None
    reply_chars: float | None
    length_factor: float | None
    n: int
    judged: int
    refused: int
    incomplete: int
    cut: int
    failed: int
    simulated: bool


@dataclass(frozen=True)
class Leaderboard:
    """Players, best first, and what their figures rest on."""

    rated: Rated
    judges: tuple[str, ...]
    weights: Mapping[str, float]
    standings: tuple[PlayerResult, ...]
    resamples: int
    seed: int
    scored: pd.DataFrame = field(repr=False, compare=False)
    """What the panel gave each conversation, as `panel_scores` gives it."""
    passed_over: tuple[str, ...] = ()
    """Judges excluded because no conversation was rated by all, if no panel is named."""
    intervals: IntervalMethod = IntervalMethod.PADDED
    """How the intervals were found."""

    @property
    def benchmark(self) -> str:
        """The benchmark's name."""
        return self.rated.benchmark

    @property
    def player_heading(self) -> str:
        """The heading of the column `player`: “model”, if no models play in this benchmark."""
        return self.rated.system.player_noun

    @property
    def method(self) -> str:
        """How the intervals were found, in words."""
        kinds = [bounded(*ends) for ends in scales_of(self.rated.system.criteria, self.weights).values()]
        sampling: dict[str, Any] = {"resamples": self.resamples, "seed": self.seed}
        return described(kinds, units="conversations", method=self.intervals, **sampling)

    @property
    def usable(self) -> pd.DataFrame:
        """The conversations that enter the means."""
        return self.scored[self.scored.counted]

    @property
    def unrated(self) -> int:
        """How many conversations no judge of the panel was asked about."""
        return len(self.rated.conversations) - len(self.scored)

    @property
    def simulated(self) -> tuple[str, ...]:
        """The judges of the panel that are no language models."""
        return tuple(name for name in self.judges if self.rated.raters[name].simulated)

    @property
    def mocks(self) -> bool:
        """Whether mock models have any part in it."""
        return bool(self.simulated) or any(s.simulated for s in self.standings)

    @property
    def basis(self) -> dict[str, Any]:
        """What the figures rest on, as plain values."""
        return {
            "benchmark": self.benchmark,
            "where": {name: list(values) for name, values in self.rated.filters.items()},
            "mixed": {name: list(values) for name, values in self.rated.mixed.items()},
            "judges": list(self.judges),
            "passed_over": list(self.passed_over),
            "simulated": list(self.simulated),
            "weights": dict(self.weights),
            "resamples": self.resamples,
            "seed": self.seed,
            "intervals": self.intervals.value,
        }


def weightings(criteria: Sequence[Criterion]) -> dict[str, dict[str, float]]:
    """The weights one can choose: all alike, or one criterion counted twice; one alone where they have no
    mean.
    """
    weighted = [c for c in criteria if c.counted]
    if no_final(weighted, "judge"):
        return {f"{c.label} alone": {c.name: 1.0} for c in weighted}
    ways = {"All alike": {c.name: 1.0 for c in weighted}}
    for twice in weighted if len(weighted) > 1 else ():
        ways[f"{twice.label} twice"] = {c.name: 2.0 if c is twice else 1.0 for c in weighted}
    return ways


def leaderboard(
    rated: Rated,
    *,
    judges: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    intervals: IntervalMethod = IntervalMethod.PADDED,
) -> Leaderboard:
    """The leaderboard by a panel of judges, chosen by `Rated.panel`.

    Where nobody named judges and no conversation was rated by all (each rated what it played itself, say),
    the panel is the one who rated most; the others are `passed_over`.
    """
    system = rated.system
    weights_of_criteria = _weights(weights, [c for c in system.criteria if c.counted])
    panel = whole_panel = rated.panel(judges)
    scored = panel_scores(
        rated.conversations, rated.scores, panel, weights_of_criteria, system.refusal, unusable=rated.unusable
    )
    if not judges and len(panel) > 1 and not scored.complete.any():
        panel_rows = rated.scores[rated.scores.judge.isin(panel)]
        panel = (str(panel_rows.groupby("judge").conversation.nunique().sort_index().idxmax()),)
        scored = panel_scores(
            rated.conversations,
            rated.scores,
            panel,
            weights_of_criteria,
            system.refusal,
            unusable=rated.unusable,
        )
    passed_over = tuple(name for name in whole_panel if name not in panel)
    scales = scales_of(system.criteria, weights_of_criteria)
    failed = own_failures(rated.failed)
    sampling: dict[str, Any] = {"resamples": resamples, "seed": seed, "intervals": intervals}
    ranked = tuple(standings(scored, list(weights_of_criteria), scales=scales, failed=failed, **sampling))
    return Leaderboard(
        rated, panel, weights_of_criteria, ranked, resamples, seed, scored, passed_over, intervals
    )


def panel_scores(
    conversations: pd.DataFrame,
    panel_rows: pd.DataFrame,
    panel: Sequence[str],
    weights: Mapping[str, float],
    refusal: str = "",
    *,
    unusable: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """What the panel gave each conversation it was asked about: one row each, with every criterion and final.

    A conversation on which every reply of the panel stayed `unusable` (conversation, judge) has a row, too.

    Adds to `conversations` the columns refused (a judge saw a refusal) and complete (every judge rated every
    criterion) and counted (complete, no refusal). A criterion and final are the panel's scores, nan where the
    row is not complete.
    """
    panel_rows = panel_rows[panel_rows.judge.isin(panel)]
    keys = {*panel_rows.conversation}
    if unusable is not None:
        keys |= {*unusable.conversation[unusable.judge.isin(panel)]}
    scored = conversations.loc[conversations.index.isin(keys)].copy()
    saw = (
        panel_rows[refusal].map(scores.is_refusal)
        if refusal in panel_rows
        else pd.Series(False, index=panel_rows.index)
    )
    scored["refused"] = scored.index.isin(panel_rows.conversation[saw])
    by_judge = [
        panel_rows[panel_rows.judge == judge].set_index("conversation").reindex(scored.index)
        for judge in panel
    ]
    finals = [scores.final([rows[name] for name in weights], list(weights.values())) for rows in by_judge]
    scored[FINAL] = scores.panel(finals).round(DIGITS)
    scored["complete"] = scored[FINAL].notna()
    scored["counted"] = scored.complete & ~scored.refused
    for name in weights:
        scored[name] = scores.panel([rows[name] for rows in by_judge]).round(DIGITS).where(scored.complete)
    return scored


def unrated_notes(unrated: int) -> list[str]:
    """How many conversations no judge of the panel was asked about, in a sentence, where there are any."""
    if not unrated:
        return []
    are = "1 conversation is" if unrated == 1 else f"{unrated:,} conversations are"
    return [f"{are} not rated by the panel yet and excluded here."]


def own_failures(failed: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """The conversations that could not be made because of the player's own reply, by player."""
    return {player: models[player] for player, models in failed.items() if models.get(player)}


def failure_notes(failed: Mapping[str, Mapping[str, int]]) -> list[str]:
    """How many conversations could not be made, and because of whose replies."""
    sentences = []
    if player_failures := sum(own_failures(failed).values()):
        sentences.append(
            f"{player_failures} conversations failed because a reply of the model stayed "
            "unusable. They are excluded "
            "from all means."
        )
    other_failures: dict[str, int] = {}
    for player, models in failed.items():
        for model, n in models.items():
            if model != player:
                other_failures[model] = other_failures.get(model, 0) + n
    for model, n in sorted(other_failures.items()):
        sentences.append(f"{n} conversations failed because a reply of {model} stayed unusable.")
    return sentences


def standings(
    scored: pd.DataFrame,
    criteria: Sequence[str],
    *,
    scales: Mapping[str, Ends] | None = None,
    failed: Mapping[str, int] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    intervals: IntervalMethod = IntervalMethod.PADDED,
) -> list[PlayerResult]:
    """One row a player, best first, from `panel_scores`; intervals resample conversations.

    `scales` holds the ends of the scale of each criterion and of *final*, where they are known; `failed` the
    number of each player's conversations that could not be made. A player without a scored conversation has
    no means and no rank, and comes last.
    """
    failed = failed or {}
    players = {str(player): rows for player, rows in scored.groupby("player", sort=True)}
    players |= {player: scored[:0] for player in sorted(failed) if player not in players}
    lengths = {player: _length(rows[rows.complete]) for player, rows in players.items()}
    known_ends = scales or {}
    defined = [length for length in lengths.values() if length is not None]
    median = float(np.median(defined)) if defined else None
    results = []
    for player, rows in players.items():
        factor = length_factor(lengths[player], median)
        complete = rows[rows.complete]
        usable = rows[rows.counted]
        values = usable[[FINAL, FINAL, *criteria]].to_numpy(float, copy=True)
        values[:, 0] *= 1.0 if factor is None else factor
        ends = [known_ends.get(name) for name in (FINAL, FINAL, *criteria)]
        if ends[0] is not None and factor is not None:
            ends[0] = ends[0][0] * factor, ends[0][1] * factor
        score, final, *means = mean_estimates(
            values, resamples=resamples, seed=seed, noun="conversation", scales=ends, method=intervals
        )
        if factor is None and score.defined:
            score = undefined("no replies to measure", n=len(usable))
        refusals = int(complete.refused.sum())
        results.append(
            PlayerResult(
                player,
                None,
                "",
                score,
                final,
                dict(zip(criteria, means, strict=True)),
                refusals / len(complete) if len(complete) else None,
                lengths[player],
                factor,
                len(usable),
                len(rows),
                refusals,
                len(rows) - len(complete),
                int((rows.cut_replies > 0).sum()),
                failed.get(player, 0),
                bool(rows.simulated.any()),
            )
        )
    ordered = sorted(
        (s for s in results if s.score.defined), key=lambda s: (-(s.score.value or 0.0), s.player)
    )
    places = ranks([s.score.value or 0.0 for s in ordered])
    values_by_rank = [
        players[s.player].loc[players[s.player].counted, FINAL].to_numpy(np.float64) for s in ordered
    ]
    open_to = open_places(
        [
            player_values * (s.length_factor or 1.0)
            for player_values, s in zip(values_by_rank, ordered, strict=True)
        ]
    )
    ranked = [
        replace(s, rank=rank, places=places) for s, rank, places in zip(ordered, places, open_to, strict=True)
    ]
    return ranked + [s for s in results if not s.score.defined]


def foremost(table: Table) -> str:
    """Who scores highest in a benchmark's own table, or who may, by the intervals of its first figure.

    Intervals that do not overlap tell two apart more cautiously than a test does; where they overlap it is
    not known. Of a single row the sentence says its mean. “” without a figure.
    """
    figures = table.estimates(table.meta.get("first by", ""))
    if not figures or figures[0].value is None:
        return ""
    best = figures[0]
    low = figures[0].low
    size = f" (n = {best.n})" if best.n else ""
    mean = f"{table.label(table.rows[0])} has {{}} mean score{{}} {best.value:.2f}{size}"
    if len(figures) == 1:
        return f"{mean.format('a', ' of')}. Run another model to compare."
    if low is None:
        reason = f": {best.reason}" if best.reason else ""
        return f"{mean.format('the highest', ',')}, without an interval{reason}."
    rows = [
        (table.label(row), figure) for row, figure in zip(table.rows, figures, strict=True) if figure.defined
    ]
    first, *rivals = [name for name, of in rows if of.high is None or of.high >= low]
    if not rivals:
        return f"{first} scores significantly higher than all others."
    names = f"{', '.join([first, *rivals[:-1]])} and {rivals[-1]}"
    return f"Inconclusive which of {names} scores highest: their intervals overlap."


def differences_to(board: Leaderboard, player: str) -> dict[str, Estimate]:
    """How far each other player's score lies above that of this one, paired on the scenarios that both have.

    Scenarios are resampled; a conversation without one is matched by its key. Intervals are Student's t,
    whatever the board's are: a claim rests on them. Raises NotFound for a player without a score.
    """
    rows = board.usable
    factors = {standing.player: standing.length_factor or 1.0 for standing in board.standings}
    scenario = rows.index.to_series().map(board.rated.scenarios).fillna(rows.language + " · " + rows.key)
    means = (rows[FINAL] * rows.player.map(factors)).groupby([scenario, rows.player]).mean().unstack()
    check_known("player with a score", [player], list(means.columns))
    gaps = means.drop(columns=player).sub(means[player], axis=0).round(DIGITS)
    drawing: dict[str, Any] = {"resamples": board.resamples, "seed": board.seed, "noun": "common scenario"}
    return {
        str(name): mean_estimates(gap.dropna().to_numpy()[:, None], **drawing)[0]
        for name, gap in gaps.items()
    }


def length_factor(length: float | None, median: float | None) -> float | None:
    """The penalty for length: 1 + (median / length − 1) × 0.07, between 0.93 and 1; None without replies."""
    if length is None or median is None:
        return None
    return min(1.0, max(1 - PENALTY, 1 + (median / length - 1) * PENALTY)) if length else 1.0


def ranks(scores: Sequence[float]) -> list[int]:
    """Ranks of falling scores: a score shares the rank of the first of its group while within 0.06 of it."""
    places: list[int] = []
    first = 0.0
    rank = 0
    for place, score in enumerate(scores, start=1):
        if not places or round(first - score, DIGITS) > MARGIN:
            first = score
            rank = place
        places.append(rank)
    return places


def grid(board: Leaderboard, player: str, down: str, across: str) -> Table:
    """A player's mean final score by two facets: a row for each value of the one, a column of the other."""
    facets = board.rated.facets.reindex(columns=[down, across])
    rows_of_player = board.usable[board.usable.player == player].join(facets, how="inner")
    rows: dict[str, dict[str, Cell]] = {}
    for value, column, mean in (
        rows_of_player.groupby([down, across])[FINAL].mean().reset_index().to_numpy().tolist()
    ):
        rows.setdefault(value, {down: value})[column] = mean
    return Table(
        f"grid-{board.benchmark}",
        f"{player}: {down} × {across}",
        (Column(down), *map(Column, sorted(set(rows_of_player[across].dropna())))),
        tuple(rows.values()),
        "Mean overall score. Select a row to see its conversations.",
    )


def scales_of(criteria: Sequence[Criterion], weights: Mapping[str, float]) -> dict[str, Ends]:
    """The ends of the scale of each weighed criterion, and of the weighted mean of all."""
    scales = {c.name: (c.scale.low, c.scale.high) for c in criteria if c.name in weights}
    total = sum(weights.values())
    low, high = (sum(weights[name] * ends[side] for name, ends in scales.items()) / total for side in (0, 1))
    return {**scales, FINAL: (low, high)}


def _weights(weights: Mapping[str, float] | None, criteria: Sequence[Criterion]) -> dict[str, float]:
    names = [c.name for c in criteria]
    chosen_weights = dict.fromkeys(names, 1.0) if weights is None else dict(weights)
    check_known("counted criterion", chosen_weights, names)
    if not chosen_weights or min(chosen_weights.values()) < 0 or sum(chosen_weights.values()) <= 0:
        raise ConcordError("Weights must not be negative, and at least one must be above 0.")
    if reason := no_final([c for c in criteria if chosen_weights.get(c.name)], "judge"):
        raise ConcordError(f"{reason} Or give the others the weight 0.")
    return {name: chosen_weights.get(name, 0.0) for name in names}


def _length(rows: pd.DataFrame) -> float | None:
    replies = int(rows.turns.sum())
    return round(int(rows.reply_chars.sum()) / replies, DIGITS) if replies else None
