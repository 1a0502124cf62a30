"""Partitions judged by a Dask cluster: the same result, limits for all workers, and workers may be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from concord.errors import ConfigError, ImportRefused
from concord.lake import engines
from concord.lake.coordinator import LakeHow
from concord.lake.dask import place_name
from concord.workspace import Workspace
from tests.conftest import FIXED, toml
from tests.lake.logs import COMMAND, calls, calls_of, conversation, lines, planned, rows
from tests.mock.server import running

distributed = pytest.importorskip("distributed", reason="the extra “cluster” is not installed")
dask = pytest.importorskip("dask")


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two workers, each a process."""
    how = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**how) as made:
        made.wait_for_workers(2)
        yield made


@pytest.fixture
def log(tmp_path):
    return lines(tmp_path / "log.jsonl", [conversation(number) for number in range(200)])


def test_a_cluster_gives_the_same_result_as_one_process(workspace, log, tmp_path, cluster):
    engines.execute(planned(workspace, [log], tmp_path / "whole"))
    of = planned(workspace, [log], tmp_path / "out")
    ended = engines.execute(of, LakeHow(cluster=cluster.scheduler_address))
    assert (ended.state, ended.judged, ended.expense.calls) == ("finished", 400, 400)
    assert rows(tmp_path / "out") == rows(tmp_path / "whole")


def test_the_limit_of_an_endpoint_holds_for_all_workers(tmp_path, log, cluster):
    with running(latency=0.05) as url:
        workspace = Workspace.open(tmp_path / "workspace")
        limited = f"{FIXED}\nmax_concurrency = 3"
        workspace.models_path.write_text(toml(url, a=limited, b=limited))
        of = planned(workspace, [log], tmp_path / "out")
        assert engines.execute(of, LakeHow(cluster=cluster.scheduler_address)).state == "finished"
        assert calls_of(workspace)["peak_in_flight"] == 3


def test_a_task_takes_places_that_become_free(tmp_path, log, cluster):
    places = []

    def watch(_progress):
        while places and calls(workspace) > 20:
            places.pop().release()

    with running(latency=0.05) as url:
        workspace = Workspace.open(tmp_path / "workspace")
        workspace.models_path.write_text(toml(url, a=f"{FIXED}\nmax_concurrency = 6"))
        of = planned(workspace, [log], tmp_path / "out", ["a"], conversations=1000)
        [model] = of.models.values()
        with distributed.Client(cluster.scheduler_address) as client, client.as_current():
            held = distributed.Semaphore(6, place_name(model.endpoint, 6))
            for _ in range(5):
                held.acquire()
                places.append(held)
            ended = engines.execute(of, LakeHow(cluster=cluster.scheduler_address), watch)
        counts = calls_of(workspace)
    assert (ended.state, places) == ("finished", [])
    assert counts["peak_in_flight"] == 6


def test_bad_files_are_refused_before_anything_is_paid(workspace, log, tmp_path, cluster):
    with log.open("a") as file:
        file.write('{"x": 1}\n')
    before = calls(workspace)
    with pytest.raises(ImportRefused, match="form"):
        engines.execute(
            planned(workspace, [log], tmp_path / "out"), LakeHow(cluster=cluster.scheduler_address)
        )
    assert calls(workspace) == before


def test_a_spending_limit_is_handed_out_as_leases(workspace, log, tmp_path, cluster):
    url = workspace.models_path.read_text().split('"')[1]
    workspace.models_path.write_text(toml(url, a=f"{FIXED}\nprice = {{ input = 1000, output = 1000 }}"))
    whole = engines.execute(planned(workspace, [log], tmp_path / "whole", ["a"])).expense.cost
    of, how = planned(workspace, [log], tmp_path / "out", ["a"]), {"cluster": cluster.scheduler_address}
    ended = engines.execute(of, LakeHow(max_cost=whole / 2, **how))
    assert ended.state == "stopped"
    assert 0 < ended.expense.cost <= whole / 2
    assert engines.execute(of, LakeHow(max_cost=whole * 1.1, **how)).state == "finished"


