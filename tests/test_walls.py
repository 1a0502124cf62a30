"""The walls of the house, so that nobody has to remember them."""

from __future__ import annotations

import ast
import hashlib
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE = sorted((ROOT / "core").rglob("*.py"))
PAGES = sorted((ROOT / "pages").rglob("*.py"))
PYTHON = [*CORE, *PAGES, ROOT / "app.py"]

# Lowest first: a room may import from rooms to its left, never to its right.
FLOORS = (
    ("conversation", "rating", "scenario", "errors", "embeddings"),
    ("models",),
    ("replies",),
    ("prompts",),
    ("benchmarks",),
    ("store", "judging"),
    ("workspace",),
    ("work",),
    ("runs",),
    ("commands", "cli"),
)


def imports(file: Path) -> set[str]:
    """Dotted names of everything a file imports, wherever in the file it does."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("file", CORE, ids=name)
def test_core_imports_neither_streamlit_nor_pages(file):
    assert not {i for i in imports(file) if i.split(".")[0] in ("streamlit", "pages")}


@pytest.mark.parametrize("file", [f for f in PYTHON if f not in CORE], ids=name)
def test_pages_and_commands_do_not_lean_on_each_other(file):
    """What both need lies in core."""
    assert not {i for i in imports(file) if i == "core.cli" or i.startswith("core.commands")}


@pytest.mark.parametrize("file", CORE, ids=name)
def test_imports_flow_down_only(file):
    floor = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
    room = file.relative_to(ROOT / "core").parts[0].removesuffix(".py")
    if room not in floor:
        return
    above = {
        i for i in imports(file) if i.startswith("core.") and floor.get(i.split(".")[1], -1) > floor[room]
    }
    assert not above


@pytest.mark.parametrize("file", sorted((ROOT / "core" / "store").rglob("*.py")), ids=name)
def test_the_store_knows_the_nouns_and_no_benchmark(file):
    known = {"conversation", "rating", "scenario", "errors", "store"}
    assert {i.split(".")[1] for i in imports(file) if i.startswith("core.")} <= known


@pytest.mark.parametrize("file", sorted((ROOT / "core" / "agreement").rglob("*.py")), ids=name)
def test_agreement_knows_frames_and_errors_and_nothing_else(file):
    assert {i.split(".")[1] for i in imports(file) if i.startswith("core.")} <= {"agreement", "errors"}


@pytest.mark.parametrize("file", [f for f in PYTHON if "store" not in f.parts], ids=name)
def test_sql_is_written_in_the_store_only(file):
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"\b(db|conn|database|connection)\.(execute|executemany|query)\(", text)
    assert not re.search(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b .*\b(FROM|VALUES|SET|WHERE)\b", text)


BENCHMARK_NAMES = [
    p.stem
    for p in (ROOT / "core" / "benchmarks").iterdir()
    if p.stem not in ("__init__", "benchmark", "__pycache__")
]


@pytest.mark.parametrize(
    "room",
    ["runs.py", "work.py", "judging.py", "models.py", "prompts.py", "replies.py", "store", "agreement"],
)
def test_general_rooms_know_no_benchmark_by_name(room):
    place = ROOT / "core" / room
    for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
        code = without_docstrings(file).lower()
        assert not [b for b in BENCHMARK_NAMES if re.search(rf"\b{b}\b", code)], name(file)


def without_docstrings(file: Path) -> str:
    """The code alone: prose may cite the paper a formula comes from."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            node.body = [
                n for n in node.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
            ] or [ast.Pass()]
    return ast.unparse(tree)


def test_no_page_lies_directly_in_pages():
    """Streamlit serves pages/*.py as bare scripts, without the sign-in, until the root has been opened once."""
    assert not list((ROOT / "pages").glob("*.py"))


@pytest.mark.parametrize("file", [f for f in PYTHON if "pages" in f.parts or f.name == "app.py"], ids=name)
def test_pages_draw_no_html(file):
    text = file.read_text(encoding="utf-8")
    assert "unsafe_allow_html" not in text
    assert not re.search(r"\b(components\.v1|components\.html)\(", text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.html":
            # A style sheet of our own, written out in the file, is the one thing that may go this way.
            assert isinstance(node.args[0], ast.Constant)
            assert re.fullmatch(r"\s*<style>.*</style>\s*", node.args[0].value, re.S)


@pytest.mark.parametrize("file", sorted((ROOT / "pages").rglob("*.js")), ids=name)
def test_components_read_nothing_as_html(file):
    """What a model or a stranger wrote arrives as text, never as markup or code."""
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc|\beval\(|new Function"
    assert not re.search(ways, file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", PYTHON, ids=name)
def test_every_file_says_what_it_is_for(file):
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert docstring
    assert len(docstring.splitlines()[0]) > 15


@pytest.mark.parametrize("file", sorted((ROOT / "core").glob("[!_]*.py")), ids=name)
def test_every_room_of_the_house_is_on_its_page(file):
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"[\w*]+\.py", page)
    assert any(fnmatch(file.name, pattern) for pattern in named)


@pytest.mark.parametrize("file", PYTHON, ids=name)
def test_no_error_is_swallowed(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler) and (
            node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
        ):
            silent = all(isinstance(statement, ast.Pass | ast.Continue) for statement in node.body)
            assert not silent, f"{name(file)}:{node.lineno}"


def frozen() -> dict[str, str]:
    return {
        file.relative_to(ROOT / "prompts").as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        for file in sorted((ROOT / "prompts").rglob("*"))
        if file.is_file() and file.name != "frozen.toml"
    }


def test_published_prompts_are_frozen():
    """A change to a published prompt is a new version. Before a release: `python tests/test_walls.py` writes the list anew."""
    listed = tomllib.loads((ROOT / "prompts" / "frozen.toml").read_text(encoding="utf-8"))["files"]
    assert listed == frozen()


@pytest.mark.parametrize("file", ["requirements.lock", "pyproject.toml", "Makefile"])
def test_no_lock_or_configuration_names_a_package_index(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert "index-url" not in text
    assert "pypi" not in text.lower()
    assert "simple/" not in text


def test_every_locked_package_has_an_exact_version_and_a_hash():
    entries = re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text(encoding="utf-8"))
    packages = [e for e in entries if not e.startswith("#")]
    assert len(packages) > 50
    assert all(re.match(r"[\w.\-\[\]]+==\S+", p) and "--hash=sha256:" in p for p in packages)


def test_every_dependency_is_accounted_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.match(r"[\w\-]+", w)[0] for w in wanted}
    told = set(
        re.findall(r"^- `([\w\-]+)", (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8"), re.M)
    )
    assert names == told


if __name__ == "__main__":
    lines = [f'"{file}" = "{digest}"' for file, digest in frozen().items()]
    (ROOT / "prompts" / "frozen.toml").write_text(
        "# Hashes of published prompts: see tests/test_walls.py.\n\n[files]\n" + "\n".join(lines) + "\n"
    )
