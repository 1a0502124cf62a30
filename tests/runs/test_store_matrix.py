"""Every fault of the store × every kind of run: no call while it lasts, and afterwards none is repeated."""

from __future__ import annotations

import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from concord.benchmarks.simulbench import extraction
from concord.runs import engine, planning, plans
from concord.runs import stored as run_store
from concord.runs.plans import ComparePlan, JudgePlan, ProposePlan
from concord.store import database, locks, writer
from concord.workspace import Workspace
from tests.mock.server import running
from tests.runs.runs_helpers import calls_made, calls_of, count
from tests.runs.store_lost_helpers import Watched, calls_when_still, lock_of
from tests.simulbench.conftest import TARGETS, answers, dialogues, execute, models

JUDGES = ("mock-judge-lenient", "mock-judge-noisy")
KINDS = {
    "play": dialogues(),
    "judge": JudgePlan("simulbench", JUDGES[:1]),
    "compare": ComparePlan("simulbench", JUDGES[:1], players=TARGETS[:2]),
    "propose": ProposePlan("simulbench", "mock-user", count=10),
}
LATENCY = {"play": 0.04, "judge": 0.04, "compare": 0.1, "propose": 0.1}
"""Seconds of a call: so long that many calls are left when the fault is noticed."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr(locks, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(writer, "AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(run_store, "LAG_SECONDS", 0.05)
    monkeypatch.setattr(run_store, "AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(engine, "BEAT_SECONDS", 0.1)


@contextmanager
def locked(workspace, monkeypatch):
    with lock_of(workspace):
        yield "another program has locked the database"


@contextmanager
def lost(workspace, monkeypatch):
    away = workspace.db_path.with_name("away.db")
    workspace.db_path.rename(away)
    try:
        yield "gone or cannot be opened"
        assert not workspace.db_path.exists(), "an empty database in its place would hide what was stored"
    finally:
        away.rename(workspace.db_path)


@contextmanager
def full(workspace, monkeypatch):
    """What SQLite raises where there is no more room, at the end of a transaction."""
    small = sqlite3.connect(":memory:", check_same_thread=False)
    small.execute("PRAGMA max_page_count = 2")
    small.execute("CREATE TABLE t (x)")

    @contextmanager
    def transaction(db):
        with database.transaction(db):
            yield db
            small.execute("INSERT INTO t VALUES (zeroblob(100000))")

    with monkeypatch.context() as patch:
        patch.setattr(writer, "transaction", transaction)
        yield "the disk is full"


FAULTS = {"locked": locked, "lost": lost, "full": full}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Dialogues, scripts and answers, without judges; made once."""
    with running(seed=3) as url:
        made = Workspace.open(tmp_path_factory.mktemp("matrix") / "workspace")
        made.models_path.write_text(models(url))
        execute(made, dialogues())
        with made.write() as db:
            extraction.extract_scripts(db, "mock-judge-strict")
        execute(made, answers(judges=()))
    return made


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_call_is_made_while_a_fault_lasts_and_none_is_repeated(kind, fault, played, tmp_path, monkeypatch):
    if kind in ("judge", "compare"):
        shutil.copytree(played.path, tmp_path / "workspace")
    workspace, watched = Workspace.open(tmp_path / "workspace"), Watched()
    with running(seed=3, latency=LATENCY[kind]) as url, ThreadPoolExecutor(1) as pool:
        text = models(url).replace("seed = true", "seed = true\nmax_concurrency = 2")
        workspace.models_path.write_text(text)
        job = planning.job(workspace, KINDS[kind])
        wanted = planning.survey(workspace, job).usage.calls
        done = pool.submit(engine.execute, workspace, job, watch=watched)
        while calls_made(workspace) < 2:
            assert not done.done()
            time.sleep(0.01)
        with FAULTS[fault](workspace, monkeypatch) as word:
            watched.until(word)
            assert calls_when_still(workspace) < wanted
        ended = done.result()
        assert (ended.state, ended.left) == ("finished", 0)
        assert calls_made(workspace) == ended.spent.calls
        assert calls_of(workspace)["repeated"] == 0
    assert count(workspace, "journal") == 0


def test_each_kind_of_plan_has_its_row():
    assert KINDS.keys() == plans.KINDS.keys()
