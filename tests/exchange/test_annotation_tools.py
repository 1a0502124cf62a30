"""Studies go to Label Studio and Argilla and come back; the tools' own validators accept what is written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from concord.exchange import answers, label_studio
from concord.questions import Scale, points
from concord.rating import Criterion
from concord.store import ratings, studies
from concord.workspace import Workspace
from tests.label_studio import exported

VALIDATING = Path(__file__).with_name("validating.py")
SCALES = [
    "--scale",
    "wit & care=1:poor,2:fair,3:good",
    "--scale",
    "depth=0..10",
    "--scale",
    "связность=0:no,1:yes",
]
CSV = ["item_id,criterion,rater_type,rater,score,text,explanation"] + [
    f'i{item},{criterion},{kind},{rater},{score(item)},"Reply of item {item}: <b>&amp;</b>",{why}'
    for item in range(4)
    for criterion, score in (
        ("wit & care", lambda n: n % 3 + 1),
        ("depth", lambda n: 3 * n),
        ("связность", lambda n: n % 2),
    )
    for kind, rater, why in (
        ("human", "ann@example.org", ""),
        ("human", "bob@example.org", ""),
        ("judge", "gpt", "Because."),
    )
]


@pytest.fixture
def rated(fresh, run, tmp_path):
    """A study that two people and a judge rated."""
    file = tmp_path / "mine.csv"
    file.write_text("\n".join(CSV) + "\n")
    done = run(fresh, "import", "ratings", file, "--study", "mine", *SCALES)
    assert done.exit_code == 0, done.output
    return fresh


@pytest.fixture
def blank(rated, run, tmp_path):
    """The same study elsewhere, which nobody has rated."""
    chats = tmp_path / "mine.jsonl"
    run(rated, "export", "conversations", "--study", "mine", "--out", chats)
    other = Workspace.open(tmp_path / "other")
    assert run(other, "import", "conversations", chats).exit_code == 0
    return other


def answered(workspace, kinds=("human", "judge")):
    with workspace.read() as db:
        return sorted(
            (row["item_id"], row["criterion"], row["rater"], row["score"])
            for row in ratings.exported(db, "mine")
            if row["rater_type"] in kinds
        )


def test_label_studio_brings_back_what_it_was_given(rated, blank, run, tmp_path):
    out = tmp_path / "ls"
    done = run(rated, "export", "label-studio", "--study", "mine", "--out", out)
    assert done.exit_code == 0, done.output
    tasks = out / "tasks.json"
    assert "annotations" not in tasks.read_text(), "nobody is shown what others answered"
    done = run(blank, "import", "label-studio", exported(tasks, rated, "mine"), "--study", "mine")
    assert done.exit_code == 0, done.output
    assert answered(blank) == answered(rated, ["human"])
    assert len(answered(blank)) == 24


def test_no_task_names_a_model_or_a_key(rated, run, tmp_path):
    run(rated, "export", "label-studio", "--study", "mine", "--out", tmp_path / "ls")
    run(rated, "export", "argilla", "--study", "mine", "--out", tmp_path / "rg")
    for file in (tmp_path / "ls" / "tasks.json", tmp_path / "rg" / "records.json"):
        assert "mine/i0" not in file.read_text()
        assert "example.org" not in file.read_text()


def test_label_studio_in_its_other_forms(blank, run, tmp_path):
    """Numbers for people, words, skipped annotations, bare ids of predictions; JSON-MIN is refused."""
    with blank.read() as db:
        first, *_ = [item.name for item in answers.items(db, studies.get(db, "mine"))]
    about = {"to_name": "dialogue", "id": "r"}
    words = {**about, "from_name": "wit-care", "type": "choices", "value": {"choices": ["good"]}}
    stars = {**about, "from_name": "depth", "type": "rating", "value": {"rating": 4}}
    task = {
        "id": 7,
        "data": {"item": first, "dialogue": []},
        "predictions": [5, {"model_version": "gpt", "result": [stars]}],
        "drafts": [],
        "annotations": [
            {"completed_by": 3, "was_cancelled": False, "result": [words, stars], "created_at": "2026-01-01"},
            {"completed_by": 4, "was_cancelled": True, "result": [stars]},
        ],
    }
    file = tmp_path / "export.json"
    least = {"id": 8, "item": first, "depth": [{"rating": 2}], "wit-care": "2 fair", "annotator": 3}
    file.write_text(json.dumps([least]))
    refused = run(blank, "import", "label-studio", file, "--study", "mine").output
    assert "Export the project as JSON, not as JSON-MIN" in refused
    file.write_text(json.dumps([task]))
    done = run(blank, "import", "label-studio", file, "--study", "mine")
    assert done.exit_code == 0, done.output
    assert "1 predictions that the export has only as a number" in done.output
    assert "1 annotations that were skipped" in done.output
    assert [row[1:] for row in answered(blank)] == [
        ("depth", "annotator 3", 4.0),
        ("depth", "gpt", 4.0),
        ("wit & care", "annotator 3", 3.0),
    ]


def test_a_project_that_concord_did_not_make_becomes_a_study(fresh, run, tmp_path):
    said = [{"author": "user", "text": "Hi"}, {"author": "model", "text": "Hello"}]
    result = {"from_name": "tone", "to_name": "d", "type": "choices", "value": {"choices": ["kind"]}}
    task = {
        "id": 1,
        "data": {"chat": said},
        "annotations": [{"completed_by": {"email": "a@b"}, "result": [result]}],
    }
    file = tmp_path / "project.json"
    file.write_text(json.dumps([task]))
    done = run(fresh, "import", "label-studio", file, "--study", "tones")
    assert "“kind” on “tone” is not a number. Give its value: --scale 'tone=1:kind,2:…'" in done.output
    done = run(fresh, "import", "label-studio", file, "--study", "tones", "--scale", "tone=1:rude,2:kind")
    assert "1 ratings by annotators" in done.output, done.output
    with fresh.read() as db:
        assert studies.get(db, "tones").criteria[0].scale.labels == ("rude", "kind")


def test_argilla_brings_answers_back(rated, blank, run, tmp_path):
    out = tmp_path / "rg"
    assert run(rated, "export", "argilla", "--study", "mine", "--out", out).exit_code == 0
    records = json.loads((out / "records.json").read_text())
    user = "6d2ba3a2-3a0c-4d3f-9b57-0f7b7a3a7a31"
    records[0]["responses"] = {
        "depth": [{"value": 6, "user_id": user}],
        "wit-care": [{"value": 2, "user_id": user}],
    }
    records[1]["responses"] = {
        "depth": [
            {"value": 1, "user_id": user, "status": "submitted"},
            {"value": 9, "user_id": user, "status": "draft"},
        ]
    }
    records[1]["suggestions"] = {"depth": {"value": 3, "agent": "gpt"}}
    (out / "records.json").write_text(json.dumps(records))
    done = run(blank, "import", "argilla", out, "--study", "mine")
    assert done.exit_code == 0, done.output
    assert "1 answers that were not submitted" in done.output
    people = [row[1:] for row in answered(blank, ["human"])]
    assert people == [("depth", user, 6.0), ("wit & care", user, 2.0), ("depth", user, 1.0)]
    assert [row[1:] for row in answered(blank, ["judge"])] == [("depth", "gpt", 3.0)]


@pytest.mark.parametrize(
    ("tool", "text", "why"),
    [
        ("label-studio", '[{"id": 1}]', "entry 1, is not a Label Studio task"),
        ("argilla", '[{"id": 1}]', "entry 1, is not an Argilla record"),
        (
            "label-studio",
            '[{"data": {"item": "0123456789abcdef"}, "annotations": [{"completed_by": 1, "result": '
            '[{"from_name": "depth", "value": {"rating": 4}}]}]}]',
            "the item 0123456789abcdef is not in the study “mine”",
        ),
        ("argilla", '[{"fields": {"a": "b"}}]', "holds no answers"),
    ],
)
def test_what_is_of_no_use_is_refused(blank, run, tmp_path, tool, text, why):
    file = tmp_path / "file.json"
    file.write_text(text)
    done = run(blank, "import", tool, file, "--study", "mine")
    assert done.exit_code == 1
    assert why in done.output
    assert answered(blank) == []


def test_names_of_criteria_are_distinct_in_other_tools():
    criteria = [Criterion(name, "") for name in ("Wit & care", "wit-care", "связность", "Σ")]
    assert list(answers.names(criteria).values()) == ["wit-care", "wit-care-2", "criterion", "criterion-2"]


def test_a_range_is_asked_as_a_number():
    study = studies.Study("s", (Criterion("depth", "?", Scale((0, 1), ("0", "1"), "number")),))
    assert '<Number name="depth" toName="dialogue" min="0" max="1"' in label_studio.configuration(study)
    assert points(1, 3).low == 1


def test_the_tools_own_validators_accept_it(rated, run, tmp_path):
    """With label-studio-sdk and argilla in this environment, or in that of CONCORD_TOOLS_PYTHON."""
    python = os.environ.get("CONCORD_TOOLS_PYTHON", sys.executable)
    there = "import argilla, label_studio_sdk"
    if subprocess.run([python, "-c", there], capture_output=True).returncode:
        pytest.skip(f"label-studio-sdk and argilla are not installed for {Path(python).name} (make tools)")
    run(rated, "export", "label-studio", "--study", "mine", "--out", tmp_path / "ls")
    run(rated, "export", "argilla", "--study", "mine", "--out", tmp_path / "rg")
    exported(tmp_path / "ls" / "tasks.json", rated, "mine")
    told = subprocess.run([python, VALIDATING, tmp_path], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr[-2000:]
    assert json.loads(told.stdout.splitlines()[-1]) == {
        "tasks": 4,
        "annotations": 8,
        "records": 4,
    }


def test_texts_in_answer_to_a_question_of_argilla_are_left_out_and_counted(fresh, run, tmp_path):
    values = {"tone": 4, "comment": "It could have been kinder to me."}
    record = {"id": "r1", "fields": {"text": "Hello"}}
    record["responses"] = {name: [{"user_id": "ann", "value": value}] for name, value in values.items()}
    file = tmp_path / "records.json"
    file.write_text(json.dumps([record]))
    done = run(fresh, "import", "argilla", file, "--study", "mine")
    assert done.exit_code == 0, done.output
    assert "excluded: 1 texts in answer to “comment”" in done.output
