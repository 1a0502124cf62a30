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
from concord.store.filters import FacetValues
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
    facets: FacetValues | None = None,
    resamples: int = 1000,
    seed: int = SEED,
) -> Compared:
    """The comparisons of a benchmark, or of a study of pairs: by each judge, by the vote of several, by the
    vote of people. Of several questions it is the first one that fits `question`, whose empty names fit all.

    Every judge and the judges' vote is compared with the people's vote, and every two persons. Of the
    comparisons `asked`, the `failed` have no usable verdict; `single_order` are the judges asked in one order
    only; figures count `units`. Raises NotFound for a question or player nobody compared by and for an
    unknown value in `facets`, ConcordError where nothing was compared.
    """
    pair_study = studies.get(db, name) if name in studies.names(db, pairs=True) else None
    benchmark, study = (pair_study.benchmark, name) if pair_study else (name, "")
    known_questions = (
        [PairQuestion(pair_study.rubric, c.name) for c in pair_study.criteria]
        if pair_study
        else comparisons.questions(db, benchmark)
    )
    rubric, criterion = question
    fits = [q for q in known_questions if rubric in ("", q.rubric) and criterion in ("", q.criterion)]
    if known_questions and not fits:
        raise not_found(
            "question", " ".join(question), (" ".join(question_words) for question_words in known_questions)
        )
    question = next(iter(fits), question)
    scenario_facet = known_or_imported(benchmark).scenario_facet
    table = comparisons.frame(db, benchmark, scenario_facet, question=question, study=study)
    if facets:
        prompts = sorted(set(table.variant[table.kind == "judge"]))
        tables.check(db, benchmark, facets, prompts=prompts)
        table = table[table["first"].isin(tables.conversations(db, benchmark, facets).index)]
        if variants := facets.get(tables.PROMPT):
            table = table[(table.kind != "judge") | table.variant.isin(variants)]
    models = sorted({*table.a, *table.b})
    if not models:
        raise ConcordError(
            f"No comparisons yet. Let judges compare: `concord compare {name} "
            + ("--judges …`." if study else "--models …`.")
        )
    check_known("compared model", players, models)
    compared_players = list(dict.fromkeys(players)) or models
    table = _with_names(table[table.a.isin(compared_players) & table.b.isin(compared_players)])
    prompts = sorted(set(table.variant[table.kind == "judge"]))
    versions = {tables.PROMPT: prompts} if len(prompts) > 1 else {}
    by_order = pairwise.orders(table)
    single_order = pairwise.one_order(table)
    all_votes = pairwise.outcomes(by_order, single_order)
    attempts = by_order.reset_index()
    draws = {"resamples": resamples, "seed": seed}
    raters = _raters(all_votes, attempts)
    duels = list[Row]()
    strengths = list[Row]()
    for _, rater, rater_votes, tried in raters:
        rater_key = {"rater": rater}
        outcome = pairwise.vote(rater_votes)
        duels += [rater_key | row for row in pairwise.duels(outcome, compared_players, tried, **draws)]
        if len(compared_players) > 1:
            strengths += [rater_key | row for row in pairwise.strengths(outcome, compared_players, **draws)]
    mixed = tables.conditions(db, benchmark, known_or_imported(benchmark).items, facets) | versions
    people = int(table.rater[table.kind == "human"].nunique())
    basis = {
        "benchmark": benchmark,
        "study": study,
        "units": "groups" if pair_study and pair_study.ranks else "scenarios",
        "question": question,
        "where": facets or {},
        "players": tuple(compared_players),
        "once": tuple(sorted(single_order)),
        "asked": len(table),
        "failed": int(table.failure.notna().sum()),
        "people": people,
        "simulated": tuple(sorted({*table.rater[table.simulated.astype(bool)]})),
        **draws,
    }
    twice = any(kind == "judge" and name not in (*single_order, ALL_JUDGES) for kind, name, _, _ in raters)
    notes = _notes(basis, mixed, twice=twice)
    return Compared(
        tuple(known_questions),
        tuple(name for _, name, _, _ in raters),
        basis,
        replace(DUELS, rows=tuple(duels), notes=tuple(notes), meta=basis),
        replace(STRENGTHS, rows=tuple(strengths)),
        replace(BIAS, rows=tuple(pairwise.bias(by_order))),
        replace(AGREEMENT, rows=tuple(_matches(all_votes, **draws))),
    )


def _with_names(table: pd.DataFrame) -> pd.DataFrame:
    """A judge asked with several versions of its prompt is several judges, named with the version."""
    several = table[table.kind == "judge"].groupby("rater").variant.nunique()
    versions = table.rater.isin(several[several > 1].index) & (table.kind == "judge")
    return table.assign(rater=table.rater.where(~versions, table.rater + " " + table.variant))


