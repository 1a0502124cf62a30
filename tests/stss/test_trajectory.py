"""How a trajectory is stored, and its stretches of equal states."""

from __future__ import annotations

import json

from concord.benchmarks.stss.trajectory import from_stored
from tests.stss.made import lived, talk


def test_a_trajectory_survives_the_store():
    happened = lived(
        "Ada | 1 10:00 – 1 12:00 | reads | a:b:c",
        "Ada | 1 12:30 | walks | a:b:c",
        "Ben | 1 10:30 – 1 12:30 | sleeping | d:e:f",
        talks=(talk("1 11:00", "Ada", "Ben", "hello", "hm"),),
    )
    back = from_stored(json.loads(json.dumps(happened.as_stored())))
    assert back.times == happened.times
    for name in happened.residents:
        assert back.lives[name].tolist() == happened.lives[name].tolist()
    assert back.talks == happened.talks
