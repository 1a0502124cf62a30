"""The wheel: installed in an environment of its own, `concord` runs from any folder with all that ships."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).parent.parent
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CONCORD"))}

pytestmark = pytest.mark.skipif(
    find_spec("hatchling") is None or find_spec("pip") is None,
    reason="the wheel is built with hatchling and installed with pip: `make setup` brings both",
)


def called(*words, **how):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, env=PLAIN, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The scripts of an environment that has the wheel, and this environment's libraries."""
    folder = tmp_path_factory.mktemp("installed")
    called(sys.executable, "-c", BUILD, folder, cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install")
    called(*pip, "--quiet", "--no-deps", "--no-index", wheel)
    own = Path(called(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # Behind its own packages, so that what the wheel lacks is not found in this checkout.
    (own / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


@pytest.fixture
def concord(installed, tmp_path):
    return lambda *words: called(installed / "concord", *words, cwd=tmp_path)


def asked(installed, folder, code):
    return called(installed / "python", "-c", code, cwd=folder).strip()


def test_all_that_ships_lies_in_the_package(installed, tmp_path):
    code = "import concord; from concord.files import shipped; print(concord.__file__, shipped())"
    package, ships = map(Path, asked(installed, tmp_path, code).split())
    assert package.is_relative_to(installed.parent)
    assert ships == package.parent / "shipped"
    for folder in ("pages", "prompts", "data"):
        here = {p.relative_to(ROOT) for p in (ROOT / folder).rglob("*") if p.is_file()}
        there = {p.relative_to(ships) for p in (ships / folder).rglob("*") if p.is_file()}
        assert {p for p in here if "__pycache__" not in p.parts} <= there
    assert (ships / "app.py").read_bytes() == (ROOT / "app.py").read_bytes()
    assert not (ships / ".streamlit" / "secrets.toml").exists()
    names = {p.name for p in package.parent.parent.iterdir()}
    assert not names & {"app.py", "pages", "core", "prompts", "data"}


def test_quickstart_runs_from_another_folder(concord, installed, tmp_path):
    ships = Path(asked(installed, tmp_path, "from concord.files import shipped; print(shipped())"))
    example = ships / "data" / "examples" / "support"
    told = concord("quickstart", f"{example}.jsonl", "--rubric", f"{example}.toml", "--mock", "--no-app")
    assert "48 calls" in told
    assert f"The links open while the app runs: concord --workspace {tmp_path / 'workspace'} app" in told
    assert "“support”" in told


def test_the_app_is_served_with_its_settings(concord, installed, tmp_path):
    code = (
        "import sys; from concord.files import shipped; sys.path.append(str(shipped())); "
        "import pages.parts.server; from pages.parts.navigation import SECTIONS; "
        "from streamlit import config; print(config.get_option('runner.postScriptGC'), "
        "all(p.path.is_file() for s in SECTIONS.values() for p in s))"
    )
    assert asked(installed, tmp_path, code) == "False True"
    served = subprocess.Popen(
        [installed / "concord", "app", "--port", "0", "--no-browser"],
        cwd=tmp_path,
        env=PLAIN,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert served.stdout is not None
        link = served.stdout.readline().split()[3]
        with urlopen(link, timeout=60) as answer:
            assert answer.status == 200
            assert "<title>" in answer.read().decode()
    finally:
        served.terminate()
        served.wait()
