"""Rows that hold several conversations, conversations of several rows, and files that belong together."""

import json

import pytest

from concord.errors import ImportRefused
from concord.exchange import conversations_file, survey_sentences
from concord.exchange.conversations_file import FileOptions
from tests.exchange.lines_helpers import lines

ASKED, REPLIED = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}


def read(path, **options):
    """What a file holds, and the messages of each of its conversations."""
    found = conversations_file.survey(path, FileOptions("b", **options))
    every = [c for _, entry in found.examples for c in entry.conversations]
    return found, {c.key: [(m.role, m.content) for m in c.messages] for c in every}


def test_a_batch_is_joined_with_its_output(tmp_path):
    bodies = [{"model": "elm", "messages": [{"role": "user", "content": text}]} for text in ("One?", "Two?")]
    requests = lines(
        tmp_path / "in.jsonl",
        *({"custom_id": f"r{n}", "method": "POST", "body": body} for n, body in enumerate(bodies)),
    )
    answers = [
        {"custom_id": name, "response": {"body": {"choices": [{"message": {**REPLIED, "content": name}}]}}}
        for name in ("r1", "r0", "lost")
    ]
    found, said = read(requests, joins=(lines(tmp_path / "out.jsonl", *answers),))
    assert said == {
        "b/r0": [("user", "One?"), ("assistant", "r0")],
        "b/r1": [("user", "Two?"), ("assistant", "r1")],
    }
    assert any("1 rows of" in line and "match none of these" in line for line in sentences(found))


def sentences(found):
    return survey_sentences.sentences(found)


@pytest.mark.parametrize("tool", ["Langfuse", "LangSmith"])
def test_scores_are_joined_by_the_trace_they_are_about(tmp_path, tool):
    if tool == "Langfuse":
        row = {"id": "t1", "timestamp": "2026", "input": [ASKED], "output": "Hello"}
        score = {"id": "s", "traceId": "t1", "name": "wit", "value": 2, "source": "ANNOTATION"}
        score["authorUserId"] = "ann"
    else:
        row = {"id": "t1", "run_type": "llm", "inputs": {"messages": [ASKED]}, "outputs": {"output": "Hello"}}
        score = {
            "run_id": "t1",
            "key": "wit",
            "score": 2,
            "feedback_source": {"type": "app", "user_id": "ann"},
        }
    beside = lines(tmp_path / "scores.jsonl", score)
    found, _ = read(lines(tmp_path / "rows.jsonl", row), joins=(beside,))
    ((_, entry),) = found.examples
    assert [(s.criterion, s.score, s.rater.kind, s.rater.name) for s in entry.scores] == [
        ("wit", 2.0, "human", "ann")
    ]


def test_a_file_that_belongs_to_no_other_is_refused(tmp_path):
    chats = lines(tmp_path / "a.jsonl", {"messages": [ASKED, REPLIED]})
    with pytest.raises(ImportRefused, match="must belong to the rows of one of"):
        read(chats, joins=(lines(tmp_path / "x.jsonl", {"colour": "red"}),))


def test_what_is_left_out_of_several_entries_is_named_once(tmp_path):
    """Objects inside an entry are no entries: their names stand with the place where they lie."""
    replies = [{"response": text, "model": text, "notes": {"by": {"x": 1}}, "cost": 2} for text in "ab"]
    found, _ = read(lines(tmp_path / "a.jsonl", {"instruction": "Hi", "completions": replies}))
    assert dict(found.left_out) == {"completions.notes": 1, "completions.cost": 1}


