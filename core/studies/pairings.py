"""Pairs of conversations or replies: studies of them, drawn over models and scenarios and dealt to people."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import pandas as pd
from sqlite_utils import Database

from concord.codes import AuditAct
from concord.conversation import Conversation
from concord.errors import StudyError, check_known, not_found
from concord.questions import LETTERS, preferences
from concord.rating import Criterion
from concord.rubrics.rubric import Rubric, UnitKind, opening
from concord.rubrics.rubric_store import Numbered
from concord.runs.registry import get, known_or_imported
from concord.store import audit, conversations, scenarios, studies, tables
from concord.store import comparisons as compared
from concord.store.comparisons import PairQuestion
from concord.store.conversations import Filter
from concord.store.filters import FacetValues
from concord.store.studies import ScenarioPair, Study
from concord.studies import sampling

AGAINST = "against"
"""The column of a table of pairs that says which two models meet."""
PAIR = ["pair", "scenario", "one", "other", AGAINST]
_PREFERENCE = "Which reply is better?"
PREFERENCE = Criterion("", _PREFERENCE, preferences(), counted=False, reason="optional", title=_PREFERENCE)
"""A benchmark's own question."""


def new(
    db: Database,
    name: str,
    rubric: Numbered | None,
    benchmark: str,
    n: int | None = None,
    *,
    players: Sequence[str] = (),
    facets: FacetValues | None = None,
    seed: int = 0,
    title: str = "",
    overlap: int = 0,
) -> Study:
    """Create a study of pairs that are compared by a rubric's pairwise questions, whose version is kept, or
    (None) by the benchmark's own one.

    `n` (None: all) are drawn from a benchmark's: two players' conversations of one scenario (the facet that
    names it, else those that tell a benchmark's items apart), or with one prompt and context where
    conversations name none. Of last replies also the dialogues before them are the same. Every two players
    get the same number of pairs, or one more; the same seed draws the same. Each pair is for `overlap`
    people, 0: for everybody. Raises NotFound for an unknown player or facet, StudyError where there is
    nothing to compare.
    """
    if name in conversations.benchmark_names(db):
        raise StudyError(f"“{name}” is the name of conversations here. Give the study another one.")
    candidates = _candidates(db, rubric, benchmark, players, facets)
    drawing = draw_groups if rubric and rubric.rubric.ranks else draw
    pairs = drawing(_table(db, benchmark, candidates), n, seed)
    questions: tuple[Criterion, ...] = (PREFERENCE,)
    guidelines = ""
    if rubric:
        rubric.publish(db)
        questions = tuple(replace(pair_question, reason="optional") for pair_question in rubric.rubric.pairs)
        title = title or rubric.rubric.title
        guidelines = rubric.rubric.guidelines
    title = title or f"{get(benchmark).title}: which reply is better?"
    study = Study(
        name,
        questions,
        title,
        guidelines,
        overlap=overlap,
        seed=seed,
        kind="pairs",
        benchmark=benchmark,
        asked_rubric=rubric.noted if rubric else None,
    )
    studies.create(db, study)
    studies.add_pairs(db, name, pairs)
    facts = audit.facts(benchmark=benchmark, n=n, players=players, seed=seed, **(facets or {}))
    audit.record(db, AuditAct.DRAW, name, detail=f"pairs; {facts}")
    return studies.get(db, name)


def count(db: Database, rubric: Numbered | None, benchmark: str, players: Sequence[str] = ()) -> int:
    """How many pairs, or groups, `new` can draw. Raises as it does."""
    candidates = _candidates(db, rubric, benchmark, players, None)
    if rubric and rubric.rubric.ranks:
        return len({pair.scenario for pair in candidates})
    return len(candidates)


