"""A file of an unknown form is refused with a command that reads it."""

import json
import re
import shlex

import pytest

HI, HO = [("user", "Hi"), ("assistant", "Hello")], [("user", "Ho"), ("assistant", "Hey")]
MESSAGE = {"role": "user", "content": "Hi"}
FILES = {
    "nested.jsonl": (
        {"uid": 1, "payload": {"dialog": [{"who": "user", "said": "Hi"}, {"who": "bot", "said": "Hello"}]}},
        [HI],
    ),
    "words.jsonl": ({"nr": 5, "frage": "Hi", "antwort": "Hello"}, [HI]),
    "table.csv": ("ticket,kunde_sagt,agent_sagt,note\n7,Hi,Hello,4\n8,Ho,Hey,2\n", [HI, HO]),
    "lists.json": ({"meta": {"v": 1}, "export": {"t": [{"nr": 1, "k": "Hi", "a": "Hello"}]}}, [HI]),
    "turns.csv": ("talk,nr,wer,satz\nA,2,assistant,Hello\nA,1,user,Hi\nB,1,user,Ho\nB,2,bot,Hey\n", [HI, HO]),
    "pairs.jsonl": ({"frage": "Hi", "eins": "Hello", "zwei": "Yo"}, [HI]),
    "names.json": ({"A": {"q": "Hi", "a": "Hello"}, "B": {"q": "Ho", "a": "Hey"}}, [HI, HO]),
    "text.jsonl": ({"nr": 1, "protokoll": "Human: Hi\n\nAssistant: Hello"}, [HI]),
    "call.jsonl": ({"req": {"body": {"msgs": [MESSAGE]}}, "resp": {"txt": "Hello"}, "ok": True}, [HI]),
    "flat.jsonl": ({"in_messages": json.dumps([MESSAGE]), "out_text": "Hello"}, [HI]),
    "dots.json": ({"run.items": [{"in.q": "Hi", "out.a": "Hello"}]}, [HI]),
    "speakers.jsonl": (
        {"log": [{"sender": "Kunde", "text": "Hi"}, {"sender": "Max", "text": "Hello"}]},
        [HI],
    ),
}


@pytest.mark.parametrize("name", list(FILES))
def test_the_command_of_the_refusal_reads_the_file(fresh, run, tmp_path, name):
    content, dialogues = FILES[name]
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    refused = run(fresh, "import", "conversations", file)
    assert refused.exit_code == 1
    command = shlex.split(re.search(r"Try: (.*)", refused.output)[1])
    assert command[0] == "concord"
    assert "--workspace" in command
    words = command[command.index("import") :]
    read = run(fresh, *words)
    assert read.exit_code == 0, read.output
    said = re.findall(r"^  (user|assistant): (.*)$", read.output, re.MULTILINE)
    assert said == [each for dialogue in dialogues for each in dialogue]


def test_a_file_without_words_has_no_command(fresh, run, tmp_path):
    file = tmp_path / "n.jsonl"
    file.write_text('{"a": 1, "b": "2026-01-01"}\n')
    refused = run(fresh, "import", "conversations", file)
    assert (refused.exit_code, "Try:" in refused.output) == (1, False)
