"""Errors with `--format json`: one line of JSON on standard error with a stable code."""

import importlib
import json
import re
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from concord.cli import main
from concord.codes import ErrorCode, Failure
from concord.errors import CallFailed, ConcordError, DatabaseReplaced
from concord.reports.json_schema import json_schema

CORE = Path(__file__).parents[2] / "core"
EXAMPLE = str(Path(__file__).parents[2] / "data" / "examples" / "ratings.csv")
DOCUMENT = Path(__file__).parents[2] / "docs" / "exit_codes.md"


def printed(*words):
    """The exit code, standard output, and the error of a call."""
    done = CliRunner().invoke(main, words)
    document = json.loads(done.stderr.splitlines()[-1])
    jsonschema.validate(document, json_schema("error"))
    return done.exit_code, done.stdout, document["error"]


def test_each_class_of_errors_has_a_code_of_its_own():
    for path in CORE.rglob("*.py"):
        if re.search(r"^class \w+\(ConcordError\b", path.read_text(encoding="utf-8"), re.M):
            importlib.import_module(".".join(("concord", *path.relative_to(CORE).with_suffix("").parts)))
    classes = [*ConcordError.__subclasses__(), DatabaseReplaced]
    codes = [vars(kind)["code"] for kind in classes if kind is not CallFailed]
    assert sorted(codes) == sorted({*ErrorCode} - {ErrorCode.FAILED, ErrorCode.USAGE})
    assert ConcordError("No.").code is ErrorCode.FAILED
    assert {CallFailed("No.", code=code).code for code in Failure} == {*Failure}


@pytest.mark.parametrize(
    ("words", "exit_code", "code"),
    [
        (["check", EXAMPLE, "--judge", "nobody", "--format", "json"], 1, ErrorCode.NOT_FOUND),
        (["check", EXAMPLE, "--format=json", "--nonsense"], 2, ErrorCode.USAGE),
        (["check", "absent.csv", "--format", "json"], 1, ErrorCode.IMPORT_REFUSED),
        (["gate", EXAMPLE, "--min-agreement", "x", "--format", "json"], 1, ErrorCode.USAGE),
        (["--nonsense", "check", EXAMPLE, "--format", "json"], 2, ErrorCode.USAGE),
        (["agreement", "--study", "x", "--format", "json"], 1, ErrorCode.WORKSPACE),
        (
            ["gate", EXAMPLE, "--study", "x", "--min-agreement", "0.5", "--format", "json"],
            1,
            ErrorCode.FAILED,
        ),
        (["nonsense", "--format", "json"], 2, ErrorCode.USAGE),
    ],
)
def test_a_command_that_fails_prints_the_code(tmp_path, monkeypatch, words, exit_code, code):
    monkeypatch.delenv("CONCORD_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)
    actual, output, error = printed(*words)
    assert (actual, output, error["code"]) == (exit_code, "", code)
    words = [word for word in words if word not in ("--format", "json", "--format=json")]
    sentence = CliRunner().invoke(main, words)
    assert sentence.exit_code == exit_code
    assert sentence.stderr.endswith(f"Error: {error['message']}\n")


def test_a_file_that_is_no_table_is_an_import_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("a,b\n", encoding="utf-8")
    exit_code, _, error = printed("check", str(path), "--format", "json")
    assert (exit_code, error["code"]) == (1, ErrorCode.IMPORT_REFUSED)


@pytest.mark.parametrize("words", [["check", "a.csv"], ["check", "--", "--format", "json"]])
def test_without_the_option_an_error_is_a_sentence(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, words)
    assert done.exit_code
    assert "Error: " in done.stderr
    assert "{" not in done.stderr


def test_the_page_lists_every_code():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [code for code in ErrorCode if f"| `{code}` |" not in text] == []
