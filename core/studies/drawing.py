"""Draws of studies: which conversations people rate, at random or by strata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.conversation import Conversation
from concord.errors import StudyError, check_known
from concord.rating import Criterion, criteria_by_name
from concord.store import audit, conversations, ratings, studies
from concord.store.conversations import Filter
from concord.store.studies import Study, StudySample
from concord.studies import sampling

if TYPE_CHECKING:
    import pandas as pd

    from concord.rubrics.rubric_store import Numbered


def left_to_draw(db: Database, study: Study) -> int | None:
    """How many stored conversations the draw of a study could have taken, and did not; None if not drawn."""
    if study.sample is None or not study.sample.filter:
        return None
    candidates = conversations.count(db, Filter(**study.sample.filter))
    return max(0, candidates - len(_conversation_ids(db, study.name)))


@dataclass(frozen=True)
class StudyDraw:
    """What a study draws and asks: `n` of the conversations that `selection` names, which has a benchmark.

    `strata` defaults to the player, the language and every facet that varies. Asked are the benchmark's
    criteria in `ask` or criteria of your own, else those that enter final. A rubric says what is asked and of
    what (`ask` and `per_turn` are then its own). No conversation of the studies `not_in` is drawn.
    """

    n: int
    selection: Filter
    strata: Sequence[str] | None = None
    seed: int = 0
    ask: Sequence[str] | Sequence[Criterion] = ()
    per_turn: bool = False
    title: str = ""
    guidelines: str = ""
    overlap: int = 0
    rubric: Numbered | None = None
    not_in: Sequence[str] = ()


def draw_study(db: Database, name: str, draw: StudyDraw) -> Study:
    """Draw stored conversations into a new study, stratified; rated whole or, with `per_turn`, by turns.

    The version of a rubric is kept. Where strata are drawn with unequal probabilities, the study keeps the
    least and the greatest. Raises StudyError where there is too little to draw from.
    """
    if draw.rubric is None:
        criteria = _criteria_of(db, draw.selection.benchmark, draw.ask)
    else:
        _publish(db, draw.rubric, draw.selection.benchmark)
        criteria = draw.rubric.rubric.criteria
    candidates = _candidates(db, draw)
    strata = _varied(candidates, draw.n) if draw.strata is None else list(draw.strata)
    sampled = sampling.draw(candidates, draw.n, seed=draw.seed, strata=strata, name="key")
    sample = StudySample(
        len(candidates),
        draw.n,
        _filter_facts(draw.selection),
        tuple(strata),
        chance=_unequal_chance(sampled),
        not_in=tuple(draw.not_in),
    )
    units = _units(db, draw, sampled)
    if not units:
        raise StudyError(
            "None of these conversations can be rated by the rubric. Its preview on the page Rubrics offers "
            "those that can be."
        )
    studies.create(db, _study(name, draw, criteria, sample))
    studies.add_units(db, name, units)
    facts = audit.facts(**sample.filter, n=draw.n, by=sample.facets, not_in=sample.not_in, seed=draw.seed)
    audit.record(db, AuditAct.DRAW, name, detail=facts)
    return studies.get(db, name)


def _publish(db: Database, rubric: Numbered, benchmark: str) -> None:
    """Keep the version of a rubric. Raises StudyError for one that asks nothing of one conversation."""
    from concord.rubrics.rubric_store import refuse_unknown_facets  # loads pydantic

    if not rubric.rubric.criteria:
        raise StudyError(
            f"The rubric “{rubric.rubric.name}” asks only which of two is better. Create a study of pairs "
            "with `concord study pairs`."
        )
    refuse_unknown_facets(db, rubric.rubric, benchmark)
    rubric.publish(db)


def _candidates(db: Database, draw: StudyDraw) -> pd.DataFrame:
    """The conversations that the selection names, without those of the studies to avoid."""
    excluded: set[int] = set()
    for study in draw.not_in:
        excluded.update(_conversation_ids(db, study))
    candidates = conversations.table(db, draw.selection)
    return candidates[~candidates.id.isin(excluded)]


def _conversation_ids(db: Database, study: str) -> set[int]:
    """The conversations of a study."""
    return {unit["conversation_id"] for unit in studies.units(db, study)}


def _varied(candidates: pd.DataFrame, limit: int) -> list[str]:
    """The columns with at least two values, and at most `limit`."""
    values = candidates.drop(columns=["id", "key"]).nunique()
    names: list[str] = values[values.between(2, limit)].index.tolist()
    return names


def _filter_facts(selection: Filter) -> dict[str, Any]:
    """What a filter asks, without its empty fields."""
    return {name: value for name, value in asdict(selection).items() if value}


def _unequal_chance(sampled: pd.DataFrame) -> tuple[float, float] | None:
    """The least and the greatest probability of being drawn; None where they are equal."""
    lowest = float(sampled.chance.min())
    highest = float(sampled.chance.max())
    if highest - lowest <= 1e-9:
        return None
    return lowest, highest


def _study(name: str, draw: StudyDraw, criteria: tuple[Criterion, ...], sample: StudySample) -> Study:
    """The study to create. Its title and guidelines are the draw's, else the rubric's."""
    study = Study(
        name,
        criteria,
        draw.title,
        draw.guidelines,
        per_turn=draw.per_turn,
        overlap=draw.overlap,
        seed=draw.seed,
        benchmark=draw.selection.benchmark,
        sample=sample,
    )
    if draw.rubric is None:
        return study
    rubric = draw.rubric.rubric
    return replace(
        study,
        title=draw.title or rubric.title,
        guidelines=draw.guidelines or rubric.guidance,
        per_turn=rubric.per_turn,
        asked_rubric=draw.rubric.noted,
    )


def _units(db: Database, draw: StudyDraw, sampled: pd.DataFrame) -> list[tuple[int, int | None, str]]:
    """The units to rate, in the order drawn: (conversation, turn or None for the whole, stratum)."""
    units: list[tuple[int, int | None, str]] = []
    for conversation_id, stratum in zip(sampled.id.tolist(), sampled.stratum, strict=True):
        turns: Sequence[int | None] = (None,)
        if draw.rubric is not None:
            turns = _turns_of_rubric(draw.rubric, conversations.load(db, conversation_id))
        elif draw.per_turn:
            turns = conversations.load(db, conversation_id).replied_turns
        for turn in turns:
            units.append((conversation_id, turn, stratum))
    return units


def _turns_of_rubric(rubric: Numbered, conversation: Conversation) -> tuple[int | None, ...]:
    """What is to be rated: turns, None for the whole; nothing where the rubric asks nothing."""
    try:
        return rubric.rubric.units(conversation)
    except StudyError:
        return ()


def _criteria_of(
    db: Database, benchmark: str, ask: Sequence[str] | Sequence[Criterion]
) -> tuple[Criterion, ...]:
    """Criteria of one's own in `ask`, else the benchmark's that it names, else those that count."""
    own_criteria = [criterion for criterion in ask if isinstance(criterion, Criterion)]
    if own_criteria:
        return tuple(own_criteria)
    criteria = criteria_by_name(ratings.criteria(db, benchmark))
    if not criteria:
        raise StudyError(
            f"There are no criteria for “{benchmark}” in this workspace: "
            "generate conversations with `concord run`, or import some."
        )
    if not ask:
        return tuple(c for c in criteria.values() if c.counted)
    criteria_asked: list[Criterion] = []
    for name in map(str, ask):
        check_known("criterion", name, criteria)
        criteria_asked.append(criteria[name])
    return tuple(criteria_asked)
