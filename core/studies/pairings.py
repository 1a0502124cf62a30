"""Pairs of conversations or replies: studies of them, drawn over models and scenarios and dealt to people."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from sqlite_utils import Database

from concord.conversation import Conversation
from concord.errors import StudyError, check_known, not_found
from concord.questions import preferences
from concord.rating import Criterion, Preference, Verdict
from concord.rubrics.rubric import Rubric, UnitKind, opening, two
from concord.rubrics.shelf import Numbered
from concord.runs.registry import BENCHMARKS, get, known_or_imported
from concord.statistics.ratings import Floats
from concord.store import access, audit, comments, conversations, placements, scenarios, studies, tables
from concord.store import comparisons as compared
from concord.store.comparisons import PairQuestion
from concord.store.conversations import Filter
from concord.store.filters import Where
from concord.store.studies import Study
from concord.studies import dealing, sampling
from concord.studies.comparisons import chance
from concord.table import Column, Table

AGAINST = "against"
"""The column of a table of pairs that says which two models meet."""
PAIR = ["pair", "scenario", "one", "other", AGAINST]
OWN = "own"
"""The source of the study in which a benchmark's own question is asked, which has the benchmark's name."""


@dataclass(frozen=True)
class Standing:
    """How many of the pairs of a study dealt to a person are compared, or skipped; seconds of work."""

    person: str
    study: str
    done: int
    dealt: int
    skipped: int = 0
    seconds: float = 0.0


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
) -> Study:
    """Make a study of pairs that are compared by a rubric's pairwise questions; its version is kept.

    The pairs are those `given`, or `n` (None: all) drawn from a benchmark's: two players' conversations of
    one scenario (the facet that names it, else those that tell a benchmark's items apart), or with one prompt
    and context where conversations name none. Of last replies also the dialogues
    before them are the same. Every two players get the same number of pairs, or one more; the same seed draws
    the same. Raises NotFound for an unknown player or facet, StudyError where there is nothing to compare.
    """
    content = rubric.rubric
    question(content)
    if name in conversations.benchmark_names(db):
        raise StudyError(f"“{name}” is the name of conversations here. Give the study another one.")
    if given is None:
        table = _table(db, benchmark, _alike(db, content.unit, benchmark, players, facets))
        if not len(table):
            raise StudyError(
                f"No two players of “{benchmark}” answered the same "
                + (
                    "dialogue with their last replies."
                    if content.unit == "last-reply"
                    else "scenario, or prompt with the same context beside it."
                )
            )
        rows = table if n is None else table[table.pair.isin(draw(table, _enough(len(table), n), seed=seed))]
        pairs = list(zip(rows.scenario, rows.one.tolist(), rows.other.tolist(), strict=True))
    else:
        benchmark, pairs = _checked(db, content.unit, given)
    rubric.publish(db)
    about = {"rubric": rubric.noted, "drawn": {"benchmark": benchmark}}
    texts = title or content.title, content.guidelines, source
    questions = tuple(replace(question, reason="optional") for question in content.pairs)
    studies.create(db, Study(name, questions, *texts, overlap=1, seed=seed, kind="pairs", meta=about))
    studies.add_pairs(db, name, pairs)
    how = audit.facts(benchmark=benchmark, source=source, n=n, players=players, seed=seed, **(facets or {}))
    audit.record(db, "drawn", name, detail=f"pairs; {how}")
    return studies.get(db, name)


def own(db: Database, benchmark: str) -> Study:
    """The study in which a benchmark's own question is asked; it is made where there is none.

    Raises StudyError where nothing can be compared by it, or another study has its name.
    """
    if benchmark not in studies.names_of(db, OWN):
        _scenario_of(benchmark)
        title = f"{get(benchmark).title}: which reply is better?"
        questions = (
            Criterion("", "Which reply is better?", preferences(), counted=False, reason="optional"),
        )
        about = {"drawn": {"benchmark": benchmark}}
        study = Study(benchmark, questions, title, source=OWN, overlap=1, kind="pairs", meta=about)
        studies.create(db, study)
    return studies.get(db, benchmark)


def _scenario_of(benchmark: str) -> str:
    """The facet in which conversations agree that a benchmark's own question compares. Raises StudyError."""
    if not get(benchmark).scenario_facet:
        raise StudyError(
            f"Nothing in {get(benchmark).title} is answered by several models alike, "
            "so there is nothing to compare two by two."
        )
    return get(benchmark).scenario_facet


def find(db: Database, name: str) -> Study | None:
    """The study of pairs with this name; None where there is none."""
    return studies.get(db, name) if name in studies.names(db, pairs=True) else None


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
    of = known_or_imported(benchmark)
    return (of.scenario_facet,) if of.scenario_facet else of.items


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
    scenario_of: dict[tuple[int, int], str] = {}
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
        if (first, second) in scenario_of:
            raise StudyError(f"{where}: “{keys[0]}” and “{keys[1]}” are named twice. Remove one of the two.")
        scenario_of[first, second] = _prompt(unit, _by(benchmark), one)[0]
    if not scenario_of:
        raise StudyError("There are no pairs in it. Each row names two conversations: first and second.")
    return benchmark, [(scenario, *pair) for pair, scenario in scenario_of.items()]


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
    if find(db, study) is None:
        own(db, study)
    pairs = {
        (min(one, other), max(one, other)): (pair, scenario)
        for pair, scenario, one, other in table[PAIR[:4]].itertuples(index=False, name=None)
    }
    items = studies.items_of_pairs(db, study)
    pair_of = {items[ids]: pair for ids, (pair, _) in pairs.items() if ids in items}
    held: dict[str, set[str]] = {}
    for item, person, *_ in placements.queues(db, study):
        if person in raters and item in pair_of:
            held.setdefault(pair_of[item], set()).add(person)
    chosen = draw(table, _enough(len(table), n), have=held, seed=seed)
    dealt = sampling.deal(chosen, list(raters), overlap, seed=seed, done=held)
    drawn = {pair: ids for ids, (pair, _) in pairs.items() if pair in {*chosen}}
    studies.add_pairs(db, study, ((pairs[ids][1], *ids) for ids in drawn.values()))
    items = studies.items_of_pairs(db, study)
    for person, mine in dealt.items():
        placements.assign(db, raters[person], [items[drawn[pair]] for pair in mine])
        how = audit.facts(n=n, players=players, overlap=overlap, seed=seed, **(facets or {}))
        audit.record(db, "dealt", study, person, f"{len(mine)} pairs; {how}")
    studies.set_overlap(db, study, overlap)
    dealing.deal_hidden(db, study)
    return standings(db, study)


def standings(db: Database, study: str = "") -> list[Standing]:
    """How far everybody is who has pairs (of one study), by name and study."""
    return sorted(
        (
            Standing(a.name, name, a.done + a.skipped, a.items, a.skipped, a.seconds)
            for name in _named(db, study)
            for a in access.annotators(db, name)
            if a.items
        ),
        key=lambda one: (one.person, one.study),
    )


def candidates(
    db: Database, study: str, *, players: Sequence[str] = (), facets: Where | None = None
) -> pd.DataFrame:
    """Every pair that can be compared, one row each: pair (its name), scenario, one, other (ids), against
    (the two models), and the facets in which both conversations agree wherever there are pairs.

    Of a study that is stored these are its pairs, whatever the players and facets. Raises NotFound for an
    unknown study, model or facet, StudyError for a single model.
    """
    if kept := find(db, study):
        return _table(db, kept.benchmark, studies.pairs(db, study))
    if study not in BENCHMARKS:
        raise not_found("study of pairs", study, studies.names(db, pairs=True))
    same = _scenario_of(study)
    chosen = _players(db, study, players, facets)
    return _table(db, study, compared.pairs(db, study, same, chosen, facets=facets))


def _players(db: Database, benchmark: str, players: Sequence[str], facets: Where | None) -> list[str]:
    """The players whose conversations are compared. Raises NotFound, and StudyError for a single one."""
    models = conversations.values(db, benchmark)["player"]
    check_known("model", players, models)
    tables.check(db, benchmark, facets)
    chosen = sorted(set(players) or models)
    if len(chosen) < 2:
        raise StudyError("It takes two models to compare. Name another one.")
    return chosen


def _table(db: Database, benchmark: str, pairs: Sequence[tuple[str, int, str, int, str]]) -> pd.DataFrame:
    """The table of `candidates` of pairs (scenario, id, key, id, key)."""
    every = conversations.table(db, Filter(benchmark)).set_index("id")
    one, other = (every.loc[[pair[i] for pair in pairs]].reset_index() for i in (1, 3))
    table = pd.DataFrame(
        {
            "pair": one.key + "|" + other.key,
            "scenario": [scenario for scenario, *_ in pairs],
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
    luck = np.array([int(chance(seed, pair)[:15], 16) for pair in table.pair])
    had, taken = table.pair.isin(have).to_numpy(), np.zeros(len(table), dtype=bool)
    chosen = []
    for _ in range(n):
        best = np.flatnonzero(had & ~taken)
        if not len(best):
            best = np.flatnonzero(~taken)
        for codes in ([models], [scenario, *facets], both):
            load = sum((_load(code, taken, best) for code in codes), np.zeros(len(best)))
            best = best[load == load.min()]
        drawn = best[luck[best].argmin()]
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
    taken = len(placements.reclaim(db, study, access.annotator_id(db, person)))
    audit.record(db, "pairs taken back", study, person, f"{taken} pairs")
    return taken


def remarks_table(db: Database, study: str) -> Table:
    """What people said of pairs that they flagged or skipped; without rows where nobody did."""
    rows = tuple(
        {"person": one.rater, "pair": one.item_id, "flagged": one.text, "skipped": one.reason}
        for name in _named(db, study)
        for one in comments.of_study(db, name, with_excluded=True)
    )
    columns = map(Column, ("person", "pair", "flagged", "skipped"))
    return Table("remarks", "Flagged and skipped", tuple(columns), rows)


def _named(db: Database, study: str) -> list[str]:
    """The studies of pairs, benchmarks' own questions among them; or the one of this name."""
    every = [*studies.names(db, pairs=True), *studies.names_of(db, OWN)]
    return [name for name in every if study in ("", name)]


def check_answer(
    questions: Sequence[Criterion], criterion: str, verdict: Verdict | None, *, strong: bool = False
) -> None:
    """Raises NotFound for a question that is not among these, StudyError for an answer it does not have."""
    by_name = {question.name: question for question in questions}
    check_known("question", criterion, by_name)
    if verdict is None or Preference(verdict, "", strong).score in by_name[criterion].scale:
        return
    if verdict == "C":
        raise StudyError(f"“{criterion}” allows no ties: one of the two must be better.")
    raise StudyError(f"“{criterion}” does not ask by how much one of the two is better.")


def _raters(db: Database, people: Sequence[str]) -> dict[str, int]:
    invited = {a.name: a for a in access.annotators(db)}
    for name in people:
        if name not in invited:
            raise not_found(
                "annotator", name, (a.name for a in invited.values() if a.can_enter and not a.simulated)
            )
        if invited[name].simulated:
            raise StudyError(f"“{name}” is a simulated annotator: only people compare at the desk.")
        if not invited[name].can_enter:
            raise StudyError(
                f"“{name}” has no link that works. "
                "Invite them with `concord people invite`, or deal to others."
            )
    return {name: invited[name].id for name in dict.fromkeys(people)}