def test_two_replies_of_any_names_are_a_pair(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("id\tq\tone\tother\tbetter\tby\n7\tHi\tHello\tYo\tsecond\tann\n")
    mapping = {"user": "q", "first": "one", "second": "other", "winner": "better", "rater": "by", "key": "id"}
    found, said = read(file, mapping=mapping)
    assert list(said.values()) == [
        [("user", "Hi"), ("assistant", "Hello")],
        [("user", "Hi"), ("assistant", "Yo")],
    ]
    ((_, entry),) = found.examples
    assert [(v.rater.name, v.rater.kind, v.verdict) for v in entry.votes] == [("ann", "human", "B")]


def test_a_winner_that_is_coded_by_a_number_is_not_guessed(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("q,one,other,better\nHi,Hello,Yo,0\n")
    mapping = {"user": "q", "first": "one", "second": "other", "winner": "better"}
    found, _ = read(file, mapping=mapping)
    assert "the winner is “0”" in found.wrong[0]


def test_scores_by_people_and_judges_are_mapped_beside_a_known_form(tmp_path):
    row = {"messages": [ASKED, REPLIED], "stars": 4, "auto": 0.5, "who": "ann", "secret": "x"}
    mapping = {"human:stars": "stars", "score:auto": "auto", "rater": "who", "out:secret": "secret"}
    found, _ = read(lines(tmp_path / "a.jsonl", row), mapping=mapping)
    ((_, entry),) = found.examples
    scores = [(s.criterion, s.rater.kind, s.rater.name) for s in entry.scores]
    assert sorted(scores) == [("auto", "judge", "ann"), ("stars", "human", "ann")]
    assert "secret" not in entry.conversations[0].meta
    taken = next(line for line in sentences(found) if line.startswith("Taken: "))
    assert "messages as messages" in taken
    assert "stars as score “stars”" in taken


def test_anybody_may_speak(tmp_path):
    talk = [{"speaker": name, "text": f"I am {name}."} for name in ("Ann", "Ben", "Robot", "Ann")]
    roles = {"*": "user", "robot": "assistant"}
    found, said = read(lines(tmp_path / "a.jsonl", {"conversation": talk}), roles=roles)
    assert [role for role, _ in next(iter(said.values()))] == ["user", "user", "assistant", "user"]
    names = [m.meta.get("name") for m in found.examples[0][1].conversations[0].messages]
    assert names == ["Ann", "Ben", "Robot", "Ann"]


def test_a_call_in_the_input_and_the_reply_in_the_output_are_one_reply(tmp_path):
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked = [ASKED, {"role": "assistant", "content": "I look.", "tool_calls": [call]}]
    asked.append({"role": "tool", "tool_call_id": "c", "content": "18"})
    row = {"id": "t", "timestamp": "2026", "input": asked, "output": "It is 18."}
    _, said = read(lines(tmp_path / "a.jsonl", row))
    assert said["b/t"] == [
        ("user", "Hi"),
        ("tool", "look({})"),
        ("tool", "18"),
        ("assistant", "I look.\n\nIt is 18."),
    ]


def test_columns_of_hugging_face_are_objects_of_lists(tmp_path):
    row = {"messages": {"role": ["user", "assistant"], "content": ["Hi", "Hello"]}}
    _, said = read(lines(tmp_path / "a.jsonl", row))
    assert list(said.values()) == [[("user", "Hi"), ("assistant", "Hello")]]


def test_a_run_of_inspect_that_failed_says_so(tmp_path):
    file = tmp_path / "log.json"
    log = {"version": 2, "status": "error", "error": {"message": "no quota"}, "eval": {"model": "elm"}}
    file.write_text(json.dumps(log))
    with pytest.raises(ImportRefused, match=r"the run of Inspect \(error\) has no samples"):
        read(file)
    sample = {"id": 1, "epoch": 1, "input": "Hi", "messages": [ASKED], "error": {"message": "timed out"}}
    file.write_text(
        json.dumps({**log, "samples": [sample, {**sample, "id": 2, "messages": [ASKED, REPLIED]}]})
    )
    found, _ = read(file)
    assert "it has no reply, because it ended with an error: timed out" in found.wrong[0]
    assert any("1 rows ended with an error, such as “timed out”" in s for s in sentences(found))


def test_what_can_be_read_of_a_wrong_file_is_said(tmp_path):
    file = lines(tmp_path / "a.jsonl", {"messages": [ASKED, REPLIED]}, {"messages": []}, {"colour": "red"})
    found, _ = read(file)
    with pytest.raises(
        ImportRefused, match=r"2 of 3 rows are invalid(.|\n)*--skip-wrong imports the other 1 rows"
    ):
        found.refuse()


def test_yaml_is_refused_with_the_remedy(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("- prompt: Hi\n  response: Hello\n")
    with pytest.raises(
        ImportRefused,
        match=r"a\.yaml is YAML, which Concord cannot read\. Convert it to "
        r"JSON\.",
    ):
        read(file)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["18 ", {"type": "bold", "text": "degrees"}, "."], "18 \ndegrees\n."),
        ([{"type": "text", "text": "No."}, {"type": "refusal", "refusal": "I may not."}], "No.\nI may not."),
        ([{"type": "table", "rows": [["18"]]}], '{"type": "table", "rows": [["18"]]}'),
        ([{"type": "image"}], "[image: not in the file]"),
        (["One.", "Two."], "One.\nTwo."),
    ],
)
def test_no_text_of_a_part_is_lost(tmp_path, parts, text):
    _, said = read(lines(tmp_path / "a.jsonl", {"messages": [ASKED, {**REPLIED, "content": parts}]}))
    assert list(said.values()) == [[("user", "Hi"), ("assistant", text)]]
