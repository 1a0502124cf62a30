"""Exports as tools write them today: whose words, whose scores, and which list holds the rows."""

import csv
import shlex

import pytest

from concord.codes import Scorer
from concord.errors import ImportRefused
from concord.reading import labels
from tests.exchange.lines_helpers import lines, survey

ASK, REPLY = ("user", "Hi"), ("assistant", "Hello")
MESSAGES = [{"role": "user", "content": "Hi"}]


def dialogue(found):
    [conversation] = [c for _, entry in found.examples for c in entry.conversations]
    return [(message.role, message.content) for message in conversation.messages]


def scores(found):
    return {(s.criterion, s.score, s.rater.kind) for _, entry in found.examples for s in entry.scores}


TRACE = {"id": "t", "name": "chat", "input": {"messages": MESSAGES}, "output": {"output": "Hello"}}
LISTS = {
    "Opik traces": {"page": 1, "size": 1, "total": 1, "content": [{**TRACE, "feedback_scores": []}]},
    "Braintrust": {
        "events": [{"id": "1", "_xact_id": "1", "input": MESSAGES, "output": "Hello", "scores": {}}],
        "cursor": "x",
    },
}


@pytest.mark.parametrize(("form", "document"), LISTS.items(), ids=LISTS)
def test_the_list_of_an_answer_of_the_api_is_read(tmp_path, form, document):
    found = survey(lines(tmp_path / "answer.json", document))
    assert (found.name, dialogue(found)) == (form, [ASK, REPLY])


def test_a_list_with_a_known_form_is_suggested_without_a_map(tmp_path):
    file = lines(tmp_path / "answer.json", {"body": {"hits": [{**TRACE, "feedback_scores": []}]}, "n": 1})
    with pytest.raises(ImportRefused, match=r"--rows body\.hits --check") as error:
        survey(file)
    words = shlex.split(str(error.value).rpartition("Try: ")[2])
    assert "--map" not in words
    assert dialogue(survey(file, rows=words[words.index("--rows") + 1])) == [ASK, REPLY]


def test_a_suggestion_takes_a_reply_by_its_name(tmp_path):
    row = {"talk": MESSAGES, "reply": "Hello", "project": "a project of ours"}
    with pytest.raises(ImportRefused, match="--map messages=talk --map assistant=reply --check"):
        survey(lines(tmp_path / "rows.jsonl", row))


SPAN = {
    "context.trace_id": "t",
    "context.span_id": "s",
    "name": "llm",
    "attributes.openinference.span.kind": "LLM",
    "attributes.llm.input_messages": [{"message.role": "user", "message.content": "Hi"}],
    "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": "Hello"}],
}


def test_columns_of_evaluations_and_annotations_beside_spans_are_scores(tmp_path):
    columns = {"eval.Hallucination.score": 0.0, "eval.Hallucination.label": "factual"}
    columns |= {"annotation.Quality.score": 1.0, "annotation.Quality.updated_by": "ann"}
    file = lines(tmp_path / "spans.jsonl", {**SPAN, **columns})
    found = survey(file)
    assert dialogue(found) == [ASK, REPLY]
    assert scores(found) == {("Quality", 1.0, "human")}
    assert dict(found.unknown) == {"Hallucination": 1}
    told = survey(file, scorers={"*": Scorer.JUDGE})
    assert scores(told) == {("Quality", 1.0, "human"), ("Hallucination", 0.0, "judge")}


def table(path, names, *rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])
    return path


def test_an_index_that_copies_a_column_is_no_second_column(tmp_path):
    """As pandas writes a frame of Phoenix's spans: the index and the column have one name."""
    spans = {name: cell if isinstance(cell, str) else str(cell) for name, cell in SPAN.items()}
    file = table(tmp_path / "spans.csv", ["context.span_id", *spans], ["s", *spans.values()])
    assert dialogue(survey(file)) == [ASK, REPLY]
    rows = [[n, n, n % 5, (n + n // 7) % 5] for n in range(20)]
    labelled = table(tmp_path / "labels.csv", ["id", "id", "human", "judge"], *rows)
    assert len(labels.read(labelled).keys) == len(rows)
    rows[3][1] = 99
    with pytest.raises(ImportRefused, match="two columns are called id"):
        labels.read(table(tmp_path / "other.csv", ["id", "id", "human", "judge"], *rows))


def test_what_codex_writes_in_the_users_place_is_not_the_users(tmp_path):
    def line(role, text):
        kind = "output_text" if role == "assistant" else "input_text"
        message = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {"timestamp": "1", "type": "response_item", "payload": message}

    texts = ["<environment_context>x</environment_context>", "# AGENTS.md instructions for /x", "Hi"]
    rollout = [*(line("user", text) for text in texts), line("assistant", "Hello")]
    assert dialogue(survey(lines(tmp_path / "rollout.jsonl", *rollout))) == [ASK, REPLY]


def test_a_chat_of_the_gemini_cli_is_read(tmp_path):
    said = [{"type": "user", "content": "Hi"}, {"type": "gemini", "content": "Hello", "thoughts": []}]
    messages = [{"id": str(n), "timestamp": "2026", **one} for n, one in enumerate(said)]
    file = lines(tmp_path / "chat.json", {"sessionId": "s", "projectHash": "h", "messages": messages})
    assert dialogue(survey(file)) == [ASK, REPLY]


def test_answers_of_prodigy_are_sent_to_the_commands_that_read_them(tmp_path):
    rows = [
        {"text": f"t{n}", "_input_hash": n, "_task_hash": n, "answer": answer, "_annotator_id": who}
        for n in range(12)
        for who, answer in (
            ("human-ann", "accept" if n % 3 else "reject"),
            ("gpt-4", "accept" if n % 4 else "reject"),
        )
    ]
    file = lines(tmp_path / "answers.jsonl", *rows)
    with pytest.raises(ImportRefused, match="--rater _annotator_id --score answer"):
        survey(file)
    assert len(labels.read(file).keys) == 12
