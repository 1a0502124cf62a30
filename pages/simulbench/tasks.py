"""Tasks of SimulBench: in use, proposed, rejected; proposals of a model; import of published files."""

from collections.abc import Mapping, Sequence

import streamlit as st

from concord.benchmarks.simulbench import files
from concord.benchmarks.simulbench.near_copies import near_copies
from concord.benchmarks.simulbench.scripts import SCRIPT, Script
from concord.benchmarks.simulbench.tasks import BENCHMARK, CATALOGUE, TASK, TYPES, SimulationTask, task_of
from concord.benchmarks.simulbench.tasks import tasks as usable
from concord.errors import ConcordError
from concord.llm.models import load_models
from concord.runs.planning import materials
from concord.runs.plans import ProposePlan
from concord.scenario import State
from concord.store import scenarios
from concord.table import Column, Table
from pages.parts import notice, table
from pages.parts.address import choice, empty_page
from pages.parts.plain import plain, quantity
from pages.parts.session import workspace
from pages.parts.upload import Upload, upload_of
from pages.simulbench import undo
from pages.simulbench.undo import StateChange
from pages.study import run_form, run_watch

POSITION = "the place of the proposal"
TALLEST = 380
"""Pixels of a list of tasks."""
STATES: Mapping[str, str] = {"accepted": "In use", "rejected": "Rejected"}
PENDING: tuple[State, ...] = ("proposed", "rejected")
LARGEST = 100
"""Megabytes of a published file at most."""


def draw() -> None:
    """Draw the tasks, the form for proposals and the import."""
    run_watch.draw(BENCHMARK)
    with workspace().read() as db:
        by_state = {
            name: [task_of(row) for row in scenarios.page(db, BENCHMARK, TASK, state=name)]
            for name in PENDING
        }
    in_use = usable(materials(workspace()))
    if by_state["proposed"]:
        st.subheader("Proposed tasks", anchor=False)
        _proposed(by_state["proposed"], in_use)
    st.subheader("Tasks", anchor=False)
    rows = {"accepted": list(in_use.values()), "rejected": by_state["rejected"]}
    state = choice(
        "State",
        "state",
        list(rows),
        "accepted",
        format_func=lambda name: f"{STATES[name]} ({len(rows[name])})",
        label_visibility="collapsed",
    )
    _listed(state, rows[state])
    with st.expander("Let a model propose tasks", icon=":material/lightbulb:", key="propose", expanded=True):
        _propose()
    with st.expander("Import published tasks or scripts", icon=":material/upload_file:", key="published"):
        _import()


# ── Proposals ─────────────────────────────────────────────────────────────────────────────────────────────


def _proposed(proposals: Sequence[SimulationTask], in_use: Mapping[str, SimulationTask]) -> None:
    """One proposal after the other, to accept or to reject."""
    position = st.session_state.get(POSITION, 0) % len(proposals)
    task = proposals[position]
    copy = near_copies(proposals, in_use.values()).get(task.id)
    with st.container(border=True):
        _task(task, f"Proposal {position + 1} of {len(proposals)}: ")
        if copy:
            st.warning(
                plain(f"A near-copy of {copy.task} (ROUGE-L {copy.alike:.2f}): reject one of the two."),
                icon=":material/content_copy:",
            )
        with st.container(horizontal=True):
            st.button(
                "Accept",
                type="primary",
                icon=":material/check:",
                on_click=_decide,
                args=(task, "accepted", "proposed"),
                shortcut="a",
            )
            st.button(
                "Reject",
                icon=":material/close:",
                on_click=_decide,
                args=(task, "rejected", "proposed"),
                shortcut="x",
            )
            st.button(
                "Later",
                icon=":material/skip_next:",
                on_click=_later,
                args=(position + 1,),
                disabled=len(proposals) == 1,
                shortcut="n",
            )
    st.caption("Accepted tasks are used by the next run of dialogues. A decision can be changed later.")


def _later(position: int) -> None:
    st.session_state[POSITION] = position


def _decide(task: SimulationTask, state: State, former: State) -> None:
    undo.decide(TASK, [task.id], state, former, f"“{task.act}” was {state}.")


def _task(task: SimulationTask, number: str = "") -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{number}**{plain(task.act)}**", width="content")
        st.badge(task.type, color="gray")
        st.badge(plain(task.source), color="gray")
    st.text(task.task_description)
    st.caption(plain(f"Every request: {task.request_type}"))


