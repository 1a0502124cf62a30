"""Runs over a Dask cluster: workers make the calls, limits hold for all of them, and one may be killed."""

from __future__ import annotations

import os
import signal

import pytest

from concord.runs import engine, planning
from concord.workspace import Workspace
from tests.conftest import FIXED, toml
from tests.mock.server import running
from tests.runs.test_runs import calls_of, count, plan

distributed = pytest.importorskip("distributed", reason="the extra “cluster” is not installed")


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two workers, each a process."""
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**how) as made:
        made.wait_for_workers(2)
        yield made


def spread(workspace, the_plan, cluster, **how):
    job = planning.job(workspace, the_plan)
    return engine.execute(workspace, job, cluster=cluster.scheduler_address, **how)


def test_workers_make_the_calls_and_the_limit_holds_for_all_of_them(tmp_path, cluster):
    with running(latency=0.2) as url:
        workspace = Workspace.open(tmp_path / "workspace")
        limited = f"{FIXED}\nmax_concurrency = 3"
        workspace.models_path.write_text(toml(url, player=limited, user=limited, a=limited, b=limited))
        ended = spread(workspace, plan(repeats=3), cluster)
        counted = calls_of(workspace)
    # Of each of six conversations eight calls, and two judges
    assert (ended.state, ended.done, ended.failed, ended.spent.calls) == ("finished", 18, 0, 60)
    assert sum(counted["answered"].values()) == 60
    assert counted["peak_in_flight"] == 3
    assert count(workspace, "judgements") == 12


def test_a_worker_that_is_killed_loses_only_its_calls_in_flight(faulty, cluster):
    workspace = faulty(latency=0.1)
    cluster.wait_for_workers(2)
    killed = []

    def kill(progress):
        if progress.spent.calls >= 20 and not killed:
            killed.append(cluster.workers[0].process.pid)
            os.kill(killed[0], signal.SIGKILL)

    ended = spread(workspace, plan(repeats=10), cluster, watch=kill)
    assert killed
    assert (ended.state, ended.done, ended.failed) == ("finished", 60, 0)
    assert ended.spent.calls == 20 * 10
    counted = calls_of(workspace)
    # An answer that was on its way when the worker died is the only one asked for again.
    assert counted["repeated"] <= counted["peak_in_flight"] / 2
    assert sum(counted["answered"].values()) == 200 + counted["repeated"]


def test_a_worker_without_the_key_is_refused_with_a_sentence(faulty, cluster, monkeypatch):
    workspace = faulty()
    text = workspace.models_path.read_text()
    workspace.models_path.write_text(text.replace("seed = true", 'api_key_env = "ONLY_HERE"', 1))
    monkeypatch.setenv("ONLY_HERE", "a key that workers do not have")
    ended = spread(workspace, plan(), cluster)
    assert ended.state == "broken"
    assert "set the environment variable ONLY_HERE" in ended.message


def test_a_cluster_that_is_not_there_is_told(workspace, monkeypatch):
    monkeypatch.setattr("concord.llm.cluster.CONNECT_SECONDS", 0.5)
    ended = engine.execute(workspace, planning.job(workspace, plan()), cluster="tcp://127.0.0.1:9")
    assert ended.state == "broken"
    assert "cannot be reached" in ended.message
