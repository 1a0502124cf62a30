"""What a leaderboard is made of: which benchmarks have one, and what judges gave their conversations."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
from sqlite_utils import Database

from concord.errors import ConcordError, check_known
from concord.rating import Rater
from concord.runs import judged
from concord.runs.benchmark import Benchmark
from concord.runs.registry import BENCHMARKS, get, part, slice_of
from concord.store import conversations, ratings, runs, tables
from concord.store.filters import FacetValues
from concord.store.tables import PROMPT, mixed_notes
from concord.table import Table


def own_tables(benchmark: str) -> Callable[..., tuple[Table, ...]] | None:
    """The function that makes a benchmark's own leaderboard; None if the common one serves.

    The slice's module `tables` lists it in LEADERBOARDS, by benchmark. It takes the database and the keyword
    arguments filters, judges, resamples and seed.
    """
    if benchmark not in BENCHMARKS:
        return None
    leaderboards: Mapping[str, Callable[..., tuple[Table, ...]]]
    leaderboards = getattr(part(slice_of(benchmark), "tables"), "LEADERBOARDS", {})
    return leaderboards.get(benchmark)


def sharing(db: Database, benchmark: str) -> list[str]:
    """The judges of a benchmark, and of those that share its own leaderboard."""
    own_boards = own_tables(benchmark)
    names = [
        name for name in BENCHMARKS if name == benchmark or (own_boards and own_tables(name) is own_boards)
    ]
    return sorted({judge for name in names for judge in tables.judges(db, name)})


def _no_judgements() -> pd.DataFrame:
    return pd.DataFrame(columns=["conversation", "judge"])


@dataclass(frozen=True)
class Rated:
    """Conversations and what judges gave them; `raters` are all judges by name."""

    system: Benchmark
    """Who was asked what: the benchmark, or what a rubric asks of its conversations."""
    filters: FacetValues
    conversations: pd.DataFrame
    scores: pd.DataFrame
    raters: Mapping[str, Rater]
    mixed: Mapping[str, Sequence[str]]
    """The conditions in which these conversations differ, such as language, with their values."""
    failed: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Conversations that could not be made: player → whose reply stayed unusable → number."""
    facets: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)
    """The facets of each conversation of the benchmark, by name."""
    scenarios: Mapping[int, str] = field(default_factory=dict)
    """What each conversation was about: those of different players with the same one are matched."""
    unusable: pd.DataFrame = field(default_factory=_no_judgements, repr=False)
    """Judgements whose reply stayed unusable: conversation, judge."""
    rubric: str = ""
    """The rubric that its judges rated by; “” where they were asked what is the benchmark's own."""

    @property
    def benchmark(self) -> str:
        """The benchmark's name."""
        return self.system.name

    @property
    def judges(self) -> tuple[str, ...]:
        """Everyone who rated, by name."""
        return tuple(sorted(self.scores.judge.unique()))

    def panel(self, judges: Sequence[str] = ()) -> tuple[str, ...]:
        """The judges named; else all who answered the prompt's version in `filters`, or the benchmark's own.

        Raises NotFound for a judge who rated nothing here, ConcordError where all answered another version.
        """
        check_known("judge", judges, self.judges)
        system = self.system
        version = system.judge_version or system.version
        all_judges = self.judges if self.filters.get(PROMPT) else ()
        of_version = tuple(name for name in self.judges if self.raters[name].variant in (version, ""))
        members = tuple(dict.fromkeys(judges)) or all_judges or of_version
        if not members:
            versions = sorted({self.raters[name].variant for name in self.judges})
            raise ConcordError(
                f"Judges answered another version of the prompt than {system.title}'s own, {version}: "
                f"{', '.join(versions)}. Ask for it with `--where {PROMPT}={versions[0]}`."
            )
        return members

    def notes(self, panel: Sequence[str]) -> list[str]:
        """Which conditions are mixed, and who is excluded for another version of the prompt."""
        sentences = mixed_notes(self.mixed)
        versions = {self.raters[name].variant for name in panel}
        if excluded := [name for name in self.judges if self.raters[name].variant not in versions]:
            sentences.append(f"Excluded because of another version of the prompt: {', '.join(excluded)}.")
        if len(versions) > 1:
            sentences.append(
                f"The judges answered {len(versions)} versions of the prompt: {', '.join(sorted(versions))}."
            )
        return sentences

    def title(self) -> str:
        """The benchmark's, with what the conversations were chosen by."""
        filter_words = "; ".join(
            f"{name} {', '.join(values)}" for name, values in self.filters.items() if values
        )
        return self.system.title + (f" ({filter_words})" if filter_words else "")


