"""Pairs of conversations or replies: studies of them, drawn over models and scenarios and dealt to people."""

import hashlib
import json
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, Field
from sqlite_utils import Database

from concord.conversation import Conversation
from concord.errors import StudyError, not_found
from concord.rating import Criterion, Preference, Verdict, preferences
from concord.rubrics.rubric import Rubric, UnitKind, opening, two
from concord.rubrics.shelf import Numbered, used
from concord.runs.registry import BENCHMARKS, get, known_or_imported
from concord.statistics.ratings import Floats
from concord.store import access, conversations, desk, scenarios, tables
from concord.store import comparisons as compared
from concord.store import pairings as stored
from concord.store.comparisons import PairQuestion
from concord.store.conversations import Filter
from concord.store.filters import Where
from concord.store.pairings import PairStudy, Standing
from concord.studies import comparisons, sampling
from concord.table import Column, Table

AGAINST = "against"
"""The column of a table of pairs that says which two models meet."""
PAIR = ["pair", "scenario", "one", "other", AGAINST]


class Preferred(BaseModel):
    """What a person says of the pair `item` as they were shown it; None as verdict takes the answer back.

    Where `skipped` is told, the pair is skipped for that reason, or taken up again (None); where `flag` is,
    it is a comment for the researcher. `seconds` is time at work since the last event.
    """

    item: int
    criterion: str = Field("", max_length=200)
    verdict: Verdict | None = None
    strong: bool = False
    comment: str = Field("", max_length=4000)
    skipped: str | None = Field(None, max_length=500)
    flag: str = Field("", max_length=2000)
    seconds: float = Field(0.0, ge=0, le=3600, allow_inf_nan=False)


class GivenPair(NamedTuple):
    """Two conversations (keys) that are to be compared, and where a file says so."""

    where: str
    first: str
    second: str


def new(
    db: Database,
    name: str,
    rubric: Numbered,
    benchmark: str = "",
    n: int | None = None,
    *,
    players: Sequence[str] = (),
    facets: Where | None = None,
    seed: int = 0,
    given: Sequence[GivenPair] | None = None,
    source: str = "drawn",
    title: str = "",
) -> PairStudy:
    """Make a study of pairs that are compared by a rubric's pairwise questions; its version is kept.

    The pairs are those `given`, or `n` (None: all) drawn from a benchmark's: two players' conversations of
    one scenario (the facet that names it, else those that tell a benchmark's items apart), or with one prompt
    and context where conversations name none. Of last replies also the dialogues
    before them are the same. Every two players get the same number of pairs, or one more; the same seed draws
    the same. Raises NotFound for an unknown player or facet, StudyError where there is nothing to compare.
    """
    told = rubric.rubric
    question(told)
    if name in conversations.benchmark_names(db):
        raise StudyError(f"“{name}” is the name of conversations here. Give the study another one.")
    if given is None:
        table = _table(db, benchmark, _alike(db, told.unit, benchmark, players, facets))
        if not len(table):
            raise StudyError(
                f"No two players of “{benchmark}” answered the same "
                + (
                    "dialogue with their last replies."
                    if told.unit == "last-reply"
                    else "scenario, or prompt with the same context beside it."
                )
            )
        rows = table if n is None else table[table.pair.isin(draw(table, _enough(len(table), n), seed=seed))]
        pairs = list(zip(rows.scenario, rows.one.tolist(), rows.other.tolist(), strict=True))
    else:
        benchmark, pairs = _checked(db, told.unit, given)
    rubric.publish(db)
    names = tuple(question.name for question in told.pairs)
    made = PairStudy(
        name, title or told.title, benchmark, told.name, rubric.version, names, told.guidelines, seed, source
    )
    stored.create(db, made, pairs)
    return stored.study(db, name)


def question(rubric: Rubric, criterion: str = "") -> PairQuestion:
    """A rubric's pairwise question: the named one, else the first. Raises StudyError, and NotFound."""
    names = [question.name for question in rubric.pairs]
    if not names:
        raise StudyError(
            f"The rubric “{rubric.name}” does not ask which of two is better. Add a criterion with "
            'type = "pairwise".'
        )
    if criterion and criterion not in names:
        raise not_found("pairwise question", criterion, names)
    return PairQuestion(rubric.name, criterion or names[0])


def asked(db: Database, study: PairStudy) -> tuple[Criterion, ...]:
    """The questions of a study of pairs; of a benchmark's own question one without a name."""
    if not study.rubric:
        return (Criterion("", "Which reply is better?", preferences(), counted=False),)
    return used(db, study.rubric, study.version).rubric.pairs


