"""How dense code is: words that name no value, and expressions where a statement would be read faster.

    python -m bench.density                       core and pages, by package
    python -m bench.density httpx sqlite_utils    and installed packages, for comparison
    python -m bench.density core/scores.py        single modules
    python -m bench.density --names core/reports  each such name and where it is bound
    python -m bench.density --limits              writes tests/limits.toml, where counts fell

Counted per 1,000 lines of code (without blank lines, comments and docstrings): comprehensions, conditional
expressions, assignments of a tuple to several names. Names are a share of all that are bound: variables,
arguments, fields, functions. `tests/test_walls.py` holds each package to its number of such names, of
tuples and of nested conditional expressions, and the modules that tests/limits.toml lists to their number of
such expressions.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
LIMITS = ROOT / "tests" / "limits.toml"

RULES = tomllib.loads(LIMITS.read_text(encoding="utf-8"))
STOP = frozenset(RULES["function_words"].split()) | frozenset(RULES["participles"].split())
"""Words that say how a value came or where it stands, in place of what it is: `given` for `scores`."""


MOST_CHARACTERS = 70
"""Of the name of a test."""
GENERATORS = ("np.random.default_rng(", "random.Random(")


class Density(NamedTuple):
    """Counts of one package."""

    lines: int
    bound: int
    stopped: int
    comprehensions: int
    conditionals: int
    tuples: int

    def row(self, name: str) -> str:
        """A line of the table."""
        share = self.stopped / self.bound if self.bound else 0.0
        parts = [f"{name:<32}{self.lines:>8,}{share:>9.1%}"]
        for count in (self.comprehensions, self.conditionals, self.tuples):
            parts.append(f"{1000 * count / self.lines if self.lines else 0.0:>10.1f}")
        return "".join(parts)


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that a module binds, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
            yield node.name or "", node.lineno


def stopped(name: str) -> bool:
    """Whether a name says no value: it is a function word or a participle, but for underscores about it.
    Python's own names (`__all__`) are none.
    """
    return not name.startswith("__") and name.strip("_").lower() in STOP


def stopped_names(files: Iterable[Path]) -> list[tuple[Path, int, str]]:
    """Where such names are bound: file, line, name."""
    return [
        (file, line, name)
        for file in files
        for name, line in bound_names(ast.parse(file.read_text(encoding="utf-8")))
        if stopped(name)
    ]


def lines_of_code(text: str) -> int:
    """Lines that hold code: no blank lines, comments or docstrings."""
    held = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        nothing = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type not in nothing:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            held -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


def density(files: Iterable[Path]) -> Density:
    """The counts of these files."""
    lines = bound = stopped_count = comprehensions = conditionals = tuples = 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        lines += lines_of_code(text)
        for name, _ in bound_names(tree):
            bound += 1
            stopped_count += stopped(name)
        for node in ast.walk(tree):
            if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                comprehensions += 1
            elif isinstance(node, ast.IfExp):
                conditionals += 1
            elif isinstance(node, ast.Assign):
                pair = isinstance(node.value, ast.Tuple) and isinstance(node.targets[0], ast.Tuple)
                tuples += pair
    return Density(lines, bound, stopped_count, comprehensions, conditionals, tuples)


def packages() -> dict[str, list[Path]]:
    """The files of each package: folders of core and of pages, and the modules at the root of core."""
    found: dict[str, list[Path]] = {}
    for room in ("core", "pages"):
        for file in sorted((ROOT / room).rglob("*.py")):
            parts = file.relative_to(ROOT).parts
            found.setdefault("/".join(parts[:2]) if len(parts) > 2 else room, []).append(file)
    return found


def installed(name: str) -> list[Path]:
    """The files of an installed package, but for its tests. Raises SystemExit where it is not installed."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"There is no installed package {name}.")
    home = Path(next(iter(spec.submodule_search_locations)))
    return [file for file in sorted(home.rglob("*.py")) if "tests" not in file.parts]


