"""`concord stss score`, as it is called."""

from __future__ import annotations

import json

from click.testing import CliRunner

from concord.benchmarks.stss.tasks import values_of
from concord.cli import main
from tests.stss.made import CAFE, lived, party, write


def score(tmp_path, *arguments, task=None, more=()):
    tasks, trajectory = tmp_path / "tasks.json", tmp_path / "t.jsonl"
    tasks.write_text(json.dumps([values_of(task or party())]))
    happened = lived(f"Ada | 2 19:00 | party | {CAFE}", f"Ben | 2 19:00 | the party | {CAFE}", *more)
    write(happened, trajectory)
    return CliRunner().invoke(
        main, ["stss", "score", "--tasks", str(tasks), "--trajectory", str(trajectory), *arguments]
    )


def test_json_has_the_fields_promised(tmp_path):
    done = score(tmp_path, "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert set(found) == {"schema", "tasks", "by_type", "overall", "notes"}
    assert (found["tasks"][0]["id"], found["tasks"][0]["type"]) == ("party", "public")
    assert found["tasks"][0]["score"] == found["by_type"]["public"] == found["overall"] == 1 / 3
    assert found["tasks"][0]["conversation_ratio"] == 0
    (evidence,) = found["tasks"][0]["evidence"]
    assert (
        evidence["agent"],
        evidence["time"],
        evidence["place"],
        evidence["words"],
        evidence["counted"],
    ) == (
        "Ben",
        "2023-02-14 19:00:00",
        CAFE,
        ["party"],
        True,
    )


def test_the_table_names_who_counted(tmp_path):
    done = score(tmp_path)
    assert done.exit_code == 0, done.output
    assert "party (public activity): 0.333, conversation ratio 0.00" in done.stdout
    assert "Ben" in done.stdout
    assert "Overall: 0.333 (n = 1)" in done.stdout


def test_an_unknown_performer_is_a_sentence(tmp_path):
    done = score(tmp_path, task=party(performer="Zed"))
    assert done.exit_code == 1
    assert "Zed, who is not in the trajectory" in done.output
    assert "Traceback" not in done.output


def test_tasks_that_are_not_about_the_trajectory_are_named_and_the_rest_is_scored(tmp_path):
    file = tmp_path / "several.json"
    file.write_text(json.dumps([values_of(party()), values_of(party(id="elsewhere", performer="Zed"))]))
    done = score(tmp_path, "--format", "json", "--tasks", str(file))
    assert done.exit_code == 1
    assert [t["id"] for t in json.loads(done.stdout)["tasks"]] == ["party"]
    assert "The task “elsewhere” names Zed" in done.stderr
    chosen = score(tmp_path, "--tasks", str(file), "--task", "party")
    assert chosen.exit_code == 0, chosen.output
    assert "Did you mean “party”" in score(tmp_path, "--tasks", str(file), "--task", "partty").output


def test_who_is_left_out_is_said_on_stderr_and_in_json(tmp_path):
    zorro = f"Zorro | 2 19:00 – 2 20:00 | the party | {CAFE}"
    done = score(tmp_path, "--format", "json", task=party(cast=("Ada", "Ben")), more=(zorro,))
    assert done.exit_code == 0, done.output
    note = "Left out of “party”, whose all_chars does not name them: Zorro."
    found = json.loads(done.stdout)
    assert note in found["notes"]
    assert note in done.stderr.splitlines()
    assert note in found["tasks"][0]["notes"]
    assert found["tasks"][0]["score"] == 1 / 3  # Ben alone, of three wanted
    assert [e["agent"] for e in found["tasks"][0]["evidence"]] == ["Ben"]
