"""Rank stability: a leaderboard's order by judge, by each condition that varies, and by panel.

Every value of a condition with one judge, every judge with one value, and Kendall's tau between the orders;
panels weighted by PageRank over mutual judging, alike, and of two judges.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from sqlite_utils import Database

from concord.errors import ConcordError, not_found
from concord.estimate import Estimate, undefined
from concord.reports.agreement_report import Options, agreement_report
from concord.reports.corrected import available_studies
from concord.reports.leaderboards import MOCKS, Leaderboard, panel_scores
from concord.scores import DIGITS, FINAL
from concord.statistics import rankings as figures
from concord.statistics.correlation import rank_correlation
from concord.statistics.intervals import ORDER, described
from concord.statistics.ratings import Floats, Ints
from concord.table import Cell, Column, Table

UNIFORM = "uniform"
TOP_TWO = "top two"
PAGERANK = "PageRank"
FEWEST = 3
"""PageRank needs so many models that judge each other."""
MOST_VALUES = 12
"""A condition with more values than this, such as the machine of a run, is no row of interrogators."""
PANEL = "the panel"


class Orders(NamedTuple):
    """The mean score of each player in each ranking (rankings × players), and resamples of these means.

    `names` are those of the rankings, `counts` the conversations that each rests on; nan: never met.
    """

    names: tuple[str, ...]
    counts: tuple[int, ...]
    means: Floats
    resampled: Floats


class _Board(NamedTuple):
    """A leaderboard's usable conversations: their players by number, and every judge's final of each."""

    board: Leaderboard
    players: tuple[str, ...]
    code: Ints
    finals: Floats

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges of the panel."""
        return self.board.judges

    def orders(self, group: Ints, groups: int) -> tuple[Floats, Floats]:
        """The means of each judge by group and player (judges × groups × players), and their resamples.

        A conversation of group −1 has no part.
        """
        grouped = group >= 0
        place = group[grouped] * len(self.players) + self.code[grouped]
        drawing = {"resamples": self.board.resamples, "seed": self.board.seed}
        means, resamples = figures.means(self.finals[grouped], place, groups * len(self.players), **drawing)
        shape = (len(self.judges), groups, len(self.players))
        return means.reshape(shape), resamples.reshape(len(resamples), *shape)


def judges_compared(board: Leaderboard) -> tuple[str, ...]:
    """The judges whose orders are compared: the board's panel, where that is several.

    Of a panel of one, such as an interrogator that rates its own conversations, they are the judges of the
    version of the prompt by which the most conversations were rated by two judges or more.
    """
    if len(board.judges) > 1:
        return board.judges
    rated = board.rated
    best = board.judges
    largest = 0
    for version in sorted({rated.raters[judge].variant for judge in rated.judges}):
        judges = tuple(judge for judge in rated.judges if rated.raters[judge].variant == version)
        scores = rated.scores[rated.scores.judge.isin(judges)]
        complete = int((scores.groupby("conversation").judge.nunique() == len(judges)).sum())
        if len(judges) > 1 and complete > largest:
            best = judges
            largest = complete
    return best


