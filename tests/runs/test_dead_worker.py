"""A dead worker of a cluster fails at once, so that the least busy worker would always be the dead one."""

import asyncio

from concord.codes import Failure
from concord.errors import CallFailed
from concord.llm import cluster
from concord.llm.models import Model

MODEL = Model(name="m")


class Actor:
    """A worker that answers after a while, or is dead."""

    def __init__(self, *, dead=False):
        self.dead, self.asked = dead, 0

    async def attempt(self, *of):
        self.asked += 1
        if self.dead:
            raise OSError("gone")
        await asyncio.sleep(0.01)
        return b"{}"


async def admitted():
    pass


def client_of(**actors):
    client = cluster.ClusterClient({}, address="tcp://none", admit=admitted)
    client._workers = {name: cluster._Worker(actor) for name, actor in actors.items()}
    return client


def test_it_is_asked_once_while_another_one_works():
    async def attempts():
        client = client_of(dead=dead, alive=Actor())
        return await asyncio.gather(
            *(client.attempt(MODEL, "", {}) for _ in range(2)), return_exceptions=True
        ), await asyncio.gather(*(client.attempt(MODEL, "", {}) for _ in range(20)))

    dead = Actor(dead=True)
    first, later = asyncio.run(attempts())
    [failure] = [answer for answer in first if isinstance(answer, CallFailed)]
    assert failure.code is Failure.LOST_WORKER
    assert later == [b"{}"] * 20
    assert dead.asked == 1


def test_one_that_failed_is_asked_again_after_a_rest_or_where_it_is_the_only_one(monkeypatch):
    async def attempts():
        client = client_of(failed=failed, other=other)
        for worker in client._workers.values():
            if worker.actor is failed:
                worker.failed_at = asyncio.get_running_loop().time()
        await client.attempt(MODEL, "", {})
        assert (failed.asked, other.asked) == (0, 1)
        monkeypatch.setattr(cluster, "REST_SECONDS", 0.0)
        await asyncio.gather(*(client.attempt(MODEL, "", {}) for _ in range(2)))
        assert (failed.asked, other.asked) == (1, 2)
        monkeypatch.setattr(cluster, "REST_SECONDS", 60.0)
        await client_of(failed=failed).attempt(MODEL, "", {})
        assert failed.asked == 2

    failed, other = Actor(), Actor()
    asyncio.run(attempts())