def _listed(state: str, tasks: Sequence[SimulationTask]) -> None:
    """A list of tasks; a row opens one."""
    if not tasks:
        st.caption("No task was rejected.")
        return
    columns = (Column("name"), Column("type"), Column("source"), Column("id"))
    rows = tuple(
        {"name": task.act, "type": task.type, "source": task.source, "id": task.id} for task in tasks
    )
    listed = Table(
        f"tasks-{state}", f"Tasks: {STATES[state].lower()}", columns, rows, "Select a row to read it."
    )
    row = table.draw(listed, selectable=True, titled=False, max_height=TALLEST)
    if row is None:
        return
    task = next(task for task in tasks if task.id == row["id"])
    with st.container(border=True):
        _task(task)
        if task.source == CATALOGUE:
            st.caption("This task comes from a file. A run can leave it out: choose tasks in its options.")
        elif state == "accepted":
            st.button(
                "Reject this task",
                icon=":material/close:",
                on_click=_decide,
                args=(task, "rejected", "accepted"),
            )
            st.caption("Its scripts are not run any more. Answers that are stored stay in the tables.")
        else:
            st.button(
                "Accept this task",
                icon=":material/check:",
                on_click=_decide,
                args=(task, "accepted", "rejected"),
            )


def _propose() -> None:
    """What a model is asked to propose, with the estimate."""
    names = [name for name, model in load_models(workspace().models_path).items() if model.kind == "chat"]
    if not names:
        empty_page("No model is named yet.", ("models", "Add a model"))
        return
    st.caption("Each call shows the model five tasks in use as examples and asks for another one.")
    left, right = st.columns(2)
    model = left.selectbox("Model", names, index=None, placeholder="Choose a model", key="proposer")
    types = right.multiselect("Types", TYPES, placeholder="both types", key="proposed types")
    count = left.number_input("Proposals of each type", 1, 1000, 5, key="proposals")
    seed = right.number_input(
        "Seed", 0, value=0, key="seed", help="Another seed draws other examples: new proposals."
    )
    if model is None:
        st.caption("Choose a model to see what it will take.")
        return
    run_form.estimate(ProposePlan(BENCHMARK, model, tuple(types), int(count), int(seed)), key="propose")


# ── Published files ───────────────────────────────────────────────────────────────────────────────────────


@st.cache_resource(max_entries=4, show_spinner="Reading the file …")
def _published(number: str, _upload: Upload) -> list[SimulationTask] | list[Script] | str:
    """What the file holds, or why it cannot be read."""
    try:
        return files.read(_upload.path)
    except ConcordError as error:
        return _upload.sentence(error)


def _import() -> None:
    file = st.file_uploader(
        "The published tasks or scripts (JSON Lines)",
        type=["jsonl", "json", "txt"],
        max_upload_size=LARGEST,
        key="published file",
    )
    if file is None:
        st.caption("simulbench_tasks.jsonl or simulbench_all.jsonl as published, or a file in that form.")
        return
    items = _published(file.file_id, upload_of(file.file_id, file))
    if isinstance(items, str):
        st.error(plain(items), icon=":material/error:")
        return
    scripts = [item for item in items if isinstance(item, Script)]
    kind, noun = (SCRIPT, "script") if scripts else (TASK, "task")
    with workspace().read() as db:
        stored_keys = set(scenarios.keys(db, BENCHMARK, kind))
    identifiers = [item.key if isinstance(item, Script) else item.id for item in items]
    new = len([name for name in identifiers if name not in stored_keys])
    types = ", ".join(f"{sum(item.type == type for item in items)} {type}" for type in TYPES)
    st.markdown(f"**{quantity(len(items), noun)}** ({types}), {new} of them new.")
    if len(scripts) == files.PUBLISHED:
        st.caption(files.WHY_ONE_LESS)
    source = st.text_input("Name of the source", file.name.rpartition(".")[0], max_chars=60, key="source")
    st.button(
        f"Import {quantity(new, noun)}",
        type="primary",
        icon=":material/upload_file:",
        disabled=not new or not source.strip(),
        on_click=_imported,
        args=(items, kind, noun, source.strip()),
    )


def _imported(items: Sequence[SimulationTask | Script], kind: str, noun: str, source: str) -> None:
    with notice.writing() as db:
        new = files.bring(db, items, source)
        notice.success(f"{quantity(len(new), noun)} imported.")
        undo.remember(StateChange(f"Undo: remove the imported {noun}s", kind, new, None))