def _alike(
    db: Database, unit: UnitKind, benchmark: str, players: Sequence[str], facets: Where | None
) -> list[tuple[str, int, str, int, str]]:
    """Every two players' conversations that were asked alike: (scenario, id, key, id, key)."""
    chosen = _players(db, benchmark, players, facets)
    wanted = Filter(benchmark, players=tuple(chosen), facets={k: tuple(v) for k, v in (facets or {}).items()})
    there = set(conversations.table(db, wanted).id.tolist())
    same, by = known_or_imported(benchmark).scenario_facet, _by(benchmark)
    groups: dict[tuple[str, ...], dict[str, tuple[int, str]]] = {}
    for number, conversation in conversations.each(db, benchmark):
        if number in there and conversation.messages:
            group = groups.setdefault(_prompt(unit, by, conversation), {})
            group.setdefault(conversation.player, (number, conversation.key))
    dropped = set(scenarios.keys(db, benchmark, same, "discarded"))
    return [
        (scenario, *of[a], *of[b])
        for (scenario, *_), of in groups.items()
        if scenario not in dropped
        for a, b in combinations(chosen, 2)
        if a in of and b in of
    ]


def _by(benchmark: str) -> tuple[str, ...]:
    """The facets that name what is answered: the one of the scenario, else those that tell items apart."""
    found = known_or_imported(benchmark)
    return (found.scenario_facet,) if found.scenario_facet else found.items


def _prompt(unit: UnitKind, by: Sequence[str], conversation: Conversation) -> tuple[str, ...]:
    """What two conversations share that can be compared, the scenario first.

    Where a facet of the scenario is missing it is the messages before the first reply, and what is shown
    beside them.
    """
    named = [conversation.facets.get(name, "") for name in by]
    text = opening(unit, conversation)
    if not all(named) or not named:
        beside = {name: what for name, what in conversation.context.items() if not name.startswith("_")}
        text += json.dumps([named, beside], sort_keys=True, default=str)
    text = hashlib.sha256(text.encode()).hexdigest()[:12]
    scenario = " / ".join(named) if named and all(named) else f"prompt {text}"
    return scenario, conversation.language, text if unit == "last-reply" else ""


def _checked(
    db: Database, unit: UnitKind, given: Sequence[GivenPair]
) -> tuple[str, list[tuple[str, int, int]]]:
    """The benchmark of given pairs, and each as (scenario, id, id). Raises StudyError."""
    found: dict[tuple[int, int], str] = {}
    benchmark = ""
    for where, *keys in given:
        ids = [conversations.find_id(db, key) for key in keys]
        for key, number in zip(keys, ids, strict=True):
            if number is None:
                raise StudyError(f"{where}: “{key}” is no conversation of this workspace.")
        one, other = (conversations.load(db, key) for key in keys)
        benchmark = benchmark or one.benchmark
        if wrong := _why_not(unit, benchmark, one, other):
            raise StudyError(f"{where}: “{keys[0]}” and “{keys[1]}” cannot be compared: {wrong}")
        first, second = sorted(number for number in ids if number is not None)
        if (first, second) in found:
            raise StudyError(f"{where}: “{keys[0]}” and “{keys[1]}” are named twice. Remove one of the two.")
        found[first, second] = _prompt(unit, _by(benchmark), one)[0]
    if not found:
        raise StudyError("There are no pairs in it. Each row names two conversations: first and second.")
    return benchmark, [(scenario, *pair) for pair, scenario in found.items()]


def _why_not(unit: UnitKind, benchmark: str, one: Conversation, other: Conversation) -> str:
    """Why two conversations cannot be compared; empty if they can."""
    if one.key == other.key:
        return "they are the same conversation."
    if {one.benchmark, other.benchmark} != {benchmark}:
        return f"all pairs of a study are of one name, here “{benchmark}”."
    if one.player == other.player:
        return f"both are by {one.player}, so nothing is learnt of one player against another."
    by = _by(benchmark)
    for name in by:
        if (mine := one.facets.get(name, "")) != (theirs := other.facets.get(name, "")):
            return f"their {name} differs, “{mine}” and “{theirs}”."
    if _prompt(unit, by, one) != _prompt(unit, by, other):
        return "they answer different prompts, or what is shown beside them differs."
    try:
        two(unit, one, other)
    except StudyError as error:
        return str(error)
    return ""


def _enough(there: int, n: int | None) -> int:
    if n is not None and n > there:
        raise StudyError(f"There are {there} pairs to deal, not {n}. Ask for fewer, or take more models.")
    return there if n is None else n


