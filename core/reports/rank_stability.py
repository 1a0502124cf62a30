"""Rank stability: a leaderboard's order by judge, by interrogator, by pool, and against another ranking."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from sqlite_utils import Database

from concord.errors import ConcordError, not_found
from concord.estimate import Estimate, undefined
from concord.reports.agreement_report import Options, agreement_report
from concord.reports.corrected import offered
from concord.reports.leaderboards import MOCKS, Leaderboard, panel_scores, scales_of
from concord.scores import DIGITS, FINAL
from concord.statistics import rankings as figures
from concord.statistics.intervals import ORDER, described
from concord.statistics.ratings import Floats, Ints
from concord.store import tables as store
from concord.table import Cell, Column, Table

UNIFORM, BEST_TWO, PAGERANK = "uniform", "best two", "PageRank"
FEWEST = 3
"""PageRank needs so many models that judge each other."""
LISTED = 20
"""So many names without a match are listed."""

Pools = dict[str, dict[str, float] | str]
"""The weights of the judges in each pool, their sum 1; or the reason why the pool is undefined."""


@dataclass(frozen=True)
class Other:
    """Another ranking, called `name`: a value for each model. With `by` “rank” less is better."""

    name: str
    by: Literal["score", "rank"]
    models: Mapping[str, float]


def rankings(db: Database, board: Leaderboard, *, study: str = "") -> tuple[Table, ...]:
    """How stable the order of `board` is. Scores are final scores, without the penalty for length.

    The orders by judge, by interrogator (where there are several) and by pool, each with Kendall's tau-b of
    every two, then the pools' weights. The first table carries the notes on all. The people of `study` say
    which judges are the best two; unless named, it is the newest with people on these conversations.
    Refusals count as they do in `board`: where with the lowest score, with that of every judge. Intervals
    resample conversations with the leaderboard's resamples and seed. Raises ConcordError where no
    conversation was rated by the whole panel, NotFound for a study without people on these.
    """
    usable, judges = board.usable, board.judges
    if usable.empty:
        raise ConcordError(
            f"No conversation that all of {', '.join(judges)} rated enters the leaderboard, so there is no "
            "order to look at. Choose fewer judges, or have the others rate what is stored with "
            "`concord judge`."
        )
    players = [s.player for s in board.standings if s.n]
    code = pd.Index(players).get_indexer(pd.Index(usable.player)).astype(np.int64)
    rated = board.rated
    finals = {
        judge: panel_scores(rated.conversations, rated.scores, [judge], board.weights)[FINAL]
        for judge in judges
    }
    lowest, _ = scales_of(rated.system.criteria, board.weights)[FINAL]
    given = pd.DataFrame(finals).reindex(usable.index).mask(board.floored, lowest).to_numpy(np.float64)
    own, drawn = figures.means(given, code, len(players), resamples=board.resamples, seed=board.seed)
    first, taus = _orders("judge", dict.fromkeys(judges, len(usable)), players, own, drawn, len(usable))
    method = described([ORDER], resamples=board.resamples, seed=board.seed, of="conversations")
    notes = (
        f"Orders by mean final score, without the penalty for length, over the {len(usable)} conversations "
        f"that all of {', '.join(judges)} rated{_refused(board)}. τ: Kendall's tau-b; 1 is the same "
        f"order, 0 no relation, −1 the reverse. {method}. "
        "Conversations are drawn one by one, not within scenarios; the models are taken as they are.",
        *rated.notes([*judges, *board.passed_over]),
        *([MOCKS] if board.mocks else []),
    )
    about = board.basis | {"players": players, **first.meta}
    first = replace(first, title=f"{rated.title()}: mean final score by judge", notes=notes, meta=about)
    by_interrogator = _by_interrogator(db, board, usable, players, code)
    return (first, taus, *by_interrogator, *_by_pool(db, board, players, own, drawn, study))


def _refused(board: Leaderboard) -> str:
    """What refusals do in the orders, as the end of a sentence on conversations."""
    return {
        "left out": " and none saw a refusal in",
        "lowest score": f"; {board.floored.sum()} of them, in which a judge saw a refusal, count with the "
        "lowest score of every judge",
        "matched": ", but for the scenarios in which a judge saw a refusal",
    }[board.refusals]


def beside(board: Leaderboard, other: Other) -> tuple[Table, Table]:
    """The leaderboard's own order (by score, with its penalty for length) beside another ranking.

    Spearman's rho, then the models in both, largest rises first. Names are matched exactly; the rest without
    regard to case and with - _ and spaces taken for the same, where that leaves one name on either side.
    """
    here = {s.player: s.score.value for s in board.standings if s.score.value is not None}
    rows = pd.DataFrame(_matched(here, other.models), columns=["player", "model"])
    rows["here"] = rows.player.map(here).astype(np.float64)
    rows["there"] = rows.model.map(other.models).astype(np.float64)
    less = other.by == "rank"
    rho, p = figures.against(rows.here.to_numpy(), rows.there.to_numpy() * (-1 if less else 1))
    rows["rank_here"] = rows.here.round(DIGITS).rank(ascending=False)
    rows["rank_there"] = rows.there.round(DIGITS).rank(ascending=less)
    rows["rise"] = rows.rank_there - rows.rank_here
    rows = rows.sort_values("rise", ascending=False, kind="stable")
    only_here = [s.player for s in board.standings if s.player not in set(rows.player)]
    only_there = [model for model in other.models if model not in set(rows.model)]
    notes = [
        f"This leaderboard's score (with its penalty for length) beside the {other.by} in {other.name}. "
        "Names are matched exactly, the rest without regard to case and with - _ and spaces taken for the "
        "same; ranks are among the models matched, ties at their mean rank."
    ]
    for names, where in ((only_here, "on this leaderboard"), (only_there, f"in {other.name}")):
        if names:
            more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
            notes.append(f"Only {where}: {', '.join(names[:LISTED])}{more}.")
    return (
        Table(
            "against",
            f"Against {other.name}: rank correlation",
            (
                Column("file", "other ranking"),
                Column("spearman", "Spearman's ρ", digits=3, n=True),
                Column("p", digits=3),
            ),
            ({"file": other.name, "spearman": rho, "p": p},),
            notes=tuple(notes),
            meta={"by": other.by, "only_here": only_here, "only_there": only_there},
        ),
        Table(
            "against-models",
            f"Against {other.name}: ranks of the models in both",
            (
                Column("player"),
                Column("model", "there called"),
                Column("rank_here", digits=1),
                Column("rank_there", digits=1),
                Column("rise", digits=1, signed=True),
                Column("here", file_only=True),
                Column("there", file_only=True),
            ),
            tuple({str(name): cell for name, cell in row.items()} for row in rows.to_dict("records")),
        ),
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
    name: str, rankings: Mapping[str, int], players: Sequence[str], own: Floats, drawn: Floats, items: int
) -> tuple[Table, Table]:
    """Every ranking's scores of the players, and Kendall's tau-b of every two.

    `rankings` says over how many conversations each is; `own` is rankings × players, `drawn` its resamples
    of `items` conversations.
    """
    columns = [Column("player")]
    rows: list[dict[str, Cell]] = [{"player": player} for player in players]
    for (one, n), scores in zip(rankings.items(), own, strict=True):
        columns += [
            Column(f"by {one}", f"{one} (n {n:,})", digits=3),
            Column(f"rank by {one}", "#", help="By score; equal scores share it"),
        ]
        rounded = pd.Series(scores).round(DIGITS)
        places = rounded.rank(method="min", ascending=False)
        for row, score, place in zip(rows, rounded, places, strict=True):
            if not np.isnan(score):
                row |= {f"by {one}": score, f"rank by {one}": int(place)}
    found = figures.stability(list(rankings), own, drawn, items)
    pairs: list[dict[str, Cell]] = [{"a": t.a, "b": t.b, "tau": t.tau} for t in found.pairs]
    if len(pairs) != 1:
        pairs.append({"a": "mean", "tau": found.mean})
    tau = Column(
        "tau", "τ", digits=3, interval="ends", n=True, help="Kendall's tau-b; n players are in both orders"
    )
    return (
        Table(
            f"orders-by-{name}",
            f"Mean final score by {name}",
            tuple(columns),
            tuple(rows),
            meta={"conversations": dict(rankings)},
        ),
        Table(
            f"tau-by-{name}",
            f"Kendall's tau-b by {name}",
            (Column("a", name), Column("b", "and"), tau),
            tuple(pairs),
        ),
    )


def _by_interrogator(
    db: Database, board: Leaderboard, usable: pd.DataFrame, players: Sequence[str], code: Ints
) -> tuple[Table, ...]:
    """The panel's order among the conversations of each interrogator; nothing where there are not several."""
    name = board.rated.system.interrogator_facet
    facet = store.facets(db, board.benchmark, (name,))[name].reindex(usable.index)
    met = facet.notna().to_numpy()
    which, found = pd.factorize(facet[met], sort=True)
    if len(found) < 2:
        return ()
    own, drawn = figures.means(
        usable[FINAL].to_numpy(np.float64)[met, None],
        which.astype(np.int64) * len(players) + code[met],
        len(found) * len(players),
        resamples=board.resamples,
        seed=board.seed,
    )
    shape = (len(found), len(players))
    counts = dict(zip(map(str, found), np.bincount(which).tolist(), strict=True))
    drawn = drawn.reshape(len(drawn), *shape)
    return _orders("interrogator", counts, players, own.reshape(shape), drawn, len(which))


