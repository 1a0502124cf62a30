"""The benchmarks Concord knows.

Each slice is a folder here; its package exports BENCHMARKS, a tuple of Benchmark values.

The heavy side of a slice (tables, commands, files, demo, mock) lies in modules of these names and is imported
when asked for.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from concord.benchmarks.benchmark import Benchmark
from concord.errors import not_found

SLICES = ("pingpong", "simulbench", "stss")
"""The folders, in the order in which they are shown."""

_OF_SLICE: dict[str, tuple[Benchmark, ...]] = {
    name: import_module(f"concord.benchmarks.{name}").BENCHMARKS for name in SLICES
}
BENCHMARKS: dict[str, Benchmark] = {b.name: b for found in _OF_SLICE.values() for b in found}


def get(name: str) -> Benchmark:
    """A benchmark by name. Raises NotFound."""
    if name not in BENCHMARKS:
        raise not_found("benchmark", name, BENCHMARKS)
    return BENCHMARKS[name]


def slice_of(benchmark: str) -> str:
    """The slice that a benchmark belongs to. Raises NotFound for an unknown benchmark."""
    get(benchmark)
    return next(name for name, found in _OF_SLICE.items() if any(b.name == benchmark for b in found))


def part(slice_name: str, module: str) -> ModuleType | None:
    """A module of a slice's heavy side, such as “tables” or “commands”; None where the slice has none."""
    name = f"concord.benchmarks.{slice_name}.{module}"
    return import_module(name) if find_spec(name) else None
