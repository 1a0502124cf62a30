"""People's sample of a lake, and what they would say of all of it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from concord.codes import LakeDraw, LakeWarning
from concord.lake import engines
from concord.lake.counting import GroupColumn, by_of
from concord.lake.sample import allotted
from concord.reports.json_schema import json_schema
from concord.statistics.corrected import corrected_mean
from concord.store import conversations, ratings, studies
from concord.studies.studies import ratings_for_agreement
from tests.conftest import toml
from tests.lake.logs import conversation, lines, planned, rate, rows

ROOT = Path(__file__).parents[2]
LOG = [conversation(number) for number in range(400)]
JUDGES = {"a": 'model = "mock-judge-strict"', "b": 'model = "mock-judge-noisy"'}


@pytest.fixture
def judged(workspace, mock, tmp_path):
    """A workspace, and a folder of answers of two judges."""
    workspace.models_path.write_text(toml(mock, **JUDGES))
    lines(tmp_path / "log.jsonl", LOG)
    keep = {"segment": "segment", "created": "created"}
    engines.execute(planned(workspace, [tmp_path / "log.jsonl"], tmp_path / "out", keep=keep))
    return workspace, tmp_path / "out"


def scores(out, judge: str, criterion: str = "solved") -> dict[str, float]:
    """A judge's scores by key."""
    answers = rows(out, ["key", "judge", "criterion", "score"])
    return {key: float(score) for key, by, name, score in answers if (by, name) == (judge, criterion)}


def estimate(run, workspace, out, *more):
    result = run(workspace, "estimate", out, "--study", "s", "--format", "json", *more)
    assert result.exit_code == 0, result.output
    values = json.loads(result.stdout)
    jsonschema.Draft202012Validator(json_schema("estimate")).validate(values)
    return values["tables"]


def test_a_judge_whose_entry_has_changed_counts_once(judged, run, mock, tmp_path):
    """By the answers of the configuration that the study has, or of the folder that is named."""
    workspace, out = judged
    [before] = out.glob("*/a-*")
    assert run(workspace, "sample", out, "--study", "s", "--n", "120").exit_code == 0
    rate(workspace, "s")
    first = estimate(run, workspace, out, "--judge", "a")
    keep = {"segment": "segment", "created": "created"}
    for model in ("mock-judge-lenient", "mock-judge-noisy"):
        workspace.models_path.write_text(toml(mock, a=f'model = "{model}"'))
        assert (
            engines.execute(planned(workspace, [tmp_path / "log.jsonl"], out, ["a"], keep=keep)).judged == 400
        )
    assert len(list(out.glob("*/a-*"))) == 3
    assert estimate(run, workspace, out, "--judge", "a") == first
    assert estimate(run, workspace, out, "--judge", before.name) == first
    for other in set(out.glob("*/a-*")) - {before}:
        result = run(workspace, "estimate", out, "--study", "s", "--judge", other.name)
        assert result.exit_code == 1
        assert "another configuration" in result.output


def test_only_the_sample_enters_the_workspace(judged, run):
    workspace, out = judged
    result = run(workspace, "sample", out, "--study", "s", "--n", "60")
    assert result.exit_code == 0, result.output
    with workspace.read() as db:
        assert conversations.count(db) == 60
        units = studies.units(db, "s")
        stored = {unit["key"].removeprefix("lake/"): unit["conversation_id"] for unit in units}
        by_judge = ratings.judges(db)
        assert conversations.load(db, units[0]["conversation_id"]).facets.keys() == {"segment", "created"}
    assert len(stored) == 60
    assert {(rater.name, rater.variant): count for rater, count in by_judge.items()}
    # The same seed draws the same, from the files as from the answers.
    again = run(workspace, "sample", out, "--study", "t", "--n", "60")
    assert again.exit_code == 0
    with workspace.read() as db:
        assert conversations.count(db) == 60


def test_a_sample_is_drawn_from_one_file_that_no_judge_has_rated(workspace, run):
    examples = ROOT / "data" / "examples"
    options = ("--rubric", examples / "support.toml", "--study", "s", "--n", "4")
    result = run(workspace, "sample", examples / "support.jsonl", *options)
    assert result.exit_code == 0, result.output
    with workspace.read() as db:
        assert len(studies.units(db, "s")) == 4


def test_an_estimate_is_the_corrected_mean_of_each_group(judged, run):
    workspace, out = judged
    assert run(workspace, "sample", out, "--study", "s", "--n", "120").exit_code == 0
    people = rate(workspace, "s")
    tables = estimate(run, workspace, out, "--by", "segment", "--judge", "b")
    judge = scores(out, "b")
    for group in ("all", "a", "b"):
        keys = [row["id"] for row in LOG if group in ("all", row["segment"])]
        rated = [key for key in keys if key in people]
        expected = corrected_mean(
            np.array([people[key] for key in rated]),
            np.array([judge[key] for key in rated]),
            np.array([judge[key] for key in keys if key not in people]),
            scale=(0, 1),
        ).value
        table = tables["lake-overall" if group == "all" else "lake-by-segment"]
        [row] = [row for row in table["rows"] if row["group"] == group]
        assert row["corrected"]["value"] == pytest.approx(expected.value)
        assert row["corrected"]["ci"] == pytest.approx(list(expected.interval))
        assert row["judged"] == len(keys)
    assert [row["difference"] for row in tables["lake-differences-segment"]["rows"]] == ["b − a"]
    by_month = estimate(run, workspace, out, "--by", "created:month")["lake-by-created"]
    assert [row["group"] for row in by_month["rows"]] == ["2026-01", "2026-02", "2026-03"]


