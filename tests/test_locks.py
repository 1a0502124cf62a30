"""Lock files hold everything that pyproject.toml names, with hashes, and no package index."""

import re
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
EXTRAS = [name for wanted in PROJECT["optional-dependencies"].values() for name in wanted]


@pytest.mark.parametrize(
    ("file", "wanted"), [("requirements.lock", []), ("requirements-extras.lock", EXTRAS)]
)
def test_a_lock_has_every_library_with_its_hash_and_no_index(file, wanted):
    text = (HERE / file).read_text()
    entries = re.split(r"\n(?=[a-z0-9])", text)[1:]
    locked = {re.split(r"[=\[ ]", entry)[0] for entry in entries}
    names = {re.split(r"[\[=<>]", name)[0] for name in [*PROJECT["dependencies"], *wanted]}
    assert names <= locked
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "index-url" not in text
    assert "://" not in text