def test_workers_and_coordinators_may_be_killed(tmp_path, log, cluster):
    with running(latency=0.05) as url:
        workspace = Workspace.open(tmp_path / "workspace")
        workspace.models_path.write_text(toml(url, a=FIXED, b=FIXED))
        planned(workspace, [log], tmp_path / "out")
        words = ["--workspace", str(workspace.path), "judge", str(log), "--rubric", "support"]
        words += ["--judges", "a,b", "--out", str(tmp_path / "out"), "--partition", "20"]
        words += ["--cluster", cluster.scheduler_address]
        kills = 0
        for wanted in (60, 200):
            process = subprocess.Popen([sys.executable, "-c", COMMAND, *words])
            while calls(workspace) < wanted and process.poll() is None:
                time.sleep(0.01)
            if kills % 2:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
            else:
                os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)
                process.send_signal(signal.SIGTERM)
                process.wait()
                cluster.wait_for_workers(2)
            kills += 1
        process = subprocess.run([sys.executable, "-c", COMMAND, *words], capture_output=True, text=True)
        counts = calls_of(workspace)
    assert process.returncode == 0, process.stdout + process.stderr
    answers = rows(tmp_path / "out")
    assert len(answers) == len(set(answers)) == 800
    assert sum(counts["answered"].values()) == 400 + counts["repeated"]
    assert counts["repeated"] <= kills * counts["peak_in_flight"]


@pytest.fixture
def cluster_of_its_own():
    """A scheduler that takes no place back by itself, and two workers."""
    how = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": None, "silence_logs": 50}
    locks = "distributed.scheduler.locks"
    with (
        dask.config.set({f"{locks}.lease-timeout": "1h", f"{locks}.lease-validation-interval": "1s"}),
        distributed.LocalCluster(**how) as made,
    ):
        made.wait_for_workers(2)
        yield made


def test_what_dead_workers_held_goes_on_elsewhere(tmp_path, log, cluster_of_its_own):
    """Their places at the endpoint, and the plan, though no worker is left that was sent it."""
    cluster, killed = cluster_of_its_own, 0

    def watch(_progress):
        nonlocal killed
        if killed < 2 and calls(workspace) > 40 * (killed + 1):
            for nanny in list(cluster.workers.values())[: killed + 1]:
                os.kill(nanny.process.pid, signal.SIGKILL)
            killed += 1

    with running(latency=0.05) as url:
        workspace = Workspace.open(tmp_path / "workspace")
        limited = f"{FIXED}\nmax_concurrency = 4"
        workspace.models_path.write_text(toml(url, a=limited, b=limited))
        of = planned(workspace, [log], tmp_path / "out")
        ended = engines.execute(of, LakeHow(cluster=cluster.scheduler_address), watch)
        counts = calls_of(workspace)
    assert killed == 2
    assert (ended.state, ended.problems) == ("finished", [])
    assert counts["peak_in_flight"] <= 4 + 4
    assert sum(counts["answered"].values()) == 400 + counts["repeated"]
    assert len(set(rows(tmp_path / "out"))) == 800


def test_a_worker_without_the_key_is_not_used(faulty, log, tmp_path, cluster, monkeypatch):
    workspace = faulty()
    text = workspace.models_path.read_text()
    workspace.models_path.write_text(text.replace("seed = true", 'api_key_env = "ONLY_HERE"'))
    monkeypatch.setenv("ONLY_HERE", "a key that workers do not have")
    ended = engines.execute(
        planned(workspace, [log], tmp_path / "out"), LakeHow(cluster=cluster.scheduler_address)
    )
    assert ended.state == "broken"
    assert "set the environment variable ONLY_HERE" in ended.message
    assert calls(workspace) == 0


def test_a_worker_of_another_version_is_not_used(workspace, log, tmp_path, cluster, monkeypatch):
    monkeypatch.setattr("concord.lake.dask.VERSION", "99")
    with pytest.raises(ConfigError, match="99"):
        engines.execute(
            planned(workspace, [log], tmp_path / "out"), LakeHow(cluster=cluster.scheduler_address)
        )


def test_a_cluster_that_is_not_there_is_named(workspace, log, tmp_path, monkeypatch):
    monkeypatch.setattr("concord.lake.dask.CONNECT_SECONDS", 0.5)
    with pytest.raises(ConfigError, match="cannot be reached"):
        engines.execute(planned(workspace, [log], tmp_path / "out"), LakeHow(cluster="tcp://127.0.0.1:9"))
