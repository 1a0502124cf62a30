"""Simulations whose memories are told by a model's vectors: planned, estimated, stopped and taken up again
without paying twice.
"""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from concord.cli import main
from concord.errors import ConfigError
from concord.llm.embeddings import unpack
from concord.runs import engine, planning
from concord.runs.plans import JudgePlan, PlayPlan
from concord.store import conversations
from concord.workspace import Workspace
from tests.conftest import toml
from tests.mock.faults import Faults
from tests.mock.server import running

MODELS = {
    "host": 'model = "mock-outgoing"\nprice = { input = 0, output = 0 }',
    "resident": 'model = "mock-resident"\nprice = { input = 0, output = 0 }',
    "embedder": 'kind = "embeddings"\nmodel = "mock-embeddings"\nprice = { input = 1e6, output = 0 }',
    "strict": 'model = "mock-judge-strict"',
}


def workspace_at(path, url):
    made = Workspace.open(path)
    made.models_path.write_text(toml(url, **MODELS))
    return made


def plan(benchmark="stss", players="host", residents="resident", embeddings="embedder", **options):
    models = {
        "players": (players,),
        "residents": (residents,),
        "embeddings": (embeddings,) if embeddings else (),
    }
    if benchmark == "stss":
        options = {"tasks": ["cough-medicine"], "architectures": ["GA"], "step_minutes": 30, **options}
    return PlayPlan(benchmark, models, options)


def stored(workspace, benchmark="stss"):
    with workspace.read() as db:
        return [c for _, c in conversations.of_benchmark(db, benchmark)]


def spent(workspace):
    with workspace.read() as db:
        return db.execute("SELECT calls, input_tokens, cost FROM conversations").fetchall()


def test_a_run_that_was_stopped_pays_for_no_text_twice(tmp_path):
    """A token costs 1: at a limit of 300 the run ends within the first day; what it had paid for is in the
    journal.
    """
    with running(seed=5) as url:
        whole = workspace_at(tmp_path / "whole", url)
        once = engine.execute(whole, planning.job(whole, plan()))
        assert (once.state, once.failed) == ("finished", 0)
        halves = workspace_at(tmp_path / "halves", url)
        first = engine.execute(halves, planning.job(halves, plan()), max_cost=300)
        assert first.state == "stopped"
        with halves.read() as db:
            kept = [json.loads(r["reply"]) for r in db["journal"].rows if r["step"].startswith("_vectors ")]
        assert 0 < len(kept) < spent(whole)[0][0]
        assert {unpack(v).shape for row in kept for v in row.values()} == {(64,)}
        second = engine.execute(halves, planning.job(halves, plan()))
        assert (second.state, second.done) == ("finished", 1)
    # What the two halves paid for is what the whole did: no text and no thought was asked for again.
    paid = first.spent + second.spent
    assert first.spent.input_tokens > 300
    assert (paid.input_tokens, paid.cost) == pytest.approx((once.spent.input_tokens, once.spent.cost))
    assert spent(halves)[0][1:] == pytest.approx(spent(whole)[0][1:])
    assert stored(halves)[0].trajectory == stored(whole)[0].trajectory
    with halves.read() as db:
        assert db["journal"].count == 0


def test_the_plan_names_the_model_and_keys_and_facets_follow(tmp_path):
    workspace = workspace_at(tmp_path, "http://127.0.0.1:1/v1")
    by_words, by_meaning = (planning.job(workspace, plan(embeddings=e)) for e in ("", "embedder"))
    assert [p.key + "/by embedder" for p in by_words.plays()] == [p.key for p in by_meaning.plays()]
    assert by_meaning.plan.models["embeddings"] == ("embedder",)
    found = planning.survey(workspace, by_meaning)
    assert found.calls["embedder"] > 0
    assert found.cost == found.tokens["embedder"][0] > 0
    assert "embedder" not in planning.survey(workspace, by_words).calls


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"embeddings": "host"}, "“host” is a chat model; vectors need a model"),
        ({"players": "embedder"}, "“embedder” is an embeddings model"),
        ({"residents": "embedder"}, "“embedder” is an embeddings model"),
    ],
)
def test_a_model_of_the_other_kind_is_refused_before_anything_is_paid_for(tmp_path, given, says):
    workspace = workspace_at(tmp_path, "http://127.0.0.1:1/v1")
    with pytest.raises(ConfigError, match=says):
        planning.job(workspace, plan(**given))


def test_a_judge_must_talk(tmp_path):
    workspace = workspace_at(tmp_path, "http://127.0.0.1:1/v1")
    asked = JudgePlan("stss-language", ("embedder",))
    with pytest.raises(ConfigError, match="neither talk nor judge"):
        planning.job(workspace, asked)


def test_vectors_of_no_use_leave_the_simulation_to_be_done(tmp_path):
    with running(seed=5, faults=Faults(malformed=1, models=("mock-embeddings",))) as url:
        workspace = workspace_at(tmp_path, url)
        ended = engine.execute(workspace, planning.job(workspace, plan()))
    assert (ended.done, ended.failed) == (0, 1)
    with workspace.read() as db:
        (failure,) = db["failures"].rows
    assert failure["kind"] == "unparseable"
    assert "“embedder” gave no usable vectors in 3 attempts" in failure["message"]


def test_by_command_and_in_scenes(tmp_path):
    def concord(*arguments):
        done = CliRunner().invoke(main, ["--workspace", str(tmp_path), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    with running(seed=5) as url:
        workspace = workspace_at(tmp_path, url)
        who = (
            "--players",
            "host",
            "--residents",
            "resident",
            "--embeddings",
            "embedder",
            "--architectures",
            "GA",
        )
        concord("run", "stss", *who, "--tasks", "cough-medicine", "--step-minutes", "30")
        concord("stss", "freeze")
        assert "embedder" in concord("run", "stss-language", *who, "--estimate")
        concord("run", "stss-language", *who)
    for benchmark in ("stss", "stss-language"):
        for conversation in stored(workspace, benchmark):
            assert conversation.facets["embeddings"] == conversation.meta["embeddings"] == "embedder"
            assert conversation.key.endswith("/by embedder")
