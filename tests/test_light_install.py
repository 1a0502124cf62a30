"""Without the extra `app`: a table of labels is checked, and what needs the app says how to install it."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RATINGS = str(ROOT / "data" / "examples" / "ratings.csv")
SUPPORT = str(ROOT / "data" / "examples" / "support.jsonl")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
NAMES = {re.split(r"[\[=<>]", library)[0] for library in EXTRAS["app"]}
MODULES = sorted(
    module for module, distributions in packages_distributions().items() if NAMES & {*distributions}
)
"""Modules that the libraries of the extra bring."""
HIDE = f"""
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, *where):
        return None if name.split(".")[0] in {MODULES} else self.finder.find_spec(name, *where)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""
COMMAND = "from concord.cli import main; main()"


def without_the_app(code, *words, folder):
    """What Python says that finds none of the extra's modules."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CONCORD")}
    return subprocess.run(
        [sys.executable, "-c", HIDE + code, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT)},
    )


def test_the_modules_of_the_extra_are_known():
    assert {"streamlit", "openai", "uvicorn", "pyarrow", "aiohttp"} <= {*MODULES}


@pytest.mark.parametrize(
    "words",
    [
        ("check", RATINGS),
        ("check", RATINGS, "--html", "report.html"),
        ("gate", RATINGS, "--min-agreement", "0.5"),
        ("drift", RATINGS, RATINGS),
        ("plan", RATINGS),
        ("compare-systems", RATINGS),
        ("import", "ratings", RATINGS, "--study", "labels"),
        ("import", "conversations", SUPPORT),
        ("rubric", "new", "quality"),
        *((name, "--help") for name in ("app", "demo", "quickstart", "judge", "doctor", "lab", "mock")),
    ],
    ids=" ".join,
)
def test_what_needs_no_app_runs(words, tmp_path):
    done = without_the_app(COMMAND, *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_library_measures_a_frame(tmp_path):
    code = f"import concord, pandas; print(concord.check(pandas.read_csv({RATINGS!r})))"
    done = without_the_app(code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "large_judge" in done.stdout


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (("app", "--no-browser"), "streamlit"),
        (("demo", "--no-browser"), "streamlit"),
        (("mock",), "aiohttp"),
        (("quickstart", SUPPORT, "--rubric", SUPPORT.replace("jsonl", "toml"), "--mock"), "aiohttp"),
        (("check", "labels.parquet"), "pyarrow"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_what_needs_the_app_says_how_to_install_it(words, missing, tmp_path):
    (tmp_path / "labels.parquet").write_bytes(b"PAR1")
    done = without_the_app(COMMAND, *words, folder=tmp_path)
    assert done.returncode == 1, done.stdout
    assert missing in done.stderr
    assert "pip install 'concord-eval[app]'" in done.stderr
    assert "Traceback" not in done.stderr
