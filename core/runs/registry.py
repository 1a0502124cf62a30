"""The benchmarks Concord knows: those that ship, and the user's own once they are registered.

Each slice is a folder of `core/benchmarks`; its package exports BENCHMARKS, a tuple of Benchmark values.

The heavy side of a slice (tables, commands, files) lies in modules of these names and is imported
when asked for.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from concord.errors import ConfigError, check_known
from concord.files import callables
from concord.llm.models import BENCHMARKS_KEY, own_code
from concord.runs.benchmark import Benchmark

SLICES = ("pingpong", "simulbench", "stss")
"""The folders, in the order in which they are shown."""

_OF_SLICE: dict[str, tuple[Benchmark, ...]] = {
    name: import_module(f"concord.benchmarks.{name}").BENCHMARKS for name in SLICES
}
SCENARIO = "scenario"
"""The facet of conversations from elsewhere that names what was asked."""

BENCHMARKS: dict[str, Benchmark] = {
    b.name: b for slice_benchmarks in _OF_SLICE.values() for b in slice_benchmarks
}


_REGISTERED: dict[str, str] = {}
"""The module of each registered benchmark, by its name."""


def register(spec: str, folder: Path) -> Benchmark:
    """A benchmark of the user's own: a Benchmark value, or a callable that makes one, as `module:name`.

    The module lies in this workspace folder, in the current folder, or where Python finds it. A package may
    have the heavy side of a slice. Raises NotFound or ConfigError.
    """
    value = callables.bring(spec, "benchmark", (folder, Path.cwd()))
    benchmark = value() if callable(value) else value
    if not isinstance(benchmark, Benchmark):
        raise ConfigError(f"“{spec}” must be a Benchmark, or a callable that makes one.")
    module = spec.partition(":")[0]
    if benchmark.name in BENCHMARKS and _REGISTERED.get(benchmark.name) != module:
        raise ConfigError(f"There is a benchmark “{benchmark.name}” already. Give “{spec}” another name.")
    _REGISTERED[benchmark.name] = module
    BENCHMARKS[benchmark.name] = benchmark
    return benchmark


def register_own(folder: Path) -> None:
    """Register the benchmarks that the models.toml of a workspace lists. Raises NotFound or ConfigError."""
    for spec in own_code(folder / "models.toml", BENCHMARKS_KEY):
        register(spec, folder)


def get(name: str) -> Benchmark:
    """A benchmark by name. Raises NotFound."""
    check_known("benchmark", name, BENCHMARKS)
    return BENCHMARKS[name]


def known_or_imported(name: str) -> Benchmark:
    """A benchmark by name; of another name, what can be said of conversations from elsewhere."""
    return BENCHMARKS.get(name) or Benchmark(
        name=name,
        title=name,
        description="Conversations from elsewhere.",
        facets=(SCENARIO,),
        items=(SCENARIO,),
        scenario_facet=SCENARIO,
    )


def slice_of(benchmark: str) -> str:
    """The slice of a benchmark; of the user's own, its module. Raises NotFound for an unknown benchmark."""
    get(benchmark)
    if benchmark in _REGISTERED:
        return _REGISTERED[benchmark]
    return next(
        name for name, benchmarks in _OF_SLICE.items() if any(b.name == benchmark for b in benchmarks)
    )


def siblings(benchmark: str) -> list[str]:
    """The benchmarks of the same slice; raises NotFound as `slice_of` does."""
    slice_name = slice_of(benchmark)
    return [name for name in BENCHMARKS if slice_of(name) == slice_name]


def part(slice_name: str, module: str) -> ModuleType | None:
    """A module of a slice's heavy side, such as “tables” or “commands”; None where the slice has none."""
    if slice_name in _REGISTERED.values():
        package = import_module(slice_name)
        name = f"{slice_name}.{module}"
        return import_module(name) if hasattr(package, "__path__") and find_spec(name) else None
    name = f"concord.benchmarks.{slice_name}.{module}"
    return import_module(name) if find_spec(name) else None
