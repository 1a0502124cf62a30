"""Scripts of SimulBench: cut from dialogues, read, set aside, used again."""

from collections.abc import Sequence

import streamlit as st

from concord.benchmarks.simulbench import extraction
from concord.benchmarks.simulbench.dialogues import DIALOGUES
from concord.benchmarks.simulbench.scripts import SCRIPT, Script, scripts_by_key
from concord.benchmarks.simulbench.targets import SIMULBENCH
from concord.benchmarks.simulbench.tasks import BENCHMARK
from concord.conversation import Conversation
from concord.errors import ConcordError
from concord.store import conversations, scenarios
from concord.store.conversations import Filter
from concord.table import Cell, Column, Table
from pages.parts import notice, table
from pages.parts.address import link
from pages.parts.plain import plain, quantity
from pages.parts.session import sentence, workspace
from pages.parts.transcript import transcript
from pages.simulbench import parts, undo
from pages.simulbench.undo import StateChange

TALLEST = 380
"""Pixels of a list of scripts."""


def draw() -> None:
    """Draw the extraction, the scripts in use and those set aside."""
    with workspace().read() as db:
        in_use = scripts_by_key(scenarios.accepted(db, BENCHMARK, SCRIPT))
        discarded = scripts_by_key(scenarios.page(db, BENCHMARK, SCRIPT, state="discarded"))
        idle = scenarios.waiting_for(db, BENCHMARK, SCRIPT)
    st.subheader("Extract scripts from dialogues", anchor=False)
    _extract()
    if not in_use and not discarded:
        return
    st.subheader("Scripts in use", anchor=False)
    table.draw(extraction.script_counts(list(in_use.values())), titled=False)
    if idle:
        st.caption(f"{quantity(len(idle), 'script')} of rejected tasks are not run.")
    if script := _selection(list(in_use.values()), "scripts-in-use"):
        _read(script)
    with st.container(horizontal=True):
        link("runs", "Let models answer", benchmark=SIMULBENCH.name)
        link("leaderboard", "Leaderboard", benchmark=SIMULBENCH.name)
    st.subheader("Scripts that distinguish no models", anchor=False)
    _easy(list(discarded.values()))


def _extract() -> None:
    """Choose the judge, see what would be cut, cut it."""
    with workspace().read() as db:
        judges = extraction.dialogue_judges(db)
        dialogues = conversations.count(db, Filter(benchmark=DIALOGUES.name))
    if not judges:
        if dialogues:
            st.info(f"No judge has looked for challenging turns in the {dialogues} dialogues yet.")
            link("runs", "Let judges rate", judge="true", benchmark=DIALOGUES.name)
        else:
            st.info("There are no dialogues yet. Let models make some, or import published scripts.")
            with st.container(horizontal=True):
                link("runs", "Make dialogues", benchmark=DIALOGUES.name)
                parts.button("Import published scripts", "tasks", ":material/upload_file:")
        return
    judge = st.selectbox("By the challenging turns of the judge", judges, key="extracting judge")
    with workspace().read() as db:
        cut = extraction.cut_scripts(db, judge)
        stored_keys = set(scenarios.keys(db, BENCHMARK, SCRIPT))
        sources = {row.source for row in scenarios.page(db, BENCHMARK, SCRIPT)}
    new = [script for script in cut.scripts if script.key not in stored_keys]
    st.markdown(
        f"{quantity(cut.dialogues, 'dialogue')} give {quantity(len(cut.scripts), 'script')}, "
        f"**{len(new)} of them new**."
    )
    if cut.unjudged:
        st.warning(
            plain(
                f"{quantity(cut.unjudged, 'dialogue')} without a usable judgement of {judge} are excluded."
            ),
            icon=":material/rule:",
        )
        link("runs", "Let judges rate", judge="true", benchmark=DIALOGUES.name)
    if new and any(name.startswith("cut by ") and name != f"cut by {judge}" for name in sources):
        st.warning(
            "Scripts cut by another judge are stored. Scripts of both judges would be in use together.",
            icon=":material/call_split:",
        )
    if new:
        table.draw(extraction.script_counts(new), key="new-scripts", titled=False)
    st.button(
        f"Extract {quantity(len(new), 'new script')}",
        type="primary" if new else "secondary",
        icon=":material/content_cut:",
        disabled=not new,
        on_click=_extracted,
        args=(judge,),
    )


def _extracted(judge: str) -> None:
    with notice.writing() as db:
        new = extraction.extract_scripts(db, judge).new
        notice.success(f"{quantity(len(new), 'script')} extracted.")
        undo.remember(StateChange("Undo: remove the extracted scripts", SCRIPT, new, None))


def _selection(scripts: Sequence[Script], name: str) -> Script | None:
    """A list of scripts; the one that the reader selects."""
    columns = (*map(Column, ("task", "kind", "type", "turn", "source")), Column("key", file_only=True))
    rows: tuple[dict[str, Cell], ...] = tuple(
        {
            "task": script.act,
            "kind": script.kind,
            "type": script.type,
            "turn": script.turn,
            "source": script.source,
            "key": script.key,
        }
        for script in scripts
    )
    listed = Table(name, "Scripts", columns, rows, "Select a row to read it.")
    row = table.draw(listed, selectable=True, titled=False, max_height=TALLEST)
    return next((script for script in scripts if row and script.key == row["key"]), None)


def _read(script: Script) -> None:
    """The history that every model answers."""
    with st.container(border=True):
        st.markdown(f"**{plain(script.act)}**, {script.kind}, turn {script.turn}")
        transcript(
            Conversation(BENCHMARK, script.key, "", script.history),
            speakers=("User", "Simulator"),
            letters=True,
        )
        st.button(
            "Set this script aside",
            icon=":material/inventory_2:",
            on_click=undo.decide,
            args=(SCRIPT, [script.key], "discarded", "accepted", "The script was set aside."),
        )


def _easy(discarded: Sequence[Script]) -> None:
    """Scripts with full marks for everybody, and those set aside before."""
    try:
        with workspace().read() as db:
            easy, targets = extraction.easy_scripts(db)
    except ConcordError as error:
        sentence(error)
        return
    if not targets:
        st.caption(
            "Once models have answered and judges scored, scripts with full marks for all appear here."
        )
    elif easy:
        keys = [script.key for script in easy]
        st.markdown(
            plain(
                f"{quantity(len(easy), 'script')} got full marks from every judge for {', '.join(targets)}. "
                "Set aside, they are not run any more and leave the tables. Nothing is deleted."
            )
        )
        _list(easy, "easy-scripts")
        st.button(
            f"Set aside {quantity(len(easy), 'script')}",
            icon=":material/inventory_2:",
            on_click=undo.decide,
            args=(SCRIPT, keys, "discarded", "accepted", f"{quantity(len(easy), 'script')} set aside."),
        )
    else:
        st.caption(plain(f"No script got full marks from every judge for {', '.join(targets)}."))
    if discarded:
        keys = [script.key for script in discarded]
        with st.expander(f"{quantity(len(discarded), 'script')} set aside", icon=":material/inventory_2:"):
            _list(discarded, "discarded-scripts")
            st.button(
                "Use them again",
                icon=":material/undo:",
                on_click=undo.decide,
                args=(SCRIPT, keys, "accepted", "discarded", "The scripts are in use again."),
            )


def _list(scripts: Sequence[Script], name: str) -> None:
    rows = tuple({"task": script.act, "kind": script.kind, "key": script.key} for script in scripts)
    columns = tuple(map(Column, ("task", "kind", "key")))
    table.draw(Table(name, "Scripts", columns, rows), titled=False, max_height=TALLEST)
