"""What a leaderboard is narrowed to: conditions of the conversations, and a panel of judges.

Both stand in the address.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from concord.runs.benchmark import Benchmark
from pages.parts.address import checked, choice
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
    for name, found in values.items():
        if (
            name not in ("benchmark", "language", "player", *benchmark.evaluated, *benchmark.items)
            and len(found) > 1
        ):
            checked(name, found)
            picked = st.multiselect(
                name.replace("_", " ").capitalize(), found, key=name, bind="query-params", placeholder="all"
            )
            if picked:
                chosen.append((name, tuple(picked)))
    return tuple(chosen)


def panel(judges: Sequence[str], default: Sequence[str] = ()) -> tuple[str, ...]:
    """The judges chosen; none where the usual panel is to be taken."""
    checked("judges", judges, "judge")
    return tuple(
        st.multiselect(
            "Panel of judges",
            judges,
            default=default,
            key="judges",
            bind="query-params",
            placeholder="every judge who answered the benchmark's own prompt",
        )
    )
