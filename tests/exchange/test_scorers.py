"""Who gave a score is what the tool wrote: a person, a judge or code; where it wrote nothing, it is asked."""

import pytest

from concord.codes import Scorer
from concord.errors import ImportRefused
from concord.exchange import conversations_file, conversations_import
from concord.exchange.conversations_file import FileOptions
from tests.exchange.lines_helpers import lines

RUBRIC = {"pass": False, "score": 0.25, "reason": "Too curt.", "assertion": {"type": "llm-rubric"}}
EQUALS = {"pass": True, "score": 1, "reason": "Assertion passed", "assertion": {"type": "equals"}}
THUMB = {
    "pass": True,
    "score": 1,
    "reason": "Manual result (overrides all other grading results)",
    "comment": "Good enough.",
    "assertion": {"type": "human"},
}


def result(*parts, score=0.25, reason="Too curt.", **more):
    """A result of promptfoo with these component results."""
    grading = {"pass": score > 0.5, "score": score, "reason": reason, "componentResults": list(parts)}
    return {
        "id": "r1",
        "testIdx": 0,
        "promptIdx": 0,
        "prompt": {"raw": "Hi", "label": "Hi"},
        "provider": {"id": "elm"},
        "testCase": {},
        "response": {"output": "Hello"},
        "failureReason": 0 if score > 0.5 else 1,
        "score": score,
        "namedScores": {},
        "gradingResult": grading,
    } | more


def survey(tmp_path, *rows, **asked):
    return conversations_file.survey(lines(tmp_path / "b.jsonl", *rows), FileOptions("b", **asked))


def scores(found):
    return sorted(
        (s.criterion, s.score, s.rater.kind, s.rater.name, s.explanation)
        for _, entry in found.examples
        for s in entry.scores
    )


def test_a_thumb_is_a_persons_with_its_comment_and_the_judges_score_stays(tmp_path):
    manual = THUMB["reason"]
    found = survey(tmp_path, result(RUBRIC, THUMB, score=1, reason=manual))
    assert scores(found) == [
        ("score", 0.25, "judge", "", "Too curt."),
        ("score", 1, "human", "", "Good enough."),
    ]


def test_the_overall_score_is_the_recorded_one_else_the_weighted_mean(tmp_path):
    manual = THUMB["reason"]
    # (3 * 0.25 + 1 * 1) / 4 = 0.4375
    heavy = {**RUBRIC, "assertion": {"type": "llm-rubric", "weight": 3}}
    computed = result(heavy, EQUALS, THUMB, score=1, reason=manual)
    original = {"success": False, "score": 0.6, "failureReason": 1, "gradingResult": {"reason": "So so."}}
    kept = {"__promptfoo": {"manualRating": {"version": 1, "status": "active", "original": original}}}
    recorded = result(RUBRIC, EQUALS, THUMB, score=1, reason=manual, id="r2", metadata=kept)
    own = {"assertScoringFunction": "file://score.js"}
    unknowable = result(RUBRIC, EQUALS, THUMB, score=1, reason=manual, id="r3", testCase=own)
    found = survey(tmp_path, computed, recorded, unknowable)
    judged = [[s.score for s in e.scores if s.rater.kind == "judge"] for _, e in found.examples]
    assert judged == [[0.4375], [0.6], []]


def test_a_grader_that_failed_gives_no_score(tmp_path):
    broken = {**RUBRIC, "score": 0, "metadata": {"graderError": True}}
    broken["assertion"] = {"type": "llm-rubric", "metric": "tone"}
    row = result(broken, EQUALS, score=0.5, namedScores={"tone": 0, "exact": 1})
    whole = result(score=0.5, id="r2") | {
        "gradingResult": {"pass": False, "score": 0.5, "reason": "x", "metadata": {"graderError": True}}
    }
    sets = result(
        {"pass": False, "score": 0.5, "reason": "x", "componentResults": [broken, EQUALS]}, score=0.5, id="r3"
    )
    found = survey(tmp_path, row, whole, sets)
    assert [(name, score) for name, score, *_ in scores(found)] == [("exact", 1)]


