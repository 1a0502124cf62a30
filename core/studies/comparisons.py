"""Pairwise comparison of models by judges and people: the tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import pandas as pd
from sqlite_utils import Database

from concord.errors import ConcordError, check_known, not_found
from concord.runs.registry import known_or_imported
from concord.statistics import pairwise
from concord.statistics.figures import empty
from concord.statistics.intervals import SHARE, described
from concord.statistics.pairwise import Row
from concord.store import comparisons, studies, tables
from concord.store.comparisons import OWN, PairQuestion
from concord.store.filters import Where
from concord.store.tables import mixed_notes
from concord.table import Column, Table

ALL_JUDGES = "all judges"
PEOPLE = "people"
GOLD = "gold labels"
SEED = 0


@dataclass(frozen=True)
class Compared:
    """The figures of comparisons by question: `questions` are all that were answered.

    `raters` are the judges, the vote of all judges, of all people and of gold labels; the rows of duels and
    strengths name theirs. `basis` says what the tables rest on, as files have it.
    """

    questions: tuple[PairQuestion, ...]
    raters: tuple[str, ...]
    basis: Mapping[str, Any]
    duels: Table
    strengths: Table
    bias: Table
    matches: Table


def compared(
    db: Database,
    name: str,
    *,
    question: PairQuestion = OWN,
    players: Sequence[str] = (),
    facets: Where | None = None,
    resamples: int = 1000,
    seed: int = SEED,
) -> Compared:
    """The comparisons of a benchmark, or of a study of pairs: by each judge, by the vote of several, by the
    vote of people. Of several questions it is the first one that fits `question`, whose empty names fit all.

    Every judge and the judges' vote is compared with the people's vote, and every two persons. Of the
    comparisons `asked`, the `failed` have no usable verdict; `once` are the judges asked in one order only;
    figures count `units`. Raises NotFound for a question or player nobody compared by and for an unknown
    value in `facets`, ConcordError where nothing was compared.
    """
    of = studies.get(db, name) if name in studies.names(db, pairs=True) else None
    benchmark, study = (of.benchmark, name) if of else (name, "")
    known_questions = (
        [PairQuestion(of.rubric, c.name) for c in of.criteria] if of else comparisons.questions(db, benchmark)
    )
    rubric, criterion = question
    fits = [q for q in known_questions if rubric in ("", q.rubric) and criterion in ("", q.criterion)]
    if known_questions and not fits:
        raise not_found("question", " ".join(question), (" ".join(each) for each in known_questions))
    question = next(iter(fits), question)
    same = known_or_imported(benchmark).scenario_facet
    table = comparisons.frame(db, benchmark, same, question=question, study=study)
    if facets:
        prompts = sorted(set(table.variant[table.kind == "judge"]))
        tables.check(db, benchmark, facets, prompts=prompts)
        table = table[table["first"].isin(tables.conversations(db, benchmark, facets).index)]
        if wanted := facets.get(tables.PROMPT):
            table = table[(table.kind != "judge") | table.variant.isin(wanted)]
    models = sorted({*table.a, *table.b})
    if not models:
        raise ConcordError(
            f"No comparisons yet. Let judges compare: `concord compare {name} "
            + ("--judges …`." if study else "--models …`.")
        )
    check_known("compared model", players, models)
    chosen = list(dict.fromkeys(players)) or models
    table = _named(table[table.a.isin(chosen) & table.b.isin(chosen)])
    prompts = sorted(set(table.variant[table.kind == "judge"]))
    versions = {tables.PROMPT: prompts} if len(prompts) > 1 else {}
    placed = pairwise.orders(table)
    once = pairwise.one_order(table)
    given, attempts = pairwise.outcomes(placed, once), placed.reset_index()
    draws = {"resamples": resamples, "seed": seed}
    raters = _raters(given, attempts)
    duels, strengths = list[Row](), list[Row]()
    for _, rater, theirs, tried in raters:
        by, outcome = {"rater": rater}, pairwise.vote(theirs)
        duels += [by | row for row in pairwise.duels(outcome, chosen, tried, **draws)]
        if len(chosen) > 1:
            strengths += [by | row for row in pairwise.strengths(outcome, chosen, **draws)]
    mixed = tables.conditions(db, benchmark, known_or_imported(benchmark).items, facets) | versions
    people = int(table.rater[table.kind == "human"].nunique())
    basis = {
        "benchmark": benchmark,
        "study": study,
        "units": "groups" if of and of.ranks else "scenarios",
        "question": question,
        "where": facets or {},
        "players": tuple(chosen),
        "once": tuple(sorted(once)),
        "asked": len(table),
        "failed": int(table.failure.notna().sum()),
        "people": people,
        "simulated": tuple(sorted({*table.rater[table.simulated.astype(bool)]})),
        **draws,
    }
    twice = any(kind == "judge" and name not in (*once, ALL_JUDGES) for kind, name, _, _ in raters)
    notes = _notes(basis, mixed, twice=twice)
    return Compared(
        tuple(known_questions),
        tuple(name for _, name, _, _ in raters),
        basis,
        replace(DUELS, rows=tuple(duels), notes=tuple(notes), meta=basis),
        replace(STRENGTHS, rows=tuple(strengths)),
        replace(BIAS, rows=tuple(pairwise.bias(placed))),
        replace(AGREEMENT, rows=tuple(_matches(given, **draws))),
    )


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """A judge asked with several versions of its prompt is several judges, named with the version."""
    several = table[table.kind == "judge"].groupby("rater").variant.nunique()
    versions = table.rater.isin(several[several > 1].index) & (table.kind == "judge")
    return table.assign(rater=table.rater.where(~versions, table.rater + " " + table.variant))


def _raters(given: pd.DataFrame, attempts: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame, pd.DataFrame]]:
    """(kind, name, outcomes, pairs asked) of each judge, of all judges, of people and of gold labels."""
    judges = sorted(attempts.rater[attempts.kind == "judge"].unique())
    results = [
        ("judge", judge, given[given.rater == judge], attempts[attempts.rater == judge]) for judge in judges
    ]
    votes = (("judge", ALL_JUDGES, len(judges) > 1), ("human", PEOPLE, True), ("gold", GOLD, True))
    for kind, name, several in votes:
        tried = attempts[attempts.kind == kind]
        if several and len(tried):
            results.append((kind, name, given[given.kind == kind], tried))
    return results


def _matches(given: pd.DataFrame, **draws: int) -> list[Row]:
    """Agreement of each judge, and of their vote, with the votes of people and of gold labels; of people with
    each other, and of every two of them who compared a pair in common.
    """
    people, by_judges = given[given.kind == "human"], given[given.kind == "judge"]
    votes = {PEOPLE: people, GOLD: given[given.kind == "gold"]}
    voted = {name: pairwise.vote(of) for name, of in votes.items() if not of.empty}
    judges = {str(judge): theirs for judge, theirs in by_judges.groupby("rater")}
    if len(judges) > 1:
        judges[ALL_JUDGES] = pairwise.vote(by_judges)
    matches = [
        pairwise.match(judge, name, mine, theirs, **draws)
        for judge, mine in judges.items()
        for name, theirs in voted.items()
    ]
    if len(voted) > 1:
        matches.append(pairwise.match(PEOPLE, GOLD, voted[PEOPLE], voted[GOLD], **draws))
    each = {str(person): theirs for person, theirs in people.groupby("rater")}
    if len(each) > 1:
        matches.append(pairwise.among(PEOPLE, people, **draws))
    shared = set[tuple[str, str]]()
    for _, raters in people.groupby(pairwise.PAIR).rater:
        shared.update(combinations(sorted(set(raters)), 2))
    return matches + [pairwise.match(a, b, each[a], each[b]) for a, b in sorted(shared)]


percent = partial(Column, digits=3, percent=True)
"""A column of shares."""


def verdict(result: Compared, rater: str) -> str:
    """Which model wins by a rater, in a sentence: the strongest beside the next, with the difference of wins
    and losses; “” where no two were compared.
    """
    order, duels = (
        [row for row in of.rows if row["rater"] == rater] for of in (result.strengths, result.duels)
    )
    first, second = [row["player"] for row in order[:2]] if len(order) > 1 else ("", "")
    duel: Row = dict(next((row for row in duels if {row["one"], row["other"]} == {first, second}), {}))
    if not duel or duel["delta"].value is None:
        return ""
    turn = 1 if duel["one"] == first else -1
    won, lost = (duel[name] for name in ("won", "lost")[::turn])
    ends = sorted(turn * end for end in duel["delta"].interval or ())
    counted = f"{won} won, {duel['tied']} tied, {lost} lost of {duel['n']} {result.basis['units']}"
    if ends:
        gap = turn * duel["delta"].value
        counted += f"; wins less losses {gap:+z.0%} ({ends[0]:+z.0%} to {ends[1]:+z.0%})"
    many = f" of {len(order)} models" if len(order) > 2 else ""
    if ends and ends[0] > 0:
        return f"By {rater}, {first} is the best{many}, ahead of {second}: {counted}."
    return (
        f"By {rater}, the best{many} is inconclusive. {first} and {second} do not differ significantly: "
        f"{counted}."
    )


def result_tables(result: Compared, rater: str = "") -> tuple[Table, ...]:
    """Duels, strengths, position bias and agreement, those without rows left out; of one rater or of all."""
    duels, strengths = result.duels, result.strengths
    if rater:
        duels, strengths = (
            replace(of, rows=tuple(row for row in of.rows if row["rater"] == rater))
            for of in (duels, strengths)
        )
    if rater or len(result.raters) == 1:
        first, *columns = duels.columns
        title = f"{duels.title}, by {rater or result.raters[0]}"
        duels = replace(duels, title=title, columns=(replace(first, file_only=True), *columns))
    every = (duels, strengths, result.bias, result.matches)
    return tuple(table for table in every if table.rows)


DUELS = empty(
    "duels",
    "Win/tie/loss of all pairs of models",
    Column("rater"),
    Column("one", "model"),
    Column("other", "against"),
    *map(percent, ("win", "tie", "lose")),
    percent("delta", "Δ", signed=True, interval="ends", help="Share of wins less share of losses"),
    Column("n", help="Scenarios compared"),
    Column("incomplete", "left out", help="Scenarios without a usable verdict in both orders"),
    *(Column(name, file_only=True) for name in ("won", "tied", "lost")),
)
STRENGTHS = empty(
    "strengths",
    "Bradley–Terry strengths (log scale, mean 0)",
    Column("rater"),
    Column("player", "model"),
    Column("strength", interval="ends", n=True, help="Log scale, mean 0; n: answers to pairs"),
)
BIAS = empty(
    "position-bias",
    "Position bias: how often a verdict changed with the order",
    Column("rater", "judge"),
    percent("changed", help="Pairs whose verdict changed with the order"),
    Column("flips"),
    Column("n", "of"),
    Column("first", "to the first", help="Flips that favour the reply shown first"),
    Column("second", "to the second", help="Flips that favour the reply shown second"),
)
AGREEMENT = empty(
    "agreement",
    "Agreement of judges and annotators",
    Column("a", "one"),
    Column("b", "other"),
    percent("equal", interval="ends", n=True, help="Equal verdicts"),
    percent(
        "equal_decided",
        "equal without ties",
        interval="ends",
        n=True,
        help="Equal verdicts among pairs that both decided without a tie",
    ),
    Column("alpha", "Krippendorff's α", digits=3, interval="ends", help="Of answers as categories"),
)


def _notes(basis: Mapping[str, Any], mixed: Mapping[str, Sequence[str]], *, twice: bool) -> list[str]:
    sentences = [
        ("A judge's win counts only if it wins in both orders. " if twice else "")
        + "Δ is the share of wins less that of losses. "
        + described([SHARE], resamples=basis["resamples"], seed=basis["seed"], of="scenarios"),
        *mixed_notes(mixed),
    ]
    if basis["failed"]:
        sentences.append(
            f"{basis['failed']} of {basis['asked']} comparisons have no usable verdict; their pairs are "
            "excluded."
        )
    if basis["once"]:
        sentences.append(
            f"Asked in one order only: {', '.join(basis['once'])}. Their verdicts are used as they are, "
            "and their position bias is unknown."
        )
    if basis["people"]:
        sentences.append(
            "“people” is the annotators' majority on a pair, or a tie. A judge is compared with it on the "
            "pairs that the judge answered" + (" in both orders." if twice else ".")
        )
    if basis["simulated"]:
        sentences.append(
            f"Rule-based mock models (not people, not language models): {', '.join(basis['simulated'])}."
        )
    return sentences
