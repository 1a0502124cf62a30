"""How stable a leaderboard's order is: by judge, by interrogator, under pools of judges, and against another ranking (PingPong)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from sqlite_utils import Database

from core.agreement import rankings as figures
from core.agreement.rankings import Against, Stability
from core.agreement.ratings import DIGITS, FINAL, Floats, Ints
from core.errors import ConcordError, not_found
from core.reports.agreement_report import Options, agreement_report
from core.reports.corrected import offered
from core.reports.leaderboards import Leaderboard, Rated, panel_scores
from core.store import holdings, tables

INTERROGATOR = "interrogator"
"""The facet that says who played the user."""
UNIFORM, BEST_TWO, PAGERANK = "uniform", "best two", "PageRank"
FEWEST = 3
"""So many models must judge each other for PageRank to tell them apart."""


@dataclass(frozen=True)
class Orders:
    """Several rankings of the players: each one's mean final score of every player it has, over so many conversations."""

    scores: Mapping[str, Mapping[str, float]]
    conversations: Mapping[str, int]
    stability: Stability


@dataclass(frozen=True)
class Pool:
    """Judges' weights, their sum 1; none where the pool is undefined, with the reason."""

    name: str
    weights: Mapping[str, float]
    reason: str = ""


@dataclass(frozen=True)
class Pools:
    """The order under each pool that is defined. `best_by` says what the best two were chosen by, `ranks` is PageRank by model."""

    pools: tuple[Pool, ...]
    orders: Orders
    best_by: str
    ranks: Mapping[str, float]


@dataclass(frozen=True)
class Rankings:
    """How stable a table's order is, over the `conversations` that every judge of the panel rated and none saw a refusal in."""

    benchmark: str
    language: str
    judges: tuple[str, ...]
    players: tuple[str, ...]
    conversations: int
    by_judge: Orders
    by_interrogator: Orders
    pools: Pools
    resamples: int
    seed: int
    simulated: bool


@dataclass(frozen=True)
class Other:
    """Another ranking: a value for each model by its name; with `by` “rank” less is better. `name` says where it is from."""

    name: str
    by: Literal["score", "rank"]
    models: Mapping[str, float]


@dataclass(frozen=True)
class Placed:
    """A player that both rankings have: its value and rank in each; `rise` is how many ranks it stands higher here than there."""

    player: str
    model: str
    here: float
    there: float
    rank_here: float
    rank_there: float

    @property
    def rise(self) -> float:
        """Ranks gained here over the other ranking; negative for a fall."""
        return self.rank_there - self.rank_here


@dataclass(frozen=True)
class Beside:
    """A table's order beside another ranking, best here first; and who is in one of them only."""

    name: str
    by: str
    figures: Against
    placed: tuple[Placed, ...]
    only_here: tuple[str, ...]
    only_there: tuple[str, ...]


def rankings(db: Database, rated: Rated, board: Leaderboard, *, study: str = "") -> Rankings:
    """How stable the order of `board`, made from `rated`, is. Scores are final scores, without the price on length.

    `study` is one whose people say which judges are the best two; the newest with people on these conversations unless named.
    Intervals: conversations drawn plainly, with the resamples and the seed of the table. Raises ConcordError where no conversation
    was rated by the whole panel, NotFound for a study without people on these conversations.
    """
    usable = board.scored[board.scored.complete & ~board.scored.refused]
    if usable.empty:
        raise ConcordError(
            f"No conversation was rated by all of {', '.join(board.judges)} without a refusal, so there is no order to look at. "
            "Choose fewer judges, or have the others rate what is stored with `concord judge`."
        )
    players = tuple(s.player for s in board.standings if s.n)
    models = _models(db, board.judges)
    code = pd.Index(players).get_indexer(pd.Index(usable.player)).astype(np.int64)
    given = np.column_stack(
        [
            panel_scores(rated.conversations, rated.scores, [judge], board.weights)[FINAL].reindex(usable.index)
            for judge in board.judges
        ]
    ).astype(np.float64)  # fmt: skip
    own, drawn = figures.means(given, code, len(players), resamples=board.resamples, seed=board.seed)
    return Rankings(
        board.benchmark, board.language, board.judges, players, len(usable),
        _orders(board.judges, players, own, drawn, dict.fromkeys(board.judges, len(usable))),
        _by_interrogator(db, board, usable, players, code),
        _pools(board, players, own, drawn, models, _agreeing(db, board, models, study)),
        board.resamples, board.seed, bool(board.simulated) or any(s.simulated for s in board.standings),
    )  # fmt: skip


