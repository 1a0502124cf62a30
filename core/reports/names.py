"""What readers see for the names of judges and panels."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from concord.statistics.ratings import default_panels, panel_name
from concord.table import Cell, Column, Table


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
    text = ", ".join(names[:3])
    if len(names) > 3:
        text += f" and {len(names) - 3} more"
    return text


def renamed(table: Table, names: Mapping[str, str]) -> Table:
    """A table with the names of judges and panels that readers see, a panel's also within a text."""
    panels = {name: readable for name, readable in names.items() if name.startswith("Avg(")}

    def readable(text: str) -> str:
        for panel, name in panels.items():
            text = text.replace(panel, name)
        return names.get(text, text)

    rows: list[dict[str, Cell]] = []
    for row in table.rows:
        readable_row = dict(row)
        for name, cell in row.items():
            if isinstance(cell, str):
                readable_row[name] = readable(cell)
        rows.append(readable_row)
    columns: list[Column] = []
    for column in table.columns:
        if column.title in names:
            column = replace(column, heading=names[column.title])
        columns.append(column)
    return replace(table, rows=tuple(rows), columns=tuple(columns))


def short_names(judges: Sequence[str]) -> dict[str, str]:
    """Judges' names without the words that all of them begin with, for where there is little room."""
    words = {judge: re.split(r"(?<=[-_/ :])", judge) for judge in judges}
    if len(words) < 2:
        return {judge: judge for judge in words}
    shared = 0
    for words_at_place in zip(*words.values(), strict=False):
        if len(set(words_at_place)) > 1:
            break
        shared += 1
    # The shortest name keeps its last word.
    shared = min(shared, min(map(len, words.values())) - 1)
    return {judge: "".join(words_of_judge[shared:]) for judge, words_of_judge in words.items()}
