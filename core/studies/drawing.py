"""Draws of studies: which conversations people rate, at random or by strata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.conversation import Conversation
from concord.errors import StudyError, not_found
from concord.rating import Criterion
from concord.store import audit, conversations, ratings, studies
from concord.store.conversations import Filter
from concord.store.studies import Study, StudySample
from concord.studies import sampling

if TYPE_CHECKING:
    from concord.rubrics.rubric_store import Numbered


def left_to_draw(db: Database, study: Study) -> int | None:
    """How many stored conversations the draw of a study could have taken, and did not; None if not drawn."""
    if study.sample is None or not study.sample.filter:
        return None
    drawn_ids = {unit["conversation_id"] for unit in studies.units(db, study.name)}
    return max(0, conversations.count(db, Filter(**study.sample.filter)) - len(drawn_ids))


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
    n, rubric, per_turn, selection = draw.n, draw.rubric, draw.per_turn, draw.selection
    if rubric is None:
        criteria = _criteria_of(db, selection.benchmark, draw.ask)
    else:
        if not rubric.rubric.criteria:
            raise StudyError(
                f"The rubric “{rubric.rubric.name}” asks only which of two is better. Create a study of "
                "pairs "
                "with `concord study pairs`."
            )
        from concord.rubrics.rubric_store import refuse_unknown_facets  # loads pydantic

        refuse_unknown_facets(db, rubric.rubric, selection.benchmark)
        rubric.publish(db)
        criteria, per_turn = rubric.rubric.criteria, rubric.rubric.per_turn
    candidates = conversations.table(db, selection)
    excluded_ids = [unit["conversation_id"] for study in draw.not_in for unit in studies.units(db, study)]
    candidates = candidates[~candidates.id.isin(excluded_ids)]
    strata = draw.strata
    if strata is None:
        varied = candidates.drop(columns=["id", "key"]).nunique()
        strata = [str(column) for column, values in varied.items() if 1 < values <= n]
    sampled = sampling.draw(candidates, n, seed=draw.seed, strata=strata, name="key")
    lowest, highest = float(sampled.chance.min()), float(sampled.chance.max())
    sample = StudySample(
        len(candidates),
        n,
        {k: v for k, v in asdict(selection).items() if v},
        tuple(strata),
        chance=(lowest, highest) if highest - lowest > 1e-9 else None,
        not_in=tuple(draw.not_in),
    )
    title, guidelines = draw.title, draw.guidelines
    if rubric is not None:
        title = title or rubric.rubric.title
        guidelines = guidelines or rubric.rubric.guidance
    study = Study(
        name,
        criteria,
        title,
        guidelines,
        per_turn=per_turn,
        overlap=draw.overlap,
        seed=draw.seed,
        benchmark=selection.benchmark,
        asked_rubric=rubric.noted if rubric else None,
        sample=sample,
    )
    units: list[tuple[int, int | None, str]] = []
    for conversation, stratum in zip(sampled.id.tolist(), sampled.stratum, strict=True):
        turns: Sequence[int | None] = [None]
        if rubric is not None:
            turns = _asked_by(rubric, conversations.load(db, conversation))
        elif per_turn:
            turns = [t.number for t in conversations.load(db, conversation).turns() if t.reply is not None]
        units += [(conversation, turn, stratum) for turn in turns]
    if not units:
        raise StudyError(
            "None of these conversations can be rated by the rubric. Its preview on the page Rubrics offers "
            "those that can be."
        )
    studies.create(db, study)
    studies.add_units(db, name, units)
    facts = audit.facts(**sample.filter, n=n, by=sample.facets, not_in=sample.not_in, seed=draw.seed)
    audit.record(db, AuditAct.DRAW, name, detail=facts)
    return studies.get(db, name)


def _asked_by(rubric: Numbered, conversation: Conversation) -> tuple[int | None, ...]:
    """What is to be rated: turns, None for the whole; nothing where the rubric asks nothing."""
    try:
        return rubric.rubric.units(conversation)
    except StudyError:
        return ()


def _criteria_of(
    db: Database, benchmark: str, ask: Sequence[str] | Sequence[Criterion]
) -> tuple[Criterion, ...]:
    own_criteria = [c for c in ask if isinstance(c, Criterion)]
    if own_criteria:
        return tuple(own_criteria)
    criteria = {c.name: c for c in ratings.criteria(db, benchmark)}
    if not criteria:
        raise StudyError(
            f"There are no criteria for “{benchmark}” in this workspace: "
            "generate conversations with `concord run`, or import some."
        )
    if not ask:
        return tuple(c for c in criteria.values() if c.counted)
    if unknown := [str(name) for name in ask if name not in criteria]:
        raise not_found("criterion", unknown[0], criteria)
    return tuple(criteria[str(name)] for name in ask)