def beside(board: Leaderboard, other: Other) -> Beside:
    """The table's own order (by score, the price on length in it) beside another ranking.

    Names are matched exactly; those left, without regard to case and with - _ and spaces taken for the same, where that leaves one
    name on either side.
    """
    here = {s.player: s.score.value for s in board.standings if s.score.value is not None}
    pairs = _matched(here, other.models)
    sign = -1.0 if other.by == "rank" else 1.0
    x = np.array([here[player] for player, _ in pairs], dtype=np.float64)
    y = np.array([other.models[model] for _, model in pairs], dtype=np.float64)
    found = figures.against(x, sign * y)
    placed = [
        Placed(player, model, here[player], other.models[model], rank_here, rank_there)
        for (player, model), rank_here, rank_there in zip(
            pairs, found.ranks_here, found.ranks_there, strict=True
        )
    ]
    known = {model for _, model in pairs}
    return Beside(
        other.name,
        other.by,
        found,
        tuple(placed),
        tuple(s.player for s in board.standings if s.player not in dict(pairs)),
        tuple(model for model in other.models if model not in known),
    )


def _matched(here: Iterable[str], there: Iterable[str]) -> list[tuple[str, str]]:
    """(player, model) in the order of `here`."""
    players, models = list(here), set(there)
    found = {player: player for player in players if player in models}
    left, right = _folded(p for p in players if p not in found), _folded(models - found.keys())
    for key, names in left.items():
        if len(names) == 1 and len(right.get(key, ())) == 1:
            found[names[0]] = right[key][0]
    return [(player, found[player]) for player in players if player in found]


def _folded(names: Iterable[str]) -> dict[str, list[str]]:
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(re.sub(r"[\s_-]+", "-", name.strip().casefold()), []).append(name)
    return folded


def _orders(
    names: Sequence[str], players: Sequence[str], own: Floats, drawn: Floats, conversations: Mapping[str, int]
) -> Orders:
    scores = {
        name: {
            player: round(float(value), DIGITS)
            for player, value in zip(players, row, strict=True)
            if not np.isnan(value)
        }
        for name, row in zip(names, own, strict=True)
    }
    return Orders(scores, conversations, figures.stability(names, own, drawn))


def _by_interrogator(
    db: Database, board: Leaderboard, usable: pd.DataFrame, players: Sequence[str], code: Ints
) -> Orders:
    """The panel's order among the conversations of each interrogator; nothing for benchmarks without one."""
    facet = tables.facets(db, board.benchmark, (INTERROGATOR,))[INTERROGATOR].reindex(usable.index)
    met = facet.notna().to_numpy()
    which, found = pd.factorize(facet[met], sort=True)
    names = [str(name) for name in found]
    own, drawn = figures.means(
        usable[FINAL].to_numpy(np.float64)[met, None],
        which.astype(np.int64) * len(players) + code[met],
        len(names) * len(players),
        resamples=board.resamples,
        seed=board.seed,
    )
    shape = (len(names), len(players))
    counts = {name: int((which == place).sum()) for place, name in enumerate(names)}
    return _orders(names, players, own.reshape(shape), drawn.reshape(len(drawn), *shape), counts)