def test_an_ungraded_or_failed_result_has_no_score(tmp_path):
    bare = result(score=1, reason="No assertions")
    failed = result(score=0, id="r2", failureReason=2, error="Timed out.")
    found = survey(tmp_path, bare, failed)
    assert scores(found) == []
    assert found.failed == {"Timed out.": 1}


@pytest.mark.parametrize("more", [{"failureReason": 1}, {"failureReason": None}])
def test_a_failed_assertion_is_no_error(tmp_path, more):
    found = survey(tmp_path, result(RUBRIC, error="Too curt.", **more))
    assert found.failed == {}
    assert scores(found) == [("score", 0.25, "judge", "", "Too curt.")]


def test_code_that_grades_is_a_judge_of_its_own(tmp_path):
    found = survey(tmp_path, result(EQUALS, score=1, reason="All assertions passed"))
    assert scores(found) == [("score", 1, "judge", "code", "All assertions passed")]


def test_a_named_program_is_a_judge_called_code(tmp_path):
    named = [
        {"name": name, "annotator_kind": kind, "identifier": by, "result": {"score": 1}}
        for name, kind, by in (("exact", "CODE", "match.py"), ("tone", "LLM", "match.py"))
    ]
    named += [{"name": "long", "annotator_kind": "CODE", "identifier": "w" * 600, "result": {"score": 1}}]
    named += [
        {"name": "twice", "annotator_kind": "CODE", "identifier": "match.py (code)", "result": {"score": 1}}
    ]
    found = scores(survey(tmp_path, {**SPAN, "annotations": named}))
    assert [(name, by) for name, _, _, by, _ in found] == [
        ("exact", "match.py (code)"),
        ("long", "w" * 493 + " (code)"),
        ("tone", "match.py"),
        ("twice", "match.py (code)"),
    ]


def test_a_thumb_in_promptfoos_csv_is_a_persons(tmp_path):
    file = tmp_path / "b.csv"
    head = "city,[elm] Hi,Status,Score,Named Scores,Grader Reason,Comment\n"
    rated = f"Oslo,Hello,PASS,1,,{THUMB['reason']},Fine.\n"
    file.write_text(
        head + rated + "Rome,Oh,FAIL,0,,Too curt.,\nParis,Ah,ERROR,0,,,\nBonn,Eh,PASS,1,,No assertions,\n"
        "Kiel,Eh,FAIL,0,,Python code execution failed: no,\n"
    )
    found = conversations_file.survey(file, FileOptions("b"))
    assert (scores(found), found.unknown) == ([("score", 1, "human", "", "Fine.")], {"score": 1})
    found = conversations_file.survey(file, FileOptions("b", scorers={"score": Scorer.CODE}))
    assert ("score", 0, "judge", "code", "Too curt.") in scores(found)


TRACE = {"id": "t", "timestamp": "2026", "input": "Hi", "output": "Hello"}
OPIK = {"id": "o", "input": {"messages": [{"role": "user", "content": "Hi"}]}, "output": {"output": "Hello"}}
SPAN = {
    "context": {"trace_id": "t", "span_id": "s"},
    "attributes": {"input.value": "Hi", "output.value": "Hello"},
}
MLFLOW = {"data": {"spans": [{"attributes": {"mlflow.spanInputs": '"Hi"', "mlflow.spanOutputs": '"Hello"'}}]}}


def langfuse(source):
    return {**TRACE, "scores": [{"name": "ok", "value": 1, "source": source}]}


def opik(source):
    return {**OPIK, "feedback_scores": [{"name": "ok", "value": 1, "source": source}]}


def phoenix(kind):
    return {**SPAN, "annotations": [{"name": "ok", "annotator_kind": kind, "result": {"score": 1}}]}


