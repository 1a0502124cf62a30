"""SimulBench on the leaderboard page: models by kind of script and type of task, the tasks at either end, and scripts side by side.

After Jia et al., tables 2 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from core.benchmarks.simulbench import standings as written
from core.benchmarks.simulbench import tables as boards
from core.benchmarks.simulbench import toxicity
from core.benchmarks.simulbench.scripts import SCRIPT
from core.benchmarks.simulbench.tables import Cell, Parting, Subsets, TaskScore
from core.benchmarks.simulbench.tasks import STORED
from core.store import conversations, scenarios
from core.store import tables as stored
from pages.parts.links import go, link
from pages.parts.plain import plain
from pages.parts.session import workspace

LISTED = 20
LONG = 900
"""Characters from which on a reply scrolls by itself."""
WAYS = {"differ": "Where models differ most", "fails": "Where the strongest model fails"}

Number = st.column_config.NumberColumn


class Board(NamedTuple):
    """Everything the page shows but the scripts themselves."""

    subsets: Subsets
    hard: dict[str, list[TaskScore]]
    every: dict[str, list[TaskScore]]
    scripts: dict[str, list[Parting]]


@st.cache_resource(max_entries=8, show_spinner="Measuring …")
def _board(
    folder: str,
    stamp: object,
    set_aside: tuple[int, int],
    judges: tuple[str, ...],
    sources: tuple[str, ...],
    model: str,
) -> Board:
    """The tables; measured anew when the store has grown or scripts were set aside, or left out with their task."""
    with workspace().read() as db:
        narrowed: dict[str, Any] = {"judges": judges, "sources": sources}
        return Board(
            boards.subsets(db, **narrowed),
            boards.task_scores(db, **narrowed),
            boards.task_scores(db, **narrowed, hard=False),
            {
                "differ": boards.partings(db, **narrowed, limit=LISTED),
                "fails": boards.surprises(db, model, **narrowed, limit=LISTED),
            },
        )


def draw() -> None:
    """Draw it. Raises ConcordError where nothing was scored."""
    with workspace().read() as db:
        stamp = stored.stamp(db)
        judges = [name for name, _ in stored.judges(db, STORED).values()]
        known = list(scenarios.counts(db, STORED, SCRIPT))
        away = (
            len(scenarios.keys(db, STORED, SCRIPT, "discarded")),
            len(scenarios.waiting_for(db, STORED, SCRIPT)),
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        panel = st.multiselect(
            "Panel of judges", judges, key="judges", bind="query-params", placeholder="every judge"
        )
        sources = (
            st.multiselect(
                "Scripts from", known, key="sources", bind="query-params", placeholder="everywhere"
            )
            if len(known) > 1
            else []
        )
    model = st.query_params.get("model", "")
    board = _board(str(workspace().path), stamp, away, tuple(panel), tuple(sources), model)
    way = st.query_params.get("way", "")
    if way in WAYS:
        return _scripts(board.scripts[way], way, model or _strongest(board))
    chosen = _subsets(board.subsets)
    st.caption(
        f"Select a model to see the scripts on which it fails: where its reply scored below {boards.GOOD:g}."
    )
    if chosen is not None:
        _open("fails", chosen)
        st.rerun()
    with st.container(horizontal=True):
        for name, icon in (("differ", "call_split"), ("fails", "trending_down")):
            st.button(
                WAYS[name],
                icon=f":material/{icon}:",
                on_click=_open,
                args=(name,),
                disabled=not board.scripts[name],
                help=_nowhere(_strongest(board)) if name == "fails" and not board.scripts[name] else None,
            )
    _tasks(board)
    st.caption("  \n".join(plain(note) for note in written.notes(board.subsets)))
    with st.container(horizontal=True):
        for label, text, end in (("CSV", written.as_csv, "csv"), ("LaTeX", written.as_latex, "tex")):
            st.download_button(
                label,
                text(board.subsets),
                f"leaderboard-simulbench.{end}",
                icon=":material/download:",
                on_click="ignore",
            )
    # Every text is read for it: only when somebody asks.
    more = st.expander("Toxicity of tasks, scripts and replies", key="toxicity", on_change="rerun")
    if more.open:
        with more:
            _toxicity()
    return None


def _toxicity() -> None:
    """The paper's six attributes, averaged, by what one model scored."""
    models = toxicity.scored_by(workspace())
    if not models:
        st.caption(
            "Nothing was scored yet: `concord simulbench toxicity --model NAME`, a model whose endpoint offers moderations."
        )
        return
    by = st.selectbox("Scored by", models, format_func=plain) if len(models) > 1 else models[0]
    found = toxicity.toxicity(workspace(), by)
    attributes = {name: Number(name.capitalize(), format="%.3f") for name in toxicity.ATTRIBUTES}
    st.dataframe(
        [{"of": row.what, **row.mean, "n": row.n} for row in found.rows],
        hide_index=True,
        height="content",
        placeholder="undefined",
        column_config={"of": "Mean over", **attributes, "n": Number("n", help="Texts scored")},
    )
    st.caption("  \n".join(plain(note) for note in toxicity.notes(found)))


