"""Ratings go back to Langfuse, Phoenix and MLflow: by whom, on which trace, in their form."""

import json

import pytest

SPAN = {
    "traceId": "0af7651916cd43dd8448eb211c80319c",
    "spanId": "b7ad6b7169203331",
    "name": "chat",
    "attributes": {
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "Ho"}]}]
        ),
    },
    "events": [
        {
            "name": "gen_ai.evaluation.result",
            "attributes": {
                "gen_ai.evaluation.name": "helpful",
                "gen_ai.evaluation.score.value": score,
                "gen_ai.evaluation.explanation": why,
                "gen_ai.evaluation.evaluator.type": kind,
                "gen_ai.evaluation.evaluator.id": rater,
            },
        }
        for score, why, kind, rater in (
            (4, "Short.", "human", "ann"),
            (5, "Fine.", "llm_judge", "gpt"),
            (3, "Half.", "code", ""),
            (2, "None.", "code", "match.py"),
        )
    ],
}


@pytest.fixture
def lines(fresh, run, tmp_path):
    """What an export writes of a study that was imported from a file."""
    file = tmp_path / "b.jsonl"

    def exported(what, row=SPAN):
        file.write_text(json.dumps(row) + "\n")
        taken = ("--study", "mine", "--scores-as", "judge")
        for words in (("import", "conversations", file, *taken), ("export", what, "--study", "mine")):
            done = run(fresh, *words)
            assert done.exit_code == 0, done.output
        return [json.loads(line) for line in done.output.splitlines() if line.startswith("{")]

    return exported


def test_scores_of_langfuse(lines):
    rows = lines("langfuse-scores")
    assert {(row["source"], row["value"], row["comment"], row["metadata"]["rater"]) for row in rows} == {
        ("ANNOTATION", 4, "Short.", "ann"),
        ("API", 5, "Fine.", "gpt"),
        ("API", 3, "Half.", "code"),
        ("API", 2, "None.", "match.py (code)"),
    }
    assert {(row["traceId"], row["observationId"]) for row in rows} == {(SPAN["traceId"], SPAN["spanId"])}
    assert {(row["name"], row["dataType"]) for row in rows} == {("helpful", "NUMERIC")}
    assert len({row["id"] for row in rows}) == 4


def test_annotations_of_phoenix(lines):
    rows = lines("phoenix-annotations")
    assert {
        (row["annotator_kind"], row["result"]["score"], row["result"]["explanation"]) for row in rows
    } == {
        ("HUMAN", 4, "Short."),
        ("LLM", 5, "Fine."),
        ("CODE", 3, "Half."),
        ("CODE", 2, "None."),
    }
    assert {row["span_id"] for row in rows} == {SPAN["spanId"]}


def test_assessments_of_mlflow(lines):
    trace = {
        "info": {
            "trace_id": "tr-1",
            "assessments": [
                {
                    "assessment_name": "helpful",
                    "feedback": {"value": 4},
                    "source": {"source_type": "HUMAN", "source_id": "ann"},
                    "rationale": "Short.",
                },
                {
                    "assessment_name": "helpful",
                    "feedback": {"value": 5},
                    "source": {"source_type": "LLM_JUDGE", "source_id": "gpt"},
                },
            ],
        },
        "data": {"spans": [], "request": '"Hi"', "response": '"Ho"'},
    }
    person, judge = lines("mlflow-assessments", trace)
    assert (person["trace_id"], person["assessment_name"], person["feedback"]) == (
        "tr-1",
        "helpful",
        {"value": 4},
    )
    assert person["source"] == {"source_type": "HUMAN", "source_id": "ann"}
    assert person["rationale"] == "Short."
    assert judge["source"] == {"source_type": "LLM_JUDGE", "source_id": "gpt"}


def test_what_goes_back_to_langfuse_comes_again_as_it_was(lines, fresh, run, tmp_path):
    """A file of traces with the exported scores joined has the same scores by the same people."""
    traces, scores = tmp_path / "traces.jsonl", tmp_path / "scores.jsonl"
    trace = {
        "id": SPAN["traceId"],
        "timestamp": "2026-01-01",
        "input": "Hi",
        "output": "Ho",
        "htmlPath": "/x",
    }
    traces.write_text(json.dumps(trace) + "\n")
    scores.write_text("".join(json.dumps(row) + "\n" for row in lines("langfuse-scores")))
    command = ("import", "conversations", traces, "--join", scores, "--benchmark", "again", "--check")
    done = run(fresh, *command)
    assert "Scores by people: helpful (1)" in done.output, done.output
