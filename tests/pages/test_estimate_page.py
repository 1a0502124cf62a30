"""The page Estimate: judged files beside the workspace, how their job stands, and what people would say."""

from __future__ import annotations

import fcntl
import json
import os

import pytest
from streamlit.testing.v1 import AppTest

from concord.lake import engines, status
from concord.lake.coordinator import LakeHow
from concord.lake.partitions import Shard
from tests.conftest import toml
from tests.lake.logs import conversation, lines, planned, rate
from tests.pages.framed import FRAME

JUDGES = {"a": 'model = "mock-judge-strict"', "b": 'model = "mock-judge-noisy"'}


def shown(**query: str | list[str]) -> AppTest:
    app = AppTest.from_string(FRAME.format(file="results/estimate.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


@pytest.fixture
def judged(workspace, mock, tmp_path):
    """A workspace, and a folder beside it with the answers of two judges."""
    workspace.models_path.write_text(toml(mock, **JUDGES))
    log = lines(tmp_path / "log.jsonl", [conversation(number) for number in range(300)])
    keep = {"segment": "segment", "created": "created"}
    plan = planned(workspace, [log], tmp_path / "judged", keep=keep)
    engines.execute(plan)
    return workspace, plan


def test_without_judged_files_the_page_says_how_to_judge_some(workspace):
    app = shown()
    assert not app.exception
    assert "judge FILES" in app.code[0].value
    assert str(workspace.path) in app.code[0].value


def test_without_people_the_page_says_how_to_draw_a_sample(judged):
    app = shown()
    assert not app.exception
    assert f"sample {judged[1].answers}" in app.code[0].value


def test_the_answer_is_that_of_the_command(judged, run):
    workspace, plan = judged
    assert run(workspace, "sample", plan.answers, "--study", "s", "--n", 120).exit_code == 0
    rate(workspace, "s")
    app = shown(by="segment|created:week")
    assert not app.exception
    assert not app.error
    [grouped] = app.multiselect
    assert grouped.value == ["segment", "created:week"]
    assert "created (week)" in grouped.options
    command = run(workspace, "estimate", plan.answers, "--study", "s", "--by", "segment,created:week")
    answer = app.subheader[0].value.replace("\\", "")
    assert answer in command.output
    headings = [one.value.replace("\\", "") for one in app.markdown if one.value.startswith("#####")]
    for title in ("By segment", "By created (week)", "Where annotators are needed next, by segment"):
        assert any(title in heading for heading in headings), title
    groups = [list(frame.value.iloc[:, 0]) for frame in app.dataframe]
    assert ["a", "b"] in groups
    assert len(app.get("vega_lite_chart")) == 2


def test_columns_of_times_are_grouped_by_their_units(judged):
    assert status.groupings_of(judged[1].rubric_folder.parent) == [
        "segment",
        "created:week",
        "created:day",
        "created:month",
    ]


def test_another_judge_than_the_validated_one_is_a_sentence(judged, run, mock):
    workspace, plan = judged
    assert run(workspace, "sample", plan.answers, "--study", "s", "--n", 40).exit_code == 0
    app = shown()
    assert not app.exception
    assert "No annotator has rated" in app.error[0].value


def test_a_job_that_is_not_complete_says_so(workspace, mock, tmp_path):
    workspace.models_path.write_text(
        toml(mock, a=f"{JUDGES['a']}\nprice = {{ input = 1000, output = 1000 }}")
    )
    log = lines(tmp_path / "log.jsonl", [conversation(number) for number in range(300)])
    plan = planned(workspace, [log], tmp_path / "judged", ["a"])
    cost = engines.execute(planned(workspace, [log], tmp_path / "x" / "whole", ["a"])).expense.cost
    engines.execute(plan, LakeHow(max_cost=cost / 2))
    app = shown()
    assert not app.exception
    assert "The job is not complete" in app.info[0].value
    assert "Raise --max-cost" in "".join(one.value for one in app.caption).replace("\\", "")


def test_a_running_job_is_followed_by_its_lock(judged, tmp_path):
    folder = tmp_path / "judged"
    facts = json.loads((folder / "_progress.json").read_text())
    (folder / "_progress.json").write_text(json.dumps(facts | {"state": "running", "judged": 300}))
    assert not status.standing(folder).running, "its process is gone"
    file = os.open(folder / "_lock", os.O_RDWR)
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        current = status.standing(folder)
        assert (current.running, current.share) == (True, 0.5)
        app = shown()
        assert not app.exception
        assert "A job is running" in app.get("progress")[0].proto.text
    finally:
        os.close(file)


def test_shards_are_one_job(workspace, mock, tmp_path):
    workspace.models_path.write_text(toml(mock, **JUDGES))
    log = lines(tmp_path / "log.jsonl", [conversation(number) for number in range(100)])
    for number in (1, 3):
        engines.execute(planned(workspace, [log], tmp_path / "judged", ["a"], shard=Shard(number, 3)))
    current = status.standing(tmp_path / "judged")
    assert (current.started, current.shards, current.running) == (2, 3, False)
    assert 0 < current.progress.judged == current.progress.conversations < 100
    app = shown()
    assert "2 of 3 shards have started." in [one.value for one in app.caption]
