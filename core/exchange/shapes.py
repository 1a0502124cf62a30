"""The forms of conversations that Concord recognises: where each keeps messages, names, votes and scores.

A path is names joined by dots; a number is a place in a list (-1: the last), “^” what stands around the list
of rows. Texts that hold JSON are read on the way. Of several paths the first that leads to something counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from concord.conversation import Role
from concord.errors import ConcordError
from concord.files import parse_json
from concord.rating import RaterKind, Verdict
from concord.runs.registry import SLICES, part

Paths = tuple[str, ...]


@dataclass(frozen=True)
class Side:
    """One dialogue of a row: its messages, and who replied in it.

    `said` are parts put one after another: (role, paths). The role is who says a plain text; a list of
    messages has its own roles. `player` leads to the name of the model.
    """

    said: tuple[tuple[Role, Paths], ...]
    player: Paths = ()
    unnamed: str = "unknown"
    """The player where none is named."""
    quoted: bool = False
    """Whether texts are written as JSON, in double quotes."""


@dataclass(frozen=True)
class Votes:
    """Which of a row's two sides somebody preferred. `by` leads to who; `turn` to the turn it is about.

    `won` maps paths to what their values mean. A list in `by` is the judge's name and its prompt.
    """

    won: tuple[tuple[str, Mapping[str, Verdict]], ...]
    by: Paths = ()
    turn: str = ""
    why: Paths = ()
    kind: RaterKind = "human"


@dataclass(frozen=True)
class ScorePaths:
    """Scores of a row: one under `criterion`, or a mapping or a list of them.

    In a mapping a name leads to a score, to a list of scores of the turns, or to an object whose score lies
    at `value`. In a list each entry has its criterion at `name` and its score at `value`. `by` and `kind`
    lead to who gave it; a person is one whose kind is among `people`.
    """

    at: str
    criterion: str = ""
    name: Paths = ("name",)
    value: Paths = ()
    why: Paths = ()
    by: Paths = ()
    kind: str = ""
    people: tuple[str, ...] = ()
    rater: RaterKind = "judge"
    only: Paths = ()


@dataclass(frozen=True)
class Shape:
    """A form of rows. A row has it if each of `has` leads to something; of names joined by “|” one is enough.

    Names of a `key` that are joined by “+” make it together. `scenario` tells what was asked: only
    conversations of one scenario are compared. `context` is shown beside the dialogue, by heading; `facets`
    are filtered by.
    """

    name: str
    has: Paths
    sides: tuple[Side, ...]
    key: Paths = ()
    scenario: Paths = ()
    language: Paths = ()
    context: Mapping[str, Paths] = field(default_factory=dict)
    facets: Mapping[str, Paths] = field(default_factory=dict)
    votes: Votes | None = None
    scores: tuple[ScorePaths, ...] = ()
    also: str = ""
    """What else its files hold, and how it is taken."""


def chat(*paths: str, player: Paths = ("model",), unnamed: str = "unknown") -> Side:
    """A side whose messages are a list at the first of these paths."""
    return Side((("user", paths),), player, unnamed)


def asked(
    question: Paths, answer: Paths, player: Paths = ("model",), system: Paths = (), *, quoted: bool = False
) -> Side:
    """A side of a question and its answer, each a text or messages."""
    return Side((("system", system), ("user", question), ("assistant", answer)), player, quoted=quoted)


_WON: Mapping[str, Verdict] = {
    **dict.fromkeys(("model_a", "a", "model_1", "left", "first", "chosen"), "A"),
    **dict.fromkeys(("model_b", "b", "model_2", "right", "second"), "B"),
    **dict.fromkeys(("tie", "tie (bothbad)", "both_bad", "bothbad", "both_good", "c", "neither"), "C"),
}
_BATTLE = (
    chat("conversation_a", player=("model_a",), unnamed="model_a"),
    chat("conversation_b", player=("model_b",), unnamed="model_b"),
)
_MODEL_OF = ("model", "model_name", "player", "metadata.model", "^.model")
_BESIDE: Mapping[str, Paths] = {
    "Contexts": (
        *("contexts", "retrieved_contexts", "retrieval_context", "context", "documents"),
        *("metadata.contexts", "metadata.retrieved_contexts", "metadata.context"),
    ),
    "Reference": (
        *("reference", "reference_answer", "ground_truth", "ground_truths"),
        *("expected", "expected_output"),
    ),
}
"""What a reply drew on, and what it should have said."""

SHAPES: tuple[Shape, ...] = (
    Shape(
        "MLflow traces",
        ("info", "data.spans"),
        (
            asked(
                ("data.spans.0.attributes.mlflow.spanInputs", "data.request", "info.request_preview"),
                ("data.spans.0.attributes.mlflow.spanOutputs", "data.response", "info.response_preview"),
                ("info.tags.model", "data.spans.0.attributes.mlflow.spanInputs.model"),
                quoted=True,
            ),
        ),
        key=("info.trace_id", "info.request_id"),
        facets={"trace": ("info.tags.mlflow.traceName",)},
        scores=(
            ScorePaths(
                "info.assessments",
                name=("assessment_name", "name"),
                value=("feedback.value", "numeric_value", "boolean_value", "string_value"),
                only=("feedback", "numeric_value", "boolean_value", "string_value"),
                why=("rationale",),
                by=("source.source_id",),
                kind="source.source_type",
                people=("HUMAN",),
            ),
        ),
    ),
    Shape(
        "MLflow traces (table)",
        ("request", "response", "assessments"),
        (asked(("request",), ("response",), ("tags.model", "request.model"), quoted=True),),
        key=("trace_id", "request_id"),
        scores=(
            ScorePaths(
                "assessments",
                name=("assessment_name", "name"),
                value=("feedback.value",),
                only=("feedback",),
                why=("rationale",),
                by=("source.source_id",),
                kind="source.source_type",
                people=("HUMAN",),
            ),
        ),
    ),
    Shape(
        "LangSmith runs",
        ("run_type", "inputs"),
        (
            asked(
                ("inputs.messages", "inputs.input", "inputs.question", "inputs.prompts", "inputs"),
                (
                    "outputs.generations.0.0.message",
                    "outputs.generations.0.message",
                    "outputs.generations.0.0.text",
                    "outputs.choices.0.message",
                    "outputs.messages",
                    "outputs.message",
                    "outputs.output",
                    "outputs.answer",
                    "outputs",
                ),
                ("extra.metadata.ls_model_name", "extra.invocation_params.model", "outputs.model"),
            ),
        ),
        key=("id", "run_id"),
        facets={"run": ("name",)},
        scores=(ScorePaths("feedback_stats", value=("avg",)),),
    ),
    Shape(
        "promptfoo results",
        ("prompt.raw", "response", "testCase"),
        (asked(("prompt.raw",), ("response.output",), ("provider.label", "provider.id", "provider")),),
        key=("id", "testIdx+promptIdx+provider.id"),
        scenario=("testIdx",),
        facets={"test": ("testIdx",), "prompt": ("prompt.label",)},
        context={"Variables": ("vars", "testCase.vars")},
        scores=(
            ScorePaths("score", criterion="score", why=("gradingResult.reason",)),
            ScorePaths("namedScores"),
        ),
    ),
    Shape(
        "Langfuse traces",
        ("input", "output", "timestamp|startTime|start_time|createdAt|created_at|traceId|trace_id|sessionId"),
        (
            asked(
                ("input.messages", "input.args", "input"),
                ("output.message", "output.choices.0.message", "output.messages", "output"),
                ("model", "providedModelName", "provided_model_name", "metadata.model"),
            ),
        ),
        key=("id",),
        facets={"trace": ("name",)},
        scores=(
            ScorePaths(
                "scores",
                value=("value", "stringValue"),
                why=("comment",),
                by=("authorUserId", "author_user_id"),
                kind="source",
                people=("ANNOTATION",),
            ),
        ),
    ),
    Shape(
        "Inspect log",
        ("messages", "input", "epoch"),
        (chat("messages", player=("^.eval.model", "output.model")),),
        key=("uuid", "id+epoch"),
        scenario=("id",),
        facets={"task": ("^.eval.task",), "epoch": ("epoch",)},
        context={"Reference": ("target",)},
        scores=(ScorePaths("scores", value=("value",), why=("explanation",)),),
        also="Events, store and attachments of an .eval file are left out.",
    ),
    Shape(
        "Chatbot Arena",
        (
            "conversation_a",
            "conversation_b",
            "winner",
            "anony|tstamp|timestamp|evaluation_order|conv_metadata",
        ),
        _BATTLE,
        key=("question_id", "id"),
        scenario=("question_id", "id"),
        language=("language",),
        votes=Votes((("winner", _WON),), ("judge", "judge_hash")),
    ),
    Shape(
        "MT-Bench or Arena votes",
        ("conversation_a", "conversation_b", "winner", "question_id"),
        _BATTLE,
        key=("question_id",),
        scenario=("question_id",),
        votes=Votes((("winner", _WON),), ("judge",), turn="turn"),
    ),
    Shape(
        "Chatbot Arena (columns)",
        ("prompt", "response_a", "response_b", "winner_model_a|winner"),
        (
            asked(("prompt",), ("response_a",), ("model_a",)),
            asked(("prompt",), ("response_b",), ("model_b",)),
        ),
        key=("id", "question_id"),
        scenario=("id", "question_id"),
        language=("language",),
        votes=Votes(
            (
                ("winner_model_a", {"1": "A", "true": "A", "1.0": "A"}),
                ("winner_model_b", {"1": "B", "true": "B", "1.0": "B"}),
                ("winner_tie", {"1": "C", "true": "C", "1.0": "C"}),
                ("winner", _WON),
            ),
            ("judge", "annotator", "rater"),
        ),
    ),
    Shape(
        "WildChat",
        ("conversation_hash", "conversation"),
        (chat("conversation"),),
        key=("conversation_hash",),
        language=("language",),
        facets={"country": ("country",)},
    ),
    Shape(
        "LMSYS chats",
        ("conversation_id", "conversation"),
        (chat("conversation"),),
        key=("conversation_id",),
        language=("language",),
    ),
    Shape(
        "FED dialogues",
        ("dialog", "annotations"),
        (chat("dialog"),),
        key=("dialogue_id",),
        also="People's published ratings are taken by `concord import fed FOLDER`, as a study of their own.",
    ),
    Shape(
        "ShareGPT",
        ("conversations",),
        (Side((("system", ("system",)), ("user", ("conversations",))), _MODEL_OF),),
        key=("id", "conversation_id"),
        language=("language", "lang"),
    ),
    Shape(
        "OpenAI fine-tuning preferences",
        ("input.messages", "preferred_output", "non_preferred_output"),
        (
            Side((("user", ("input.messages",)), ("assistant", ("preferred_output",))), unnamed="preferred"),
            Side(
                (("user", ("input.messages",)), ("assistant", ("non_preferred_output",))),
                unnamed="not preferred",
            ),
        ),
        key=("id",),
    ),
    Shape(
        "preferences",
        ("prompt", "chosen", "rejected"),
        (
            Side((("user", ("prompt",)), ("assistant", ("chosen",))), ("chosen_model",), "chosen"),
            Side((("user", ("prompt",)), ("assistant", ("rejected",))), ("rejected_model",), "rejected"),
        ),
        key=("id", "prompt_id"),
    ),
    Shape(
        "OpenAI chat",
        ("messages",),
        (chat("messages", player=_MODEL_OF),),
        key=("key", "id", "prompt_id", "conversation_id", "custom_id", "uuid"),
        language=("language", "lang"),
        context=_BESIDE,
        facets={"source": ("source",), "category": ("category",)},
    ),
    Shape(
        "conversation",
        ("conversation",),
        (chat("conversation", player=_MODEL_OF),),
        key=("id", "conversation_id"),
        language=("language", "lang"),
        context=_BESIDE,
    ),
    Shape(
        "prompts and responses",
        (
            "prompt|question|instruction|input|user|query|user_input",
            "response|answer|output|completion|assistant|generation|reply|actual_output",
        ),
        (
            asked(
                ("prompt", "question", "instruction", "input", "user", "query", "user_input"),
                (
                    "response",
                    "answer",
                    "output",
                    "completion",
                    "assistant",
                    "generation",
                    "reply",
                    "actual_output",
                ),
                _MODEL_OF,
                ("system", "system_prompt"),
            ),
        ),
        key=("id", "prompt_id", "question_id"),
        language=("language", "lang"),
        scenario=("question_id", "prompt_id"),
        context=_BESIDE,
    ),
)
"""The forms that no benchmark owns, the more particular first."""


@cache
def known() -> tuple[Shape, ...]:
    """Every form: those of the benchmarks' published files, then SHAPES. A row has the first that fits."""
    own = (getattr(part(name, "files"), "SHAPES", ()) for name in SLICES)
    return (*(shape for shapes in own for shape in shapes), *SHAPES)


