"""Ask a judge with a rubric: the prompt, the schema of the reply, and how a reply becomes ratings."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import Field, create_model

from concord.conversation import Conversation, Unit
from concord.errors import StudyError
from concord.llm.prompts import Prompt, RenderedPrompt
from concord.llm.replies import OptionalReason, Reason, Reply, Unusable
from concord.llm.templates import compiled
from concord.questions import LETTERS, ranks_of
from concord.rating import Criterion, Order, Preference, Rating, asked, conditions_in_words
from concord.rubrics.rubric import EXAMPLE, JudgePart, Reasons, Rubric, lines_of, shown, sides
from concord.runs.benchmark import Asking, Way

OF_THE_WHOLE = "(This question is about the conversation as a whole.)"
DEPENDS = "(Answer only if {when}; else null.)"
REASON = "_reason"
"""What a field of reasons is called: the criterion's name, and this."""
ORDER = f"^[{LETTERS}]( [>=] [{LETTERS}]){{1,{len(LETTERS) - 1}}}$"
"""The form of an order in the schema, for endpoints that keep to it; each letter once is checked here."""


def asking(rubric: Rubric) -> Asking:
    """How a judge is asked about a conversation by this rubric."""
    return Asking(
        prompt="judge",
        reply=reply_of(rubric),
        criteria=rubric.criteria,
        values=partial(values, rubric),
        read=partial(read, rubric),
        turns=partial(_due_turns, rubric),
    )


def prompt_of(rubric: Rubric, variant: str) -> Prompt:
    """The prompt of a rubric, under the name of its version."""
    sources = {"system": rubric.judge.system, "user": rubric.judge.user}
    reply = reply_of(rubric)
    identity = json.dumps([rubric.body, reply.model_json_schema()], ensure_ascii=False, sort_keys=True)
    return Prompt(
        benchmark=rubric.name,
        version=variant,
        name="judge",
        reply=reply,
        params=rubric.judge.params,
        sources=sources,
        hash=hashlib.sha256(identity.encode()).hexdigest()[:16],
        _templates={part: compiled(text) for part, text in sources.items()},
    )


def ways(rubric: Rubric, variant: str, judges: Mapping[str, bool]) -> list[Way]:
    """How judges are asked by a rubric, by name and whether each is a program: it need not say why."""
    plain = replace(rubric, judge=replace(rubric.judge, reasons="none"))
    rubrics = {name: plain if program else rubric for name, program in judges.items()}
    return [Way(asking(one), prompt_of(one, variant), [name]) for name, one in rubrics.items()]


def pairwise(rubric: Rubric, criterion: Criterion) -> Asking:
    """How a judge is asked a pairwise question of this rubric, or for an order of several."""
    values = partial(pair_values, rubric, criterion)
    read = partial(_preference, criterion)
    reply = reply_of(_alone(rubric, criterion))
    return Asking(criterion.name, reply, (criterion,), values, read, (3000, 300), rubric=rubric.name)


def pair_prompt_of(rubric: Rubric, criterion: Criterion, variant: str) -> Prompt:
    """The prompt of a pairwise question, under the name of the rubric's version."""
    judge = replace(rubric.judge, system=rubric.judge.pair_system, user=rubric.judge.pair_user)
    return replace(prompt_of(_alone(rubric, criterion, judge), variant), name=criterion.name)


def _alone(rubric: Rubric, criterion: Criterion, judge: JudgePart | None = None) -> Rubric:
    """The rubric as if it asked one pairwise question and no other."""
    return replace(rubric, criteria=(criterion,), unit="conversation", judge=judge or rubric.judge)


def pair_values(rubric: Rubric, criterion: Criterion, *compared: Conversation) -> Mapping[str, Any]:
    """What a template of a pairwise question may use. Fields are shown where all have the same.

    Raises Unusable for conversations that cannot be compared by it.
    """
    try:
        dialogue, dialogues = sides(rubric.unit, *compared)
    except StudyError as error:
        raise Unusable(str(error)) from error
    fields, *other_fields = (dict(_shown_fields(rubric, conversation)) for conversation in compared)
    common_fields = [
        (name, value) for name, value in fields.items() if all(o.get(name) == value for o in other_fields)
    ]
    texts = [[message._asdict() for message in side] for side in dialogues]
    return _shared(rubric, (criterion,), common_fields) | {
        "dialogue": [message._asdict() for message in dialogue],
        "sides": list(zip(LETTERS, texts, strict=False)),
        "first": texts[0],
        "second": texts[1],
        "examples": [],
        "turns": [],
        "reply_form": reply_form(_alone(rubric, criterion), (criterion,)),
    }


