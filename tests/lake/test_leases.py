"""The spending limit of a job on a Dask cluster, with tasks that spend what their lease allows.

No Dask is needed: a client in its place runs the tasks, which cost a fixed price a call.
"""

from __future__ import annotations

import asyncio

import pytest

from concord.lake.coordinator import Coordinator, LakeHow
from concord.lake.dask import _Cluster
from concord.rating import Spent
from tests.conftest import FIXED, toml
from tests.lake.logs import conversation, lines, planned

PRICE = 0.1


class FakeFuture:
    """A task that has ended."""

    status = "finished"

    def __init__(self, value):
        self._value = value

    def done(self):
        return True

    async def result(self):
        return self._value


class FakeClient:
    """Runs tasks at once; a task makes as many calls as its lease pays for."""

    def __init__(self, counts):
        self.left, self.size = dict(enumerate(counts)), counts[0]
        self.tasks = []
        self.refusing = 0
        self.committed = -1
        """A partition that another coordinator's task has committed."""
        self.scheduler = self

    async def scatter(self, plan, **_options):
        return FakeFuture(plan)

    async def identity(self):
        return {"workers": {name: {"nthreads": 2} for name in ("tcp://one", "tcp://two")}}

    def submit(self, _function, _plan, task, **_options):
        self.tasks.append(task)
        if len(self.tasks) == self.refusing:
            return FakeFuture({"worker": "tcp://two", "refused": "has Concord 0.9, and this is 1.0"})
        if task.number == self.committed:
            return self._ended(task.number, 0, 0, complete=True)
        fits = self.left[task.number] if task.lease is None else int(task.lease / PRICE)
        calls = min(self.left[task.number], fits)
        self.left[task.number] -= calls
        complete = not self.left[task.number]
        return self._ended(task.number, calls, self.size - self.left[task.number], complete=complete)

    def _ended(self, number, calls, judgements, *, complete):
        end = {"number": number, "complete": complete, "items": judgements, "error": "", "busy": False}
        return FakeFuture(
            {
                "worker": "tcp://one",
                "end": end,
                "halted": "" if complete else "Its lease was too small.",
                "broken": False,
                "judged": judgements,
                "failed": 0,
                "put_off": 0,
                "reasons": {},
                "spent": [*vars(Spent(calls, cost=calls * PRICE)).values()],
                "lost": 0.0,
                "message": "",
                "stopped": {},
            }
        )


@pytest.fixture
def cluster(workspace, tmp_path):
    """Makes a job of fifty partitions of twenty calls with a spending limit, and its client."""
    workspace.models_path.write_text(
        toml("http://127.0.0.1:9/v1", a=f"{FIXED}\nprice = {{ input = 1, output = 1 }}")
    )
    log = lines(tmp_path / "log.jsonl", [conversation(number) for number in range(1000)])

    def make(max_cost):
        plan = planned(workspace, [log], tmp_path / "out", ["a"])
        coordinator = Coordinator(plan, LakeHow(cluster="tcp://none", max_cost=max_cost), None)
        counts = [20] * len(plan.partitions)
        coordinator.begin(counts)
        client = FakeClient(counts)
        make.calls = sum(counts)
        return _Cluster(coordinator, client), client

    return make


def judged(cluster):
    cluster.sent = None
    asyncio.run(cluster._judge())
    return cluster.of.close()


@pytest.mark.parametrize("share", [0.0, 0.003, 0.1, 0.33, 0.5, 0.77, 0.999])
def test_a_limit_is_spent_and_then_the_job_stops_at_once(cluster, share):
    job, client = cluster(share * 1000 * PRICE)
    end = judged(job)
    assert end.state == "stopped"
    # All but the price of one call is spent.
    assert end.expense.cost == pytest.approx(int(share * 1000 + 1e-9) * PRICE)
    assert f"Stopped at the spending limit of {share * 1000 * PRICE:g}" in end.message
    without_calls = [task for task in client.tasks if task.lease < PRICE]
    assert len(without_calls) <= 12, "eight at once at first; not every partition is tried with too little"


def test_a_limit_that_suffices_is_no_obstacle(cluster):
    job, client = cluster(1.2 * 1000 * PRICE)
    end = judged(job)
    assert (end.state, end.judged) == ("finished", cluster.calls)
    assert not any(client.left.values())


def test_without_a_limit_tasks_have_no_lease(cluster):
    job, client = cluster(None)
    assert judged(job).state == "finished"
    assert {task.lease for task in client.tasks} == {None}


def test_a_worker_of_another_version_judges_nothing(cluster):
    job, client = cluster(None)
    client.refusing = 3
    end = judged(job)
    assert (end.state, end.judged) == ("finished", cluster.calls)
    assert job.refused == {"tcp://two": "has Concord 0.9, and this is 1.0"}


def test_a_cluster_without_workers_is_said_to_be_waited_for(cluster):
    job, client = cluster(None)
    messages, identity = [], client.identity
    client.identity = lambda: _nobody(client, identity)
    job.of.watch = lambda progress: messages.append(progress.message)
    assert judged(job).state == "finished"
    assert "The cluster has no workers" in messages[0]


async def _nobody(client, identity):
    """No workers at the first look."""
    client.identity = identity
    return {"workers": {}}


def test_what_a_killed_coordinators_task_has_committed_is_counted(cluster):
    job, client = cluster(None)
    client.committed = 7
    end = judged(job)
    assert (end.state, end.earlier, end.judged) == ("finished", 20, cluster.calls - 20)
