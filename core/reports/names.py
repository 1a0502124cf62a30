"""What readers see for the names of judges and panels."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from concord.statistics.ratings import default_panels, panel_name
from concord.table import Table


def reader_names(judges: Sequence[str], known_judges: Sequence[str] = ()) -> dict[str, str]:
    """What readers see for the names of judges and panels in tables: “all 3 judges”, “kind + strict”.

    `known_judges` are those that count as all, where a judge has several versions.
    """
    known_judges = known_judges or judges
    short = short_names(judges)
    readable = {panel_name((judge,)): judge for judge in judges}
    for panel in default_panels(known_judges):
        readable[panel_name(panel)] = " + ".join(short[judge] for judge in panel)
    if len(known_judges) > 2:
        readable[panel_name(known_judges)] = f"all {len(known_judges)} judges"
    return readable


def first_names(names: Sequence[str]) -> str:
    """At most three names, and how many more there are: “Ada, Ben, Cleo and 2 more”."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def renamed(table: Table, names: Mapping[str, str]) -> Table:
    """A table with the names of judges and panels that readers see, a panel's also within a text."""
    panels = {name: readable for name, readable in names.items() if name.startswith("Avg(")}

    def readable(text: str) -> str:
        for panel, name in panels.items():
            text = text.replace(panel, name)
        return names.get(text, text)

    rows = (
        {name: readable(cell) if isinstance(cell, str) else cell for name, cell in row.items()}
        for row in table.rows
    )
    columns = (replace(c, heading=names[c.title]) if c.title in names else c for c in table.columns)
    return replace(table, rows=tuple(rows), columns=tuple(columns))


def short_names(judges: Sequence[str]) -> dict[str, str]:
    """Judges' names without the words that all of them begin with, for where there is little room."""
    words = {judge: re.split(r"(?<=[-_/ :])", judge) for judge in judges}
    places = zip(*words.values(), strict=False)
    alike = sum(1 for _ in takewhile(lambda place: len(set(place)) == 1, places)) if len(words) > 1 else 0
    return {
        judge: "".join(tokens[min(alike, min(map(len, words.values())) - 1) :])
        for judge, tokens in words.items()
    }
