"""`concord rubric …` and `concord quickstart`, on the example that ships."""

import json
import socket
from pathlib import Path

import pytest

from concord.rubrics import writing
from concord.rubrics.reading import read
from concord.store import access, conversations, ratings, studies
from tests.rubrics.rubric_files_helpers import rubric

EXAMPLES = Path(__file__).resolve().parents[2] / "data" / "examples"
FILE, RUBRIC = EXAMPLES / "support.jsonl", EXAMPLES / "support.toml"


def done(result):
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def started(fresh, run):
    """A workspace in which quickstart was run with mock judges, and what it said."""
    made = ("quickstart", FILE, "--rubric", RUBRIC, "--mock", "--no-app", "--people", "Ann,Bob", "--n", "6")
    return fresh, lambda: done(run(fresh, *made))


def test_quickstart_goes_from_a_file_to_judged_and_dealt(started):
    workspace, quickstart = started
    said = quickstart()
    assert "24 new conversations." in said
    assert said.count("/rate?token=") == 2
    assert "48 calls" in said
    with workspace.read() as db:
        assert studies.get(db, "support").rubric == "support"
        assert {a.name: a.items for a in access.annotators(db, "support")} == {"Ann": 6, "Bob": 6}
        found = ratings.of_conversation(db, 1)
    assert {r.criterion for r in found} == {"helpful", "keeps_rules", "tone", "effort"}
    assert all(r.rater.simulated and r.explanation.startswith("(mock)") for r in found)


def test_quickstart_again_makes_nothing_twice_and_leaves_the_links(started):
    _, quickstart = started
    quickstart()
    again = quickstart()
    assert "0 new conversations, 24 were stored already." in again
    assert "The study “support” exists already." in again
    assert "Ann: 6 items by the earlier link" in again
    assert " 0 calls" in again


def test_quickstart_names_what_is_missing(fresh, run, tmp_path):
    assert "There is no file" in run(fresh, "quickstart", tmp_path / "nothing.jsonl").output
    assert "Give a rubric: --rubric NAME or FILE.toml." in run(fresh, "quickstart", FILE).output
    lacking = run(fresh, "quickstart", FILE, "--rubric", RUBRIC, "--no-app").output
    assert "No model is configured." in lacking
    later = run(fresh, "quickstart", FILE, "--rubric", RUBRIC, "--mock", "--no-app", "--port", "0").output
    assert "The links need the port that the app will have." in later


def test_quickstart_takes_its_port_before_it_stores_anything(fresh, run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = run(fresh, "quickstart", FILE, "--rubric", RUBRIC, "--mock", "--port", port).output
    assert f"Port {port} is in use" in said
    with fresh.read() as db:
        assert conversations.count(db) == 0


def test_a_new_rubric_is_shown_and_a_wrong_one_refused(fresh, run):
    done(run(fresh, "rubric", "new", "mine", "--ask", "good=It is good.", "--unit", "last-reply"))
    assert "It is good." in done(run(fresh, "rubric", "show", "mine"))
    done(run(fresh, "rubric", "new", "begun"))
    assert "helpful" in done(run(fresh, "rubric", "show", "begun")), "an example of a question"
    (fresh.path / "rubrics" / "wrong.toml").write_text("title = 1\n")
    shown = run(fresh, "rubric", "show", "wrong")
    assert shown.exit_code == 1
    assert "wrong.toml: “criteria” is missing." in shown.output or "“title”" in shown.output
    again = run(fresh, "rubric", "new", "mine", "--ask", "good=It is good.")
    assert "exists already" in again.output
    assert "is not a file name" in run(fresh, "rubric", "new", "../x", "--ask", "a=b").output


def test_show_prints_what_a_judge_is_sent(started, run):
    workspace, quickstart = started
    quickstart()
    said = done(run(workspace, "rubric", "show", "support", "--conversation", "human-please/assistant-1"))
    assert "1 = Does nothing, or harm" in said
    assert "Hand over to a person without discussion." in said  # the reference, which judges alone see
    assert '"tone": "warm" or "neutral" or "cold"' in said
    assert '"helpful_reason"' in said


def test_versions_that_were_used_are_counted(started, run):
    workspace, quickstart = started
    quickstart()
    path = workspace.path / "rubrics" / "support.toml"
    path.write_text(path.read_text().replace('reasons = "before" ', 'reasons = "after" '))
    done(run(workspace, "judge", "support", "--judges", "mock-judge-strict", "--estimate"))
    assert "1 version used" in done(run(workspace, "rubric", "list"))  # an estimate uses nothing
    done(run(workspace, "study", "draw", "second", "--n", "3", "--rubric", "support"))
    assert "2 versions used" in done(run(workspace, "rubric", "list"))
    assert "(support v1," in done(run(workspace, "rubric", "show", "support", "--version", "1"))


@pytest.mark.parametrize(
    "text", ['It said "no"', 'two\nlines with """ and \\ and "', "a\n", "ends in \\\n\\"]
)
def test_a_rubric_that_is_written_is_read_as_it_was(text):
    told = json.loads(json.dumps(read(RUBRIC).body))
    told["criteria"][0]["statement"] = text
    told["guidelines"] = text
    assert rubric(writing.toml(told)).body == told
