"""What the newest releases of tools write, as small invented files: spans, several authors, edits."""

import csv
import json

import pytest

from concord.codes import Scorer
from tests.exchange.lines_helpers import lines, survey


def scores(found):
    """Key, criterion, score, kind and name of every score."""
    return [
        (s.unit.conversation.removeprefix("b/"), s.criterion, s.score, s.rater.kind, s.rater.name)
        for _, entry in found.examples
        for s in entry.scores
    ]


OBSERVATION = {"traceId": "t", "startTime": "2026", "endTime": "2026", "environment": "prod", "type": "SPAN"}
ROOT = {**OBSERVATION, "id": "root", "parentObservationId": None, "input": "Hi", "output": "Hello"}
CALL = {**OBSERVATION, "id": "call", "parentObservationId": "root", "input": "Hi", "output": "Hello"}


def langfuse_score(name, **about):
    score = {"id": name, "name": name, "dataType": "NUMERIC", "value": 1, "source": "ANNOTATION"}
    return {**score, "authorUserId": "ann", **about}


def test_langfuse_scores_belong_to_their_observation_or_the_root(tmp_path):
    file = lines(tmp_path / "o.jsonl", ROOT, CALL)
    new = [
        langfuse_score("whole", subject={"kind": "trace", "id": "t"}),
        langfuse_score("part", subject={"kind": "observation", "id": "call", "traceId": "t"}),
        langfuse_score("bare", subject={"kind": "observation", "id": "call", "traceId": None}),
        langfuse_score("day", subject={"kind": "session", "id": "s"}),
    ]
    old = [
        langfuse_score("whole", traceId="t"),
        langfuse_score("part", traceId="t", observationId="call"),
        langfuse_score("bare", traceId=None, observationId="call"),
        langfuse_score("day", sessionId="s", traceId=None),
    ]
    for listed in (new, old, [*reversed(new)]):
        joined = lines(tmp_path / "s.jsonl", *listed)
        found = survey(file, joins=(joined,))
        assert sorted(scores(found)) == [
            ("call", "bare", 1, "human", "ann"),
            ("call", "part", 1, "human", "ann"),
            ("root", "whole", 1, "human", "ann"),
        ]
        assert found.unused == {str(joined): 1}


def test_langfuse_scores_belong_to_a_trace_in_a_file_of_traces(tmp_path):
    file = lines(tmp_path / "t.jsonl", {"id": "t", "timestamp": "2026", "input": "Hi", "output": "Hello"})
    joined = lines(
        tmp_path / "s.jsonl",
        langfuse_score("whole", traceId="t"),
        langfuse_score("part", traceId="t", observationId="call"),
    )
    assert [name for _, name, *_ in scores(survey(file, joins=(joined,)))] == ["whole", "part"]


def test_items_of_an_experiment_of_langfuse(tmp_path):
    item = {**ROOT, "experimentId": "e", "experimentName": "first", "experimentItemId": "q"}
    item |= {"expectedOutput": "Hullo", "scores": [langfuse_score("ok")]}
    found = survey(lines(tmp_path / "i.jsonl", item))
    ((_, entry),) = found.examples
    (one,) = entry.conversations
    assert (one.context, one.facets["scenario"], one.facets["run"]) == ({"Reference": "Hullo"}, "q", "first")
    assert scores(found) == [("root", "ok", 1, "human", "ann")]


def span(name, parent, kind, **fields):
    place = {"span_id": name, "root_span_id": "r", "span_parents": [parent] if parent else None}
    return {"id": name, **place, "span_attributes": {"type": kind}, "created": "2026", **fields}


def test_spans_of_braintrusts_scorers_are_scores_of_what_they_score(tmp_path):
    whole = span("a", None, "eval", input="Hi", output="Hello", scores={"kept": 1})
    task = span("b", "a", "task", input="Hi", output="Hello")
    call = span("c", "b", "llm", input=[{"role": "user", "content": "Hi"}], output="Hello")
    near = span(
        "d", "a", "score", input={"input": "Hi"}, output={"score": 0.5}, scores={"near": 0.5, "kept": 1}
    )
    near["metadata"] = {"rationale": "Close."}
    file = lines(tmp_path / "e.jsonl", near, task, whole, call)
    found = survey(file)
    assert (found.conversations, found.unknown) == (1, {"near": 1, "kept": 1})
    found = survey(file, scorers={"near": Scorer.JUDGE, "*": Scorer.CODE})
    assert sorted(scores(found)) == [("a", "kept", 1, "judge", "code"), ("a", "near", 0.5, "judge", "")]
    ((_, entry),) = found.examples
    assert {s.explanation for s in entry.scores} == {"", "Close."}


def test_spans_of_a_log_of_braintrust_stay_conversations_of_their_own(tmp_path):
    whole = span("a", None, "task", input="Hi", output="Hello")
    call = span("c", "a", "llm", input=[{"role": "user", "content": "Hi"}], output="Hello")
    assert survey(lines(tmp_path / "l.jsonl", whole, call)).conversations == 2


