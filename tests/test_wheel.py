"""Source distribution, and the wheel built from it: installed, `concord` runs with all that ships."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pytest

from concord.files import VERSION

ROOT = Path(__file__).parent.parent
BUILD = "import sys; from hatchling import build; getattr(build, f'build_{sys.argv[1]}')(sys.argv[2])"
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
    called(sys.executable, "-c", BUILD, "sdist", folder, cwd=ROOT)
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    # As `python -m build` and `pip install` of the archive do.
    called(sys.executable, "-c", BUILD, "wheel", folder, cwd=source)
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


def test_the_source_distribution_has_all_of_the_package(installed):
    (source,) = (installed.parent.parent / "source").iterdir()
    here = {p.relative_to(ROOT) for p in (ROOT / "core").rglob("*") if "__pycache__" not in p.parts}
    assert {p.relative_to(source) for p in (source / "core").rglob("*")} == here
    assert not (source / "concord").exists()


def test_links_of_the_readme_lead_to_the_repository_on_an_index(installed, tmp_path):
    code = "from importlib.metadata import metadata; print(metadata('concord-eval').get_payload())"
    shown = asked(installed, tmp_path, code)
    targets = re.findall(r"\]\(([^)]+)\)", shown)
    written = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(targets) == len(written) > 10
    for target, path in zip(targets, written, strict=True):
        assert re.fullmatch(rf"https://github.com/[\w-]+/[\w-]+/(raw|blob)/main/{re.escape(path)}", target)


def test_a_release_names_one_version():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(VERSION)} \(\d{{4}}-\d\d-\d\d\)$", changes, re.M)
    assert f"\nversion: {VERSION}\n" in citation
    assert f"@v{VERSION}" in (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def test_check_runs_on_a_table(concord, tmp_path):
    lines = ["id,human,judge", *(f"{n},{n % 2},{n % 2 if n % 5 else 1 - n % 2}" for n in range(60))]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    assert "60 items" in concord("check", "labels.csv")


def test_a_checkout_without_links_says_what_to_do(tmp_path):
    """Where Git makes no links, and where a ZIP is unpacked, a link is a file that holds its target."""
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "Makefile", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("core", "bin"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "concord").write_text("core")
    editable = [sys.executable, "-c", BUILD, "editable", tmp_path / "built"]
    for command in (editable, ["make", "setup"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=PLAIN)
        assert done.returncode != 0
        assert "This checkout has no symbolic links" in done.stdout + done.stderr
        assert "rm concord && ln -s core concord" in done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr


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