def _shared(
    rubric: Rubric, criteria: Sequence[Criterion], fields: Iterable[tuple[str, Any]]
) -> dict[str, Any]:
    """What every template of a rubric may use, with these questions and fields beside the dialogue."""
    return {
        "title": rubric.title,
        "language": rubric.language,
        "instructions": rubric.judge.instructions,
        "guidelines": rubric.guidance if rubric.judge.guidelines else "",
        "unit": rubric.unit,
        "questions": [_question(criterion, criteria, rubric.mixed) for criterion in criteria],
        "fields": [{"heading": name, "text": as_text(value)} for name, value in fields],
    }


def requests(rubric: Rubric, variant: str, conversation: Conversation) -> Iterator[RenderedPrompt]:
    """What a judge is sent about a conversation, for a look: one request for the questions about it, one for
    each pairwise question, where the conversation stands on both sides.
    """
    if rubric.criteria:
        yield prompt_of(rubric, variant).render(**template_values(rubric, conversation))
    for question in rubric.pairs:
        try:
            variables = pair_values(rubric, question, conversation, conversation)
        except Unusable:
            variables = pair_values(rubric, question, EXAMPLE, EXAMPLE)
        yield pair_prompt_of(rubric, question, variant).render(**variables)


def _preference(criterion: Criterion, *compared_and_reply: Any) -> Preference | Order:
    """What a reply, which comes last, says of the conversations before it."""
    *compared, reply = compared_and_reply
    scale = criterion.scale
    reason = getattr(reply, "reason_0", None) or ""
    if not scale.kind.ranks:
        return Preference.of(scale.kind.score(scale, reply.answer_0), reason)
    try:
        return Order(ranks_of(reply.answer_0, len(compared), ties=0 in scale), reason)
    except ValueError as error:
        raise Unusable(f"“{criterion.name}”: {error}.") from error


def reply_of(rubric: Rubric) -> type[Reply]:
    """The schema of a judge's reply: the answers, or a list of them where each reply is rated."""
    fields_by_unit: dict[bool, dict[str, Any]] = {False: {}, True: {}}
    for number, criterion in enumerate(rubric.criteria):
        fields_by_unit[criterion.whole] |= _fields(number, criterion, rubric.judge.reasons)
    if rubric.unit != "each-reply":
        return create_model("Answers", __base__=Reply, **fields_by_unit[False], **fields_by_unit[True])
    entry = create_model("ReplyAnswers", __base__=Reply, turn=(int, ...), **fields_by_unit[False])
    ratings: Any = list[entry]  # type: ignore[valid-type]
    return create_model("Answers", __base__=Reply, ratings=(ratings, ...), **fields_by_unit[True])


def _fields(number: int, criterion: Criterion, reasons: Reasons) -> dict[str, Any]:
    """The fields of one criterion. Their names in Python are numbered: a criterion may be called “json”."""
    answer: Any = criterion.scale.kind.reply(criterion.scale)
    may_lack = bool(criterion.only or criterion.when) or not criterion.required
    form: Any = {"pattern": ORDER} if criterion.scale.kind.ranks else None
    field = Field(alias=criterion.name, json_schema_extra=form)
    fields: dict[str, Any] = {f"answer_{number}": (answer | None if may_lack else answer, field)}
    if reasons == "none" or criterion.scale.kind.content:
        return fields
    reason = {
        f"reason_{number}": (OptionalReason if may_lack else Reason, Field(alias=criterion.name + REASON))
    }
    return reason | fields if reasons == "before" else fields | reason


def values(rubric: Rubric, conversation: Conversation) -> Mapping[str, Any]:
    """What a template may use. Raises Unusable for a conversation that cannot be asked about."""
    try:
        criteria = rubric.asked_of(conversation)
        turns = rubric.turns(conversation)
    except StudyError as error:
        raise Unusable(str(error)) from error
    return _shared(rubric, criteria, _shown_fields(rubric, conversation)) | {
        "examples": [
            {"text": example.text, "answers": example.answers}
            for example in rubric.judge.examples
            if example.shown_beside(conversation)
        ],
        "dialogue": [message._asdict() for message in lines_of(conversation, turns)],
        "turns": [turn for turn in turns if turn is not None],
        "reply_form": reply_form(rubric, criteria),
    }


def _shown_fields(rubric: Rubric, conversation: Conversation) -> Sequence[tuple[str, Any]]:
    """The fields that a judge sees beside a dialogue."""
    shown_names = None if rubric.show is None and not rubric.judge.show else (rubric.show or ())
    system = rubric.system_prompt != "none"
    fields = dict(shown(conversation, shown_names, system=system)) | dict(
        shown(conversation, rubric.judge.show)
    )
    return list(fields.items())


def template_values(rubric: Rubric, conversation: Conversation) -> Mapping[str, Any]:
    """What a template may use, for a look at a prompt: also where the conversation cannot be rated."""
    try:
        return values(rubric, conversation)
    except Unusable:
        return values(replace(rubric, unit="conversation"), conversation)


