"""SimulBench on the leaderboard page: its tables, tasks, and toxicity."""

from typing import NamedTuple

import pandas as pd
import streamlit as st

from concord.benchmarks.simulbench import tables as boards
from concord.benchmarks.simulbench import toxicity
from concord.benchmarks.simulbench.scripts import SCRIPT
from concord.benchmarks.simulbench.tasks import STORED
from concord.runs.benchmark import Benchmark
from concord.store import conversations, moderations, scenarios
from concord.store import tables as stored
from concord.table import Table
from pages.parts import table
from pages.parts.address import go
from pages.parts.charts import forest
from pages.parts.plain import plain
from pages.parts.session import workspace
from pages.results import filters


class Board(NamedTuple):
    """Everything that the page shows; tasks by whether only hard scripts count."""

    subsets: Table
    tasks: dict[bool, dict[str, pd.DataFrame]]


@st.cache_resource(max_entries=8, show_spinner="Measuring …")
def _board(
    folder: str,
    stamp: object,
    left_out: tuple[int, int],
    where: filters.Chosen,
    judges: tuple[str, ...],
) -> Board:
    """The tables; `stamp` and `left_out` change with the store and with discarded scripts."""
    with workspace().read() as db:
        of = boards.scored(db, where=dict(where), judges=judges)
    return Board(boards.subsets(of), {hard: boards.task_scores(of, hard=hard) for hard in (True, False)})


def draw(benchmark: Benchmark) -> None:
    """Draw it. Raises ConcordError where nothing was scored."""
    with workspace().read() as db:
        stamp = stored.stamp(db)
        judges = list(stored.judges(db, STORED))
        values = conversations.values(db, STORED) | {"source": list(scenarios.counts(db, STORED, SCRIPT))}
        left_out = (
            len(scenarios.keys(db, STORED, SCRIPT, "discarded")),
            len(scenarios.waiting_for(db, STORED, SCRIPT)),
        )
    with st.popover("Scripts, judges", icon=":material/tune:"):
        panel = filters.panel(judges)
        where = filters.where(benchmark, values)
    board = _board(str(workspace().path), stamp, left_out, where, panel)
    figures = zip(board.subsets.rows, board.subsets.estimates("All"), strict=True)
    forest([(str(row["model"]), figure) for row, figure in figures], "Score on all scripts", "Mean score")
    st.caption("Select a model to see its conversations.")
    row = table.draw(board.subsets, selectable=True)
    if row is not None:
        go("conversations", benchmark=STORED, player=str(row["model"]))
    _tasks(board)
    # Toxicity reads every text: only on demand.
    more = st.expander("Toxicity of tasks, scripts and replies", key="toxicity", on_change="rerun")
    if more.open:
        with more:
            _toxicity()


def _toxicity() -> None:
    with workspace().read() as db:
        models = sorted(moderations.models(db))
    if not models:
        st.caption(
            "Nothing was scored yet: `concord simulbench toxicity --model NAME`, a model whose endpoint "
            "offers moderations."
        )
        return
    by = st.selectbox("Scored by", models, format_func=plain) if len(models) > 1 else models[0]
    table.draw(toxicity.toxicity(workspace(), by))


def _tasks(board: Board) -> None:
    st.subheader("Simplest and hardest tasks", anchor=False)
    hard = st.toggle("Hard scripts only, as in the paper", value=True, key="hard", bind="query-params")
    if all(tasks.empty for tasks in board.tasks[hard].values()):
        st.caption("No task has scripts that every model has a score on.")
        return
    st.caption("Select a task to see its conversations.")
    for type, tasks in board.tasks[hard].items():
        for column, (which, found) in zip(
            st.columns(2, gap="medium"), boards.ends(tasks).items(), strict=True
        ):
            with column:
                drawn = boards.task_table(found, which, type)
                row = table.draw(drawn, selectable=True) if drawn.rows else None
            if row is not None:
                go("conversations", benchmark=STORED, task=str(row["task"]))
