"""Two runs, players or versions of a prompt: what judges gave, and what they were made with, side by side."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from sqlite_utils import Database

from concord import scores
from concord.configuration import Use
from concord.rating import Rater
from concord.runs.plans import as_dict, from_dict
from concord.store import sides
from concord.store.runs import Progress
from concord.table import Column, Table


@dataclass(frozen=True)
class SideResults:
    """One of the two: its conversations and judgements by id, and what judges gave."""

    name: str
    benchmark: str
    ids: tuple[int, ...]
    judgements: tuple[int, ...]
    talks: pd.DataFrame = field(repr=False, compare=False)
    """As `concord.store.tables.conversations` gives them."""
    given: pd.DataFrame = field(repr=False, compare=False)
    """As `concord.store.tables.scores` gives it."""
    raters: Mapping[str, Rater]
    """Who gave it, by name."""
    run: Progress | None = None

    @property
    def criteria(self) -> list[str]:
        """What its judges rated."""
        rated = self.given.drop(columns=["conversation", "judge"]).notna().any()
        return [str(name) for name in rated.index[rated]]

    def refused(self, refusal: str) -> set[int]:
        """The conversations in which a judge saw a refusal; none without a criterion for it."""
        if refusal not in self.given:
            return set()
        return set(self.given.conversation[self.given[refusal].map(scores.refused)].tolist())


def configuration_table(db: Database, one: SideResults, other: SideResults) -> Table:
    """What the two were made with, as far as it differs."""
    settings = [_settings(db, side) for side in (one, other)]
    names = dict.fromkeys([*settings[0], *settings[1]])
    alike = [name for name in names if settings[0].get(name) == settings[1].get(name)]
    shown = [{name: of.get(name, "–") or "–" for name in names if name not in alike} for of in settings]
    caption = "Models, parameters, prompts and options are the same, as far as they were recorded."
    notes = (f"Alike: {', '.join(alike)}.",) if alike else ()
    columns = (Column("what", "setting"), Column("one", one.name), Column("other", other.name))
    rows = tuple({"what": what, "one": of, "other": shown[1][what]} for what, of in shown[0].items())
    title = "What differs in the configuration"
    return Table("configurations", title, columns, rows, "" if rows else caption, notes)


def _settings(db: Database, side: SideResults) -> dict[str, str]:
    settings = dict(_planned(side.run)) if side.run else {}
    for name, uses in sides.models(db, side.ids, side.judgements).items():
        settings[f"model {name}"] = "; ".join(map(_with_parameters, uses))
    for name, hashes in sides.prompts(db, side.ids, side.judgements).items():
        settings[f"prompt {name}"] = ", ".join(hashes)
    return settings


def _planned(run: Progress) -> Iterator[tuple[str, str]]:
    """The settings of a run's plan, and its spending limit."""
    plan = as_dict(from_dict(run.plan))
    for name, value in {"models": {}, **plan}.items():
        if isinstance(value, Mapping):
            yield from ((key.replace("_", " "), _listed(of)) for key, of in value.items())
        elif name != "benchmark":
            yield name.replace("_", " "), _listed(value)
    if run.max_cost is not None:
        yield "spending limit", f"{run.max_cost:g}"


def _listed(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _with_parameters(use: Use) -> str:
    assert use.configuration is not None
    parameters = ", ".join(f"{name} {value}" for name, value in use.configuration.parameters.items())
    return f"{use}" + (f"; {parameters}" if parameters else "")