def _pools(
    board: Leaderboard, players: Sequence[str], own: Floats, drawn: Floats, models: Mapping[str, str],
    agreeing: tuple[str, Mapping[str, float]],
) -> Pools:  # fmt: skip
    judges = board.judges
    ranks, why = _pageranks(judges, players, own, models)
    sharing = [models[judge] for judge in judges]
    by_rank = {
        judge: ranks[models[judge]] / sharing.count(models[judge])
        for judge in judges
        if models[judge] in ranks
    }
    total = sum(by_rank.values())
    # The best two by people where a study tells two judges apart, else by PageRank.
    study, spearman = agreeing
    chosen_by, order = (
        (f"agreement with people in the study “{study}”", spearman)
        if len(spearman) > 1
        else (PAGERANK, by_rank)
    )
    best = sorted(order, key=lambda judge: (-order[judge], judge))[:2]
    few = "" if len(judges) > 2 else "the panel has no more than two judges"
    nobody = "" if len(best) == 2 else f"no study of people tells two judges apart, and {why}"
    pools = (
        Pool(UNIFORM, {judge: 1 / len(judges) for judge in judges}),
        Pool(BEST_TWO, {} if few or nobody else dict.fromkeys(best, 0.5), few or nobody),
        Pool(PAGERANK, {judge: weight / total for judge, weight in by_rank.items()}, why),
    )
    defined = [pool for pool in pools if pool.weights]
    weights = np.array([[pool.weights.get(judge, 0.0) for judge in judges] for pool in defined])
    names = [pool.name for pool in defined]
    counts = dict.fromkeys(names, int((board.scored.complete & ~board.scored.refused).sum()))
    return Pools(pools, _orders(names, players, weights @ own, weights @ drawn, counts), chosen_by, ranks)


def _pageranks(
    judges: Sequence[str], players: Sequence[str], own: Floats, models: Mapping[str, str]
) -> tuple[dict[str, float], str]:
    """PageRank of the models that judge here and play here, or why there is none.

    An edge leads from a judge to every other such model, as heavy as the mean final score it gave that model.
    """
    nodes = sorted({models[judge] for judge in judges} & set(players))
    if len(nodes) < FEWEST:
        few = {0: "no model here judges", 1: "one model here judges"}.get(
            len(nodes), f"{len(nodes)} models here judge"
        )
        return {}, f"{few} and {'play' if len(nodes) > 1 else 'plays'} too, at least {FEWEST} are needed"
    columns = [players.index(node) for node in nodes]
    edges = np.array(
        [
            np.mean([own[row] for row, judge in enumerate(judges) if models[judge] == node], axis=0)[columns]
            for node in nodes
        ]
    )
    if (edges < 0).any():
        return {}, "a judge gave scores below 0, which are no weights"
    return dict(zip(nodes, figures.pagerank(edges).tolist(), strict=True)), ""


def _models(db: Database, judges: Sequence[str]) -> dict[str, str]:
    """The model behind each judge: a model that judged by several versions of a prompt is several judges."""
    known: dict[str, str] = {}
    for judge in holdings.judges(db):
        known |= {f"{judge.name} {judge.version}": judge.name, judge.name: judge.name}
    return {judge: known.get(judge, judge) for judge in judges}


def _agreeing(
    db: Database, board: Leaderboard, models: Mapping[str, str], study: str
) -> tuple[str, dict[str, float]]:
    """Each judge's Spearman with people's final in a study, where defined; and the study. Nothing without a study."""
    names = offered(db, board)
    if study and study not in names:
        raise not_found("study in which people rated conversations of this table,", study, names)
    if not names:
        return "", {}
    chosen = study or names[0]
    part = agreement_report(db, chosen, Options(resamples=0)).agreement.criteria.get(FINAL)
    judges = part.judges if part else ()
    given = {row.name: row.spearman.value for row in judges if row.spearman.value is not None}
    # A study names the version of a judge's prompt only where it holds several.
    return chosen, {
        judge: given.get(judge, given.get(models[judge], 0.0))
        for judge in board.judges
        if judge in given or models[judge] in given
    }
