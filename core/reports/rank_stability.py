"""Rank stability: a leaderboard's order by judge, by interrogator, by pool, and against another ranking."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from sqlite_utils import Database

from core.agreement import rankings as figures
from core.agreement.rankings import Against, Stability
from core.agreement.ratings import Floats, Ints
from core.benchmarks import get
from core.errors import ConcordError, not_found
from core.estimate import Estimate, undefined
from core.reports.agreement_report import Options, agreement_report
from core.reports.corrected import offered
from core.reports.leaderboards import MOCKS, Leaderboard, panel_scores
from core.scores import DIGITS, FINAL
from core.store import tables as store
from core.table import Cell, Column, Table, record

UNIFORM, BEST_TWO, PAGERANK = "uniform", "best two", "PageRank"
FEWEST = 3
"""PageRank needs so many models that judge each other."""
LISTED = 20
"""So many names without a match are listed."""


@dataclass(frozen=True)
class Orders:
    """Several rankings of the players: mean final scores, each over so many conversations."""

    scores: Mapping[str, Mapping[str, float]]
    conversations: Mapping[str, int]
    stability: Stability


@dataclass(frozen=True)
class Pool:
    """The weights of judges, their sum 1; no weights where the pool is undefined, with the reason."""

    name: str
    weights: Mapping[str, float]
    reason: str = ""


@dataclass(frozen=True)
class Pools:
    """The order under each defined pool.

    `best_by` says how the best two were chosen, `ranks` is PageRank by model.
    """

    pools: tuple[Pool, ...]
    orders: Orders
    best_by: str
    ranks: Mapping[str, float]


@dataclass(frozen=True)
class Rankings:
    """How stable the order of `board` is, over the `conversations` that enter its means."""

    board: Leaderboard
    players: tuple[str, ...]
    conversations: int
    by_judge: Orders
    by_interrogator: Orders
    pools: Pools


@dataclass(frozen=True)
class Other:
    """Another ranking: a value for each model by its name.

    With `by` “rank” less is better. `name` says where it is from.
    """

    name: str
    by: Literal["score", "rank"]
    models: Mapping[str, float]


@dataclass(frozen=True)
class Placed:
    """A player that both rankings have: its value and rank in each."""

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
    """A leaderboard's order beside another ranking, best here first; and who is in one of them only."""

    name: str
    by: str
    figures: Against
    placed: tuple[Placed, ...]
    only_here: tuple[str, ...]
    only_there: tuple[str, ...]


def rankings(db: Database, board: Leaderboard, *, study: str = "") -> Rankings:
    """How stable the order of `board` is. Scores are final scores, without the penalty for length.

    `study` is one whose people say which judges are the best two; the newest with people on these
    conversations, unless named. Intervals resample conversations with the resamples and the seed of the
    leaderboard. Raises ConcordError where no conversation was rated by the whole panel, NotFound for a study
    without people on these.
    """
    usable = board.usable
    if usable.empty:
        raise ConcordError(
            f"No conversation was rated by all of {', '.join(board.judges)} without a refusal, so there is "
            "no order to look at. Choose fewer judges, or have the others rate what is stored with "
            "`concord judge`."
        )
    players = tuple(s.player for s in board.standings if s.n)
    code = pd.Index(players).get_indexer(pd.Index(usable.player)).astype(np.int64)
    rated = board.rated
    finals = [
        panel_scores(rated.conversations, rated.scores, [judge], board.weights)[FINAL]
        for judge in board.judges
    ]
    given = np.column_stack([final.reindex(usable.index) for final in finals]).astype(np.float64)
    own, drawn = figures.means(given, code, len(players), resamples=board.resamples, seed=board.seed)
    return Rankings(
        board,
        players,
        len(usable),
        _orders(board.judges, players, own, drawn, dict.fromkeys(board.judges, len(usable))),
        _by_interrogator(db, board, usable, players, code),
        _pools(board, players, own, drawn, _agreeing(db, board, study)),
    )


