"""What a leaderboard is narrowed to: conditions of the conversations, and a panel of judges.

Both stand in the address.
"""

from collections.abc import Mapping, Sequence

from concord.runs.benchmark import Benchmark
from pages.parts.address import choice, several
from pages.parts.plain import plain

EVERY = "all"
Chosen = tuple[tuple[str, tuple[str, ...]], ...]
"""Names with the values allowed, as `dict` takes them; unlike a dict it can be a key of the cache."""


def where(benchmark: Benchmark, values: Mapping[str, Sequence[str]]) -> Chosen:
    """The language, and the other conditions in which conversations of the benchmark differ."""
    chosen: list[tuple[str, tuple[str, ...]]] = []
    spoken = values["language"]
    if len(spoken) > 1:
        language = choice("Language", "language", [*spoken, EVERY], spoken[0], format_func=plain)
        if language != EVERY:
            chosen.append(("language", (language,)))
    own = ("benchmark", "language", "player", *benchmark.evaluated, *benchmark.items)
    for name in (name for name, found in values.items() if name not in own and len(found) > 1):
        if picked := several(name.replace("_", " ").capitalize(), name, values[name]):
            chosen.append((name, tuple(picked)))
    return tuple(chosen)


def panel(judges: Sequence[str], default: Sequence[str] = ()) -> tuple[str, ...]:
    """The judges chosen; none where the usual panel is to be taken."""
    usual = "every judge who answered the benchmark's own prompt"
    return tuple(
        several("Panel of judges", "judges", judges, what="judge", default=default, placeholder=usual)
    )