def test_a_sample_by_answer_keeps_sizes_and_figures_weigh(judged, run):
    workspace, out = judged
    result = run(
        workspace, "sample", out, "--study", "s", "--n", "80", "--draw", LakeDraw.BY_ANSWER, "--judge", "b"
    )
    assert result.exit_code == 0, result.output
    people, judge = rate(workspace, "s"), scores(out, "b")
    sizes = {value: sum(score == value for score in judge.values()) for value in (0.0, 1.0)}
    with workspace.read() as db:
        of = ratings_for_agreement(db, "s")
        keys = {unit["id"]: unit["key"].removeprefix("lake/") for unit in studies.units(db, "s")}
    drawn = {value: sum(judge[key] == value for key in keys.values()) for value in sizes}
    for unit, key in keys.items():
        assert of.weights[unit] == pytest.approx(sizes[judge[key]] / drawn[judge[key]])
    weighted = {key: of.weights[unit] for unit, key in keys.items()}
    expected = sum(people[key] * weight for key, weight in weighted.items()) / sum(weighted.values())
    [row] = estimate(run, workspace, out, "--judge", "b")["lake-overall"]["rows"]
    # The judge's share in the weighted sample is that of all, so that nothing is corrected.
    assert row["corrected"]["value"] == pytest.approx(expected)


def test_half_of_a_sample_is_even_and_half_in_proportion():
    # 100 · (½ · ½ + ½ · .9) = 70 and 30
    assert allotted({"yes": 900, "no": 100}, 100) == {"yes": 70, "no": 30}
    assert allotted({"yes": 995, "no": 5}, 100) == {"yes": 95, "no": 5}
    assert sum(allotted({"a": 3, "b": 5, "c": 7}, 11).values()) == 11


def test_another_configuration_is_refused(judged, run, mock, tmp_path):
    workspace, out = judged
    assert run(workspace, "sample", out, "--study", "s", "--n", "40").exit_code == 0
    rate(workspace, "s")
    changed = JUDGES | {"b": 'model = "mock-judge-lenient"'}
    workspace.models_path.write_text(toml(mock, **changed))
    other = tmp_path / "other"
    engines.execute(planned(workspace, [tmp_path / "log.jsonl"], other))
    result = run(workspace, "estimate", other, "--study", "s", "--judge", "b")
    assert result.exit_code == 1
    assert "model is mock-judge-lenient, was mock-judge-noisy" in result.output


def test_another_version_of_the_rubric_is_refused(judged, run, tmp_path):
    workspace, out = judged
    assert run(workspace, "sample", out, "--study", "s", "--n", "40").exit_code == 0
    rate(workspace, "s")
    file = workspace.path / "rubrics" / "support.toml"
    file.write_text(file.read_text().replace("is polite", "is very polite"))
    engines.execute(planned(workspace, [tmp_path / "log.jsonl"], tmp_path / "other", ["a"]))
    result = run(workspace, "estimate", tmp_path / "other", "--study", "s")
    assert result.exit_code == 1
    assert "different versions of the rubric" in result.output


BAD = {
    "--by region": "region",
    "--by created:year": "created:day",
    "--criterion nice": "nice",
    "--judge c": "judge “c”",
}


@pytest.mark.parametrize("option", BAD)
def test_what_is_not_there_is_named(judged, run, option):
    workspace, out = judged
    assert run(workspace, "sample", out, "--study", "s", "--n", "40").exit_code == 0
    rate(workspace, "s")
    result = run(workspace, "estimate", out, "--study", "s", *option.split())
    assert result.exit_code == 1
    assert BAD[option] in result.output


def test_a_folder_without_answers_is_named(judged, run, tmp_path):
    workspace, out = judged
    assert run(workspace, "sample", out, "--study", "s", "--n", "40").exit_code == 0
    assert "no judgements" in run(workspace, "estimate", tmp_path, "--study", "s").output
    assert "No annotator has rated" in run(workspace, "estimate", out, "--study", "s").output


def test_files_unlike_the_sample_are_warned_of(judged, run, tmp_path):
    workspace, out = judged
    first = tmp_path / "first"
    lines(tmp_path / "short.jsonl", [row for row in LOG if len(row["messages"][1]["content"]) < 60])
    engines.execute(planned(workspace, [tmp_path / "short.jsonl"], first))
    assert run(workspace, "sample", first, "--study", "s", "--n", "60").exit_code == 0
    rate(workspace, "s")
    assert "differ in the length of replies" in run(workspace, "estimate", out, "--study", "s").output
    assert "unlike" not in run(workspace, "estimate", first, "--study", "s").output
    values = json.loads(run(workspace, "estimate", out, "--study", "s", "--format", "json").output)
    assert [warning["code"] for warning in values["warnings"]] == [LakeWarning.UNLIKE_LENGTHS]
    wrong = values | {"warnings": [values["warnings"][0] | {"code": "odd"}]}
    assert not jsonschema.Draft202012Validator(json_schema("estimate")).is_valid(wrong)


@pytest.mark.parametrize(
    ("text", "column", "group"),
    [
        ("created:week", "2026-01-01T00:00:00Z", "2026-W01"),
        ("created:day", "2026-02-03 10:00", "2026-02-03"),
        ("created:month", "2026-02-03", "2026-02"),
        ("created:week", "soon", "(none)"),
        ("segment", None, "(none)"),
        ("segment", "a", "a"),
    ],
)
def test_groups_of_values(text, column, group):
    [by] = by_of([text])
    assert isinstance(by, GroupColumn)
    assert by.value(column) == group