def compares(system: Benchmark) -> bool:
    """Whether a benchmark has criteria that enter a final score."""
    return any(c.counted for c in system.criteria)


def with_leaderboard(db: Database, benchmarks: Collection[str]) -> list[str]:
    """Those of the benchmarks that have a leaderboard; of several that share one the first."""
    return list(dict.fromkeys(listed_as(db, benchmarks).values()))


def listed_as(db: Database, benchmarks: Collection[str]) -> dict[str, str]:
    """The benchmark that the leaderboard names for each of these; of several that share one the first.

    Conversations from elsewhere have a leaderboard where judges rated them by a rubric.
    """
    first: dict[object, str] = {}
    listed = {}
    for name, system in BENCHMARKS.items():
        if name in benchmarks and ((own_boards := own_tables(name)) or compares(system)):
            listed[name] = first.setdefault(own_boards or name, name)
    return listed | {n: n for n in benchmarks if n not in BENCHMARKS and judged.versions(db, n)}


def boards(db: Database, benchmark: str) -> list[str]:
    """What players of a benchmark can be compared by: its own questions (“”), and versions of rubrics."""
    has_board = benchmark in BENCHMARKS and compares(BENCHMARKS[benchmark])
    return [*([""] if has_board else ()), *judged.versions(db, benchmark)]


def gather(db: Database, benchmark: str, filters: FacetValues | None = None, rubric: str = "") -> Rated:
    """What a leaderboard is made of; by the judges of a rubric, or of a version of it, where it is named.

    Raises NotFound for an unknown benchmark or a value in `filters` that nothing has, ConcordError where no
    judge has rated anything.
    """
    if benchmark not in conversations.values(db)["benchmark"]:
        get(benchmark)
    system = judged.system(db, benchmark, rubric)
    if not compares(system):
        if ratings.judges(db, benchmark):
            get(benchmark)  # Its judges were asked by a benchmark that is not known here.
        raise ConcordError(
            f"Judges of {system.title} have no criteria that can be averaged, so there is no such table."
        )
    tables.check(db, benchmark, filters)
    scores = tables.scores(db, benchmark, [c.name for c in system.criteria], filters)
    raters = tables.judges(db, benchmark)
    versions = judged.versions(db, benchmark)
    other_versions = versions.keys() - {system.version}
    scores = scores[[raters[judge].variant not in other_versions for judge in scores.judge]]
    if scores.empty:
        filter_words = " ".join(
            f"with {name} {', '.join(values)}" for name, values in (filters or {}).items()
        )
        raise ConcordError(
            f"No judge has rated any {system.title} "
            f"conversation{f' {filter_words}' if filter_words else ''} yet. Start a run "
            f"with judges, or let judges rate stored conversations with `concord judge {benchmark}`."
        )
    rows = tables.conversations(db, benchmark, filters)
    facets = tables.facets(db, benchmark)
    return Rated(
        system,
        filters or {},
        rows,
        scores,
        raters,
        tables.conditions(db, benchmark, system.items, filters),
        runs.failed_turns(db, benchmark, filters),
        facets,
        _scenarios(rows, facets[sorted(n for n in system.items if n in facets and n != system.ending_facet)]),
        tables.unusable(db, benchmark, filters),
        versions[system.version].name if system.version in versions else "",
    )


def _scenarios(rows: pd.DataFrame, facets: pd.DataFrame) -> dict[int, str]:
    """What each of these conversations was about: its language and these facets, such as “en · tully”; of one
    without any of them nothing.
    """
    if facets.columns.empty:
        return {}
    facets_of_rows = rows[["language"]].join(facets.dropna(how="all"), how="inner")
    return {
        number: " · ".join(value for value in values if isinstance(value, str))
        for number, *values in facets_of_rows.itertuples()
    }