def deal(
    db: Database,
    study: str,
    people: Sequence[str],
    n: int | None = None,
    *,
    players: Sequence[str] = (),
    facets: Where | None = None,
    overlap: int = 1,
    seed: int = 0,
) -> list[Standing]:
    """Deal pairs until these people have `n` different ones (None: all) between them, each `overlap` times
    (0: everybody).

    `study` is a study of pairs, or a benchmark whose own question is asked. Returns how far everybody of the
    study is. Every two models get the same number of pairs, or one more, spread over the facets of scenarios.
    People get equally many in an order of their own, and any two of them share about equally many; which
    reply is shown as A is drawn for each person and pair. The same arguments give the same. What these people
    have counts and stays theirs, so that dealing again only adds.

    Raises NotFound for an unknown study, model or facet, StudyError for simulated annotators, people without
    a link, and where there are fewer pairs or people than asked for.
    """
    raters = _raters(db, people)
    table = candidates(db, study, players=players, facets=facets)
    rows = {str(row["pair"]): row for row in table.to_dict("records")}
    names = {frozenset((row["one"], row["other"])): pair for pair, row in rows.items()}
    held: dict[str, set[str]] = {}
    for one, other, person in stored.held(db, study):
        if person in raters and (pair := names.get(frozenset((one, other)))):
            held.setdefault(pair, set()).add(person)
    chosen = draw(table, _enough(len(table), n), have=held, seed=seed)
    for person, mine in sampling.deal(chosen, list(raters), overlap, seed=seed, done=held).items():
        stored.assign(db, raters[person], study, [_shown(rows[pair], person, seed) for pair in mine])
    return stored.standings(db, study=study)


def candidates(
    db: Database, study: str, *, players: Sequence[str] = (), facets: Where | None = None
) -> pd.DataFrame:
    """Every pair that can be compared, one row each: pair (its name), scenario, one, other (ids), against
    (the two models), and the facets in which both conversations agree wherever there are pairs.

    Of a study that is stored these are its pairs, whatever the players and facets. Raises NotFound for an
    unknown study, model or facet, StudyError for a single model.
    """
    if kept := stored.pairs(db, study):
        return _table(db, stored.study(db, study).benchmark, kept)
    if study not in BENCHMARKS:
        raise not_found("study of pairs", study, [s.name for s in stored.studies(db)])
    same = get(study).scenario_facet
    if not same:
        raise StudyError(
            f"Nothing in {get(study).title} is answered by several models alike, "
            "so there is nothing to compare two by two."
        )
    chosen = _players(db, study, players, facets)
    return _table(db, study, compared.pairs(db, study, same, chosen, facets=facets))


def _players(db: Database, benchmark: str, players: Sequence[str], facets: Where | None) -> list[str]:
    """The players whose conversations are compared. Raises NotFound, and StudyError for a single one."""
    known = conversations.values(db, benchmark)["player"]
    for name in players:
        if name not in known:
            raise not_found("model", name, known)
    tables.check(db, benchmark, facets)
    chosen = sorted(set(players) or known)
    if len(chosen) < 2:
        raise StudyError("It takes two models to compare. Name another one.")
    return chosen


def _table(db: Database, benchmark: str, found: Sequence[tuple[str, int, str, int, str]]) -> pd.DataFrame:
    """The table of `candidates` of pairs (scenario, id, key, id, key)."""
    every = conversations.table(db, Filter(benchmark)).set_index("id")
    one, other = (every.loc[[pair[i] for pair in found]].reset_index() for i in (1, 3))
    table = pd.DataFrame(
        {
            "pair": one.key + "|" + other.key,
            "scenario": [scenario for scenario, *_ in found],
            "one": one.id,
            "other": other.id,
            AGAINST: one.player + " and " + other.player,
        }
    )
    same = known_or_imported(benchmark).scenario_facet
    shared = [c for c in every.columns.drop(["key", "player"]) if c != same and one[c].equals(other[c])]
    return table.join(one[shared])


