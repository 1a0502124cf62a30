"""SimulBench on the leaderboard page: its tables, tasks, scripts side by side, and toxicity."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
import streamlit as st

from concord.benchmarks.simulbench import tables as boards
from concord.benchmarks.simulbench import toxicity
from concord.benchmarks.simulbench.scripts import SCRIPT
from concord.benchmarks.simulbench.tables import Parting
from concord.benchmarks.simulbench.tasks import STORED
from concord.runs.benchmark import Benchmark
from concord.store import conversations, moderations, scenarios
from concord.store import tables as stored
from concord.table import Table
from pages.parts import table
from pages.parts.address import go, link
from pages.parts.charts import forest
from pages.parts.plain import plain
from pages.parts.session import workspace
from pages.results import filters

LISTED = 20
LONG = 900
"""A reply with more characters than this scrolls by itself."""
WAYS = {"differ": "Where models differ most", "fails": "Where the strongest model fails"}


class Board(NamedTuple):
    """Everything that the page shows but the scripts themselves; tasks by whether only hard scripts count."""

    subsets: Table
    tasks: dict[bool, dict[str, pd.DataFrame]]
    scripts: dict[str, list[Parting]]

    @property
    def strongest(self) -> str:
        """The model that is best on all scripts."""
        return str(self.subsets.rows[0]["model"]) if self.subsets.rows else ""


@st.cache_resource(max_entries=8, show_spinner="Measuring …")
def _board(
    folder: str,
    stamp: object,
    left_out: tuple[int, int],
    where: filters.Chosen,
    judges: tuple[str, ...],
    model: str,
) -> Board:
    """The tables; `stamp` and `left_out` change with the store and with discarded scripts."""
    with workspace().read() as db:
        of = boards.scored(db, where=dict(where), judges=judges)
    return Board(
        boards.subsets(of),
        {hard: boards.task_scores(of, hard=hard) for hard in (True, False)},
        {"differ": boards.partings(of, LISTED), "fails": boards.failures(of, model, LISTED)},
    )


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
    model = st.query_params.get("model", "")
    board = _board(str(workspace().path), stamp, left_out, where, panel, model)
    way = st.query_params.get("way", "")
    if way in WAYS:
        return _scripts(board.scripts[way], way, model or board.strongest)
    scores = zip(board.subsets.rows, board.subsets.estimates("All"), strict=True)
    forest([(str(row["model"]), figure) for row, figure in scores], "Score on all scripts", "Mean score")
    st.caption(
        f"Select a model to see the scripts on which it fails: where its reply scored below {boards.GOOD:g}."
    )
    row = table.draw(board.subsets, selectable=True)
    if row is not None:
        _open("fails", str(row["model"]))
        st.rerun()
    with st.container(horizontal=True):
        for name, icon in (("differ", "call_split"), ("fails", "trending_down")):
            st.button(
                WAYS[name],
                icon=f":material/{icon}:",
                on_click=_open,
                args=(name,),
                disabled=not board.scripts[name],
                help=_nowhere(board.strongest) if name == "fails" and not board.scripts[name] else None,
            )
    _tasks(board)
    # Toxicity reads every text: only on demand.
    more = st.expander("Toxicity of tasks, scripts and replies", key="toxicity", on_change="rerun")
    if more.open:
        with more:
            _toxicity()
    return None


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


# -- scripts side by side


def _open(way: str, model: str = "", number: int = 1) -> None:
    st.query_params["way"] = way
    if model:
        st.query_params["model"] = model
    st.query_params["number"] = str(number)


def _close() -> None:
    for name in ("way", "model", "number"):
        st.query_params.pop(name, None)


def _scripts(found: Sequence[Parting], way: str, model: str) -> None:
    """One script after the other: its dialogue, and every model's reply to it beside what it got."""
    asked = st.query_params.get("number", "")
    number = min(max(1, int(asked) if asked.isdecimal() and len(asked) < 6 else 1), max(1, len(found)))
    with st.container(horizontal=True):
        st.button("The table", icon=":material/arrow_back:", on_click=_close)
        for label, icon, to in (("Previous", "left", number - 1), ("Next", "right", number + 1)):
            st.button(
                label,
                icon=f":material/chevron_{icon}:",
                disabled=not 1 <= to <= len(found),
                on_click=_open,
                args=(way, st.query_params.get("model", ""), to),
            )
    if not found:
        st.info(_nowhere(model) if way == "fails" else "There is no such script.")
        return
    parting = found[number - 1]
    told = WAYS[way] if way == "differ" else f"Where {model} fails"
    st.subheader(plain(f"{told}: {parting.act}"), anchor=False)
    with st.container(horizontal=True):
        place, apart = f"{number} of {len(found)}", f"{parting.spread:.2f} points apart"
        for fact in (place, parting.kind, parting.type, apart):
            st.badge(plain(fact), color="gray")
    first = model if way == "fails" else ""
    order = sorted(parting.scores, key=lambda name: (name != first, -parting.scores[name], name))
    with workspace().read() as db:
        replies = {name: conversations.load(db, parting.conversations[name]) for name in order}
    *history, _ = replies[order[0]].messages
    if len(history) > 1:
        with st.expander(f"The script before it: {len(history) - 1} messages", expanded=False):
            for message in history[:-1]:
                st.caption("User" if message.role == "user" else "Simulator")
                _letters(message.content)
    st.caption("The last request" if len(history) > 1 else "The task and its first request")
    _letters(history[-1].content if history else "")
    long = any(len(reply.messages[-1].content) > LONG for reply in replies.values())
    for column, name in zip(st.columns(len(order), border=True), order, strict=True):
        reply = replies[name].messages[-1]
        with column:
            st.markdown(f"**{plain(name)}** · {parting.scores[name]:.2f}")
            if reply.meta.get("cut"):
                st.badge("cut off at the length limit", color="orange")
            with st.container(height=420 if long else "content", border=False):
                if reply.content.strip():
                    _letters(reply.content)
                else:
                    st.caption("(an empty reply)")
            link("conversations", "Scores and reasons", conversation=str(parting.conversations[name]))


def _nowhere(model: str) -> str:
    return plain(f"{model} fails nowhere: none of its replies scored below {boards.GOOD:g}.")


def _letters(text: str) -> None:
    """A text as written, in a fixed-width font: replies may be terminals and boards."""
    st.code(text, language=None, wrap_lines=True)
