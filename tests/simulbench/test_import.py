"""The published files: their counts, and lines that cannot be used."""

import json

import pytest

from concord.benchmarks.simulbench import files
from concord.benchmarks.simulbench.scripts import scripts_by_key
from concord.errors import ImportRefused
from concord.store import scenarios

DESCRIPTION = "Be a till. My first item costs 3."


def line(turn_num=0, history=None, **changed):
    said = [
        ("user", DESCRIPTION),
        ("assistant", "3"),
        ("user", "Another for 4."),
        ("assistant", "7"),
        ("user", "Total?"),
    ]
    entry = {
        "id": 0,
        "source_id": "000#Till",
        "act": "Till",
        "task_description": DESCRIPTION,
        "type": "stateful",
        "source_file_name": "m.json",
        "turn_num": turn_num,
        "dialogue_history": [{"role": r, "content": c} for r, c in (said if history is None else history)],
    }
    return json.dumps({**entry, **changed})


@pytest.fixture
def file(tmp_path):
    def write(*lines):
        path = tmp_path / "scripts.jsonl"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def test_the_published_tasks(run, workspace, published):
    result = run(workspace, "simulbench", "import", "tasks", published / "simulbench_tasks.jsonl")
    assert result.exit_code == 0, result.output
    assert result.output == "109 tasks.\n  stateless: 58\n  stateful: 51\n"
    again = run(workspace, "simulbench", "import", "tasks", published / "simulbench_tasks.jsonl")
    assert again.output.startswith("109 tasks, 0 of them new.")
    listed = run(workspace, "simulbench", "tasks", "list").output
    assert "000#Linux_Terminal\tstateful\tsimulbench_tasks\tLinux Terminal" in listed
    assert "rpn-calculator\tstateful\tcatalogue" in listed


def test_the_published_scripts(run, workspace, published):
    result = run(workspace, "simulbench", "import", "scripts", published / "simulbench_all.jsonl")
    assert result.exit_code == 0, result.output
    for told in (
        "500 scripts.",
        "LastOnly: 225 (",
        "FirstChan: 94 (38 stateless, 56 stateful)",
        "SubseqChan: 181 (",
        "Hard (FirstChan and SubseqChan): 275",
    ):
        assert told in result.output
    assert "The paper counts 93 FirstChan and 182 SubseqChan" in result.output
    with workspace.read() as db:
        found = scripts_by_key(scenarios.accepted(db, "simulbench", "script"))
    assert len(found) == 500
    one = found["000#Linux_Terminal/gpt-3.5-turbo-2@4"]
    assert (one.kind, one.turn, one.challenging, len(one.history)) == ("SubseqChan", 4, 3, 7)


def test_kinds_follow_from_the_turn_numbers(file):
    brought = files.read_scripts(
        file(
            line(2, [("user", "a"), ("assistant", "b"), ("user", "c")]),
            line(3),
            line(0, source_file_name="other.json"),
            line(1, [("user", "a")], source_id="001#Other"),
        )
    )
    assert [(s.kind, s.turn, s.challenging) for s in brought] == [
        ("FirstChan", 2, 2),
        ("SubseqChan", 3, 2),
        ("LastOnly", 3, 0),
        ("FirstChan", 1, 1),
    ]


BAD = {
    "the end": (line(3, [("user", "a"), ("assistant", "b")]), "must end with the user's request"),
    "turns": (line(9), "turn 9 needs a history of 17 messages, not 5"),
    "negative": (line(-1), "turn_num: Input should be greater than or equal to 0"),
    "order": (line(0, [("user", "a"), ("user", "b")]), "must take turns"),
    "nothing": (line(0, []), "dialogue_history: Tuple should have at least 1 item"),
    "broken": ('{"id": 3, "source', "not valid JSON"),
    "list": ("[1, 2]", "not a JSON object"),
    "type": (line(type="sometimes"), "type: Input should be 'stateless' or 'stateful'"),
    "missing": (line(act=""), "act: String should have at least 1 character"),
    "role": (line(0, [("robot", "a")]), "dialogue_history.0.role: "),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_line_is_named_and_nothing_is_stored(run, workspace, file, case):
    bad, complaint = BAD[case]
    path = file(line(), bad, line(source_file_name="c.json"))
    result = run(workspace, "simulbench", "import", "scripts", path)
    assert result.exit_code == 1
    assert "scripts.jsonl, line 2" in result.output
    assert complaint in result.output
    with workspace.read() as db:
        assert scenarios.keys(db, "simulbench", "script") == []


def test_a_script_that_comes_twice_is_named(file):
    with pytest.raises(ImportRefused, match=r"line 3: .* stands in .*scripts.jsonl, line 1 already"):
        files.read_scripts(file(line(), line(source_file_name="b.json"), line()))


def test_files_that_are_none(run, workspace, tmp_path):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name, complaint in {"empty": "is empty", "binary": "not UTF-8", "gone": "cannot be read"}.items():
        result = run(workspace, "simulbench", "import", "tasks", tmp_path / name)
        assert result.exit_code == 1
        assert complaint in result.output


def test_one_published_file_taken_for_the_other_is_told_by_its_name(run, workspace, file, tmp_path):
    scripts, tasks = file(line()), tmp_path / "tasks.jsonl"
    task = {"id": "t", "act": "T", "task_description": "Be a T.", "request_type": "input", "type": "stateful"}
    tasks.write_text(json.dumps(task) + "\n")
    said = run(workspace, "simulbench", "import", "tasks", scripts).output
    assert "holds scripts, not tasks. Import it with `concord " in said
    assert "holds tasks, not scripts" in run(workspace, "simulbench", "import", "scripts", tasks).output
    tasks.write_text(json.dumps({**task, "id": 7}) + "\n" + json.dumps({"id": "u"}) + "\n")
    said = run(workspace, "simulbench", "import", "tasks", tasks).output
    assert "line 1: id: Input should be a valid string." in said