TRACE = {"id": "o", "input": {"question": "Hi"}, "output": {"answer": "Hello"}}


def test_each_author_of_an_opik_score_gave_their_own(tmp_path):
    score = {"name": "wit", "value": 4, "reason": "a., b.", "source": "ui", "created_by": "admin"}
    score["value_by_author"] = {
        "ann": {"value": 5, "reason": "a.", "source": "ui", "author": "ann"},
        "bob": {"value": 3, "reason": "b.", "source": "ui", "author": None},
    }
    rule = {"name": "safe", "value": 1, "source": "online_scoring", "created_by": "admin"}
    row = {**TRACE, "feedback_scores": [score, rule, {**score, "name": "one", "value_by_author": None}]}
    found = survey(lines(tmp_path / "t.jsonl", row))
    assert scores(found) == [
        ("o", "wit", 5, "human", "ann"),
        ("o", "wit", 3, "human", "bob"),
        ("o", "safe", 1, "judge", ""),
        ("o", "one", 4, "human", "admin"),
    ]
    assert [s.explanation for _, entry in found.examples for s in entry.scores][:2] == ["a.", "b."]


SAMPLE = {
    "id": 1,
    "epoch": 1,
    "input": "Hi",
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
}


def inspect_log(path, **given):
    log = {"version": 2, "status": "success", "eval": {"task": "t", "model": "elm"}}
    path.write_text(json.dumps({**log, "samples": [{**SAMPLE, "scores": given}]}))
    return path


def test_scores_of_inspect_are_by_the_scorer_that_they_are_named_after(tmp_path):
    own = {"value": {"tone": 3, "form": 4}}
    file = inspect_log(
        tmp_path / "l.json", match={"value": "C"}, model_graded_qa={"value": "P"}, own=own, f1={"value": 0.5}
    )
    found = survey(file)
    assert scores(found) == [
        ("1/1", "match", 1, "judge", "code"),
        ("1/1", "model_graded_qa", 0.5, "judge", ""),
        ("1/1", "f1", 0.5, "judge", "code"),
    ]
    assert found.unknown == {"own/tone": 1, "own/form": 1}


def test_an_edited_score_of_inspect_is_the_scorers_and_then_the_editors(tmp_path):
    edit = {"value": "I", "explanation": "Not so.", "provenance": {"author": "ann", "reason": "wrong"}}
    match = {
        "value": "I",
        "explanation": "Not so.",
        "history": [{"value": "C", "explanation": "Equal."}, edit],
    }
    file = inspect_log(tmp_path / "l.json", match=match)
    found = survey(file)
    assert scores(found) == [("1/1", "match", 1, "judge", "code")]
    assert found.unknown == {"match": 1}
    found = survey(file, scorers={"match": Scorer.HUMAN})
    assert scores(found) == [("1/1", "match", 1, "judge", "code"), ("1/1", "match", 0, "human", "ann")]


def test_score_options_of_langwatch_are_a_persons_by_their_names(tmp_path):
    trace = {"trace_id": "t", "project_id": "p", "input": {"value": "Hi"}, "output": {"value": "Hello"}}
    note = {"traceId": "t", "isThumbsUp": None, "email": "ann", "comment": "Fine."}
    note["scoreOptions"] = {"wit": {"value": "4", "reason": "Dry."}, "flaws": {"value": ["long", "odd"]}}
    joined = lines(tmp_path / "a.jsonl", note)
    found = survey(lines(tmp_path / "t.jsonl", trace), joins=(joined,))
    assert scores(found) == [("t", "wit", 4, "human", "ann")]
    assert found.unread == {"flaws: long, odd": 1}
    assert [s.explanation for _, entry in found.examples for s in entry.scores] == ["Dry."]


def test_an_evaluator_of_langwatch_is_a_judge_or_code_by_its_type(tmp_path):
    kinds = {"a": "langevals/llm_boolean", "b": "langevals/exact_match", "c": "custom"}
    trace = {"trace_id": "t", "project_id": "p", "input": {"value": "Hi"}, "output": {"value": "Hello"}}
    trace["evaluations"] = [{"name": name, "type": kind, "passed": True} for name, kind in kinds.items()]
    found = survey(lines(tmp_path / "t.jsonl", trace))
    assert [(name, by) for _, name, _, _, by in scores(found)] == [("a", ""), ("b", "code")]
    assert found.unknown == {"c": 1}


def test_a_column_of_a_programs_scores_is_mapped(tmp_path):
    file = tmp_path / "r.csv"
    file.write_text("user_input,response,exact_match\nHi,Hello,0.5\n")
    mapping = {"code:exact_match": "exact_match"}
    ((_, *found),) = scores(survey(file, mapping=mapping))
    assert found == ["exact_match", 0.5, "judge", "code"]


