"""`concord schema`: what commands print as JSON is valid by it, and it has every code and section."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from concord.cli import main
from concord.codes import Verdict
from concord.reports.json_schema import MAKERS, json_schema
from concord.reports.sections import SECTIONS
from concord.store import studies

EXAMPLE = Path(__file__).parents[2] / "data" / "examples" / "ratings.csv"


def validator(name):
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture(scope="module")
def checked():
    return json.loads(CliRunner().invoke(main, ["check", str(EXAMPLE), "--format", "json"]).output)


def test_check_prints_what_its_schema_says(checked):
    validator("check").validate(checked)
    validator("agreement").validate(checked)


def test_agreement_prints_what_its_schema_says(filled, run):
    with filled.read() as db:
        (name,) = studies.names(db)
    words = ("agreement", "--study", name, "--resamples", 200, "--format", "json")
    validator("agreement").validate(json.loads(run(filled, *words).output))


@pytest.mark.parametrize("least", [0.5, 0.99])
def test_gate_and_drift_print_what_their_schema_says(filled, run, least):
    gate = run(filled, "gate", EXAMPLE, "--min-agreement", least, "--format", "json")
    validator("gate").validate(json.loads(gate.output))
    drift = run(filled, "drift", EXAMPLE, EXAMPLE, "--format", "json")
    validator("drift").validate(json.loads(drift.output))


def test_another_code_or_a_missing_figure_is_not_valid(checked):
    wrong = copy.deepcopy(checked)
    wrong["verdicts"][wrong["main"]]["verdict"] = "perhaps"
    assert not validator("check").is_valid(wrong)
    lacking = copy.deepcopy(checked)
    del lacking["sections"][lacking["main"]]
    lacking["sections"][lacking["main"]] = {}
    assert not validator("check").is_valid(lacking)


def test_a_schema_has_every_verdict_and_section():
    schema = json_schema("agreement")
    assert schema["$defs"]["verdict"]["properties"]["verdict"]["enum"] == [*Verdict]
    sections = schema["properties"]["sections"]["additionalProperties"]["properties"]
    assert {*SECTIONS} <= {*sections, *schema["properties"]}


@pytest.mark.parametrize("name", MAKERS)
def test_the_command_prints_each(filled, run, name):
    done = run(filled, "schema", name)
    assert json.loads(done.output) == json_schema(name)


def test_another_name_is_refused(filled, run):
    done = run(filled, "schema", "verdict")
    assert done.exit_code == 1
    assert "agreement" in done.output
