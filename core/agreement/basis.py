"""What a figure rests on: how many items, how many people on each, what was left out, and by which method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from core.agreement.ratings import Floats, Ratings, Scores
from core.agreement.resampling import interval


@dataclass(frozen=True)
class Basis:
    """Printed beside every figure.

    `items` have at least one person's rating; `people_per_item` is (least, median, most) over these. `left_out` counts items by
    reason. `target` says what judges are compared with, `interval` how the intervals were found.
    """

    criterion: str
    items: int
    people_per_item: tuple[int, float, int]
    left_out: Mapping[str, int]
    target: str
    interval: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        least, median, most = self.people_per_item
        each = f"{least}" if least == most else f"{least} to {most} (median {median:g})"
        out = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
        return " · ".join(
            part
            for part in (
                f"{self.items} items rated by {each} people each",
                f"left out: {out}" if out else "",
                self.target,
                self.interval,
                *self.notes,
            )
            if part
        )


@dataclass(frozen=True, eq=False)
class Figures:
    """A table of figures and its basis. In `rows`, nan is undefined and the column `reason` says why; `detail` is finer, if there is any."""

    rows: pd.DataFrame
    basis: Basis
    detail: pd.DataFrame = field(default_factory=pd.DataFrame)


def basis(
    table: Ratings,
    scores: Scores,
    *,
    resamples: int = 0,
    seed: int = 0,
    clustered: bool = False,
    target: str = "against the mean of all people on the item",
    notes: tuple[str, ...] = (),
) -> Basis:
    """The basis of figures on one criterion; without resamples there is no interval to describe."""
    if not table.same_scale:
        notes = (*notes, "judges and people answer on different scales: figures of level are undefined")
    present = scores.present[scores.present > 0]
    unrated = int((scores.present == 0).sum())
    drawn = "clusters of items" if clustered else "items"
    return Basis(
        criterion=scores.criterion,
        items=len(present),
        people_per_item=(int(present.min()), float(np.median(present)), int(present.max()))
        if len(present)
        else (0, 0, 0),
        left_out=dict(table.left_out) | ({"without a person's rating": unrated} if unrated else {}),
        target=target,
        interval=f"95% percentile bootstrap over {drawn}, {resamples} resamples, seed {seed}"
        if resamples
        else "",
        notes=notes,
    )


def columns(figures: Mapping[str, tuple[float, Floats]], undefined: str = "") -> dict[str, float | str]:
    """Figures and their resamples as columns `name`, `name_low`, `name_high` and `reason`; nan where undefined.

    `undefined` says why a figure has no value; that a value has no interval is added.
    """
    row: dict[str, float | str] = {}
    reasons = [undefined] if undefined else []
    for name, (value, drawn) in figures.items():
        ends = interval(drawn)
        bounded = not np.isnan(value) and ends.low is not None and ends.high is not None
        row |= {name: float(value), f"{name}_low": np.nan, f"{name}_high": np.nan}
        if bounded:
            row |= {f"{name}_low": float(ends.low or 0), f"{name}_high": float(ends.high or 0)}
        elif not np.isnan(value):
            reasons.append(f"interval of {name}: {ends.reason}")
    return row | {"reason": "; ".join(reasons)}
