"""Pictures for pages that need no server: forest plots in pixels, and the templates that draw them."""

from base64 import b64encode
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from concord.estimate import Estimate
from concord.files import VERSION
from concord.messages import VERDICTS
from concord.statistics.glance import agreement_column
from concord.table import Table, ends, is_text, shown

FOLDER = Path(__file__).parent / "site"
WIDTH = 560
"""Pixels of a chart's axis."""


def templates(date_made: date, **values: Any) -> Environment:
    """The templates of pages, which escape what they are given; `values` are names that all of them know."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    script = (FOLDER / "filter.js").read_text(encoding="utf-8")
    environment.globals |= {
        "filter": script,
        "filter_hash": b64encode(sha256(script.encode()).digest()).decode(),
        "made": date_made.isoformat(),
        "concord": VERSION,
        "cell": shown,
        "ends": ends,
        "is_text": is_text,
        "style": (FOLDER / "style.css").read_text(encoding="utf-8"),
        **values,
    }
    return environment


def forest(table: Table) -> dict[str, Any]:
    """A forest plot in pixels of the glance: rows with verdict, dot, ends and held-out annotator, and the
    axis's marks. No rows where no correlation is defined.
    """
    rows = table.defined(agreement_column(table))
    lowest = min((figure.low for _, figure in rows if figure.low is not None), default=0.0)
    marks = np.arange(min(0.0, np.floor(lowest * 5) / 5), 1.01, 0.2).round(1).tolist()
    axis = next(column.title for column in table.columns if column.name == agreement_column(table))
    left = float(marks[0])
    right = float(marks[-1])

    def position(value: float | None) -> float | None:
        if value is None:
            return None
        return round((value - left) / (right - left) * WIDTH, 1)

    bars: list[dict[str, Any]] = []
    with_person = False
    for row, figure in rows:
        name = str(row["name"])
        verdict = VERDICTS.get(str(row.get("verdict")), "")
        person = row.get("person")
        person_value = person.value if isinstance(person, Estimate) else None
        with_person |= person_value is not None
        bars.append(
            {
                "name": f"{name}: {verdict}" if verdict else name,
                "dot": position(figure.value),
                "low": position(figure.low),
                "high": position(figure.high),
                "person": position(person_value),
            }
        )
    return {
        "rows": bars,
        "marks": [(position(mark), f"{mark:.1f}") for mark in marks],
        "zero": position(0.0) if left < 0 else None,
        "axis": f"{axis}{'; grey bar: another annotator' if with_person else ''}; 95% intervals",
        "width": WIDTH,
    }