def _candidates(
    db: Database, rubric: Numbered | None, benchmark: str, players: Sequence[str], facets: FacetValues | None
) -> list[ScenarioPair]:
    """What a rubric, or the benchmark's question, can compare."""
    unit: UnitKind = "last-reply"
    if rubric:
        question(rubric.rubric)
        unit = rubric.rubric.unit
        candidates = _alike(db, rubric.rubric, benchmark, players, facets)
    elif scenario_facet := get(benchmark).scenario_facet:
        compared_players = _players(db, benchmark, players, facets)
        candidates = compared.pairs(db, benchmark, scenario_facet, compared_players, facets=facets)
    else:
        raise StudyError(
            f"In {get(benchmark).title}, no item has answers of several models, so there are no "
            "pairs to compare."
        )
    if not candidates:
        alike = "scenario, or prompt with the same context beside it"
        if unit == "last-reply":
            alike = "dialogue with their last replies"
        raise StudyError(f"No two models of “{benchmark}” answered the same {alike}.")
    return candidates


def find(db: Database, name: str) -> Study | None:
    """The study of pairs with this name; None where there is none."""
    return studies.get(db, name) if name in studies.names(db, pairs=True) else None


def question(rubric: Rubric, criterion: str = "") -> PairQuestion:
    """A rubric's pairwise question: the named one, else the first. Raises StudyError, and NotFound."""
    names = [question.name for question in rubric.pairs]
    if not names:
        raise StudyError(
            f'The rubric “{rubric.name}” has no pairwise question. Add a criterion with type = "pairwise".'
        )
    if criterion and criterion not in names:
        raise not_found("pairwise question", criterion, names)
    return PairQuestion(rubric.name, criterion or names[0])


def _alike(
    db: Database, rubric: Rubric, benchmark: str, players: Sequence[str], facets: FacetValues | None
) -> list[ScenarioPair]:
    """Every two players' conversations that were asked alike.

    Of a ranking several groups of a scenario have names of their own.
    """
    compared_players = _players(db, benchmark, players, facets)
    facet_values = {name: tuple(values) for name, values in (facets or {}).items()}
    selection = Filter(benchmark, players=tuple(compared_players), facets=facet_values)
    selected_ids = set(conversations.table(db, selection).id.tolist())
    of_benchmark = known_or_imported(benchmark)
    scenario_facet = of_benchmark.scenario_facet
    facets_alike = (scenario_facet,) if scenario_facet else of_benchmark.items
    groups: dict[_Prompt, dict[str, tuple[int, str]]] = {}
    for number, conversation in conversations.of_benchmark(db, benchmark):
        if number in selected_ids and conversation.messages:
            group = groups.setdefault(_prompt(rubric.unit, facets_alike, conversation), {})
            group.setdefault(conversation.player, (number, conversation.key))
    discarded = set(scenarios.keys(db, benchmark, scenario_facet, "discarded"))
    groups_of_scenario = Counter(prompt.scenario for prompt in groups)
    pairs: list[ScenarioPair] = []
    for prompt, by_player in groups.items():
        if prompt.scenario in discarded:
            continue
        name = prompt.scenario
        if rubric.ranks and groups_of_scenario[prompt.scenario] > 1:
            name = " / ".join(filter(None, prompt))
        for first, second in combinations(compared_players, 2):
            if first in by_player and second in by_player:
                pairs.append(ScenarioPair(name, *by_player[first], *by_player[second]))
    return pairs


class _Prompt(NamedTuple):
    """What conversations have in common that were asked alike."""

    scenario: str
    language: str
    text: str
    """A hash of what stands before the last reply, where only this is compared."""


def _prompt(unit: UnitKind, facets_alike: Sequence[str], conversation: Conversation) -> _Prompt:
    """What two conversations share that can be compared, the scenario first.

    Where a facet of the scenario is missing it is the messages before the first reply, and what is shown
    beside them.
    """
    values_of_facets = [conversation.facets.get(name, "") for name in facets_alike]
    has_scenario = bool(values_of_facets) and all(values_of_facets)
    text = opening(unit, conversation)
    if not has_scenario:
        context = {name: value for name, value in conversation.context.items() if not name.startswith("_")}
        text += json.dumps([values_of_facets, context], sort_keys=True, default=str)
    text_hash = hashlib.sha256(text.encode()).hexdigest()[:12]
    return _Prompt(
        scenario=" / ".join(values_of_facets) if has_scenario else f"prompt {text_hash}",
        language=conversation.language,
        text=text_hash if unit == "last-reply" else "",
    )