def at(value: Any, path: str) -> Any:
    """What a path leads to in a row; None where it leads nowhere, or to null or an empty text."""
    if isinstance(value, str) and path and value.lstrip()[:1] in ("{", "["):
        try:
            value = parse_json(value)
        except ValueError:
            return None
    if not path:
        return None if value == "" else value
    if isinstance(value, Mapping) and path in value:
        return at(value[path], "")
    for end in (place for place, sign in enumerate(path) if sign == "."):
        if (found := _step(value, path[:end])) is not None and (
            inner := at(found, path[end + 1 :])
        ) is not None:
            return inner
    return _step(value, path)


def _step(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    if isinstance(value, Sequence) and not isinstance(value, str) and name.removeprefix("-").isdecimal():
        place = int(name[:9])
        return value[place] if -len(value) <= place < len(value) else None
    return None


def first(value: Any, paths: Paths) -> Any:
    """What the first of the paths leads to that leads to something; None where none does."""
    return next((found for path in paths if (found := at(value, path)) is not None), None)


def shape_of(fields: Mapping[str, Any]) -> Shape | None:
    """The form of a row; None for a form that is not known."""
    return next((shape for shape in known() if has(fields, shape)), None)


def has(fields: Mapping[str, Any], shape: Shape) -> bool:
    """Whether a row has what a form needs. A name of the row's own counts even where it holds nothing."""
    return all(
        any(name in fields or at(fields, name) is not None for name in one.split("|")) for one in shape.has
    )


WORDS = ("messages", "system", "user", "assistant", "key", "player", "language", "scenario")
PREFIXES = ("facet", "context", "score")


def mapped(told: Mapping[str, str]) -> Shape:
    """A form that is told with `--map NAME=PATH`. Raises ConcordError for a name that has no meaning."""
    for name in told:
        if name not in WORDS and (name.partition(":")[0] not in PREFIXES or not name.partition(":")[2]):
            raise ConcordError(
                f"--map {name}=…: “{name}” is unknown. It is {', '.join(WORDS)}, or "
                "facet:NAME, context:HEADING or score:CRITERION."
            )
    roles: tuple[Role, ...] = ("system", "user", "assistant")
    said = tuple((role, (told[role],)) for role in roles if role in told)
    said = ((("user", (told["messages"],)),) if "messages" in told else ()) + said
    if "messages" not in told and "assistant" not in told:
        raise ConcordError(
            "--map must say where the messages are: messages=PATH, or user=PATH and assistant=PATH."
        )

    def named(prefix: str) -> dict[str, Paths]:
        return {n.partition(":")[2]: (path,) for n, path in told.items() if n.partition(":")[0] == prefix}

    def path(name: str) -> Paths:
        return (told[name],) if name in told else ()

    return Shape(
        "--map",
        tuple(path[0] for _, path in said),
        (Side(said, path("player")),),
        key=path("key"),
        scenario=path("scenario"),
        language=path("language"),
        context=named("context"),
        facets=named("facet"),
        scores=tuple(ScorePaths(of[0], criterion=criterion) for criterion, of in named("score").items()),
    )


def also(shape: Shape, told: Mapping[str, str]) -> Shape:
    """A form that is known, with what `--map` says of it instead."""
    if {"messages", "user", "assistant"} & set(told):
        return mapped(told)
    said = mapped({**told, "messages": ""})
    return replace(
        shape,
        key=said.key or shape.key,
        scenario=said.scenario or shape.scenario,
        language=said.language or shape.language,
        context={**shape.context, **said.context},
        facets={**shape.facets, **said.facets},
        scores=(*shape.scores, *said.scores),
        sides=tuple(replace(side, player=said.sides[0].player or side.player) for side in shape.sides),
    )
