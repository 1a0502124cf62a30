"""What judges were asked about stored conversations: by their benchmark, or by a rubric."""

from dataclasses import replace

from sqlite_utils import Database

from concord.errors import not_found
from concord.rubrics.reading import rubric_of
from concord.runs.benchmark import Benchmark
from concord.runs.registry import BENCHMARKS, known_or_imported
from concord.runs.rubric_judge import asking
from concord.store import conversations, ratings, rubrics
from concord.store.rubrics import Version


def versions(db: Database, benchmark: str) -> dict[str, Version]:
    """The versions of rubrics by which judges rated conversations of a benchmark, the last one first."""
    rated = {judge.variant for judge in ratings.judges(db, benchmark)}
    by_date = sorted(rubrics.versions(db), key=lambda v: (v.created, v.version), reverse=True)
    return {version.variant: version for version in by_date if version.variant in rated}


def system(db: Database, benchmark: str, variant: str = "") -> Benchmark:
    """A benchmark, asking what its judges were asked by this version of a rubric (“support v2”).

    Unless one is named, a benchmark asks what is its own, and conversations from elsewhere are asked what the
    last rubric asked whose judges rated them. `variant` may name a rubric, whose last version is then meant.
    Raises NotFound.
    """
    base = known_or_imported(benchmark)
    if benchmark in BENCHMARKS and not variant:
        return base
    used_versions = versions(db, benchmark)
    version = next((v for v in used_versions if not variant or variant in (v, used_versions[v].name)), None)
    if version is None:
        if variant:
            raise not_found("rubric", variant, used_versions)
        return base
    rubric = rubric_of(used_versions[version].name, used_versions[version].body, f"the rubric {version}")
    facet_names = [name for name in conversations.values(db, benchmark) if name not in _NO_FACETS]
    return replace(
        base,
        title=f"{base.title}, by {version}",
        version=version,
        judge_version=version,
        asking=asking(rubric),
        further=(),
        refusal="",
        facets=base.facets if benchmark in BENCHMARKS else tuple(facet_names),
        spotcheck_facets=base.spotcheck_facets if benchmark in BENCHMARKS else tuple(facet_names),
    )


_NO_FACETS = ("benchmark", "language", "player")
