"""The items of a study and the answers to them, as other annotation tools are given and give them."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.errors import ImportRefused, StudyError
from concord.exchange import ratings_study
from concord.exchange.cells import nfc, refuse
from concord.exchange.dialogue import from_list
from concord.exchange.incoming import Incoming
from concord.exchange.otlp import objects
from concord.exchange.rating_table import RatingTable, ScoreRow
from concord.files.limits import NAME
from concord.questions import Scale
from concord.rating import Criterion, Rater, RaterKind
from concord.store import conversations, studies

WHOLE_DIALOGUE = "Rate the whole dialogue."
TURN = "Rate the reply in turn {turn} only."
LABEL = 4
"""Words of a label; what has more is a text."""
LONGEST = 200
"""Characters of a label, or of a short text."""


@dataclass(frozen=True)
class StudyItem:
    """What is rated.

    `name` stands for the unit in another tool. It is a hash, because a key may name the model.
    """

    name: str
    unit: Unit
    conversation: Conversation

    @property
    def question_text(self) -> str:
        """What the annotator is told to rate."""
        return WHOLE_DIALOGUE if self.unit.turn is None else TURN.format(turn=self.unit.turn)

    @property
    def context(self) -> str:
        """What is shown beside the dialogue, as text."""
        visible = {h: t for h, t in self.conversation.context.items() if not h.startswith("_")}
        return "\n\n".join(f"{heading}\n{_plain_text(text)}" for heading, text in visible.items())


@dataclass(frozen=True)
class ForeignAnswer:
    """One answer of a file: to an item that is named, or about a conversation that the file brings.

    `answer` is a number or a word of the criterion's scale; `criterion` its name there.
    """

    location: str
    item: str
    criterion: str
    answer: float | str
    rater: Rater
    reason: str = ""
    created: str = ""


@dataclass
class AnswerFile:
    """The answers of a file, the conversations it brings by the name of their item, and what was excluded."""

    file: str
    answers: list[ForeignAnswer] = field(default_factory=list)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


def name_of(unit: Unit) -> str:
    """The name of a unit in other tools."""
    identity = f"{unit.conversation}\n{unit.turn or ''}"
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def is_name(text: str) -> bool:
    """Whether a text has the form of a name that `name_of` gives."""
    return re.fullmatch(r"[0-9a-f]{16}", text) is not None


def items(db: Database, study: studies.Study) -> Iterator[StudyItem]:
    """The items of a study in its order. Raises StudyError for a study of pairs or without any item."""
    if study.pairs:
        raise StudyError(
            f"“{study.name}” compares pairs, and Label Studio and Argilla are given single items. Have it "
            "rated here, or write its answers with `concord export comparisons`."
        )
    units = studies.units(db, study.name)
    if not units:
        raise StudyError(f"The study “{study.name}” has no items yet.")
    rated = conversations.several(db, [unit["conversation_id"] for unit in units])
    for unit, (conversation, _) in zip(units, rated, strict=True):
        item_unit = Unit(unit["key"], unit["turn"])
        yield StudyItem(name_of(item_unit), item_unit, conversation)


def names(criteria: Sequence[Criterion]) -> dict[str, str]:
    """The criteria's names in other tools: lower case, letters, digits, “-” and “_”; distinct."""
    unique_names: dict[str, str] = {}
    for criterion in criteria:
        plain = re.sub(r"[^a-z0-9_-]+", "-", criterion.name.lower()).strip("-_") or "criterion"
        number = 1
        free = plain
        while free in unique_names.values():
            number += 1
            free = f"{plain}-{number}"
        unique_names[criterion.name] = free
    return unique_names


def _plain_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {_plain_text(inner)}" for name, inner in value.items())
    return "\n".join(map(_plain_text, value)) if isinstance(value, list | tuple) else str(value)


def conversation_of(fields: Mapping[str, Any], key: str, study: str, location: str) -> Conversation:
    """The conversation of an item that Concord did not make: its dialogue, else its texts. Raises
    ImportRefused.
    """
    if dialogue := next((lists for value in fields.values() if (lists := objects(value))), None):
        return Conversation(study, key, "unknown", from_list(dialogue, location))
    texts = [f"{name}: {text}" for name, text in fields.items() if isinstance(text, str) and name != "id"]
    return Conversation(study, key, "unknown", (Message("assistant", "\n\n".join(texts)),))


