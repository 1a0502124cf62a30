"""How stable a leaderboard's order is, and another benchmark's ranking of the same models as slopes."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from concord.errors import ConcordError
from concord.exchange import ranking_csv
from concord.reports.leaderboards import Leaderboard
from concord.table import Table
from pages.parts import table
from pages.parts.charts import GREEN, GREY, ORANGE, Chart, in_rows, legend, show, tips
from pages.parts.plain import plain

BOARD = "this leaderboard"
OTHER_RANKING = "the other ranking"
MOVES = {"rises": GREEN, "falls": ORANGE, "same rank": GREY}
"""The colours of lines, by what becomes of a model's rank on this leaderboard."""
LINE = 26
"""Pixels of a rank."""
FEWEST_LINES = 4


def draw(tables: Sequence[Table]) -> None:
    """Draw the summary, then the orders and taus of what the reader chooses."""
    first, *details = tables
    table.draw(first)
    orders = {
        name.removeprefix("orders-by-"): name
        for name in (detail.name for detail in details)
        if "orders" in name
    }
    order = st.segmented_control(
        "Orders by", list(orders), default=next(iter(orders)), required=True, key="orders by"
    )
    for detail in details:
        if detail.name.endswith(f"-by-{order}") or (detail.name == "panels" and order == "panel"):
            table.draw(detail)


def against(board: Leaderboard) -> None:
    """Another ranking that the reader brings: its rank correlation, slopes, the largest rises and falls."""
    file = st.file_uploader(
        "CSV file with the columns model and score, or model and rank",
        type=["csv", "tsv"],
        max_upload_size=1,
        key="against",
    )
    if file is None:
        st.caption("For example another benchmark's leaderboard. The file is not stored.")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ranking.csv"
        path.write_bytes(file.getvalue())
        try:
            ranking = ranking_csv.read(path)
        except ConcordError as error:
            # The sentence quotes the file, which may hold anything.
            words = str(error).replace(str(path), file.name)
            st.error("  \n".join(map(plain, words.splitlines())), icon=":material/error:")
            return
    correlation, models = ranking_csv.rank_comparison(board, ranking, file.name)
    table.draw(correlation)
    if models.rows:
        show(slopes(models), "Rank of each model in the other ranking and here")
    table.draw(models)


def slopes(models: Table) -> Chart:
    """A line for each model from its rank in the other ranking to its rank here, the best on top."""
    ranks = pd.DataFrame(models.rows)
    ranks["move"] = ["rises" if rise > 0 else "falls" if rise < 0 else "same rank" for rise in ranks.rise]
    sides = [
        ranks.assign(side=side, rank=ranks[name])
        for side, name in ((OTHER_RANKING, "there"), (BOARD, "here"))
    ]
    data = pd.concat(sides)
    # The names of one rank stand on one line.
    data["words"] = data.groupby(["side", "rank"])["player"].transform(", ".join)
    data.loc[data.duplicated(["side", "rank"]), "words"] = ""
    lowest = len(ranks)
    scale = alt.Scale(domain=[lowest + 0.5, 0.5], nice=False, zero=False)
    numbers = alt.Axis(values=list(range(1, lowest + 1)), format="d", grid=False, labelOverlap=True)
    head = alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False, labelLimit=200)
    place: dict[str, Any] = {
        "x": alt.X(
            "side:N",
            sort=[OTHER_RANKING, BOARD],
            title=None,
            axis=head,
            scale=alt.Scale(type="point", padding=1),
        ),
        "y": alt.Y("rank:Q", title="Rank (1 is best)", scale=scale, axis=numbers),
        "color": alt.Color(
            "move:N",
            scale=alt.Scale(domain=list(MOVES), range=list(MOVES.values())),
            legend=legend(list(MOVES), symbolType="stroke"),
        ),
        "tooltip": tips(("player:N", "model"), ("there:Q", OTHER_RANKING), ("here:Q", BOARD)),
    }
    base = alt.Chart().encode(**place)
    layers: list[Chart] = [
        base.mark_line(strokeWidth=2).encode(detail=alt.Detail("player:N")),
        base.mark_point(filled=True, size=70, opacity=1),
    ]
    for side, align, shift in ((OTHER_RANKING, "right", -9), (BOARD, "left", 9)):
        look: dict[str, Any] = {"align": align, "dx": shift, "fontSize": 12, "limit": 220}
        one_side = base.transform_filter(alt.FieldEqualPredicate(field="side", equal=side))
        layers.append(one_side.mark_text(**look).encode(text=alt.Text("words:N")))
    return in_rows(alt.layer(*layers, data=data), LINE, max(lowest, FEWEST_LINES))