def _by_pool(
    db: Database, board: Leaderboard, players: Sequence[str], own: Floats, drawn: Floats, study: str
) -> tuple[Table, Table, Table]:
    """The order by each defined pool of judges, and the weights of the judges in each pool."""
    judges = board.judges
    models = {judge: board.rated.raters[judge].name for judge in judges}
    ranks, why = _pageranks(judges, players, own, models)
    sharing = list(models.values())
    by_rank = {
        judge: ranks[model] / sharing.count(model) for judge, model in models.items() if model in ranks
    }
    total = sum(by_rank.values())
    # The best two by people where a study gives two judges a figure, else by PageRank.
    study, with_people = _agreeing(db, board, study)
    by_people = len(with_people) > 1
    best_by = f"agreement with people in the study “{study}”" if by_people else PAGERANK
    order = with_people if by_people else by_rank
    best = sorted(order, key=lambda judge: (-order[judge], judge))[:2]
    lacking = "" if len(best) == 2 else f"no study of people has figures of two judges, and {why}"
    if len(judges) <= 2:
        lacking = "the panel has no more than two judges"
    pools: Pools = {
        UNIFORM: {judge: 1 / len(judges) for judge in judges},
        BEST_TWO: lacking or dict.fromkeys(best, 0.5),
        PAGERANK: why or {judge: weight / total for judge, weight in by_rank.items()},
    }
    defined = {name: weights for name, weights in pools.items() if not isinstance(weights, str)}
    weights = np.array([[pool.get(judge, 0.0) for judge in judges] for pool in defined.values()])
    counts = dict.fromkeys(defined, len(board.usable))
    orders = _orders("pool", counts, players, weights @ own, weights @ drawn, len(board.usable))
    notes = []
    if not lacking:
        notes.append(f"The best two judges were chosen by {best_by}; resamples keep these weights.")
    if ranks:
        notes.append(
            f"PageRank among the {len(ranks)} models that both judge and play here: an edge from each judge "
            "to every other such model, as heavy as the mean final score it gave; none to itself; damping "
            f"{figures.DAMPING}. Judges that do not play weigh nothing."
        )
    rows: list[dict[str, Cell]] = [
        {"judge": judge}
        | {
            name: undefined(pool) if isinstance(pool, str) else Estimate(pool.get(judge, 0.0))
            for name, pool in pools.items()
        }
        for judge in judges
    ]
    columns = (Column("judge"), *(Column(name, digits=3) for name in pools))
    meta = {"best_two_by": best_by, "pagerank": ranks}
    title = "Weights of the judges in each pool"
    return (*orders, Table("pools", title, columns, tuple(rows), notes=tuple(notes), meta=meta))


def _pageranks(
    judges: Sequence[str], players: Sequence[str], own: Floats, models: Mapping[str, str]
) -> tuple[dict[str, float], str]:
    """PageRank of the models that judge here and play here, or why there is none.

    An edge leads from a judge to every other such model, as heavy as the mean final score it gave that model.
    """
    nodes = sorted({models[judge] for judge in judges} & set(players))
    if len(nodes) < FEWEST:
        few = {0: "no model here judges and plays", 1: "one model here judges and plays"}.get(
            len(nodes), f"{len(nodes)} models here judge and play"
        )
        return {}, f"{few} too, at least {FEWEST} are needed"
    given = pd.DataFrame(own, index=[models[judge] for judge in judges], columns=list(players))
    edges = given.groupby(level=0).mean().loc[nodes, nodes].to_numpy()
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
    # A study names the version of a judge's prompt only where it holds several.
    names_of = {judge: board.rated.raters[judge].name for judge in board.judges}
    found = {judge: given.get(judge, given.get(name)) for judge, name in names_of.items()}
    return chosen, {judge: rho for judge, rho in found.items() if rho is not None}