def _strongest(board: Board) -> str:
    return board.subsets.rows[0].player if board.subsets.rows else ""


# -- tables


def _subsets(found: Subsets) -> str | None:
    """Models × subsets; returns the model whose row is selected. The number of scripts stands in the heading where all have the same."""
    same = {name: {row.cells[name].n for row in found.rows} for name in boards.SUBSETS}
    heading = {name: f"{name} (n {min(ns)})" if len(ns) == 1 else name for name, ns in same.items()}
    rows = [
        {
            "model": row.player + (" (simulated)" if row.simulated and "stand" not in row.player else ""),
            **{heading[name]: _cell(row.cells[name], alone=len(same[name]) > 1) for name in boards.SUBSETS},
        }
        for row in found.rows
    ]
    chosen = st.dataframe(
        pd.DataFrame(rows), hide_index=True, height="content", key="subsets", on_select="rerun", selection_mode="single-row",
        alt="SimulBench: models by kind of script and type of task",
        column_config={"model": st.column_config.TextColumn(pinned=True)},
    )  # fmt: skip
    selected = chosen["selection"]["rows"]
    return found.rows[selected[0]].player if selected and selected[0] < len(found.rows) else None


def _cell(cell: Cell, *, alone: bool) -> str:
    if cell.mean.value is None:
        return "–"
    half = cell.mean.half_width
    n = f" (n {cell.n})" if alone else ""
    return f"{cell.mean.value:.2f}" + (f" ± {half:.2f}" if half is not None else "") + n


def _tasks(board: Board) -> None:
    st.subheader("Simplest and hardest tasks", anchor=False)
    hard = st.toggle("Hard scripts only, as in the paper", value=True, key="hard", bind="query-params")
    tasks = board.hard if hard else board.every
    if not any(tasks.values()):
        st.caption("No task has scripts that every model has a score on.")
        return
    for type, of in tasks.items():
        st.markdown(f"**{type.capitalize()}**")
        if not of:
            st.caption("No task of this type has scripts that every model has a score on.")
            continue
        simplest, hardest = boards.ends(of)
        left, right = st.columns(2, gap="medium")
        with left:
            _ends(simplest, "simplest", type)
        with right:
            if hardest:
                _ends(hardest, "hardest", type)
    st.caption(
        "Means over models of their means over the task's scripts. Select one to see its conversations."
    )


def _ends(of: Sequence[TaskScore], which: str, type: str) -> None:
    frame = pd.DataFrame([{which: task.act, "mean": task.mean, "scripts": task.scripts} for task in of])
    chosen = st.dataframe(
        frame, hide_index=True, height="content", key=f"{which} {type}", on_select="rerun", selection_mode="single-row",
        alt=f"{which} tasks, {type}", column_config={"mean": Number(format="%.2f"), "scripts": Number(width="small")},
    )  # fmt: skip
    selected = chosen["selection"]["rows"]
    if selected and selected[0] < len(of):
        go("conversations", benchmark=STORED, task=of[selected[0]].task)


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
    asked = st.query_params.get("number", "1")
    number = min(max(1, int(asked) if asked.isdecimal() and len(asked) < 6 else 1), max(1, len(found)))
    with st.container(horizontal=True):
        st.button("The table", icon=":material/arrow_back:", on_click=_close)
        for label, icon, to in (
            ("Previous", "chevron_left", number - 1),
            ("Next", "chevron_right", number + 1),
        ):
            st.button(
                label, icon=f":material/{icon}:", disabled=not 1 <= to <= len(found), on_click=_open, args=(way, st.query_params.get("model", ""), to)
            )  # fmt: skip
    if not found:
        st.info(_nowhere(model) if way == "fails" else "There is no such script.")
        return
    parting = found[number - 1]
    told = WAYS[way] if way == "differ" else f"Where {model} fails"
    st.subheader(plain(f"{told}: {parting.act}"), anchor=False)
    with st.container(horizontal=True):
        for fact in (
            f"{number} of {len(found)}",
            parting.kind,
            parting.type,
            f"{parting.spread:.2f} points apart",
        ):
            st.badge(plain(fact), color="gray")
    order = sorted(
        parting.scores,
        key=lambda name: (name != model if way == "fails" else False, -parting.scores[name], name),
    )
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
    """What was written, letter for letter and in columns that stand under each other: terminals and boards are drawn with spaces."""
    st.code(text, language=None, wrap_lines=True)
