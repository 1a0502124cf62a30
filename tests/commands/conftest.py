"""A workspace without models, and the command line on it."""

import pytest
from click.testing import CliRunner

from core.cli import main
from core.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(tmp_path / "workspace")


@pytest.fixture
def fresh(tmp_path):
    return Workspace.open(tmp_path / "fresh")


@pytest.fixture
def run():
    def invoke(workspace, *args):
        return CliRunner().invoke(main, ["--workspace", str(workspace.path), *map(str, args)])

    return invoke