def mlflow(kind):
    source = {"source_type": kind, "source_id": ""}
    given = {"assessment_name": "ok", "source": source, "feedback": {"value": 1}}
    return {**MLFLOW, "info": {"trace_id": "t", "assessments": [given]}}


def braintrust(source):
    change = {"audit_data": {"action": "merge", "path": ["scores", "ok"], "to": 1}, "source": source}
    kind = {"type": "score"} if source == "scorer" else {"type": "eval"}
    row = {"id": "b", "input": "Hi", "output": "Hello", "scores": {"ok": 1}, "span_attributes": kind}
    return {**row, "_xact_id": "1", "audit_data": [change]}


@pytest.mark.parametrize(
    ("row", "person", "judge", "code", "unknown"),
    [
        (langfuse, "ANNOTATION", "EVAL", None, "API"),
        (opik, "ui", "online_scoring", None, "sdk"),
        (phoenix, "HUMAN", "LLM", "CODE", "OTHER"),
        (mlflow, "HUMAN", "LLM_JUDGE", "CODE", "SOURCE_TYPE_UNSPECIFIED"),
        (braintrust, "app", None, None, "scorer"),
    ],
)
def test_the_source_says_who_gave_a_score(tmp_path, row, person, judge, code, unknown):
    expected = {person: ("human", ""), judge: ("judge", ""), code: ("judge", "code")}
    for source in filter(None, (person, judge, code)):
        assert scores(survey(tmp_path, row(source))) == [("ok", 1, *expected[source], "")]
    found = survey(tmp_path, row(unknown))
    assert (scores(found), found.unknown) == ([], {"ok": 1})
    for answer, kind in ((Scorer.HUMAN, "human"), (Scorer.JUDGE, "judge")):
        for name in ("ok", "*"):
            assert [s[2] for s in scores(survey(tmp_path, row(unknown), scorers={name: answer}))] == [kind]


def test_annotations_of_phoenix_are_joined(tmp_path):
    joined = tmp_path / "a.jsonl"
    lines(joined, {"span_id": "s", "name": "ok", "annotator_kind": "LLM", "result": {"score": 0.5}})
    assert scores(survey(tmp_path, SPAN, joins=(joined,))) == [("ok", 0.5, "judge", "", "")]


def test_the_sentence_on_unknown_scorers_works_as_it_stands(fresh, run, tmp_path):
    file = lines(tmp_path / "b.jsonl", langfuse("API"))
    asked = run(fresh, "import", "conversations", file, "--scores-as", "j")
    assert asked.exit_code == 1
    assert "--scorer 'ok=human' (or =judge, =code)" in asked.output
    answered = run(fresh, "import", "conversations", file, "--scorer", "ok=human", "--study", "s")
    assert (answered.exit_code, "1 ratings by annotators" in answered.output) == (0, True), answered.output
    wrong = run(fresh, "import", "conversations", file, "--scorer", "ok=nobody")
    assert (wrong.exit_code, "must be human, judge or code" in wrong.output) == (1, True)


def test_scores_of_people_are_refused_where_nobody_is_known_to_be_one(tmp_path, fresh):
    found = survey(tmp_path, langfuse("API"))
    with pytest.raises(ImportRefused, match="--scorer 'ok=human'"):
        conversations_import.store(fresh, found, study="s")


def test_scores_of_one_name_by_an_annotator_and_a_judge_stay_apart(tmp_path):
    trace = {"id": "t", "input": "Hi?", "output": "Hello.", "timestamp": "2025-01-01T00:00:00Z"}
    trace["scores"] = [
        {"name": "tone", "value": 4, "source": "ANNOTATION", "comment": "Warm."},
        {"name": "tone", "value": 2, "source": "EVAL", "comment": "Cold."},
    ]
    assert scores(survey(tmp_path, trace)) == [
        ("tone", 2.0, "judge", "", "Cold."),
        ("tone", 4.0, "human", "", "Warm."),
    ]
