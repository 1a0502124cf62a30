"""Whose scores a result of promptfoo holds: a person's thumb replaces the graders' score in `score`."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from concord.codes import Scorer
from concord.exchange.otlp import objects

MANUAL = ("Manual result (overrides all other grading results)", "Manual rating", "Manual score override")
"""The reasons that promptfoo gives for a person's score."""
UNASSERTED = "No assertions"
"""The reason of a result that nothing graded."""
ERROR = 2
"""`failureReason` of a result that ended with an error; 1 is a failed assertion."""
FAILED: Mapping[str, str] = {
    "javascript": "Custom function threw error: ",
    "python": "Python code execution failed: ",
    "ruby": "Ruby code execution failed: ",
    "webhook": "Webhook error: ",
    "moderation": "Moderation API error: ",
    "search-rubric": "Search rubric evaluation failed: ",
    "regex": "Invalid regex pattern: ",
}
"""How the reason of a grader begins that failed, by the type of its assertion; its score is no score."""
_GRADED_BY_MODEL = (
    "llm-rubric",
    "agent-rubric",
    "search-rubric",
    "g-eval",
    "factuality",
    "answer-relevance",
    "pi",
    "context-",
    "conversation-relevance",
    "model-graded-",
    "select-best",
    "classifier",
    "moderation",
    "trajectory:goal-success",
    "promptfoo:redteam:",
)
"""How the types of assertions begin that a model grades; code grades the others."""


class Grade(NamedTuple):
    """A score of a result, with who gave it; `paths` are the paths in `gradingResult` that it rests on."""

    criterion: str
    value: Any
    reason: str
    scorer: Scorer
    paths: tuple[str, ...] = ()


def grades(result: Mapping[str, Any]) -> Iterator[Grade]:
    """The scores of a result: people's, the graders' overall score, and those by metric.

    A grader that failed gives none, and makes the overall score none. Where a person's score replaced the
    overall score, this is the recorded one, else the weighted mean of the assertions, as promptfoo has it;
    a test with a scoring function of its own then has none. No data: nothing.
    """
    grading = _mapping(result.get("gradingResult"))
    parts = [
        (f"componentResults.{place}", part)
        for place, part in enumerate(objects(grading.get("componentResults")))
    ]
    graded = [(path, part) for path, part in parts if _type(part) != "human"]
    people = [(path, part) for path, part in parts if _type(part) == "human"]
    reason = str(grading.get("reason") or "")
    if people or _type(grading) == "human" or (reason == MANUAL[-1] and not people):
        yield _of_person(grading, people)
    elif result.get("failureReason") == ERROR:
        return
    manual = bool(people) or _type(grading) == "human" or reason in MANUAL
    scorer = _scorer(part for _, part in graded)
    if not any(map(_failed, (*(part for _, part in graded), {} if manual else grading))):
        overall = _before_person(result, graded, scorer) if manual else _overall(result, grading, scorer)
        if overall is not None:
            yield overall
    for name, value in _mapping(result.get("namedScores", grading.get("namedScores"))).items():
        metric_parts = [
            (path, part) for path, part in graded if _mapping(part.get("assertion")).get("metric") == name
        ]
        if any(_failed(part) for _, part in metric_parts):
            continue
        one = len(metric_parts) == 1
        explanation = str(metric_parts[0][1].get("reason") or "") if one else ""
        yield Grade(
            name,
            value,
            explanation,
            _scorer(part for _, part in metric_parts or graded),
            _reason(metric_parts[0][0]) if one else (),
        )


def _of_person(grading: Mapping[str, Any], people: list[tuple[str, dict[str, Any]]]) -> Grade:
    path, rated = people[-1] if people else ("", grading)
    prefix = f"{path}." if path else ""
    comment = rated.get("comment") or grading.get("comment")
    comments = (str(comment or ""), str(rated.get("reason") or ""))
    reason = "\n".join(text for text in dict.fromkeys(comments) if text and text not in MANUAL)
    paths = (f"{prefix}reason", f"{prefix}comment", *(("comment",) if not rated.get("comment") else ()))
    if rated.get("comment") == grading.get("comment"):
        paths += ("comment",)
    return Grade("score", rated.get("score"), reason, Scorer.HUMAN, paths)


def _overall(result: Mapping[str, Any], grading: Mapping[str, Any], scorer: Scorer) -> Grade | None:
    reason = str(grading.get("reason") or "")
    value = result.get("score", grading.get("score"))
    if value is None or (reason == UNASSERTED and not grading.get("componentResults")):
        return None
    return Grade("score", value, reason, scorer, ("reason",))


def _before_person(
    result: Mapping[str, Any], graded: list[tuple[str, dict[str, Any]]], scorer: Scorer
) -> Grade | None:
    """The graders' overall score of a result that a person scored; None where it cannot be known."""
    for entry in map(_mapping, _mapping(result.get("metadata")).values()):
        original = _mapping(_mapping(entry.get("manualRating")).get("original"))
        before = _mapping(original.get("gradingResult"))
        if original:
            failed = original.get("failureReason") == ERROR or before.get("reason") == UNASSERTED
            return (
                None
                if failed
                else Grade("score", original.get("score"), str(before.get("reason") or ""), scorer)
            )
    weights = [_mapping(part.get("assertion")).get("weight", 1) for _, part in graded]
    scores = [part.get("score") for _, part in graded]
    numbers = [n for n in (*weights, *scores) if isinstance(n, int | float)]
    has_function = _mapping(result.get("testCase")).get("assertScoringFunction")
    if has_function or not graded or len(numbers) < 2 * len(graded) or sum(weights) <= 0:
        return None
    mean = sum(weight * score for weight, score in zip(weights, scores, strict=True)) / sum(weights)
    one = len(graded) == 1
    reason = str(graded[0][1].get("reason") or "") if one else ""
    return Grade("score", mean, reason, scorer, _reason(graded[0][0]) if one else ())


def _reason(path: str) -> tuple[str, ...]:
    return (f"{path}.reason",)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _type(part: Mapping[str, Any]) -> str:
    """The type of a part's assertion, without “not-”; “assert-set” for one that has parts of its own."""
    assertion_type = _mapping(part.get("assertion")).get("type")
    return assertion_type.removeprefix("not-") if isinstance(assertion_type, str) else ""


def _leaves(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parts of an assertion set, to any depth; the part itself where it has none."""
    left = [part]
    while left:
        one = left.pop()
        inner = objects(one.get("componentResults"))
        left += inner
        if not inner:
            yield one


def _failed(part: Mapping[str, Any]) -> bool:
    """Whether a grader ended with an error, in the part or in one of those that it sums up."""
    return any(
        one.get("graderError") is True
        or _mapping(one.get("metadata")).get("graderError") is True
        or (_type(one) in FAILED and str(one.get("reason")).startswith(FAILED[_type(one)]))
        for one in (part, *_leaves(part))
    )


def _scorer(parts: Iterator[Mapping[str, Any]]) -> Scorer:
    """Code where code graded each of these parts; else a judge."""
    types = [_type(leaf) for part in parts for leaf in _leaves(part)]
    code = bool(types) and all(
        type_name and not type_name.startswith(_GRADED_BY_MODEL) for type_name in types
    )
    return Scorer.CODE if code else Scorer.JUDGE
