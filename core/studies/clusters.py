"""Which units of a study hang together, so that they are resampled together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from sqlite_utils import Database

from concord.errors import check_known
from concord.store import frames, studies
from concord.store.studies import Study

Places = Sequence[tuple[int, str, str, int]]
"""A study's units as `concord.store.frames.places` has them."""

CONVERSATION = "conversation"
"""What turns that are rated one by one share, beside facets."""

FIRST_MESSAGE = "first message"
"""What answers to one prompt share, where nothing else tells scenarios apart."""

FEWEST_CLUSTERS = 8
"""Fewer scenarios than this are not resampled as a whole: no interval would be left."""


def scenarios(db: Database, name: str) -> tuple[list[str], dict[int, str]]:
    """The facets that make a scenario, and each unit's scenario, however few there are: a unit that has none
    is its conversation, so that turns of one conversation are never apart.
    """
    study = studies.get(db, name)
    places = frames.places(db, name)
    facets = facets_for(db, study, places, None)
    facet_names = _scenario(facets, {benchmark for _, benchmark, _, _ in places})
    cluster_of = _alike_in(facet_names, facets)
    names_of_units = {unit: f"{benchmark} {key}" for unit, benchmark, key, _ in places}
    return facet_names, {unit: str(cluster_of.get(unit, name)) for unit, name in names_of_units.items()}


def facets_for(
    db: Database, study: Study, places: Places, facet_names: Sequence[str] | None
) -> dict[str, dict[int, str]]:
    """The facets of a study's units, and the first message of each where items are taken together by it."""
    facets = frames.facet_values(db, study.name)
    benchmarks = {benchmark for _, benchmark, _, _ in places}
    if FIRST_MESSAGE in (facet_names or ()) or (facet_names is None and not _scenario(facets, benchmarks)):
        shared = frames.first_messages(db, study.name)
        # Turns of one conversation hang together all the same, where prompts are few.
        fewest = FEWEST_CLUSTERS if facet_names is None and study.per_turn else 2
        prompts = len(set(shared.values()))
        own_facets = (
            facet_names is None
            and study.per_turn
            and prompts == len({(benchmark, key) for _, benchmark, key, _ in places})
        )
        if prompts >= fewest and not own_facets:
            facets[FIRST_MESSAGE] = shared
    return facets


def clusters(
    study: Study,
    facet_values: Mapping[str, Mapping[int, str]],
    places: Places,
    facet_names: Sequence[str] | None,
) -> tuple[tuple[str, ...], dict[Hashable, Hashable] | None, str]:
    """The facets by which units are resampled together, each unit's values of them, and why they are not."""
    if facet_names is not None and not facet_names:
        return (), None, ""
    facets = dict(facet_values)
    if study.per_turn:
        facets[CONVERSATION] = {unit: f"{benchmark} {key}" for unit, benchmark, key, _ in places}
    if facet_names is not None:
        check_known("facet", facet_names, facets)
        return tuple(facet_names), _alike_in(facet_names, facets), ""
    facet_names = _scenario(facets, {benchmark for _, benchmark, _, _ in places})
    cluster_of = _alike_in(facet_names, facets)
    count = len(set(cluster_of.values())) + len(places) - len(cluster_of)
    if not facet_names or count == len(places):
        return (), None, ""
    if count < FEWEST_CLUSTERS:
        too_few = (
            f"Items share only {count} values of {' and '.join(facet_names)}, too few for cluster "
            "resampling. "
            "Intervals assume independent items and may be too narrow."
        )
        return (), None, too_few
    return tuple(facet_names), cluster_of, ""


def _scenario(facets: Mapping[str, Mapping[int, str]], benchmarks: set[str]) -> list[str]:
    """The facets that make a scenario: those that tell the benchmark's items apart, else “scenario”.

    Where there are none, answers to one first message hang together, and turns of one conversation.
    """
    facet_names = ["scenario"] if "scenario" in facets else []
    if facets.keys() - {CONVERSATION, FIRST_MESSAGE} and len(benchmarks) == 1:
        from concord.runs.registry import BENCHMARKS  # loads every benchmark

        [benchmark] = benchmarks
        item_facets = BENCHMARKS[benchmark].items if benchmark in BENCHMARKS else ()
        facet_names = [facet for facet in item_facets if facet in facets] or facet_names
    return facet_names or [facet for facet in (FIRST_MESSAGE, CONVERSATION) if facet in facets][:1]


def _alike_in(
    facet_names: Sequence[str], facets: Mapping[str, Mapping[int, str]]
) -> dict[Hashable, Hashable]:
    """Each unit's values of the facets; one that lacks a facet hangs together with nothing."""
    if not facet_names:
        return {}
    shared = set.intersection(*(set(facets[facet]) for facet in facet_names))
    return {unit: tuple(facets[facet][unit] for facet in facet_names) for unit in sorted(shared)}
