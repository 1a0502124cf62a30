"""The heading of a leaderboard's models: “player” in a benchmark where models play, else “model”."""

from types import SimpleNamespace

import pytest

from concord.reports.leaderboards import Leaderboard
from concord.runs.registry import BENCHMARKS


@pytest.mark.parametrize(("name", "heading"), [("pingpong", "player"), ("", "model")])
def test_own_data_has_models(name, heading):
    roles = BENCHMARKS[name].roles if name else ()
    rated = SimpleNamespace(system=SimpleNamespace(roles=roles))
    board = Leaderboard(rated, (), {}, (), 0, 0, None)
    assert board.player_heading == heading
