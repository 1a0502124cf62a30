"""The GitHub Action: what it runs, the summary and the comment that it writes, and how it ends."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
RATINGS = ROOT / "data" / "examples" / "ratings.csv"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GH = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in *--jq*) echo $EARLIER ;; *) cat >> "$BODY"; exit ${DENIED:-0} ;; esac
"""


@pytest.fixture
def action(tmp_path):
    """What the action's last step prints, its exit code, and the files that it and `gh` wrote."""
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)

    def run(arguments, **more):
        paths = f"{tmp_path}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {
            "PATH": paths,
            "ARGUMENTS": arguments,
            "PULL_REQUEST": "7",
            "REPOSITORY": "owner/name",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "CALLS": str(tmp_path / "calls"),
            "BODY": str(tmp_path / "body"),
            "EARLIER": "",
        }
        script = ROOT / "bin" / "comment_outcome.py"
        return subprocess.run(
            [sys.executable, script],
            env=environment | more,
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )

    run.folder = tmp_path
    return run


def written(action, name):
    return (action.folder / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("least", "code"), [(0.5, 0), (0.99, 2)])
def test_the_outcome_is_the_comment_and_the_exit_code(action, least, code):
    done = action(f'gate "{RATINGS}" --min-agreement {least} --judges large_judge')
    assert done.returncode == code
    assert written(action, "body") == written(action, "summary")
    assert re.match(r"<!-- concord: \w{16} -->\n### (✅|❌) concord gate", written(action, "body"))
    assert "-X PATCH" not in written(action, "calls")


def test_an_earlier_comment_is_replaced(action):
    action(f"gate {RATINGS} --min-agreement 0.5", EARLIER="41")
    assert "-X PATCH repos/owner/name/issues/comments/41" in written(action, "calls")


def test_what_could_not_run_is_told_within_its_fence(action):
    done = action("gate 'no```such.csv' --min-agreement 0.5")
    assert done.returncode == 1
    assert written(action, "body").count("```") == 2
    assert "such.csv" in written(action, "body")


def test_words_of_the_input_run_nothing(action):
    done = action("gate $(touch ran) `touch ran` --min-agreement 0.5; touch ran")
    assert done.returncode == 1
    assert not (action.folder / "ran").exists()


def test_without_a_permission_the_summary_remains(action):
    done = action(f"gate {RATINGS} --min-agreement 0.5", DENIED="1")
    assert done.returncode == 0
    assert "pull-requests: write" in done.stderr
    assert "concord gate" in written(action, "summary")


def test_outside_pull_requests_nothing_is_commented(action):
    action(f"gate {RATINGS} --min-agreement 0.5", PULL_REQUEST="")
    assert not (action.folder / "calls").exists()


def test_inputs_reach_the_shell_as_variables_only():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    used = set(re.findall(r"inputs\.(\w+)", (ROOT / "action.yml").read_text()))
    assert used == {*ACTION["inputs"]}


def test_the_documents_list_the_inputs():
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.M)) == {*ACTION["inputs"]}