def _question(criterion: Criterion, criteria: Sequence[Criterion], mixed: bool) -> dict[str, Any]:
    """A question as a template sees it; among questions about replies one about the whole says so, and one
    that depends on others says on which answers.
    """
    scale = criterion.scale
    notes = [OF_THE_WHOLE] if criterion.whole else []
    condition = conditions_in_words(criterion, criteria)
    notes += [DEPENDS.format(when=condition)] if condition else []
    return {
        "name": criterion.name,
        "label": criterion.label,
        "statement": " ".join([criterion.statement, *notes]).strip(),
        "unit": "conversation" if criterion.whole or not mixed else "reply",
        "type": scale.type,
        "answers": [{"value": value, "label": label} for value, label in scale.kind.answer_labels(scale)],
        "required": criterion.required,
        "when": condition,
    }


def reply_form(rubric: Rubric, criteria: Sequence[Criterion]) -> str:
    """The JSON object that a judge is to reply, as an example with places to fill."""
    of_unit: dict[bool, list[str]] = {False: [], True: []}
    for criterion in criteria:
        answer = criterion.scale.kind.example(criterion.scale)
        lacking = "" if criterion.required and not criterion.when else " or null"
        fields = [f'"{criterion.name}": {answer}{lacking}']
        reason = f'"{criterion.name}{REASON}": "<one or two sentences>"{" or null" if criterion.when else ""}'
        order = {"before": [reason, *fields], "after": [*fields, reason], "none": fields}
        of_unit[criterion.whole] += order["none" if criterion.scale.kind.content else rubric.judge.reasons]
    for criterion in rubric.criteria:
        if criterion not in criteria:
            of_unit[criterion.whole] += [f'"{criterion.name}": null']
    lines = of_unit[False]
    if rubric.unit == "each-reply":
        inner = ",\n      ".join(['"turn": <number of the turn>', *lines])
        lines = ['"ratings": [\n    {\n      ' + inner + "\n    }\n  ]"]
    return "{\n  " + ",\n  ".join(lines + of_unit[True]) + "\n}"


def read(rubric: Rubric, conversation: Conversation, reply: Any) -> tuple[Rating, ...]:
    """The ratings of a reply. Raises Unusable where an answer that was asked for is missing."""
    criteria = rubric.asked_of(conversation)
    turns = rubric.turns(conversation)
    if rubric.unit != "each-reply":
        entries = {turns[0]: reply}
    else:
        listed = [entry.turn for entry in reply.ratings]
        if sorted(listed) != sorted(turn for turn in turns if turn is not None):
            raise Unusable(f"“ratings” must have one entry for each of the turns {_listed(turns)}.")
        entries = {entry.turn: entry for entry in reply.ratings}
    of_replies = [criterion for criterion in criteria if not criterion.whole]
    ratings = [
        rating
        for turn, entry in entries.items()
        for rating in _ratings(rubric, of_replies, conversation, turn, entry)
    ]
    ratings += _ratings(rubric, [c for c in criteria if c.whole], conversation, None, reply)
    if not ratings:
        raise Unusable("No question is answered.")
    return tuple(ratings)


def _due_turns(rubric: Rubric, conversation: Conversation) -> tuple[int, ...]:
    """The turns that a reply has an entry for; none where the conversation or one reply is rated."""
    if rubric.unit != "each-reply":
        return ()
    return tuple(turn for turn in rubric.turns(conversation) if turn is not None)


def _ratings(
    rubric: Rubric, criteria: Sequence[Criterion], conversation: Conversation, turn: int | None, entry: Any
) -> list[Rating]:
    ratings = []
    unit = Unit(conversation.key, turn)
    scores = dict[str, float]()
    for number, criterion in enumerate(rubric.criteria):
        # What is answered though it is not asked, after the answers before it, is no answer.
        if criterion not in criteria or criterion not in asked(criteria, scores):
            continue
        value = getattr(entry, f"answer_{number}")
        if value is None:
            if criterion.required:
                condition = conditions_in_words(criterion, criteria)
                raise Unusable(
                    f"“{criterion.name}” must be answered{f', because {condition}' if condition else ''}."
                )
            continue
        reason = getattr(entry, f"reason_{number}", None) or ""
        if content := criterion.scale.kind.content:
            text = conversation.reply(turn)
            try:
                reason = content.read(value, text)
            except ValueError as error:
                raise Unusable(f"“{criterion.name}”: {error}.") from error
            score = content.score(reason, text)
        else:
            score = criterion.scale.kind.score(criterion.scale, value)
        scores[criterion.name] = score
        ratings.append(Rating(unit, criterion.name, score, reason))
    return ratings


def _listed(turns: Sequence[int | None]) -> str:
    return ", ".join(map(str, turns))


def as_text(value: Any) -> str:
    """A field as text: a list or a mapping as indented JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)
