"""The walls: rules about the code that a test holds, so that nobody has to remember them.

A wall collects every offender, so that one failure names them all. `python tests/test_walls.py` writes
prompts/frozen.toml anew, before a release.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from bench import density
from concord.questions import TYPES
from concord.runs.registry import SLICES

ROOT = Path(__file__).parent.parent
CORE = sorted((ROOT / "core").rglob("*.py"))
PAGES = [*sorted((ROOT / "pages").rglob("*.py")), ROOT / "app.py"]
SCRIPTS = sorted((ROOT / "pages").rglob("*.js"))
PYTHON = [*CORE, *PAGES]

LEVELS = (
    (
        "codes",
        "configuration",
        "conversation",
        "questions",
        "rating",
        "scenario",
        "errors",
        "files",
        "estimate",
        "table",
        "scores",
        "arrays",
        "glossary",
        "messages",
    ),
    ("llm", "statistics", "store"),
    ("rubrics", "workspace"),
    ("runs",),
    ("studies",),
    ("reports",),
    ("lab",),
    ("exchange", "reading"),
    ("lake",),
    ("commands", "demo", "library"),
    ("benchmarks",),
    ("cli", "pages", "app"),
)
"""Lowest first: a module imports from its own level and the levels before it."""
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


@cache
def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@cache
def text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(text(file))


def module(file: Path) -> str:
    dotted = name(file).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return re.sub(r"^core\b", "concord", dotted)


MODULES = {module(file) for file in PYTHON}


@cache
def imports(file: Path) -> frozenset[str]:
    """Dotted names of the modules a file imports, wherever in the file it does."""
    found = set()
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {whole if whole in MODULES else node.module for whole in named}
    return frozenset(found)


@cache
def light() -> frozenset[str]:
    """The modules of the benchmarks that are loaded together with the registry."""
    code = "import sys, concord.runs.registry; print(*(m for m in sys.modules if 'concord.benchmarks' in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return frozenset(loaded.stdout.split())


def test_help_of_the_agreement_command_loads_no_statistics():
    code = "import sys, concord.commands.agreement; print({'numpy', 'pandas', 'scipy'} & {*sys.modules})"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def room(dotted: str) -> str:
    """The entry of LEVELS that a module of the project belongs to."""
    parts = dotted.split(".")
    if parts[0] != "concord":
        return parts[0]
    return parts[1] if len(parts) > 1 else "library"


def inner(file: Path) -> set[str]:
    """The modules of the project that a file imports."""
    return {i for i in imports(file) if i.split(".")[0] in ("concord", "pages", "app")}


Offenders = Iterable[str]
WALLS: dict[str, Callable[[], Offenders]] = {}


def wall(found: Callable[[], Offenders]) -> Callable[[], Offenders]:
    """Make a test of a function that names those who break a rule."""
    WALLS[found.__name__] = found
    return found


@wall
def imports_flow_down() -> Iterator[str]:
    for file in PYTHON:
        if room(module(file)) not in LEVEL:
            yield f"{name(file)} has no level in LEVELS"
            continue
        for other in inner(file):
            if LEVEL.get(room(other), -1) > LEVEL[room(module(file))]:
                yield f"{name(file)} imports {other}"


@wall
def nothing_imports_in_circles() -> Iterator[str]:
    """What only a type checker imports counts too."""
    packages = {module(file) for file in PYTHON if file.name == "__init__.py"}
    graph = {module(file): inner(file) - packages for file in PYTHON}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield " → ".join(reversed(error.args[1]))


@wall
def the_package_is_imported_as_concord() -> Iterator[str]:
    """`core` would be a second copy of every module, with classes and caches of its own."""
    for file in [*PYTHON, *(f for folder in ("tests", "bench") for f in (ROOT / folder).rglob("*.py"))]:
        yield from (f"{name(file)} imports {i}" for i in imports(file) if i.split(".")[0] == "core")


@wall
def core_knows_neither_streamlit_nor_pages() -> Iterator[str]:
    for file in CORE:
        yield from (
            f"{name(file)} imports {i}" for i in imports(file) if i.split(".")[0] in ("streamlit", "pages")
        )


@wall
def pages_and_commands_do_not_know_each_other() -> Iterator[str]:
    """What both need lies below them."""
    for file in PAGES:
        yield from (
            f"{name(file)} imports {i}" for i in inner(file) if re.match(r"concord\.(cli|commands)\b", i)
        )


@wall
def the_store_knows_nouns_only() -> Iterator[str]:
    known = {*LEVELS[0], "store"}
    for file in (ROOT / "core" / "store").rglob("*.py"):
        yield from (f"{name(file)} imports {i}" for i in inner(file) if room(i) not in known)


@wall
def statistics_know_figures_and_errors_only() -> Iterator[str]:
    for file in (ROOT / "core" / "statistics").rglob("*.py"):
        nouns = ("arrays", "codes", "estimate", "errors", "glossary", "messages", "scores", "table")
        known = ("concord.statistics", *(f"concord.{noun}" for noun in nouns))
        yield from (f"{name(file)} imports {i}" for i in inner(file) if not i.startswith(known))
        yield from (f"{name(file)} imports {i}" for i in imports(file) if i.startswith("sqlite"))


@wall
def one_table_knows_the_types_of_questions() -> Iterator[str]:
    """Nothing but core/questions.py compares with a type's name, or asks which of several an entry says.

    “number” is also a type of JSON, and of values in JavaScript: of it only what a scale says is looked at.
    """
    asks = "type", "widget", "level", "lead", "kind"
    for file in (f for f in PYTHON if name(f) != "core/questions.py"):
        for node in ast.walk(tree(file)):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            sides = [node.value] if isinstance(node, ast.MatchValue) else sides
            words = {c.value for side in sides for c in ast.walk(side) if isinstance(c, ast.Constant)}
            of_scale = any(
                isinstance(side, ast.Attribute)
                and side.attr in asks
                and re.search(r"\b(scale|kind|TYPES)\b", ast.unparse(side.value))
                for side in sides
            )
            if of_scale or (words & set(TYPES) - {"number"}):
                yield f"{name(file)}:{node.lineno} compares: {ast.unparse(node)}"
    names = "|".join(set(TYPES) - {"number"})
    compared = rf"""(?:[=!]==?|case)\s*["'](?:{names})["'](?!\s*\])|widget\s*[=!]==?"""
    for file in SCRIPTS:
        yield from (f"{name(file)} compares: {found[0]}" for found in re.finditer(compared, text(file)))


@wall
def playing_and_scoring_do_not_know_the_store() -> Iterator[str]:
    """A benchmark's light side gets what it needs as arguments, and returns values."""
    for file in CORE:
        if module(file) in light():
            yield from (
                f"{name(file)} imports {i}"
                for i in inner(file)
                if i.startswith(("concord.store", "concord.workspace"))
            )


@wall
def a_slice_knows_no_other_slice() -> Iterator[str]:
    for slice_name in SLICES:
        for file in sorted((ROOT / "core" / "benchmarks" / slice_name).rglob("*.py")):
            for other in inner(file):
                if re.match(rf"concord\.benchmarks\.(?!{slice_name}\b)({'|'.join(SLICES)})\b", other):
                    yield f"{name(file)} imports {other}"


@wall
def nothing_general_imports_a_benchmark() -> Iterator[str]:
    """The registry loads slices by name; whoever needs one asks it."""
    for file in PYTHON:
        if name(file).startswith(("core/benchmarks/", *(f"pages/{slice_name}/" for slice_name in SLICES))):
            continue
        yield from (f"{name(file)} imports {i}" for i in inner(file) if i.startswith("concord.benchmarks"))


@wall
def a_benchmark_is_named_in_its_slice_only() -> Iterator[str]:
    """Besides its folders, one line of the registry names it, and one line of the navigation if it has a page
    of its own.
    """
    everywhere = [
        f for folder in ("core", "pages") for f in (ROOT / folder).rglob("*.*") if f.suffix != ".pyc"
    ]
    for slice_name in SLICES:
        own = (f"core/benchmarks/{slice_name}/", f"pages/{slice_name}/")
        for file in [*everywhere, ROOT / "app.py", ROOT / "Makefile", ROOT / "pyproject.toml"]:
            if name(file).startswith(own):
                continue
            for line in text(file).splitlines():
                registered = name(file) == "core/runs/registry.py" and line.startswith("SLICES = ")
                navigated = name(file) == "pages/parts/navigation.py" and f'PageFile("{slice_name}/' in line
                if slice_name in line.lower() and not registered and not navigated:
                    yield f"{name(file)} names {slice_name}"


@wall
def words_of_one_benchmark_stay_in_its_slice() -> Iterator[str]:
    """Which criterion means refusal, which role leads a conversation, which facet tells its end: a Benchmark
    says it.
    """
    words = re.compile(
        r"""["'](refusal|interrogator|ending|(first|subseq)chan|lastonly|stateless|stateful)["']""", re.I
    )
    free = (
        "core/benchmarks/",
        "core/llm/",
        *(f"pages/{s}/" for s in SLICES),
    )
    for file in PYTHON:
        if not name(file).startswith(free):
            said = {found[1].lower() for found in words.finditer(text(file))}
            yield from (f"{name(file)} says {word}" for word in said)


@wall
def sql_is_written_in_the_store_only() -> Iterator[str]:
    calls = r"\b(db|conn|database|connection)(\.(execute|executemany|query|table|create_\w+)\(|\[)"
    statements = r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b .*\b(FROM|VALUES|SET|WHERE)\b"
    for file in PYTHON:
        if "core/store/" not in name(file) and (
            re.search(calls, text(file)) or re.search(statements, text(file))
        ):
            yield name(file)


@wall
def no_page_lies_directly_in_pages() -> Iterator[str]:
    """Streamlit serves pages/*.py as bare scripts, without the sign-in, until the root has been opened
    once.
    """
    yield from map(name, (ROOT / "pages").glob("*.py"))


@wall
def pages_draw_no_html() -> Iterator[str]:
    for file in PAGES:
        if "unsafe_allow_html" in text(file) or re.search(
            r"\b(components\.v1|components\.html)\(", text(file)
        ):
            yield name(file)
        for node in ast.walk(tree(file)):
            # A style sheet of our own, written out in the file, is the one thing that may go this way.
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.html":
                shown = node.args[0]
                written = isinstance(shown, ast.Constant) and isinstance(shown.value, str)
                if not written or not re.fullmatch(r"\s*<style>.*</style>\s*", shown.value, re.S):
                    yield f"{name(file)}:{node.lineno}"


@wall
def components_read_nothing_as_html() -> Iterator[str]:
    """What a model or a stranger wrote arrives as text, never as markup or code."""
    ways = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc|\beval\("
        r"|new Function"
    )
    yield from (name(file) for file in SCRIPTS if re.search(ways, text(file)))


@wall
def every_file_says_what_it_is_for() -> Iterator[str]:
    yield from (name(f) for f in PYTHON if len((ast.get_docstring(tree(f)) or "").split("\n")[0]) < 16)


@wall
def no_error_is_swallowed() -> Iterator[str]:
    for file in PYTHON:
        for node in ast.walk(tree(file)):
            everything = ("Exception", "BaseException")
            if isinstance(node, ast.ExceptHandler) and (
                node.type is None or ast.unparse(node.type) in everything
            ):
                if all(isinstance(statement, ast.Pass | ast.Continue) for statement in node.body):
                    yield f"{name(file)}:{node.lineno}"
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
                yield from (f"{name(file)}:{node.lineno}" for a in node.args if ast.unparse(a) in everything)


@wall
def lines_are_formatted() -> Iterator[str]:
    """`# fmt: skip` and `# fmt: off` hide a line from the formatter."""
    tools = [*(ROOT / "bench").glob("*.py"), *(ROOT / "docs").glob("*.py"), *(ROOT / "tests").rglob("*.py")]
    for file in [*PYTHON, *tools]:
        if re.search(r"# fmt: (skip|off)", text(file)) and file != Path(__file__):
            yield name(file)


@wall
def no_literal_is_shaped_to_dodge_the_formatter() -> Iterator[str]:
    tools = [*(ROOT / "bench").rglob("*.py"), *(ROOT / "docs").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    for file in [*PYTHON, *tools]:
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List):
                yield f"{name(file)}:{node.lineno} unpacks a literal: write its entries where it stands"


@wall
def class_names_are_distinct() -> Iterator[str]:
    """Whoever reads “Row” in a traceback knows which it is. Users have the library's Study."""
    places = defaultdict(set)
    for file in PYTHON:
        if name(file) == "core/library/study.py":
            continue
        for node in tree(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(name(file))
    for class_name, files in places.items():
        if len(files) > 1:
            yield f"{class_name} in {', '.join(sorted(files))}"


@wall
def the_root_of_core_is_small_and_on_the_page() -> Iterator[str]:
    page = text(ROOT / "docs" / "architecture.md")
    entries = [p for p in (ROOT / "core").iterdir() if not p.name.startswith(("_", "."))]
    modules = [p for p in entries if p.suffix == ".py"]
    if len(modules) > 15:
        yield f"{len(modules)} modules lie at the root of core"
    for entry in entries:
        shown = entry.name if entry.suffix else f"{entry.name}/"
        if not re.search(rf"^ +(.*\s)?{re.escape(shown)}(\s|$)", page, re.M):
            yield f"{shown} is missing in docs/architecture.md"


@wall
def commands_print_through_printing() -> Iterator[str]:
    """`printing.echo` escapes what a terminal would obey."""
    for file in CORE:
        if name(file) != "core/commands/printing.py":
            calls = (node.func for node in ast.walk(tree(file)) if isinstance(node, ast.Call))
            if found := {ast.unparse(func) for func in calls} & {"click.echo", "click.secho", "print"}:
                yield f"{name(file)} calls {', '.join(found)}"


@wall
def the_documents_name_files_that_exist() -> Iterator[str]:
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]:
        for path in re.findall(r"`((?:core|pages|data|bench|tests|docs)/[\w/.-]+)`", text(page)):
            placeholder = re.search(r"\b[A-Z]+\b(?!\.md)", path)
            if not placeholder and not (ROOT / path).exists():
                yield f"{name(page)} names {path}"
        for target in re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", text(page)):
            if not (page.parent / target).exists():
                yield f"{name(page)} links to {target}"


@wall
def files_of_tests_outside_packages_have_names_of_their_own() -> Iterator[str]:
    """Pytest imports them by their name alone, and takes no second one of that name."""
    loose = [
        file for file in (ROOT / "tests").rglob("test_*.py") if not (file.parent / "__init__.py").exists()
    ]
    for name_of_file, number in Counter(file.name for file in loose).items():
        if number > 1:
            yield f"{number} files of tests are called {name_of_file}"


@wall
def no_link_is_tracked() -> Iterator[str]:
    """A link such as .venv would take the place of the folder of whoever merges it."""
    if (ROOT / ".git").exists():
        listed = subprocess.check_output(["git", "ls-files", "-s"], cwd=ROOT, text=True).splitlines()
        links = {line.split("\t")[1] for line in listed if line.startswith("120000")}
        yield from links - {"concord"}


PROJECT = tomllib.loads(text(ROOT / "pyproject.toml"))


def distributions(wanted: Iterable[str]) -> set[str]:
    return {re.match(r"[\w\-]+", line)[0] for line in wanted}


def told(heading: str) -> dict[str, set[str]]:
    """The libraries under a heading of docs/dependencies.md, and the places that use each."""
    section = re.split(r"^## ", text(ROOT / "docs" / "dependencies.md"), flags=re.M)
    lines = next(part for part in section if part.startswith(heading))
    rows = re.findall(r"^- `([\w\-]+)`(?: in ([^:\n]+))?:", lines, re.M)
    return {library: set(re.findall(r"`([\w/.]+)`", places)) for library, places in rows}


def imported() -> dict[str, set[str]]:
    """The distributions that core, pages and app.py import, and the folders that do."""
    of_module = packages_distributions()
    found = defaultdict(set)
    for file in PYTHON:
        place = "/".join(name(file).split("/")[:2])
        for top in {i.split(".")[0] for i in imports(file)} - {
            *sys.stdlib_module_names,
            "concord",
            "pages",
            "app",
        }:
            for distribution in set(of_module.get(top, [top])):
                found[distribution.replace("_", "-").lower()].add(place)
    return found


@wall
def libraries_are_imported_where_their_lines_say() -> Iterator[str]:
    """A library that most folders import has no places in its line, but it has to be imported."""
    used, lines = imported(), told("Running")
    for library in sorted(set(used) | set(lines)):
        if library not in lines:
            yield f"{library} has no line in docs/dependencies.md"
        elif library not in used or (lines[library] and lines[library] != used[library]):
            yield f"{library} is imported in: {', '.join(sorted(used.get(library, ()))) or 'nothing'}"


@wall
def no_package_binds_more_names_that_say_no_value() -> Iterator[str]:
    """tests/limits.toml has the words, and how many each package has left."""
    limits = density.RULES["names"]
    for package, count in density.counts().items():
        if count > limits.get(package, 0):
            yield (
                f"{package} binds {count} such names, {limits.get(package, 0)} are allowed: "
                f"python -m bench.density --names {package}"
            )


@wall
def no_package_has_more_expressions_that_should_be_statements() -> Iterator[str]:
    """tests/limits.toml has how many `a, b = x, y` and `a if b else c if d else e` each package has left."""
    remedies = {
        "tuple_assignments": "write a line for each value",
        "nested_conditionals": "write if and elif, or a table",
    }
    for kind, counts in density.EXPRESSIONS.items():
        limits = density.RULES[kind]
        for package, count in counts().items():
            if count > limits.get(package, 0):
                allowed = limits.get(package, 0)
                yield f"{package} has {count} {kind}, {allowed} are allowed: {remedies[kind]}"


@wall
def modules_written_out_stay_so() -> Iterator[str]:
    """tests/limits.toml has these modules, and how many dense expressions each may have."""
    kinds = ("comprehensions", "conditional expressions", "assignments of a tuple")
    for module_name, limits in density.RULES["expressions"].items():
        counts = density.expressions(ROOT / module_name)
        for kind, count, limit in zip(kinds, counts, limits, strict=True):
            if count > limit:
                yield f"{module_name} has {count} {kind}, {limit} are allowed"


@wall
def names_of_tests_are_short_and_generators_are_not_shared() -> Iterator[str]:
    """tests/limits.toml has how many of each kind are left."""
    limits = density.RULES["tests"]
    for kind, places in density.of_tests().items():
        if len(places) > limits[kind]:
            yield f"{len(places)} {kind}, {limits[kind]} are allowed: {'; '.join(places)}"


@pytest.mark.parametrize("rule", WALLS)
def test_the_wall_holds(rule: str):
    found = sorted(set(WALLS[rule]()))
    assert not found, "\n".join(["Offenders:", *found])


def frozen() -> dict[str, str]:
    return {
        file.relative_to(ROOT / "prompts").as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        for file in sorted((ROOT / "prompts").rglob("*"))
        if file.is_file() and file.name != "frozen.toml"
    }


def test_published_prompts_are_frozen():
    """A change to a published prompt is a new version. Before a release: `python tests/test_walls.py`."""
    listed = tomllib.loads(text(ROOT / "prompts" / "frozen.toml"))["files"]
    assert listed == frozen()


@pytest.mark.parametrize("file", ["requirements.lock", "pyproject.toml", "Makefile"])
def test_no_lock_or_configuration_names_a_package_index(file: str):
    found = text(ROOT / file)
    assert "index-url" not in found
    assert "pypi" not in found.lower()
    assert "simple/" not in found


def test_every_locked_package_has_an_exact_version_and_a_hash():
    entries = re.split(r"\n(?=\S)", text(ROOT / "requirements.lock"))
    packages = [e for e in entries if not e.startswith("#")]
    assert len(packages) > 50
    assert all(re.match(r"[\w.\-\[\]]+==\S+", p) and "--hash=sha256:" in p for p in packages)


def test_every_dependency_is_accounted_for():
    extras = [line for extra in PROJECT["project"]["optional-dependencies"].values() for line in extra]
    assert set(told("Running")) == distributions([*PROJECT["project"]["dependencies"], *extras])
    assert set(told("Building and testing")) == distributions(PROJECT["dependency-groups"]["dev"])


if __name__ == "__main__":
    lines = [f'"{file}" = "{digest}"' for file, digest in frozen().items()]
    (ROOT / "prompts" / "frozen.toml").write_text(
        "# Hashes of published prompts: see tests/test_walls.py.\n\n[files]\n" + "\n".join(lines) + "\n"
    )
