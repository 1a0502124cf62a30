"""Files of tools that hold more than a row a conversation, and what the refusal of any other says."""

import json

import pandas as pd
import pytest

from concord.errors import ImportRefused
from concord.exchange import conversations_file
from concord.exchange.conversations_file import FileOptions

ASKED, REPLIED = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}
SAID = [("user", "Hi"), ("assistant", "Hello")]


def written(path, text):
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def lines(path, *entries):
    return written(path, "".join(json.dumps(entry) + "\n" for entry in entries))


def read(path, mapping=(), **roles):
    """The messages of each conversation of a file."""
    found = conversations_file.survey(path, FileOptions("b", dict(mapping), roles))
    found.refuse()
    every = [c for _, entry in found.examples for c in entry.conversations]
    return [[(m.role, m.content) for m in c.messages] for c in every]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv"])
def test_a_file_of_messages_alone_is_one_conversation(tmp_path, name):
    if name.endswith("json"):
        file = written(tmp_path / name, [ASKED, REPLIED])
    elif name.endswith("jsonl"):
        file = lines(tmp_path / name, ASKED, REPLIED)
    else:
        file = written(tmp_path / name, "role,content\nuser,Hi\nassistant,Hello\n")
    assert read(file) == [SAID]


def test_messages_with_an_unknown_column_are_not_one_conversation(tmp_path):
    file = written(tmp_path / "a.csv", "dialog,role,content\n1,user,Hi\n1,assistant,Hello\n2,assistant,Yo\n")
    with pytest.raises(ImportRefused, match="--map conversation=NAME"):
        read(file)
    with pytest.raises(
        ImportRefused, match=r"--map conversation=dialogue: no row .* fields are dialog, role"
    ):
        read(file, {"conversation": "dialogue"})
    assert read(file, {"conversation": "dialog"})[0] == SAID


def test_a_turn_a_row_under_any_names_is_mapped(tmp_path):
    file = written(
        tmp_path / "a.csv", "talk,n,who,words\n1,2,bot,Hello\n2,1,ann,Yo\n1,1,ann,Hi\n2,2,bot,Ha\n"
    )
    mapping = {"conversation": "talk", "order": "n", "speaker": "who", "text": "words"}
    assert read(file, mapping, ann="user") == [SAID, [("user", "Yo"), ("assistant", "Ha")]]


def test_a_list_of_lists_of_messages_is_a_conversation_each(tmp_path):
    assert read(written(tmp_path / "a.json", [[ASKED, REPLIED], [REPLIED]])) == [SAID, SAID[1:]]


def test_objects_one_after_another_are_rows(tmp_path):
    rows = [{"messages": [ASKED, REPLIED]}, {"messages": [{**ASKED, "content": "}\n{"}, REPLIED]}]
    file = written(tmp_path / "a.json", "\n".join(json.dumps(row, indent=4) for row in rows))
    assert read(file) == [SAID, [("user", "}\n{"), SAID[1]]]


@pytest.mark.parametrize("orient", ["split", "list", "columns", "records"])
def test_a_frame_is_its_rows_however_it_was_written(tmp_path, orient):
    frame = pd.DataFrame({"prompt": ["Hi", "Ho"], "response": ["Hello", "18"]})
    value = json.loads(frame.to_json(orient=orient)) if orient != "list" else frame.to_dict("list")
    assert read(written(tmp_path / "a.json", value)) == [SAID, [("user", "Ho"), ("assistant", "18")]]


def test_a_single_chat_is_no_frame(tmp_path):
    row = {"prompt": [ASKED], "response": [REPLIED]}
    assert read(written(tmp_path / "a.json", row)) == [SAID]


def test_rows_of_a_log_that_are_something_else_are_passed_over(tmp_path):
    sample = {"type": "sampling", "sample_id": "s", "data": {"prompt": [ASKED], "sampled": ["Hello"]}}
    match = {"type": "match", "sample_id": "s", "data": {"correct": True, "sampled": "Hello"}}
    file = lines(tmp_path / "a.jsonl", {"spec": {"eval_name": "e"}}, sample, match, {"final_report": {}})
    assert read(file) == [SAID]


def test_a_text_with_the_marks_of_a_chat_template_is_its_messages(tmp_path):
    chatml = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n"
    llama = (
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|>"
    )
    hashes = "### Human: Hi\n\n### Assistant: Hello"
    file = lines(tmp_path / "a.jsonl", *({"id": n, "text": t} for n, t in enumerate((chatml, llama, hashes))))
    assert read(file) == [SAID] * 3