def _raters(
    all_votes: pd.DataFrame, attempts: pd.DataFrame
) -> list[tuple[str, str, pd.DataFrame, pd.DataFrame]]:
    """(kind, name, outcomes, pairs asked) of each judge, of all judges, of people and of gold labels."""
    judges = sorted(attempts.rater[attempts.kind == "judge"].unique())
    results = [
        ("judge", judge, all_votes[all_votes.rater == judge], attempts[attempts.rater == judge])
        for judge in judges
    ]
    votes = (("judge", ALL_JUDGES, len(judges) > 1), ("human", PEOPLE, True), ("gold", GOLD, True))
    for kind, name, several in votes:
        tried = attempts[attempts.kind == kind]
        if several and len(tried):
            results.append((kind, name, all_votes[all_votes.kind == kind], tried))
    return results


def _matches(all_votes: pd.DataFrame, **draws: int) -> list[Row]:
    """Agreement of each judge, and of their vote, with the votes of people and of gold labels; of people with
    each other, and of every two of them who compared a pair in common.
    """
    people = all_votes[all_votes.kind == "human"]
    by_judges = all_votes[all_votes.kind == "judge"]
    votes = {PEOPLE: people, GOLD: all_votes[all_votes.kind == "gold"]}
    voted = {name: pairwise.vote(group_votes) for name, group_votes in votes.items() if not group_votes.empty}
    judges = {str(judge): judge_votes for judge, judge_votes in by_judges.groupby("rater")}
    if len(judges) > 1:
        judges[ALL_JUDGES] = pairwise.vote(by_judges)
    matches = [
        pairwise.match(judge, name, judge_votes, people_votes, **draws)
        for judge, judge_votes in judges.items()
        for name, people_votes in voted.items()
    ]
    if len(voted) > 1:
        matches.append(pairwise.match(PEOPLE, GOLD, voted[PEOPLE], voted[GOLD], **draws))
    by_person = {str(person): person_votes for person, person_votes in people.groupby("rater")}
    if len(by_person) > 1:
        matches.append(pairwise.mutual_agreement(PEOPLE, people, **draws))
    shared = set[tuple[str, str]]()
    for _, raters in people.groupby(pairwise.PAIR).rater:
        shared.update(combinations(sorted(set(raters)), 2))
    return matches + [pairwise.match(a, b, by_person[a], by_person[b]) for a, b in sorted(shared)]


percent = partial(Column, digits=3, percent=True)
"""A column of shares."""


def verdict(result: Compared, rater: str) -> str:
    """Which model wins by a rater, in a sentence: the strongest beside the next, with the difference of wins
    and losses; “” where no two were compared.
    """
    order, duels = (
        [row for row in each_table.rows if row["rater"] == rater]
        for each_table in (result.strengths, result.duels)
    )
    first, second = [row["player"] for row in order[:2]] if len(order) > 1 else ("", "")
    duel: Row = dict(next((row for row in duels if {row["one"], row["other"]} == {first, second}), {}))
    if not duel or duel["delta"].value is None:
        return ""
    turn = 1 if duel["one"] == first else -1
    won, losses = (duel[name] for name in ("won", "lost")[::turn])
    ends = sorted(turn * end for end in duel["delta"].interval or ())
    count_words = f"{won} won, {duel['tied']} tied, {losses} lost of {duel['n']} {result.basis['units']}"
    if ends:
        gap = turn * duel["delta"].value
        count_words += f"; wins less losses {gap:+z.0%} ({ends[0]:+z.0%} to {ends[1]:+z.0%})"
    among_models = f" of {len(order)} models" if len(order) > 2 else ""
    if ends and ends[0] > 0:
        return f"By {rater}, {first} is the best{among_models}, ahead of {second}: {count_words}."
    return (
        f"By {rater}, the best{among_models} is inconclusive. {first} and {second} do not differ "
        "significantly: "
        f"{count_words}."
    )


def result_tables(result: Compared, rater: str = "") -> tuple[Table, ...]:
    """Duels, strengths, position bias and agreement, those without rows excluded; of one rater or of all."""
    duels = result.duels
    strengths = result.strengths
    if rater:
        duels, strengths = (
            replace(each_table, rows=tuple(row for row in each_table.rows if row["rater"] == rater))
            for each_table in (duels, strengths)
        )
    if rater or len(result.raters) == 1:
        first, *columns = duels.columns
        title = f"{duels.title}, by {rater or result.raters[0]}"
        duels = replace(duels, title=title, columns=(replace(first, file_only=True), *columns))
    all_tables = (duels, strengths, result.bias, result.matches)
    return tuple(table for table in all_tables if table.rows)


DUELS = empty(
    "duels",
    "Win/tie/loss of all pairs of models",
    Column("rater"),
    Column("one", "model"),
    Column("other", "against"),
    *map(percent, ("win", "tie", "lose")),
    percent("delta", "Δ", signed=True, interval="ends", help="Share of wins less share of losses"),
    Column("n", help="Scenarios compared"),
    Column("incomplete", "excluded", help="Scenarios without a usable verdict in both orders"),
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
        + described([SHARE], resamples=basis["resamples"], seed=basis["seed"], units="scenarios"),
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
