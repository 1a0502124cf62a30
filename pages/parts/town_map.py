"""The town as a map: sectors and their arenas where the town's file puts them, doors between them, and who is where at a moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from core.benchmarks.stss.town import Town
from core.benchmarks.stss.views import APART, Part, Simulation, Standing, grid, spots

Chart = Any
"""A chart of Altair, whose types say little."""
Spec = dict[str, Any]
PARTS: dict[Part, tuple[str, str]] = {
    "performer": ("#d9721e", "diamond"),
    "counted": ("#2f9e7d", "circle"),
    "came close": ("#b58b00", "triangle-up"),
    "others": ("#5f86b8", "circle"),
}
"""The colour and shape of each part, readable on white and on black."""
INK = "#85898c"
"""Words and lines of the map, on white and on black."""
RING = "#a273c9"
LEGEND = "Ring: in conversation. Faint: asleep. Dashed frame: where the task is to be done. Point at anything for more."
HEIGHT = 620
NAMED = 3
"""So many people of one arena are written out; the rest are a number."""


def specification(of: Simulation, town: Town) -> Spec:
    """The map without people: checked and written out once, since that takes longer than everything else in drawing it."""
    xs, ys = _ends(town)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=xs, nice=False, zero=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=ys, nice=False, zero=False))
    layers = [*_ground(of, town, x, y), _rings(x, y), _dots(x, y), _names(x, y)]
    spec: Spec = alt.layer(*layers).properties(height=HEIGHT).to_dict()
    return spec


def peopled(spec: Spec, people: Sequence[Standing]) -> Spec:
    """The map with everybody on it. Only data change with the time, so that the browser moves dots and draws nothing anew."""
    here = [p for p in people if p.x is not None]
    # The performer is drawn last, and so on top.
    dots = [
        (p.name, p.part, p.state.action, p.state.place, f"{p.since:%H:%M}", p.x, p.y, 0.45 if p.kind == "asleep" else 1.0)
        for p in sorted(here, key=lambda p: p.part == "performer")
    ]  # fmt: skip
    rings = [(p.x, p.y) for p in here if p.kind == "conversation"]
    data = {
        "people": pd.DataFrame(dots, columns=["name", "part", "doing", "place", "since", "x", "y", "awake"]),
        "talking": pd.DataFrame(rings, columns=["x", "y"], dtype=float),
        "names": pd.DataFrame(_crowds(here), columns=["x", "y", "names"]),
    }
    return {**spec, "datasets": {**spec["datasets"], **data}}


def _dots(x: alt.X, y: alt.Y) -> Chart:
    parts = list(PARTS)
    colors, shapes = zip(*PARTS.values(), strict=True)
    legend = alt.Legend(orient="top", title=None, labelLimit=200, symbolSize=110, symbolStrokeWidth=0)
    return (
        alt.Chart(alt.NamedData("people"))
        .mark_point(filled=True, size=110, stroke="white", strokeWidth=0.8)
        .encode(
            x=x,
            y=y,
            color=alt.Color("part:N", scale=alt.Scale(domain=parts, range=list(colors)), legend=legend),
            shape=alt.Shape("part:N", scale=alt.Scale(domain=parts, range=list(shapes)), legend=legend),
            opacity=alt.Opacity("awake:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
            tooltip=[
                alt.Tooltip("name:N", title="who"), alt.Tooltip("part:N", title="in the score"), alt.Tooltip("doing:N"), alt.Tooltip("place:N", title="where"),
                alt.Tooltip("since:N"),
            ],
        )
    )  # fmt: skip


def _rings(x: alt.X, y: alt.Y) -> Chart:
    """Around those who are in conversation."""
    rings = alt.Chart(alt.NamedData("talking"))
    return rings.mark_point(filled=False, size=330, stroke=RING, strokeWidth=2.5, opacity=1).encode(x=x, y=y)


def _names(x: alt.X, y: alt.Y) -> Chart:
    words = alt.Chart(alt.NamedData("names")).mark_text(
        align="left", dx=8, fontSize=11, fontWeight="bold", color=INK
    )
    return words.encode(x=x, y=y, text="names:N")


def _crowds(here: Sequence[Standing]) -> list[tuple[float, float | None, str]]:
    """First names beside each crowd; the performer and those who counted come first."""
    rooms: dict[tuple[str, ...], list[Standing]] = {}
    for p in here:
        rooms.setdefault(p.state.room, []).append(p)
    found = []
    for crowd in rooms.values():
        said = [p.name.split()[0] for p in sorted(crowd, key=lambda p: list(PARTS).index(p.part))]
        more = f" +{len(said) - NAMED}" if len(said) > NAMED else ""
        right = max(p.x for p in crowd if p.x is not None)
        found.append((right, crowd[0].y, ", ".join(said[:NAMED]) + more))
    return found


def _ground(of: Simulation, town: Town, x: alt.X, y: alt.Y) -> list[Chart]:
    """What does not move: doors, sectors with their names, arenas, and a frame where the task is to be done."""
    at = {name: sector.at for name, sector in town.sectors.items()}
    doors = [
        {"x": at[s["sector"]][0], "y": at[s["sector"]][1], "x2": at[other][0], "y2": at[other][1]}
        for s in town.map()
        for other in s["doors"]
        if s["sector"] < other
    ]
    sectors = [_sector(s, s["sector"] in of.sectors) for s in town.map()]
    arenas = [
        {
            "x": spot[0],
            "y": spot[1],
            "arena": arena,
            "sector": sector,
            "things": ", ".join(town.sectors[sector].arenas[arena]),
        }
        for (sector, arena), spot in spots(town).items()
    ]
    ground = alt.Chart(pd.DataFrame(sectors))
    tip = [
        alt.Tooltip("sector:N"),
        alt.Tooltip("kind:N"),
        alt.Tooltip("arenas:N"),
    ]
    left, low = x.copy(), y.copy()
    left.shorthand, low.shorthand = "left:Q", "low:Q"
    found = [
        alt.Chart(pd.DataFrame(doors, columns=["x", "y", "x2", "y2"]))
        .mark_rule(color=INK, opacity=0.35, strokeWidth=3)
        .encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        ground.mark_rect(color=INK, opacity=0.22, cornerRadius=4).encode(
            x=left, x2="right:Q", y=low, y2="high:Q", tooltip=tip
        ),
        ground.transform_filter("datum.here")
        .mark_rect(
            filled=False,
            stroke=PARTS["performer"][0],
            strokeWidth=2,
            strokeDash=[5, 3],
            opacity=1,
            cornerRadius=4,
        )
        .encode(x=left, x2="right:Q", y=low, y2="high:Q"),
        alt.Chart(pd.DataFrame(arenas))
        .mark_point(shape="square", filled=True, size=26, color=INK, opacity=0.45)
        .encode(
            x=x,
            y=y,
            tooltip=[alt.Tooltip("arena:N"), alt.Tooltip("sector:N"), alt.Tooltip("things:N", title="with")],
        ),
        ground.mark_text(baseline="top", dy=3, fontSize=9.5, color=INK).encode(x=x, y=low, text="sector:N"),
    ]
    return found


def _sector(s: dict[str, Any], here: bool) -> dict[str, Any]:
    columns, rows = grid(len(s["arenas"]))
    wide, high = columns * APART / 2 + 4, rows * APART / 2 + 4
    return {
        "sector": s["sector"], "kind": s["kind"], "arenas": ", ".join(s["arenas"]), "here": here, "x": s["x"],
        "left": s["x"] - wide, "right": s["x"] + wide, "low": s["y"] - high, "high": s["y"] + high,
    }  # fmt: skip


def _ends(town: Town) -> tuple[list[float], list[float]]:
    """The map's edges in metres, with room for names."""
    xs, ys = zip(*(sector.at for sector in town.sectors.values()), strict=True)
    return [min(xs) - 70, max(xs) + 110], [min(ys) - 60, max(ys) + 45]