def _players(db: Database, benchmark: str, players: Sequence[str], facets: FacetValues | None) -> list[str]:
    """The players whose conversations are compared. Raises NotFound, and StudyError for a single one."""
    models = conversations.values(db, benchmark)["player"]
    check_known("model", players, models)
    tables.check(db, benchmark, facets)
    compared_players = sorted(set(players) or models)
    if len(compared_players) < 2:
        raise StudyError("A comparison needs two models. Name another one.")
    return compared_players


def _table(db: Database, benchmark: str, pairs: Sequence[tuple[str, int, str, int, str]]) -> pd.DataFrame:
    """Pairs (scenario, id, key, id, key), one row each: pair (its name), scenario, one, other (ids), against
    (the two models), and the facets in which both conversations agree wherever there are pairs.
    """
    all_rows = conversations.table(db, Filter(benchmark)).set_index("id")
    one, second = (all_rows.loc[[pair[i] for pair in pairs]].reset_index() for i in (1, 3))
    table = pd.DataFrame(
        {
            "pair": one.key + "|" + second.key,
            "scenario": [scenario for scenario, *_ in pairs],
            "one": one.id,
            "other": second.id,
            AGAINST: one.player + " and " + second.player,
        }
    )
    scenario_facet = known_or_imported(benchmark).scenario_facet
    shared = [
        c
        for c in all_rows.columns.drop(["key", "player"])
        if c != scenario_facet and one[c].equals(second[c])
    ]
    return table.join(one[shared])


def draw(table: pd.DataFrame, n: int | None, seed: int = 0) -> list[tuple[str, int, int]]:
    """`n` of the pairs of a table (None: all) as (scenario, id, id).

    There are as many of every two models, or one more, spread over the facets. Raises StudyError for more
    than there are.
    """
    if n is not None and n > len(table):
        raise StudyError(f"There are {len(table)} pairs, not {n}. Ask for fewer pairs, or use more models.")
    if n is not None:
        sizes = sampling.draw(table, n, seed=seed, strata=[AGAINST], name="pair")[AGAINST].value_counts()
        facets = [str(column) for column in table.columns.drop(PAIR)]
        parts = [
            sampling.draw(table[table[AGAINST] == two], int(size), seed=seed, strata=facets, name="pair")
            for two, size in sorted(sizes.items())
        ]
        table = pd.concat(parts)
    return list(zip(table.scenario, table.one.tolist(), table.other.tolist(), strict=True))


def draw_groups(table: pd.DataFrame, n: int | None, seed: int = 0) -> list[tuple[str, int, int]]:
    """All pairs of `n` of the scenarios of a table (None: all), spread over the facets. Raises StudyError for
    more than there are, and for groups of too many conversations.
    """
    largest = int(table.groupby("scenario").size().max())
    if largest > len(LETTERS) * (len(LETTERS) - 1) // 2:
        raise StudyError(f"A ranking can have at most {len(LETTERS)} replies. Use fewer models.")
    groups = table.drop_duplicates("scenario")
    if n is not None and n > len(groups):
        raise StudyError(f"There are {len(groups)} groups, not {n}. Ask for fewer groups.")
    if n is not None:
        facets = [str(column) for column in table.columns.drop(PAIR)]
        sampled_groups = sampling.draw(groups, n, seed=seed, strata=facets, name="scenario")
        table = table[table.scenario.isin(sampled_groups.scenario)]
    return list(zip(table.scenario, table.one.tolist(), table.other.tolist(), strict=True))