def rank_stability(db: Database, board: Leaderboard, *, study: str = "") -> tuple[Table, ...]:
    """How stable the order of `board` is, by mean final score, without the penalty for length.

    First the mean tau-b of every set of rankings: judges on all conversations; for each condition that
    varies, such as the interrogator, its values with each judge and the panel, and judges with each value;
    and panels. Then the scores by judge, by condition and by panel, and the tau-b of every two. The
    annotators of `study` say which two judges agree with them best; unless named, it is the newest with
    people on these conversations. Intervals resample conversations with the leaderboard's resamples and seed.
    Raises ConcordError where no conversation was rated by the whole panel, NotFound for a study without
    people on these.
    """
    usable = board.usable
    if usable.empty:
        raise ConcordError(
            f"No conversation that all of {', '.join(board.judges)} rated enters the leaderboard. Choose "
            "fewer judges, or have the others rate what is stored with `concord judge`."
        )
    players = tuple(standing.player for standing in board.standings if standing.n)
    code = pd.Index(players).get_indexer(pd.Index(usable.player)).astype(np.int64)
    rated = board.rated
    by_judge = {
        judge: panel_scores(rated.conversations, rated.scores, [judge], board.weights)[FINAL]
        for judge in board.judges
    }
    finals = pd.DataFrame(by_judge).reindex(usable.index).to_numpy(np.float64)
    scored = _Board(board, players, code, finals)
    means, resampled = scored.orders(np.zeros(len(usable), dtype=np.int64), 1)
    judges = Orders(board.judges, (len(usable),) * len(board.judges), means[:, 0], resampled[:, :, 0])
    summary: list[dict[str, Cell]] = [_mean("judge", "every conversation", judges, len(usable))]
    tables: list[Table] = [*_tables("judge", judges, players, len(usable))]
    for name in board.rated.mixed:
        rows, further = _by_condition(scored, name)
        summary += rows
        tables += further
    panels, weights = _panels(db, scored, judges, study)
    summary.append(_mean("panel", "every conversation", panels, len(usable)))
    tables += [*_tables("panel", panels, players, len(usable)), weights]
    return (_summary(board, summary, players, len(usable)), *tables)


def _summary(board: Leaderboard, rows: Sequence[dict[str, Cell]], players: Sequence[str], n: int) -> Table:
    """The mean tau-b of every set of rankings, with what all tables rest on in its notes."""
    method = described([ORDER], resamples=board.resamples, seed=board.seed, units="conversations")
    notes = (
        f"Orders of {len(players)} models by mean overall score, without the penalty for length, over the "
        f"{n} "
        f"conversations that all of {', '.join(board.judges)} rated and in which none saw a refusal. τ: "
        "Kendall's tau-b; 1 is the same order, 0 no relation, −1 the reverse. "
        f"{method}. The bootstrap draws single conversations, not scenarios.",
        *board.rated.notes([*board.judges, *board.passed_over]),
        *([MOCKS] if board.mocks else []),
    )
    return Table(
        "rank-stability",
        f"{board.rated.title()}: how stable the order is",
        (
            Column("varies", "What varies"),
            Column("fixed", "What is fixed"),
            Column("rankings"),
            Column("tau", "mean τ", digits=3, interval="ends", help="Mean Kendall's tau-b of all pairs"),
            Column("least", "least τ", digits=3),
        ),
        tuple(rows),
        notes=notes,
        meta={**board.basis, "players": list(players), "conversations": n},
    )


def _mean(varies: str, fixed: str, orders: Orders, items: int) -> dict[str, Cell]:
    """The mean and the least tau-b of every two rankings, as a row."""
    pairs, mean = figures.stability(orders.names, orders.means, orders.resampled, items)
    defined = [pair.tau.value for pair in pairs if pair.tau.value is not None]
    lowest = min(defined) if defined else None
    return {"varies": varies, "fixed": fixed, "rankings": len(orders.names), "tau": mean, "least": lowest}


def _tables(name: str, orders: Orders, players: Sequence[str], items: int) -> tuple[Table, Table]:
    """Every ranking's scores of the players, and Kendall's tau-b of every two."""
    columns = [Column("player")]
    rows: list[dict[str, Cell]] = [{"player": player} for player in players]
    for one, n, scores in zip(orders.names, orders.counts, orders.means, strict=True):
        columns += [
            Column(f"by {one}", f"{one} (n {n:,})", digits=3),
            Column(f"rank by {one}", "#", help="By score; equal scores share a rank"),
        ]
        rounded = pd.Series(scores).round(DIGITS)
        places = rounded.rank(method="min", ascending=False)
        for row, score, place in zip(rows, rounded, places, strict=True):
            if not np.isnan(score):
                row |= {f"by {one}": score, f"rank by {one}": int(place)}
    pairs, _ = figures.stability(orders.names, orders.means, orders.resampled, items)
    tau = Column(
        "tau", "τ", digits=3, interval="ends", n=True, help="Kendall's tau-b; n models are in both orders"
    )
    of_pairs: list[dict[str, Cell]] = [{"a": pair.a, "b": pair.b, "tau": pair.tau} for pair in pairs]
    notes = () if pairs else ("There is only one ranking.",)
    return (
        Table(
            f"orders-by-{name}",
            f"Mean overall score by {name}",
            tuple(columns),
            tuple(rows),
            meta={"conversations": dict(zip(orders.names, orders.counts, strict=True))},
        ),
        Table(
            f"tau-by-{name}",
            f"Kendall's tau-b by {name}",
            (Column("a", name), Column("b", "and"), tau),
            tuple(of_pairs),
            notes=notes,
        ),
    )