def draw(table: pd.DataFrame, n: int, *, have: Collection[str] = (), seed: int = 0) -> list[str]:
    """The names of `n` of the pairs in a table of `candidates`, those that people `have` before others.

    Next comes the pair whose models had the fewest pairs so far; among those, whose scenario and facets had;
    among those, whose combinations of facets had; then chance decides.
    """
    models, scenario, *facets = [
        pd.factorize(table[c])[0] for c in (AGAINST, "scenario", *table.columns.drop(PAIR))
    ]
    both = [pd.factorize(a * len(table) + b)[0] for a, b in combinations(facets, 2)]
    chance = np.array([int(comparisons.chance(seed, pair)[:15], 16) for pair in table.pair])
    had, taken = table.pair.isin(have).to_numpy(), np.zeros(len(table), dtype=bool)
    chosen = []
    for _ in range(n):
        best = np.flatnonzero(had & ~taken)
        if not len(best):
            best = np.flatnonzero(~taken)
        for codes in ([models], [scenario, *facets], both):
            load = sum((_load(code, taken, best) for code in codes), np.zeros(len(best)))
            best = best[load == load.min()]
        drawn = best[chance[best].argmin()]
        taken[drawn] = True
        chosen.append(str(table.pair.iloc[drawn]))
    return chosen


def _load(code: npt.NDArray[np.int64], taken: npt.NDArray[np.bool_], among: npt.NDArray[np.int64]) -> Floats:
    """How often the value of each row was taken, as a multiple of the fair share of a value."""
    values = int(code.max()) + 1
    load: Floats = np.bincount(code[taken], minlength=values)[code[among]].astype(np.float64) * values
    return load


def take_back(db: Database, study: str, person: str) -> int:
    """Take back the pairs that a person has not compared; returns how many. Raises NotFound."""
    return stored.reclaim(db, access.annotator_id(db, person), study)


def remarks_table(db: Database, study: str) -> Table:
    """What people said of pairs that they flagged or skipped; without rows where nobody did."""
    names = ("person", "first", "second", "flagged", "skipped")
    rows = tuple(dict(zip(names, row, strict=True)) for row in stored.remarks(db, study))
    return Table("remarks", "Flagged and skipped", tuple(map(Column, names)), rows)


def apply(
    db: Database, rater: int, person: str, client: str, events: Iterable[Any]
) -> tuple[int, list[desk.Refusal]]:
    """Apply what an annotator's browser reports, each event once: see `desk.once`.

    An event names a pair by its number on the desk; one about a pair of somebody else is refused, as is an
    answer that the question does not have.
    """

    def prefer(event: Preferred) -> None:
        told = event.model_fields_set
        if event.seconds or "verdict" in told:
            stored.worked(db, rater, event.item, event.seconds, answered="verdict" in told)
        if "skipped" in told:
            return stored.skip(db, rater, event.item, event.skipped)
        if "flag" in told:
            return stored.flag(db, rater, event.item, event.flag)
        if "verdict" not in told:
            if "seconds" in told:
                return None
            raise StudyError("This says nothing of the pair. Answer it again.")
        pair = stored.get(db, rater, event.item)
        study = stored.study(db, pair.study)
        check_answer(asked(db, study), event.criterion, event.verdict, strong=event.strong)
        question = PairQuestion(study.rubric, event.criterion)
        comparisons.answer(
            db,
            person,
            pair.first,
            pair.second,
            event.verdict,
            event.comment,
            strong=event.strong,
            question=question,
        )
        if event.verdict and pair.skipped is not None:
            stored.skip(db, rater, event.item, None)
        return None

    return desk.once(db, desk.of(rater), client, events, Preferred, prefer, reader=rater)


def check_answer(
    questions: Sequence[Criterion], criterion: str, verdict: Verdict | None, *, strong: bool = False
) -> None:
    """Raises NotFound for a question that is not among these, StudyError for an answer it does not have."""
    known = {question.name: question for question in questions}
    if criterion not in known:
        raise not_found("question", criterion, known)
    if verdict is None or Preference(verdict, "", strong).score in known[criterion].scale:
        return
    if verdict == "C":
        raise StudyError(f"“{criterion}” allows no ties: one of the two must be better.")
    raise StudyError(f"“{criterion}” does not ask by how much one of the two is better.")


def _raters(db: Database, people: Sequence[str]) -> dict[str, int]:
    known = {a.name: a for a in access.annotators(db)}
    for name in people:
        if name not in known:
            raise not_found(
                "annotator", name, (a.name for a in known.values() if a.can_enter and not a.simulated)
            )
        if known[name].simulated:
            raise StudyError(f"“{name}” is a simulated annotator: only people compare at the desk.")
        if not known[name].can_enter:
            raise StudyError(
                f"“{name}” has no link that works. "
                "Invite them with `concord annotators invite`, or deal to others."
            )
    return {name: known[name].id for name in dict.fromkeys(people)}


def _shown(row: Mapping[Hashable, Any], person: str, seed: int) -> tuple[str, int, int]:
    """The scenario, and the two as the person is to see them."""
    return (row["scenario"], *comparisons.sides(row["one"], row["other"], seed, person, row["pair"]))
