"""What is sent to an annotator's browser. Nothing here may tell who wrote a dialogue or what anybody else
thought of it.

Every value is picked by name; a conversation's key, player, facets and meta (and the meta of its messages)
never are.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.rating import Criterion, Scale
from concord.rubrics.rubric import shown
from concord.runs.registry import BENCHMARKS
from concord.store import conversations, desk, known, placements, studies
from concord.store.desk import Refusal
from concord.store.placements import Placement
from concord.store.studies import Study
from concord.studies import crowd, running, training

REASONS = (
    "I cannot judge this one",
    "I do not understand the language or the subject",
    "The dialogue is broken or cut off",
    "The content is distressing",
)
AHEAD = 6
"""How many items lie ready in the browser beyond the present one."""


def fixed(study: Study, annotator: str, desk_id: str, back: str) -> dict[str, Any]:
    """What stays the same while one study is rated. `back` names what lies behind the desk; "" where nothing
    does.
    """
    return {
        "desk": desk_id,
        "you": annotator,
        "title": study.title or study.name,
        "guidelines": study.guidelines,
        "criteria": [_criterion(c) for c in study.criteria],
        "reasons": list(REASONS),
        "ahead": AHEAD,
        "back": back,
        "feedback": bool(study.meta.get("feedback")),
        "asked_pace": running.pace(study)._asdict(),
    }


def moving(
    db: Database,
    rater: int,
    study: Study,
    wanted: Iterable[int] | None,
    refused: Iterable[Refusal],
    midnight: str = "",
) -> dict[str, Any]:
    """What changes: every item with its state, and the dialogues asked for (None: those an annotator who
    arrives needs first). `midnight` is when their day began.
    """
    strip, numbers = placements.on_desk(db, rater, study.name), desk.Numbers(db, study.name, rater)
    mine = {unit for unit, _, _ in strip}
    if wanted is not None:
        wanted = [numbers.item(shown) for shown in wanted if isinstance(shown, int)]
    else:
        wanted = [unit for unit, state, _ in strip if state == "open"][: AHEAD + 1]
    return {
        "reading": desk.reading(db, rater).model_dump(),
        "elsewhere": desk.in_use(db, rater),
        "pace": placements.pace(db, rater, study.name, midnight)._asdict(),
        "training": training.standing(db, study.name, rater),
        "strip": [[numbers.shown(unit), state, int(flagged)] for unit, state, flagged in strip],
        "items": [
            _item(db, rater, study, unit) | {"id": numbers.shown(unit)} for unit in wanted if unit in mine
        ],
        "finished": crowd.ending(db, study.name, rater),
        "refused": [
            {
                "n": r.n,
                "item": numbers.shown(r.item) if isinstance(r.item, int) else r.item,
                "message": r.message,
            }
            for r in refused
        ],
    }


def options(scale: Scale) -> list[dict[str, Any]]:
    """The answers of a scale, each with its label written out and the key that gives it.

    The key is the value itself where every value is one digit, 0 stands for 10 on a scale that starts at 1,
    and beyond that, and for categories, the keys count positions. A continuous scale is offered in whole
    numbers where its ends are such and lie close, else in five even steps.
    """
    values, labels = scale.values, scale.labels
    if scale.continuous:
        width = scale.high - scale.low
        whole = float(scale.low).is_integer() and float(scale.high).is_integer() and 2 <= width < 10
        count = int(width) + 1 if whole else 5
        step = width / (count - 1)
        values = tuple(scale.low + i * step for i in range(count))
        labels = (scale.labels[0], *(f"{v:g}" for v in values[1:-1]), scale.labels[-1])
    if scale.nominal:
        return [
            {"value": v, "shown": str(i + 1), "label": label, "key": "1234567890"[i] if i < 10 else ""}
            for i, (v, label) in enumerate(zip(values, labels, strict=True))
        ]
    if all(v in range(10) for v in values):
        keys = [f"{v:g}" for v in values]
    else:
        keys = ["1234567890"[i] if i < 10 else "" for i in range(len(values))]
    return [
        {"value": v, "shown": f"{v:g}", "label": label, "key": key}
        for v, label, key in zip(values, labels, keys, strict=True)
    ]


def _criterion(criterion: Criterion) -> dict[str, Any]:
    return {
        "name": criterion.name,
        "label": criterion.label,
        "statement": criterion.statement,
        "options": [] if criterion.scale.continuous else options(criterion.scale),
        "low": criterion.scale.low,
        "high": criterion.scale.high,
        "reason": criterion.reason,
        "required": criterion.required,
    }


def _item(db: Database, rater: int, study: Study, unit: int) -> dict[str, Any]:
    task = placements.numbered(db, rater, unit)
    asks = [c.name for c in studies.asked(db, study.name, task.conversation_id)]
    found = item(study, unit, task, conversations.load(db, task.conversation_id))
    return found | {"asks": asks, "told": _told(db, study, unit)}


def _told(db: Database, study: Study, unit: int) -> dict[str, Any]:
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


def item(study: Study, unit: int, task: Placement, conversation: Conversation) -> dict[str, Any]:
    """One dialogue as the desk shows it: who spoke (a role, not a name), what was said, what to read beside
    it, own answers.
    """
    known = BENCHMARKS.get(conversation.benchmark)
    user, player = known.speakers if known else ("User", "Model")
    speakers = {"user": user, "assistant": player, "tool": "Tool"} | study.meta.get("speakers", {})
    # A system prompt may tell whose dialogue it is: it is shown, beside the dialogue, where a rubric says so.
    beside = study.meta.get("rubric", {}).get("show")
    said = []
    for turn in conversation.turns():
        tools = [message for message in turn.beside if message.role == "tool"]
        for message in (turn.user, *tools, turn.reply):
            if message is not None:
                said.append(
                    {
                        "turn": turn.number,
                        "reply": message is turn.reply,
                        "speaker": speakers[message.role] + conversation.voice(message),
                        "text": message.content,
                    }
                )
    return {
        "id": unit,
        "turn": task.turn,
        "language": conversation.language,
        "said": said,
        "context": [[heading, as_text(v)] for heading, v in shown(conversation, beside)],
        "answers": dict(task.answers),
        "reasons": dict(task.reasons),
        "state": task.state,
        "reason": task.reason,
        "flag": task.flag,
    }


def as_text(value: Any) -> str:
    """A piece of context as text: lists and mappings as lines."""
    if isinstance(value, Mapping):
        return "\n".join(
            f"**{k}**:{chr(10) if isinstance(v, list | tuple) else ' '}{as_text(v)}" for k, v in value.items()
        )
    if isinstance(value, list | tuple):
        return "\n".join(f"- {as_text(v)}" for v in value)
    return str(value)