def beside(board: Leaderboard, other: Other) -> Beside:
    """The leaderboard's own order (by score, with its penalty for length) beside another ranking.

    Names are matched exactly; the rest without regard to case and with - _ and spaces taken for the same,
    where that leaves one name on either side.
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
    name = get(board.benchmark).interrogator_facet
    facet = store.facets(db, board.benchmark, (name,))[name].reindex(usable.index)
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
    board: Leaderboard,
    players: Sequence[str],
    own: Floats,
    drawn: Floats,
    agreeing: tuple[str, Mapping[str, float]],
) -> Pools:
    judges = board.judges
    models = {judge: board.rated.raters[judge].name for judge in judges}
    ranks, why = _pageranks(judges, players, own, models)
    sharing = list(models.values())
    by_rank = {
        judge: ranks[model] / sharing.count(model) for judge, model in models.items() if model in ranks
    }
    total = sum(by_rank.values())
    # The best two by people where a study gives two judges a figure, else by PageRank.
    study, with_people = agreeing
    by_people = len(with_people) > 1
    chosen_by = f"agreement with people in the study “{study}”" if by_people else PAGERANK
    order = with_people if by_people else by_rank
    best = sorted(order, key=lambda judge: (-order[judge], judge))[:2]
    few = "" if len(judges) > 2 else "the panel has no more than two judges"
    nobody = "" if len(best) == 2 else f"no study of people has figures of two judges, and {why}"
    pools = (
        Pool(UNIFORM, {judge: 1 / len(judges) for judge in judges}),
        Pool(BEST_TWO, {} if few or nobody else dict.fromkeys(best, 0.5), few or nobody),
        Pool(PAGERANK, {judge: weight / total for judge, weight in by_rank.items()}, why),
    )
    defined = [pool for pool in pools if pool.weights]
    weights = np.array([[pool.weights.get(judge, 0.0) for judge in judges] for pool in defined])
    names = [pool.name for pool in defined]
    counts = dict.fromkeys(names, len(board.usable))
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


def _agreeing(db: Database, board: Leaderboard, study: str) -> tuple[str, dict[str, float]]:
    """Each judge's Spearman with people's final in a study, where defined; and the study.

    Nothing without a study.
    """
    names = offered(db, board)
    if study and study not in names:
        raise not_found("study in which people rated conversations of this leaderboard,", study, names)
    if not names:
        return "", {}
    chosen = study or names[0]
    part = agreement_report(db, chosen, Options(resamples=0)).agreement.criteria.get(FINAL)
    given = {row.name: row.spearman.value for row in (part.judges if part else ())}
    found = {}
    for judge in board.judges:
        # A study names the version of a judge's prompt only where it holds several.
        rho = given.get(judge, given.get(board.rated.raters[judge].name))
        if rho is not None:
            found[judge] = rho
    return chosen, found


def order_tables(found: Rankings, name: str, orders: Orders) -> tuple[Table, ...]:
    """The orders by one thing: every ranking's scores of the players, and Kendall's tau-b of every two."""
    columns = [Column("player")]
    rows: list[dict[str, Cell]] = [{"player": player} for player in found.players]
    for one, scores in orders.scores.items():
        columns.append(Column(f"by {one}", f"{one} (n {orders.conversations[one]:,})", digits=3))
        columns.append(Column(f"rank by {one}", "#"))
        for row, player in zip(rows, found.players, strict=True):
            if player in scores:
                row[f"by {one}"] = scores[player]
                row[f"rank by {one}"] = 1 + sum(other > scores[player] for other in scores.values())
    pairs: list[dict[str, Cell]] = [{"a": t.a, "b": t.b, "tau": t.tau} for t in orders.stability.pairs]
    if len(pairs) != 1:
        pairs.append({"a": "mean", "tau": orders.stability.mean})
    tau = Column(
        "tau", "τ", digits=3, interval="ends", n=True, help="Kendall's tau-b; n players are in both orders"
    )
    return (
        Table(
            f"orders-by-{name}",
            f"Mean final score by {name}",
            tuple(columns),
            tuple(rows),
            meta={"conversations": dict(orders.conversations)},
        ),
        Table(
            f"tau-by-{name}",
            f"Kendall's tau-b by {name}",
            (Column("a", name), Column("b", "and"), tau),
            tuple(pairs),
        ),
    )


def pool_table(found: Rankings) -> Table:
    """The weights of the judges in each pool."""
    pools = found.pools
    rows: list[dict[str, Cell]] = [
        {"judge": judge}
        | {
            pool.name: undefined(pool.reason) if pool.reason else Estimate(pool.weights.get(judge, 0.0))
            for pool in pools.pools
        }
        for judge in found.board.judges
    ]
    notes = []
    if any(pool.name == BEST_TWO and pool.weights for pool in pools.pools):
        notes.append(f"The best two judges were chosen by {pools.best_by}; resamples keep these weights.")
    if pools.ranks:
        notes.append(
            f"PageRank among the {len(pools.ranks)} models that both judge and play here: an edge from each "
            "judge to every other such model, as heavy as the mean final score it gave; none to itself; "
            f"damping {figures.DAMPING}. Judges that do not play weigh nothing."
        )
    return Table(
        "pools",
        "Weights of the judges in each pool",
        (Column("judge"), *(Column(pool.name, digits=3) for pool in pools.pools)),
        tuple(rows),
        notes=tuple(notes),
        meta={"best_two_by": pools.best_by, "pagerank": dict(pools.ranks)},
    )


def tables(found: Rankings) -> tuple[Table, ...]:
    """Every table of the orders; the first carries the notes on all.

    One interrogator's order is compared with none.
    """
    board = found.board
    notes = [
        f"Orders by mean final score, without the penalty for length, over the {found.conversations} "
        f"conversations that all of {', '.join(board.judges)} rated and none saw a refusal in. τ: Kendall's "
        "tau-b; 1 is the same order, 0 no relation, −1 the reverse. 95% intervals: percentile bootstrap "
        f"over conversations (not within scenarios), {board.resamples} resamples, seed {board.seed}. A "
        "resample adds noise to every order, so that these intervals are biased towards less agreement and "
        "can end below the figure itself.",
        *board.rated.notes([*board.judges, *board.passed_over]),
        *([MOCKS] if board.mocks else []),
    ]
    first, *rest = order_tables(found, "judge", found.by_judge)
    about = board.basis | {"players": list(found.players), **first.meta}
    first = replace(
        first, title=f"{board.rated.title()}: mean final score by judge", notes=tuple(notes), meta=about
    )
    several = len(found.by_interrogator.scores) > 1
    interrogators = order_tables(found, "interrogator", found.by_interrogator) if several else ()
    return (first, *rest, *interrogators, *order_tables(found, "pool", found.pools.orders), pool_table(found))


def beside_tables(beside: Beside) -> tuple[Table, Table]:
    """A leaderboard beside another ranking: Spearman's rho, and the models in both, largest rises first."""
    notes = [
        f"This leaderboard's score (with its penalty for length) beside the {beside.by} in {beside.name}. "
        "Names are matched exactly, the rest without regard to case and with - _ and spaces taken for the "
        "same; ranks are among the models matched, ties at their mean rank."
    ]
    for names, where in ((beside.only_here, "on this leaderboard"), (beside.only_there, f"in {beside.name}")):
        if names:
            more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
            notes.append(f"Only {where}: {', '.join(names[:LISTED])}{more}.")
    found = beside.figures
    ordered = sorted(beside.placed, key=lambda one: -one.rise)
    rows = tuple({**record(one), "rise": one.rise} for one in ordered)
    return (
        Table(
            "against",
            f"Against {beside.name}: rank correlation",
            (
                Column("file", "other ranking"),
                Column("spearman", "Spearman's ρ", digits=3, n=True),
                Column("p", digits=3),
            ),
            ({"file": beside.name, "spearman": found.spearman, "p": found.p},),
            notes=tuple(notes),
            meta={
                "by": beside.by,
                "only_here": list(beside.only_here),
                "only_there": list(beside.only_there),
            },
        ),
        Table(
            "against-models",
            f"Against {beside.name}: ranks of the models in both",
            (
                Column("player"),
                Column("model", "there called"),
                Column("rank_here", digits=1),
                Column("rank_there", digits=1),
                Column("rise", digits=1, signed=True),
                Column("here", file_only=True),
                Column("there", file_only=True),
            ),
            rows,
        ),
    )
