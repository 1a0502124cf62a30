"""What is sent to an annotator's browser. Nothing here may tell who wrote a dialogue or what anybody else
thought of it.

Every value is picked by name; a conversation's key, player, facets and meta (and the meta of its messages)
never are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.rating import Criterion
from concord.rubrics.rubric import Rubric, shown
from concord.rubrics.rubric_store import used
from concord.runs.registry import BENCHMARKS
from concord.store import desk, images, known, placements, studies
from concord.store.desk import Refusal
from concord.store.placements import Placement
from concord.store.studies import AskedRubric, Study
from concord.studies import crowd
from concord.studies.purposes import training
from pages.desk import form

PAIR_SAYS = {"end_text": "All compared – thank you!", "empty_text": "No pairs to compare"}
"""What desks of pairs say at their end."""


def fixed(
    study: Study, annotator: str, desk_id: str, back: str, explained: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What stays the same while one study is rated. `back` names what lies behind the desk; "" where nothing
    does. `explained` has the guideline of single questions, by name.
    """
    title = study.title or study.name
    common: dict[str, Any] = {"guidelines": study.guidelines, "reasons": list(form.REASONS)}
    if study.pairs:
        questions = [
            pair_question(c) | ({"options": [], "ties": 0 in c.scale} if study.ranks else {})
            for c in study.criteria
        ]
        common |= {} if study.rubric else {"raw": "mono"}
        return form.fixed(desk_id, "pair", title, annotator, back, questions, **PAIR_SAYS, **common)
    texts = explained or {}
    questions = [form.question(c, help=texts.get(c.name, "")) for c in study.criteria]
    ends = {"end_text": "All done – thank you!", "empty_text": "Nothing to rate here"}
    return form.fixed(desk_id, "rate", title, annotator, back, questions, **ends, submits=True, **common)


def moving(
    db: Database,
    rater: int,
    study: Study,
    item_ids: Iterable[int] | None,
    refusals: Iterable[Refusal],
) -> dict[str, Any]:
    """What changes: every item with its state, and the dialogues asked for (None: those an annotator who
    arrives needs first).
    """
    units = placements.on_desk(db, rater, study.name)
    numbers = desk.Numbers(db, study.name, rater)
    strip: list[form.StripItem] = [(numbers.shown(unit), state, flagged) for unit, state, flagged in units]
    unit_of = {number: unit for (number, *_), (unit, *_) in zip(strip, units, strict=True)}
    items = [
        _item(db, rater, study, unit_of[number]) | {"id": number}
        for number in form.ahead(strip, item_ids)
        if number in unit_of
    ]
    return form.Moving(strip, items).sent(
        [replace(r, item=numbers.shown(r.item) if isinstance(r.item, int) else r.item) for r in refusals],
        training=training.standing(db, study.name, rater),
        finished=crowd.ending(db, study.name, rater),
        notes={numbers.shown(n): note for n, note in placements.notes(db, rater, study.name).items()},
        pace=placements.pace(db, rater, study.name),
        **form.annotators(db, rater),
    )


def explained(db: Database, study: Study) -> Mapping[str, str]:
    """What the study's rubric says of single questions to annotators, by name."""
    if not study.rubric or not study.version:
        return {}
    return used(db, study.rubric, study.version).rubric.explained


def _item(db: Database, rater: int, study: Study, unit: int) -> dict[str, Any]:
    task = placements.numbered(db, rater, unit)
    asks = [c.name for c in studies.criteria_of(db, study.name, task.conversation_id, task.turn)]
    return item(db, study, unit, task) | {"asks": asks, "told": _known_answers(db, study, unit)}


def _known_answers(db: Database, study: Study, unit: int) -> dict[str, Any]:
    """The known answers of an item that was submitted and is locked, by criterion; else none."""
    answers = known.shown(db, unit)
    return {
        c.name: {
            "answer": answers[c.name].answer,
            "tolerance": answers[c.name].tolerance,
            "explanation": answers[c.name].explanation,
        }
        for c in study.criteria
        if c.name in answers
    }


def item(db: Database, study: Study, unit: int, task: Placement) -> dict[str, Any]:
    """An item as the desk shows it: who spoke (a role, not a name), what was said, what to read beside it,
    own answers.
    """
    if study.pairs:
        rubric = used(db, study.rubric, study.version).rubric if study.rubric else None
        shown_item = shown_pair(db, task.shown, rubric)
    else:
        shown_item = dialogue(study, task, images.load(db, task.conversation_id))
    return shown_item | answers_of(unit, task)


def answers_of(unit: int, task: Placement) -> dict[str, Any]:
    """The number of an item, its state, and what was answered."""
    return {
        "id": unit,
        "answers": dict(task.answers),
        "reasons": dict(task.reasons),
        "state": task.state,
        "reason": task.reason,
        "flag": task.flag,
    }


def dialogue(study: Study, task: Placement, conversation: Conversation) -> dict[str, Any]:
    """One dialogue, and what to read beside it."""
    benchmark = BENCHMARKS.get(conversation.benchmark)
    user, player = benchmark.speakers if benchmark else ("User", "Model")
    speakers = {"user": user, "assistant": player} | dict(study.speakers)
    # A system prompt may tell whose dialogue it is: it is shown, beside the dialogue, where a rubric says so.
    rubric = study.asked_rubric or AskedRubric("")
    fields = shown(conversation, rubric.show, system=rubric.system_prompt == "everyone")
    return {
        "turn": task.turn,
        "language": conversation.language,
        "said": form.messages(conversation, lambda message: speakers.get(message.role, message.tool_part)),
        "context": [[heading, form.as_text(v)] for heading, v in fields],
    }


def pair_question(criterion: Criterion) -> dict[str, Any]:
    """A question of which of two is better, as it is asked."""
    wording = {} if criterion.name else {"label": "", "say": criterion.label, "statement": ""}
    return form.question(criterion, reason="optional", across=True, **wording)


def shown_pair(db: Database, ids: Iterable[int], rubric: Rubric | None = None) -> dict[str, Any]:
    """Two or more conversations as they are shown. Values are picked by name, and none names a model."""
    sides = [images.load(db, number) for number in ids]
    one = sides[0]
    common_fields = {
        "turn": None,
        "language": one.language,
        "context": _context(rubric, *sides) if rubric else [],
    }
    if rubric is not None and rubric.unit != "last-reply":
        roles = {"user": "User"}
        dialogues = [form.messages(c, lambda message: roles.get(message.role, "Assistant")) for c in sides]
        return common_fields | {"said": [], "sides": dialogues, "whole": True}
    player = "Assistant" if rubric else "Simulator"
    before = form.messages(one, lambda message: "User" if message.role == "user" else player)
    last = [conversation.messages[-1] for conversation in sides]
    replies = [form.content(m) | {"cut": bool(m.meta.get("cut"))} for m in last]
    title = "" if rubric else str(one.context.get("Task", ""))
    head = {"about": {"title": title, "facts": []}} if title else {}
    return common_fields | head | {"said": before[:-1], "sides": replies}


def _context(rubric: Rubric, one: Conversation, *other_sides: Conversation) -> list[tuple[str, str]]:
    """The rubric's fields in which all agree, by heading."""
    system = rubric.system_prompt == "everyone"
    other_values = [dict(shown(conversation, rubric.show, system=system)) for conversation in other_sides]
    fields = shown(one, rubric.show, system=system)
    alike = [(n, text) for n, text in fields if all(t.get(n) == text for t in other_values)]
    return [(name, form.as_text(text)) for name, text in alike]