def _by_condition(scored: _Board, name: str) -> tuple[list[dict[str, Cell]], tuple[Table, ...]]:
    """The values of a condition with the panel and each judge, and the judges with each value.

    Nothing where the conversations that count have one value, or more than `MOST_VALUES`.
    """
    usable = scored.board.usable
    title = name.replace("_", " ")
    values = usable.language if name == "language" else scored.board.rated.facets.get(name)
    if values is None:
        return [], ()
    code, groups = pd.factorize(values.reindex(usable.index), sort=True)
    names = tuple(map(str, groups))
    if not 1 < len(names) <= MOST_VALUES:
        return [], ()
    items = int((code >= 0).sum())
    counts = tuple(np.bincount(code[code >= 0], minlength=len(names)).tolist())
    means, resampled = scored.orders(code.astype(np.int64), len(names))
    by_panel = Orders(names, counts, means.mean(axis=0), resampled.mean(axis=1))
    rows = [_mean(title, f"judged by {PANEL}", by_panel, items)] if len(scored.judges) > 1 else []
    for place, judge in enumerate(scored.judges):
        orders = Orders(names, counts, means[place], resampled[:, place])
        rows.append(_mean(title, f"judged by {judge}", orders, items))
    if len(scored.judges) > 1:
        for place, value in enumerate(names):
            n = counts[place]
            orders = Orders(scored.judges, (n,) * len(scored.judges), means[:, place], resampled[:, :, place])
            rows.append(_mean("judge", f"{title} {value}", orders, n))
    return rows, _tables(title, by_panel, scored.players, items)


Weights = dict[str, dict[str, float] | str]
"""The weights of the judges in each panel, their sum 1; or the reason why it is undefined."""


def _panels(db: Database, scored: _Board, judges: Orders, study: str) -> tuple[Orders, Table]:
    """The order by each panel that is defined, and the weights of the judges in each."""
    models = {judge: scored.board.rated.raters[judge].name for judge in scored.judges}
    ranks, reason = _pageranks(scored, judges.means, models)
    shares = list(models.values())
    by_rank = {judge: ranks[model] / shares.count(model) for judge, model in models.items() if model in ranks}
    total = sum(by_rank.values())
    people = _annotated(db, scored.board, study)
    agreements = {judge: people.rho({judge: 1.0}).value for judge in people.finals}
    by_people = {judge: rho for judge, rho in agreements.items() if rho is not None}
    chosen_by = f"agreement with annotators in the study “{people.name}”" if len(by_people) > 1 else PAGERANK
    order = by_people if len(by_people) > 1 else by_rank
    best = sorted(order, key=lambda judge: (-order[judge], judge))[:2]
    lacking = "" if len(best) == 2 else f"no study with annotators has figures of two judges, and {reason}"
    if len(scored.judges) <= 2:
        lacking = "the panel has no more than two judges"
    panels: Weights = {
        UNIFORM: {judge: 1 / len(scored.judges) for judge in scored.judges},
        TOP_TWO: lacking or dict.fromkeys(best, 0.5),
        PAGERANK: reason or {judge: weight / total for judge, weight in by_rank.items()},
    }
    defined = {name: weights for name, weights in panels.items() if not isinstance(weights, str)}
    weights = np.array([[panel.get(judge, 0.0) for judge in scored.judges] for panel in defined.values()])
    counts = (len(scored.board.usable),) * len(defined)
    orders = Orders(tuple(defined), counts, weights @ judges.means, weights @ judges.resampled)
    notes = []
    if not lacking:
        notes.append(f"The top two judges were chosen by {chosen_by}; resamples keep these weights.")
    if ranks:
        notes.append(
            f"PageRank among the {len(ranks)} models that both judge and play here: an edge from each judge "
            "to every other such model, weighted by the mean overall score it gave, without edges to "
            f"itself; damping {figures.DAMPING}. Judges that do not play have weight 0."
        )
    rows: list[dict[str, Cell]] = [{"judge": judge} for judge in scored.judges]
    with_people: dict[str, Cell] = {"judge": "ρ with annotators"}
    for name, panel in panels.items():
        for judge, row in zip(scored.judges, rows, strict=True):
            row[name] = undefined(panel) if isinstance(panel, str) else Estimate(panel.get(judge, 0.0))
        with_people[name] = undefined(panel) if isinstance(panel, str) else people.rho(panel)
    rows.append(with_people)
    columns = (Column("judge"), *(Column(name, digits=3) for name in panels))
    meta = {"top_two_by": chosen_by, "pagerank": ranks, "study": people.name}
    title = "Weights of the judges in each panel, and the panel's Spearman's ρ with annotators"
    return orders, Table("panels", title, columns, tuple(rows), notes=tuple(notes), meta=meta)