def incoming(
    db: Database, file: AnswerFile, study: str, *, scales: Mapping[str, Scale] | None = None
) -> Incoming:
    """The study of a file: that of this name with new answers, or a new one. Texts in answer to a question
    that is not known are excluded, and counted in the file. Raises ImportRefused.
    """
    existing = studies.get(db, study) if study in studies.names(db) else None
    study_units = [Unit(u["key"], u["turn"]) for u in studies.units(db, study)] if existing else []
    units = {name_of(unit): unit for unit in study_units}
    criteria = existing.criteria if existing else ()
    criteria_by_name = {c.name: c for c in criteria} | {
        name: c for c, name in zip(criteria, names(criteria).values(), strict=True)
    }
    scales = scales or {}
    texts = {one.criterion for one in file.answers if _is_text(one.answer)} - {*criteria_by_name, *scales}
    wrong: dict[str, None] = {}
    ratings: dict[tuple[Unit, str, Rater], ScoreRow] = {}  # the last answer of each rater holds
    for answer in file.answers:
        if answer.criterion in texts:
            file.left_out[f"texts in answer to “{answer.criterion}”"] += 1
            continue
        if (unit := units.get(answer.item)) is None:
            if answer.item not in file.conversations:
                sentence = f"{answer.location}: the item {answer.item[:80]} is not in the study “{study}”. "
                wrong[f"{sentence}Name the study that was exported, with --study."] = None
                continue
            unit = Unit(file.conversations[answer.item].key)
        criterion = criteria_by_name.get(answer.criterion)
        name = criterion.name if criterion is not None else nfc(answer.criterion)[:NAME]
        scale = scales.get(name, scales.get("")) or (criterion.scale if criterion is not None else None)
        try:
            score = _score(answer, name, scale)
        except ImportRefused as error:
            wrong[str(error)] = None
            continue
        one = ScoreRow(unit, name, answer.rater, score, answer.reason, answer.created, answer.location)
        ratings[unit, name, answer.rater] = one
    refuse([*wrong])
    if not ratings:
        raise ImportRefused(f"{file.file} holds no answers.")
    table = RatingTable.from_ratings(ratings.values(), file.file)
    described = file.conversations.values()
    return ratings_study.incoming(
        db, table, study, scales=scales, new_conversations={c.key: c for c in described}
    )


def _is_text(answer: float | str) -> bool:
    """Whether an answer is no label: of several words that begin with no number, in no list of labels."""
    return isinstance(answer, str) and len(answer.split()) > LABEL and not re.match(r"[\d\[]", answer)


def _score(answer: ForeignAnswer, name: str, scale: Scale | None) -> float:
    """An answer as a number: itself, a word of the scale, or the number that the word begins with."""
    value = answer.answer
    if isinstance(value, str) and scale is not None:
        read = scale.read(value)
        value = value if read is None else read
    if isinstance(value, str):
        begins = re.match(r"\s*(-?\d+(?:\.\d+)?)(?=\s|$|[:.)–-])", value)
        if begins is None:
            raise ImportRefused(
                f"{answer.location}: “{value[:80]}” on “{name}” is not a number. Give its value: --scale "
                f"'{name}=1:{value[:40]},2:…'."
            )
        value = float(begins[1])
    if scale is not None and not scale.guessed and value not in scale:
        raise ImportRefused(
            f"{answer.location}: the answer {value:g} is not on the scale of “{name}” ({scale.low:g} to "
            f"{scale.high:g}). Correct it, or the scale."
        )
    return float(value)


def usable(value: Any) -> float | str | None:
    """A number, a label, or several as a list of JSON; None for what is no answer."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, list) and value and all(isinstance(label, str) for label in value):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) and value and len(value) <= LONGEST else None


def person(identity: Any) -> str:
    """A name for whom another tool names by a number, an address or an object."""
    if isinstance(identity, Mapping):
        identity = next(
            (identity[k] for k in ("email", "username", "id") if identity.get(k) not in (None, "")), None
        )
    text = "" if identity is None else str(identity).strip()
    return nfc(f"annotator {text}" if text.isdecimal() else text or "annotator")[:NAME]


def rater(name: str, kind: RaterKind) -> Rater:
    """A rater of another tool."""
    return Rater(nfc(name.strip())[:NAME] or kind, kind)
