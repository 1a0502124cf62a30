"""The judge card and what is exported with it; the scorers run where their packages are installed."""

from __future__ import annotations

import importlib
import json
import sys
import tomllib
from datetime import date
from pathlib import Path

import pytest

from concord.errors import ConfigError
from concord.lab import card, measuring
from concord.lab.measuring import Candidate
from concord.rubrics import rubric_store
from concord.rubrics.reading import read
from concord.workspace import Workspace
from tests.conftest import toml
from tests.mock import lab as mock

TALK = [{"role": "user", "content": "Where is my parcel?"}, {"role": "assistant", "content": "Done, thanks!"}]


@pytest.fixture
def made(workspace: Workspace) -> card.Card:
    """The card of a mock judge on a server, whose answers here are simulated."""
    mock.made(workspace)
    of = mock.divided(workspace)
    address = tomllib.loads(workspace.models_path.read_text())["models"]["a"]["base_url"]
    workspace.models_path.write_text(toml(address, a='model = "mock-judge-strict"'))
    with workspace.write() as db:
        mock.answer(db, rubric_store.find(workspace, mock.RUBRIC), of.keys(""), "a")
        bench = measuring.read(db, mock.STUDY, resamples=100)
    return card.card(workspace, bench, Candidate("a", "shop v1"))


@pytest.fixture
def folder(made: card.Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The exported files, on Python's path."""
    card.write(made, tmp_path / "card", date(2026, 11, 25))
    monkeypatch.syspath_prepend(str(tmp_path / "card"))
    for name in ("judge", "mlflow_scorer", "inspect_scorer"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path / "card"


def test_the_card_says_what_by_whom_and_what_not(made):
    text = made.as_json()
    assert "60 items of Shop, by 3 people, 3 of them simulated" in text
    assert "not from the sealed part" in text
    assert "Any real use" in text
    [row] = [row for row in made.tables[0].rows if row["criterion"] == "all criteria"]
    assert row["person"].value > row["agreement"].value  # the judge takes length for merit
    value = json.loads(text)
    assert value["fingerprint"] == made.fingerprint
    page = made.as_html(date(2026, 11, 25))
    assert made.fingerprint in page
    assert "<script" not in page
    assert "default-src 'none'" in page


def test_the_fingerprint_goes_with_rubric_and_model(workspace, made):
    with workspace.write() as db:
        of = measuring.read(db, mock.STUDY, resamples=10)
        kept = mock.variant(db, of.parts, rubric_store.find(workspace, mock.RUBRIC), mock.CURE)
        mock.answer(db, kept, of.parts.keys(""), "a")
        of = measuring.read(db, mock.STUDY, resamples=10)
    assert card.card(workspace, of, Candidate("a", kept.variant)).fingerprint != made.fingerprint
    with pytest.raises(ConfigError, match="a judge of a rubric"):
        card.card(workspace, of, Candidate("a", "v2"))


def test_the_exported_rubric_is_the_same_and_python_runs_it(folder, made):
    assert read(folder / "rubric.toml").body["criteria"] == made.rubric["criteria"]
    answers = importlib.import_module("judge").rate(TALK)
    assert set(answers) == set(mock.CRITERIA)
    assert all(1 <= score <= 5 and reason for score, reason in answers.values())


def test_the_scorer_of_mlflow_runs(folder):
    """Scores and reasons of what was replied, in an evaluation of MLflow."""
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed: pip install mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'traces.db'}")
    data = [{"inputs": {"question": "Where is my parcel?"}, "outputs": "Done, thanks!"}]
    result = mlflow.genai.evaluate(data=data, scorers=[importlib.import_module("mlflow_scorer").judge])
    assert set(result.metrics) == {f"{name}/mean" for name in mock.CRITERIA}
    [assessments] = result.result_df["assessments"]
    assert {one["source"]["source_type"] for one in assessments} == {"LLM_JUDGE"}
    assert all(1 <= mean <= 5 for mean in result.metrics.values())


def test_the_scorer_of_inspect_runs(folder):
    """Scores and reasons of what was replied, in a task of Inspect."""
    inspect = pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install inspect-ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageAssistant
    from inspect_ai.solver import solver

    @solver
    def replying():
        async def reply(state, generate):
            state.messages.append(ChatMessageAssistant(content=TALK[1]["content"]))
            return state

        return reply

    scorer = importlib.import_module("inspect_scorer").judge()
    task = inspect.Task(dataset=[Sample(input=TALK[0]["content"])], solver=replying(), scorer=scorer)
    [log] = inspect.eval(task, model="mockllm/model", display="none", log_dir=str(folder / "logs"))
    assert log.status == "success"
    assert {
        score.name: 1 <= score.metrics["mean"].value <= 5 for score in log.results.scores
    } == dict.fromkeys(mock.CRITERIA, True)
    [score] = log.samples[0].scores.values()
    assert "helpful: " in score.explanation


def test_the_command_writes_every_file(workspace, made, run, tmp_path):
    told = ("--judge", "a", "--version", 1, "--to", tmp_path / "out")
    outcome = run(workspace, "lab", "card", mock.STUDY, *told)
    assert outcome.exit_code == 0, outcome.output
    assert len(list((tmp_path / "out").iterdir())) == 7