def _pageranks(scored: _Board, means: Floats, models: Mapping[str, str]) -> tuple[dict[str, float], str]:
    """PageRank of the models that judge here and play here, or why there is none.

    An edge leads from a judge to every other such model, as heavy as the mean final score it gave that model.
    """
    nodes = sorted({*models.values()} & {*scored.players})
    if len(nodes) < FEWEST:
        count = {0: "no model here judges and plays", 1: "one model here judges and plays"}.get(
            len(nodes), f"{len(nodes)} models here judge and play"
        )
        return {}, f"{count} too, at least {FEWEST} are needed"
    scores = pd.DataFrame(means, index=list(models.values()), columns=list(scored.players))
    edges = scores.groupby(level=0).mean().loc[nodes, nodes].to_numpy()
    if (edges < 0).any():
        return {}, "a judge gave scores below 0, which are no weights"
    return dict(zip(nodes, figures.pagerank(edges).tolist(), strict=True)), ""


class _Annotated(NamedTuple):
    """A study in which people rated conversations of a leaderboard: each judge's final by item, and people's.

    `name` is “” where there is no such study, or where its annotators and judges have no final in common.
    """

    name: str = ""
    finals: Mapping[str, Floats] = {}
    target: Floats = np.empty(0)

    def rho(self, weights: Mapping[str, float]) -> Estimate:
        """Spearman's ρ of a weighted panel with people's mean."""
        if not self.name:
            return undefined("no study with annotators has conversations of this leaderboard")
        score = np.zeros(len(self.target))
        for judge, weight in weights.items():
            if not weight:
                continue
            if judge not in self.finals:
                return undefined(f"the study {self.name} has no scores of {judge}")
            score = score + self.finals[judge] * weight
        return rank_correlation(score, self.target, PANEL, "people's mean")


def _annotated(db: Database, board: Leaderboard, study: str) -> _Annotated:
    """The study named, else the newest with people on these conversations. Raises NotFound."""
    names = available_studies(db, board)
    if study and study not in names:
        raise not_found("study in which annotators rated conversations of this leaderboard,", study, names)
    if not names:
        return _Annotated()
    name = study or names[0]
    report = agreement_report(db, name, Options(resamples=0))
    of_final = report.ratings.criteria.get(FINAL)
    if of_final is None:
        return _Annotated()
    models = report.data.models_of_judges
    versions = report.data.versions_of_judges
    by_rater = {(models.get(name), versions.get(name)): scores for name, scores in of_final.judges.items()}
    raters = {judge: board.rated.raters[judge] for judge in board.judges}
    keys = {judge: (rater.name, rater.variant) for judge, rater in raters.items()}
    finals = {judge: by_rater[key] for judge, key in keys.items() if key in by_rater}
    return _Annotated(name, finals, of_final.target)