def test_calls_and_results_in_the_ways_of_the_tools(tmp_path):
    """Haystack, the AI SDK, Semantic Kernel, Bedrock and AutoGen, each by its own names."""
    called, gave = ("tool", 'look({"at": 1})'), ("tool", "18")
    given = {"at": 1}
    ways = [
        (
            [{"text": "I look."}, {"tool_call": {"tool_name": "look", "arguments": given}}],
            [{"tool_call_result": {"result": "18", "origin": {"tool_name": "look"}}}],
        ),
        (
            [
                {"type": "text", "text": "I look."},
                {"type": "tool-call", "toolCallId": "c", "toolName": "look", "input": given},
            ],
            [
                {
                    "type": "tool-result",
                    "toolCallId": "c",
                    "toolName": "look",
                    "output": {"type": "text", "value": "18"},
                }
            ],
        ),
        (
            [
                {"content_type": "text", "text": "I look."},
                {"content_type": "function_call", "name": "look", "arguments": given},
            ],
            [{"content_type": "function_result", "name": "look", "result": "18"}],
        ),
        (
            [{"text": "I look."}, {"toolUse": {"toolUseId": "c", "name": "look", "input": given}}],
            [{"toolResult": {"toolUseId": "c", "content": [{"text": "18"}]}}],
        ),
        (
            ["I look.", {"id": "c", "name": "look", "arguments": given}],
            [{"call_id": "c", "name": "look", "content": "18", "is_error": False}],
        ),
    ]
    for call, result in ways:
        messages = [
            ASKED,
            {"role": "assistant", "content": call},
            {"role": "tool", "content": result},
            REPLIED,
        ]
        expected = [SAID[0], called, gave, ("assistant", "I look.\n\nHello")]
        assert read(lines(tmp_path / "a.jsonl", {"messages": messages})) == [expected]


def test_a_call_that_holds_its_result_is_both_before_the_words_that_follow(tmp_path):
    tool = {"type": "tool-look", "toolCallId": "c", "state": "output-available", "input": {}, "output": "18"}
    parts = [{"type": "step-start"}, tool, {"type": "text", "text": "Hello"}]
    messages = [
        {"role": "user", "parts": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "parts": parts},
    ]
    expected = [SAID[0], ("tool", "look({})"), ("tool", "18"), SAID[1]]
    assert read(lines(tmp_path / "a.jsonl", {"messages": messages})) == [expected]


@pytest.mark.parametrize("state", ["call", "result"])
@pytest.mark.parametrize("where", ["parts", "content", "toolInvocations"])
def test_a_tool_invocation_of_the_ai_sdk_is_a_call_and_its_result(tmp_path, where, state):
    invoked = {"state": state, "toolName": "look", "args": {"at": 1}}
    invoked |= {"result": "18"} if state == "result" else {}
    part = {"type": "tool-invocation", "toolInvocation": invoked}
    said = {"role": "assistant", "content": "Hello", where: [part, {"type": "text", "text": "Hello"}]}
    if where == "toolInvocations":
        said[where] = [invoked]
    file = lines(tmp_path / "a.jsonl", {"messages": [ASKED, said, ASKED, REPLIED]})
    found = conversations_file.survey(file, FileOptions("b"))
    (_, entry), *_ = found.examples
    messages = entry.conversations[0].messages[1:-2]
    if state == "result":
        assert [(m.role, m.content) for m in messages] == [
            ("tool", 'look({"at": 1})'),
            ("tool", "18"),
            SAID[1],
        ]
        assert [m.meta for m in messages[:2]] == [{"calls": ["look"]}, {"result": "look"}]
        assert [m.tool_part for m in messages[:2]] == ["Tool call", "Tool result"]
    assert not any("toolInvocation" in m.content for m in messages)


def test_lines_of_a_subagent_are_no_part_of_a_claude_code_session(tmp_path):
    def line(role, text, **more):
        return {"sessionId": "s", "message": {"role": role, "content": text}, **more}

    file = lines(
        tmp_path / "a.jsonl",
        line("user", "<local-command-caveat>", isMeta=True),
        line("user", "Hi", isSidechain=False, isMeta=False),
        line("user", "Search.", isSidechain=True),
        line("assistant", "Searched.", isSidechain=True),
        line("user", "The session so far", isCompactSummary=True),
        line("assistant", "API Error: 529", isApiErrorMessage=True),
        line("assistant", "Hello", isSidechain=False),
    )
    assert read(file) == [SAID]


def test_a_template_of_promptfoos_csv_is_filled_with_its_variables(tmp_path):
    head = "city,note,[elm] Is {{ city }} warm? {{other}} {{city|upper}},Status\n"
    file = written(tmp_path / "a.csv", head + "Oslo,{{city}},No.,PASS\n")
    (_, entry), *_ = conversations_file.survey(file, FileOptions("b")).examples
    (one,) = entry.conversations
    assert one.messages[0].content == "Is Oslo warm? {{other}} {{city|upper}}"
    assert one.context == {"Variables": {"city": "Oslo", "note": "{{city}}"}}


