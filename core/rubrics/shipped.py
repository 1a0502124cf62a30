"""The rubrics of benchmarks: data/<benchmark>/<language>/rubrics/<name>.toml, in the form of any other."""

from collections.abc import Sequence
from pathlib import Path

from concord.files import SHIPPED, kept_toml
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import Rubric

LANGUAGE = "en"
"""The language whose texts name what is asked; others explain it to people."""


def rubrics(
    benchmark: str, language: str = LANGUAGE, folders: Sequence[Path] = (SHIPPED / "data",)
) -> tuple[Rubric, ...]:
    """The rubrics of a benchmark by name, from the first folder that has one; () where there are none.

    Raises ConfigError.
    """
    paths: dict[str, Path] = {}
    for folder in folders:
        for path in (folder / benchmark / language / "rubrics").glob("*.toml"):
            paths.setdefault(path.stem, path)
    return tuple(rubric_of(n, kept_toml(p), str(p), ships=True) for n, p in sorted(paths.items()))


def rubric(benchmark: str, name: str) -> Rubric:
    """A rubric that ships."""
    return next(each for each in rubrics(benchmark) if each.name == name)
