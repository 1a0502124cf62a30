"""Weak models: every role of STSS plays and judges in words alone, by the plain form of each prompt."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from concord.benchmarks.stss import STSS, STSS_LANGUAGE, system
from concord.benchmarks.stss.scoring import score
from concord.benchmarks.stss.trajectory import from_stored
from concord.cli import main
from concord.runs import engine, planning
from tests.mock.server import running
from tests.stss.asking import MATERIALS, TOWN, Asking, simulate
from tests.stss.run_helpers import LANGUAGE, plan, workspace_at


@pytest.mark.parametrize("benchmark", [STSS, STSS_LANGUAGE], ids=lambda b: b.name)
def test_every_prompt_has_a_plain_form(benchmark):
    for name in benchmark.prompts:
        assert benchmark.prompt(MATERIALS, name).plain_form, name


def test_a_simulation_in_words_alone_ends_as_one_in_json():
    said, objects = Asking(replies="text"), Asking()
    played = {kind: simulate(ask, architecture="GA+TDP") for kind, ask in (("text", said), ("json", objects))}
    for _, answer, prompt in said.asked.values():
        assert "JSON" not in prompt
        assert "{" not in answer.text
    thoughts = {step.split()[-1] for step in said.asked} | {"utterance"}
    assert {"outline", "schedule", "approach", "summary", "tdp_plan", "tdp_day", "tdp_talk"} <= thoughts
    task = system.tasks_of(MATERIALS, system.TOWN)["harvest-supper"]
    scores = {kind: score(task, from_stored(c.trajectory)).value for kind, c in played.items()}
    assert played["text"].meta["unusable"] == 0
    assert scores["text"] > 0
    assert TOWN.name == played["text"].meta["town"]


def test_a_run_of_both_levels_in_words_alone_asks_for_no_json(tmp_path):
    with running(seed=5) as url:
        workspace = workspace_at(tmp_path / "w", url)
        entries = workspace.models_path.read_text(encoding="utf-8")
        workspace.models_path.write_text(entries.replace("seed = true\n", 'seed = true\nreplies = "text"\n'))
        ended = engine.execute(workspace, planning.job(workspace, plan(tasks=("harvest-supper",))))
        assert (ended.state, ended.done, ended.failed) == ("finished", 2, 0)
        assert CliRunner().invoke(main, ["--workspace", str(workspace.path), "stss", "freeze"]).exit_code == 0
        ended = engine.execute(workspace, planning.job(workspace, LANGUAGE))
        assert (ended.state, ended.failed) == ("finished", 0)
        assert ended.done > 0
    with workspace.read() as db:
        verdicts = [row["raw"] for row in db.query("select raw from judgements")]
        rated = db.execute("select count(*) from ratings").fetchone()[0]
    assert rated > 0
    assert verdicts
    assert all("{" not in raw for raw in verdicts)