def test_instructions_that_each_request_repeats_stand_once(tmp_path):
    asked = {
        "kind": "request",
        "instructions": "Be brief.",
        "parts": [{"part_kind": "user-prompt", "content": "Hi"}],
    }
    replied = {"kind": "response", "parts": [{"part_kind": "text", "content": "Hello"}]}
    expected = [("system", "Be brief."), *SAID, *SAID]
    assert read(written(tmp_path / "a.json", [asked, replied, asked, replied])) == [expected]


def test_a_reply_that_may_be_json_is_no_users_turn(tmp_path):
    row = {"id": "t", "timestamp": "2026", "release": None, "input": "Hi", "output": json.dumps(REPLIED)}
    other = {**row, "id": "u", "output": json.dumps([ASKED])}
    assert read(lines(tmp_path / "a.jsonl", row, other)) == [
        SAID,
        [SAID[0], ("assistant", json.dumps([ASKED]))],
    ]


def test_a_file_of_another_command_names_the_command(tmp_path):
    for row, command in (
        ({"fields": {"text": "Hi"}, "responses": {}, "id": "1"}, "concord import argilla"),
        ({"id": 1, "data": {"text": "Hi"}, "annotations": []}, "concord import label-studio"),
        ({"doc_id": 0, "arguments": [], "resps": []}, "generate_until"),
        (
            {"item_id": 1, "criterion": "c", "rater_type": "human", "rater": "a", "score": 1},
            "concord import ratings",
        ),
    ):
        with pytest.raises(ImportRefused, match=command):
            read(lines(tmp_path / "a.jsonl", row))


@pytest.mark.parametrize(
    "head", ["12/31/20, 9:41 PM - ", "[31.12.20, 21:41:05] ", "\u200e[2020-12-31, 21:41:05] "]
)
def test_a_chat_of_whatsapp_is_its_messages(tmp_path, head):
    text = f"{head}This chat is encrypted.\n{head}Ann: Hi: there\n\nYou?\n{head}Elm: Hello\n"
    file = written(tmp_path / "a.txt", text)
    with pytest.raises(ImportRefused, match=r"--role 'Ann=user'"):
        read(file)
    assert read(file, ann="user", elm="assistant") == [[("user", "Hi: there\n\nYou?"), SAID[1]]]


def test_a_speaker_who_is_not_known_is_named_in_the_option(tmp_path):
    row = {"ts": "1", "text": "Hi", "user": "U01"}
    file = written(tmp_path / "a.json", [row, {"ts": "2", "text": "Hello", "bot_id": "B1"}])
    with pytest.raises(ImportRefused, match=r"--role 'U01=user'"):
        read(file)
    assert read(file, u01="user", b1="assistant") == [SAID]


def test_a_log_of_inputs_and_outputs_is_no_trace_of_langfuse(tmp_path):
    row = {"id": "t", "timestamp": "2026", "traceId": "x", "input": "Hi", "output": "Hello"}
    found = conversations_file.survey(lines(tmp_path / "a.jsonl", row))
    assert found.name == "prompts and responses"


def test_a_thumb_of_langwatch_is_a_persons(tmp_path):
    trace = {"trace_id": "t", "project_id": "p", "input": {"value": "Hi"}, "output": {"value": "Hello"}}
    thumb = {"id": "a", "traceId": "t", "isThumbsUp": False, "email": "ann@x.org", "comment": "Curt."}
    joined = lines(tmp_path / "thumbs.jsonl", thumb)
    options = conversations_file.FileOptions("b", joins=(joined,))
    ((_, entry),) = conversations_file.survey(lines(tmp_path / "a.jsonl", trace), options).examples
    assert [(s.criterion, s.score, s.rater.kind, s.rater.name, s.explanation) for s in entry.scores] == [
        ("thumb", 0, "human", "ann@x.org", "Curt.")
    ]


def test_the_item_of_a_dataset_run_of_langfuse_is_the_scenario(tmp_path):
    trace = {"id": "t", "timestamp": "2026", "htmlPath": "/t", "input": "Hi", "output": "Hello"}
    item = {"id": "r", "datasetRunId": "1", "datasetRunName": "run-1", "datasetItemId": "i7", "traceId": "t"}
    joined = tmp_path / "run.json"
    joined.write_text(json.dumps({"name": "run-1", "datasetRunItems": [item]}))
    options = conversations_file.FileOptions("b", joins=(joined,))
    ((_, entry),) = conversations_file.survey(lines(tmp_path / "a.jsonl", trace), options).examples
    assert entry.conversations[0].facets == {"run": "run-1", "scenario": "i7"}
    with pytest.raises(ImportRefused, match="--join"):
        conversations_file.survey(joined)