def of_tests() -> dict[str, list[str]]:
    """What tests should not have, with its place: names above 70 characters, random generators that tests
    share, and helpers that one test module takes from another.
    """
    found: dict[str, list[str]] = {"long_names": [], "shared_generators": [], "helpers_of_tests": []}
    for file in sorted((ROOT / "tests").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        place = file.relative_to(ROOT).as_posix()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if node.name.startswith("test_") and len(node.name) > MOST_CHARACTERS:
                    found["long_names"].append(f"{place}:{node.lineno} {node.name}")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1].startswith("test_"):
                found["helpers_of_tests"].append(f"{place}:{node.lineno} {node.module}")
        for node in tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith(GENERATORS):
                found["shared_generators"].append(f"{place}:{node.lineno} {ast.unparse(node.targets[0])}")
    return found


def expressions(file: Path) -> list[int]:
    """How many comprehensions, conditional expressions and assignments of a tuple a module has."""
    module = density([file])
    return [module.comprehensions, module.conditionals, module.tuples]


def tuple_assignments() -> dict[str, int]:
    """How many assignments of a tuple to several names each package has."""
    return {name: density(files).tuples for name, files in sorted(packages().items())}


def nested_conditionals() -> dict[str, int]:
    """How many conditional expressions each package has that hold another one."""
    nested: dict[str, int] = {}
    for name, files in sorted(packages().items()):
        nested[name] = 0
        for file in files:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.IfExp):
                    parts = [*ast.walk(node.body), *ast.walk(node.test), *ast.walk(node.orelse)]
                    nested[name] += any(isinstance(part, ast.IfExp) for part in parts)
    return nested


EXPRESSIONS = {"tuple_assignments": tuple_assignments, "nested_conditionals": nested_conditionals}
"""What each package has a number of that only falls."""


def counts() -> dict[str, int]:
    """How many such names each package binds."""
    return {name: len(stopped_names(files)) for name, files in sorted(packages().items())}


def write_limits() -> None:
    """Lower the limit of each package and module whose count fell; a new package has the limit 0."""
    words, _, _ = LIMITS.read_text(encoding="utf-8").partition("[tests]\n")
    lines = ["[tests]"]
    for name, places in of_tests().items():
        lines.append(f"{name} = {min(len(places), RULES['tests'][name])}")
    lines += ["", "[names]"]
    for name, count in counts().items():
        lines.append(f'"{name}" = {min(count, RULES["names"].get(name, 0))}')
    for kind, counts_of_kind in EXPRESSIONS.items():
        lines += ["", f"[{kind}]"]
        for name, count in counts_of_kind().items():
            lines.append(f'"{name}" = {min(count, RULES[kind].get(name, 0))}')
    lines += ["", "[expressions]"]
    for name, limits in sorted(RULES["expressions"].items()):
        lowered = [min(count, limit) for count, limit in zip(expressions(ROOT / name), limits, strict=True)]
        lines.append(f'"{name}" = {lowered}')
    LIMITS.write_text(words + "\n".join([*lines, ""]), encoding="utf-8")


def main() -> None:
    """Print the table, the names of a package, or write the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("packages", nargs="*", help="installed packages, or modules such as core/scores.py")
    parser.add_argument("--names", metavar="PACKAGE", help="list the names of one package")
    parser.add_argument("--limits", action="store_true", help="lower the limits")
    options = parser.parse_args()
    if options.limits:
        write_limits()
        return
    ours = packages()
    if options.names:
        places = stopped_names(ours[options.names])
        for name, count in Counter(name for *_, name in places).most_common():
            where = [f"{file.relative_to(ROOT)}:{line}" for file, line, each in places if each == name]
            print(f"{count:>5}  {name:<12} {' '.join(where[:8])}{' …' if count > 8 else ''}")
        return
    print(f"{'':<32}{'lines':>8}{'names':>9}{'compr.':>10}{'if-else':>10}{'tuples':>10}")
    modules = [ROOT / name for name in options.packages if name.endswith(".py")]
    if modules:
        for file in modules:
            print(density([file]).row(file.relative_to(ROOT).as_posix()))
        print(density(modules).row("together"))
        return
    for room in ("core", "pages"):
        inside = [file for name, files in ours.items() if name.split("/")[0] == room for file in files]
        print(density(inside).row(room))
    for name, files in ours.items():
        print(density(files).row(f"  {name}"))
    for name in options.packages:
        print(density(installed(name)).row(name))


if __name__ == "__main__":
    main()
