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
from concord.store.filters import Where
from concord.store.tables import PROMPT, mixed_notes
from concord.table import Table


def own_tables(benchmark: str) -> Callable[..., tuple[Table, ...]] | None:
    """The function that makes a benchmark's own leaderboard; None if the common one serves.

    The slice's module `tables` lists it in LEADERBOARDS, by benchmark. It takes the database and the keyword
    arguments where, judges, resamples and seed.
    """
    if benchmark not in BENCHMARKS:
        return None
    own: Mapping[str, Callable[..., tuple[Table, ...]]]
    own = getattr(part(slice_of(benchmark), "tables"), "LEADERBOARDS", {})
    return own.get(benchmark)


def sharing(db: Database, benchmark: str) -> list[str]:
    """The judges of a benchmark, and of those that share its own leaderboard."""
    own = own_tables(benchmark)
    names = [name for name in BENCHMARKS if name == benchmark or (own and own_tables(name) is own)]
    return sorted({judge for name in names for judge in tables.judges(db, name)})


def _no_judgements() -> pd.DataFrame:
    return pd.DataFrame(columns=["conversation", "judge"])


@dataclass(frozen=True)
class Rated:
    """Conversations and what judges gave them; `raters` are all judges by name."""

    system: Benchmark
    """Who was asked what: the benchmark, or what a rubric asks of its conversations."""
    where: Where
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
        """The judges named; else all who answered the prompt's version in `where`, or the benchmark's own.

        Raises NotFound for a judge who rated nothing here, ConcordError where all answered another version.
        """
        check_known("judge", judges, self.judges)
        system = self.system
        version = system.judge_version or system.version
        every = self.judges if self.where.get(PROMPT) else ()
        of_version = tuple(name for name in self.judges if self.raters[name].variant in (version, ""))
        members = tuple(dict.fromkeys(judges)) or every or of_version
        if not members:
            versions = sorted({self.raters[name].variant for name in self.judges})
            raise ConcordError(
                f"Judges answered another version of the prompt than {system.title}'s own, {version}: "
                f"{', '.join(versions)}. Ask for it with `--where {PROMPT}={versions[0]}`."
            )
        return members

    def notes(self, panel: Sequence[str]) -> list[str]:
        """Which conditions are mixed, and who is left out for another version of the prompt."""
        sentences = mixed_notes(self.mixed)
        versions = {self.raters[name].variant for name in panel}
        if others := [name for name in self.judges if self.raters[name].variant not in versions]:
            sentences.append(f"Excluded because of another version of the prompt: {', '.join(others)}.")
        if len(versions) > 1:
            sentences.append(
                f"The judges answered {len(versions)} versions of the prompt: {', '.join(sorted(versions))}."
            )
        return sentences

    def title(self) -> str:
        """The benchmark's, with what the conversations were chosen by."""
        chosen = "; ".join(f"{name} {', '.join(values)}" for name, values in self.where.items() if values)
        return self.system.title + (f" ({chosen})" if chosen else "")


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
        if name in benchmarks and ((own := own_tables(name)) or compares(system)):
            listed[name] = first.setdefault(own or name, name)
    return listed | {n: n for n in benchmarks if n not in BENCHMARKS and judged.versions(db, n)}


def boards(db: Database, benchmark: str) -> list[str]:
    """What players of a benchmark can be compared by: its own questions (“”), and versions of rubrics."""
    own = benchmark in BENCHMARKS and compares(BENCHMARKS[benchmark])
    return [*([""] if own else ()), *judged.versions(db, benchmark)]


def gather(db: Database, benchmark: str, where: Where | None = None, rubric: str = "") -> Rated:
    """What a leaderboard is made of; by the judges of a rubric, or of a version of it, where it is named.

    Raises NotFound for an unknown benchmark or a value in `where` that nothing has, ConcordError where no
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
    tables.check(db, benchmark, where)
    given = tables.scores(db, benchmark, [c.name for c in system.criteria], where)
    raters = tables.judges(db, benchmark)
    used = judged.versions(db, benchmark)
    others = used.keys() - {system.version}
    given = given[[raters[judge].variant not in others for judge in given.judge]]
    if given.empty:
        by = " ".join(f"with {name} {', '.join(values)}" for name, values in (where or {}).items())
        raise ConcordError(
            f"No judge has rated any {system.title} conversation{f' {by}' if by else ''} yet. Start a run "
            f"with judges, or let judges rate stored conversations with `concord judge {benchmark}`."
        )
    chosen, facets = tables.conversations(db, benchmark, where), tables.facets(db, benchmark)
    return Rated(
        system,
        where or {},
        chosen,
        given,
        raters,
        tables.conditions(db, benchmark, system.items, where),
        runs.failed_turns(db, benchmark, where),
        facets,
        _scenarios(
            chosen, facets[sorted(n for n in system.items if n in facets and n != system.ending_facet)]
        ),
        tables.unusable(db, benchmark, where),
        used[system.version].name if system.version in used else "",
    )


def _scenarios(chosen: pd.DataFrame, facets: pd.DataFrame) -> dict[int, str]:
    """What each of these conversations was about: its language and these facets, such as “en · tully”; of one
    without any of them nothing.
    """
    if facets.columns.empty:
        return {}
    about = chosen[["language"]].join(facets.dropna(how="all"), how="inner")
    return {
        number: " · ".join(value for value in values if isinstance(value, str))
        for number, *values in about.itertuples()
    }
