"""The heading of a leaderboard's models: “player” in a benchmark where models play, else “model”."""

from types import SimpleNamespace

import pytest

from concord.reports.leaderboards import Leaderboard
from concord.runs.registry import known_or_imported


@pytest.mark.parametrize(("name", "heading"), [("pingpong", "player"), ("", "model")])
def test_own_data_has_models(name, heading):
    rated = SimpleNamespace(system=known_or_imported(name))
    board = Leaderboard(rated, (), {}, (), 0, 0, None)
    assert board.player_heading == heading