def test_a_program_of_promptfoo_that_failed_gives_no_score(tmp_path):
    for kind, reason in (
        ("python", "Python code execution failed: no"),
        ("javascript", "Custom function threw error: no"),
        ("not-regex", "Invalid regex pattern: ("),
    ):
        part = {"pass": False, "score": 0, "reason": reason, "assertion": {"type": kind, "metric": "m"}}
        grading = {"pass": False, "score": 0, "reason": reason, "componentResults": [part]}
        row = {"id": "r", "prompt": {"raw": "Hi"}, "response": {"output": reason}, "testCase": {}}
        row |= {"score": 0, "namedScores": {"m": 0}, "failureReason": 1, "gradingResult": grading}
        assert scores(survey(lines(tmp_path / "p.jsonl", row))) == []
        part["assertion"]["type"] = "contains"
        assert len(scores(survey(lines(tmp_path / "p.jsonl", row)))) == 2


def test_annotations_of_phoenix_in_columns_of_a_table(tmp_path):
    file = tmp_path / "e.csv"
    head = ["example_id", "repetition_number", "input", "reference_output", "output", "annotation_a_b_label"]
    head += [
        f"annotation_{part}" for part in ("a_b_score", "a_b_explanation", "a_b_annotator_kind", "c_label")
    ]
    head += ["annotation_c_annotator_kind", "annotation_d_score", "annotation_d_annotator_kind"]
    row = ["q", "1", '{"question": "Hi"}', '{"answer": "Hey"}', '{"x": 1}', "ok", "0.5", "So so.", "LLM"]
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([head, [*row, "yes", "HUMAN", "1", "CODE"]])
    found = survey(file)
    ((_, entry),) = found.examples
    said = [(m.role, m.content) for m in entry.conversations[0].messages]
    assert said == [("user", "Hi"), ("assistant", '{"x": 1}')]
    assert scores(found) == [
        ("q/1", "a_b", 0.5, "judge", ""),
        ("q/1", "c", 1, "human", ""),
        ("q/1", "d", 1, "judge", "code"),
    ]
    assert entry.scores[0].explanation == "So so."


@pytest.mark.parametrize("turned", [False, True])
def test_the_system_prompt_of_a_call_is_part_of_the_dialogue_around_it(tmp_path, turned):
    """Phoenix: the outermost span has the question and the reply, the call in it the instructions too."""
    outer = {"input.value": "Hi", "output.value": "Hello", "openinference.span.kind": "CHAIN"}
    said = [("system", "Be brief."), ("user", "Hi")]
    inner = {"openinference.span.kind": "LLM"} | {
        f"llm.input_messages.{n}.message.{part}": value
        for n, pair in enumerate(said)
        for part, value in zip(("role", "content"), pair, strict=True)
    }
    inner |= {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Hello",
    }
    spans = [
        {
            "name": name,
            "context": {"trace_id": "t", "span_id": name},
            "parent_id": parent,
            "start_time": start,
            "attributes": attributes,
            "annotations": [{"name": name, "annotator_kind": "HUMAN", "result": {"score": 1}}],
        }
        for name, parent, start, attributes in (("a", None, 1, outer), ("b", "a", 0 if turned else 2, inner))
    ]
    found = survey(lines(tmp_path / "s.jsonl", *spans))
    ((_, entry),) = found.examples
    assert [(m.role, m.content) for m in entry.conversations[0].messages] == [*said, ("assistant", "Hello")]
    assert sorted(name for _, name, *_ in scores(found)) == ["a", "b"]


def test_a_value_of_otlp_that_names_every_type_is_the_one_that_is_there(tmp_path):
    kinds = ("array", "bool", "bytes", "double", "int", "kvlist", "string")

    def value(of, inner):
        return {f"{kind}_value": inner if kind == of else None for kind in kinds}

    attributes = [
        {"key": "input.value", "value": value("string", "Hi")},
        {"key": "output.value", "value": value("string", "Hello")},
        {"key": "n", "value": value("array", {"values": [value("int", "1")]})},
    ]
    span = {"trace_id": "t", "span_id": "s", "name": "x", "attributes": attributes}
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"data": [span], "next_cursor": None}))
    ((_, entry),) = survey(file).examples
    assert [m.content for m in entry.conversations[0].messages] == ["Hi", "Hello"]


def test_results_of_deepeval_with_names_in_snake_case(tmp_path):
    metrics = [{"name": "Polite", "score": 0.7, "evaluation_model": "gpt"}, {"name": "Exact", "score": 1}]
    case = {"name": "c", "input": "Hi", "actual_output": "Hello", "turns": None, "metrics_data": metrics}
    file = tmp_path / "r.json"
    file.write_text(json.dumps({"test_results": [case]}))
    found = survey(file)
    assert scores(found) == [("c", "Polite", 0.7, "judge", "gpt")]
    assert found.unknown == {"Exact": 1}


def test_a_page_of_logs_of_humanloop(tmp_path):
    log = {"id": "l", "messages": [{"role": "user", "content": "Hi"}], "output": "Hello"}
    log |= {"prompt": {"model": "elm"}, "evaluator_logs": [], "log_status": "complete"}
    file = tmp_path / "l.json"
    file.write_text(json.dumps({"records": [log], "page": 1, "size": 10, "total": 1}))
    assert survey(file).name == "Humanloop logs"
