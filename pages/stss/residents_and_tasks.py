"""STSS's towns: residents and tasks, imports, scenes for the language level, scores of other simulators."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from concord.benchmarks.stss import imports, scenes, scoring, system, views
from concord.benchmarks.stss.language import NAME as LANGUAGE_LEVEL
from concord.benchmarks.stss.language import SCENARIO
from concord.benchmarks.stss.scenes import Frozen
from concord.benchmarks.stss.scoring import Score
from concord.benchmarks.stss.tasks import TITLES, SocialTask, read_tasks, task_from
from concord.benchmarks.stss.templates import missing
from concord.benchmarks.stss.town import Resident, Town
from concord.benchmarks.stss.trajectory_files import read_trajectory
from concord.errors import ConcordError
from concord.runs.planning import materials
from concord.runs.registry import siblings
from concord.store import scenarios
from concord.table import Cell, Column, Table
from pages.parts import notice, person, table
from pages.parts.address import choice, link, listed
from pages.parts.navigation import heading
from pages.parts.plain import plain, quantity
from pages.parts.session import sentence, workspace
from pages.parts.upload import Upload, upload_of

LAST = "the last change of STSS"
TALLEST = 420
"""Pixels of a list."""
LARGEST = 100
"""Megabytes of a file at most."""


def page() -> None:
    """Draw the page."""
    heading("residents")
    notice.show()
    if LAST in st.session_state:
        st.button("Undo the last change", icon=":material/undo:", on_click=_undo, shortcut="u")
    titles = system.town_titles(materials(workspace()))
    start = system.TOWN if system.TOWN in titles else next(iter(titles))
    town_name = listed("Town", "town", [*titles], start, format_func=lambda name: plain(titles[name]))
    parts = {
        "tasks": ("Tasks", _tasks),
        "residents": ("Residents", _residents),
        "import": ("Import", _import),
        "scenes": ("Scenes", _scenes),
        "score": ("Score a trajectory", _score),
    }
    part = choice("Part", "part", list(parts), "tasks", format_func=lambda name: parts[name][0])
    try:
        parts[part][1](town_name)
    except ConcordError as error:
        sentence(error)


def _undo() -> None:
    last = st.session_state.pop(LAST)
    if isinstance(last, Path):
        with person.as_here():
            imports.remove(workspace(), last)
        for name in ("town", "task_set"):
            if st.query_params.get(name) == last.stem:
                del st.query_params[name]
        notice.success("The import was removed.")
        return
    with notice.writing() as db:
        scenarios.remove(db, LANGUAGE_LEVEL, SCENARIO, last, used_by=siblings(LANGUAGE_LEVEL))
        notice.success("The new scenes were removed.")


# ── Tasks and residents ───────────────────────────────────────────────────────────────────────────────────


def _tasks(town_name: str) -> None:
    """The tasks of a set: read one, choose some, start a run with them."""
    texts = materials(workspace())
    sets = [system.TEMPLATES, *system.task_sets(texts)]
    titles = {system.TEMPLATES: "the town's own templates"}
    left, right = st.columns([3, 1])
    with left:
        task_set = listed(
            "Task set", "task_set", sets, sets[0], format_func=lambda name: titles.get(name, name)
        )
    seed = int(right.number_input("Seed", 1, value=1, help="Draws performers, places, times and residents."))
    town = system.town_named(texts, town_name)
    tasks = system.tasks_of(texts, town_name, task_set, seed)
    lacking = {name: missing(task, town) for name, task in tasks.items()}
    playable = [name for name, absent in lacking.items() if not absent]
    kinds = Counter(task.kind for task in tasks.values())
    by_kind = ", ".join(f"{kinds[kind]} {title.lower()}" for kind, title in TITLES.items() if kinds[kind])
    st.markdown(
        plain(
            f"{quantity(len(tasks), 'task')}: {by_kind}. {len(playable)} of them can be played in "
            f"{town.name}."
        )
    )
    row = table.draw(_task_table(tasks, lacking), selectable=True, titled=False, max_height=TALLEST)
    if row:
        _task(tasks[str(row["id"])], lacking[str(row["id"])])
    selection = st.multiselect(
        "Tasks of the run", playable, placeholder="all", key=f"tasks of {town_name} {task_set}"
    )
    link(
        "runs",
        f"Start a run with {quantity(len(selection), 'task') if selection else 'all tasks'}",
        benchmark=system.NAME,
        town=town_name,
        task_set=task_set,
        seed=str(seed),
        tasks=selection,
    )


def _task_table(tasks: Mapping[str, SocialTask], lacking: Mapping[str, Sequence[str]]) -> Table:
    rows: list[dict[str, Cell]] = [
        {
            "id": name,
            "type": TITLES[task.kind],
            "performer": task.performer,
            "goal": task.goal,
            "wanted": task.wanted,
            "lacks": ", ".join(lacking[name]),
        }
        for name, task in tasks.items()
    ]
    columns = (
        *map(Column, ("id", "type", "performer", "wanted", "goal")),
        Column("lacks", "the town lacks", file_only=not any(lacking.values())),
    )
    return Table("tasks", "Tasks", columns, tuple(rows), "Select a row to read it.")


def _task(task: SocialTask, absent: Sequence[str]) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{plain(task.performer)}**", width="content")
            st.badge(TITLES[task.kind], color="gray")
        st.text(task.goal)
        st.text(task.criteria)
        for subgoal in task.subgoals:
            window = (
                f"{subgoal.start:%Y-%m-%d %H:%M}, {subgoal.minutes} minutes" if subgoal.start else "any time"
            )
            place = subgoal.location or "anywhere"
            st.caption(plain(f"{' or '.join(subgoal.keywords)}; {place}; {window}"))
        if task.cast:
            st.caption(plain(f"In the simulation: {', '.join(task.cast)}"))
        if absent:
            st.warning(plain(f"The town lacks {', '.join(absent)}."), icon=":material/wrong_location:")


def _residents(town_name: str) -> None:
    town = system.town_named(materials(workspace()), town_name)
    st.markdown(
        plain(f"{quantity(len(town.residents), 'resident')}, {quantity(len(town.sectors), 'place')}.")
    )
    rows: tuple[dict[str, Cell], ...] = tuple(
        {
            "name": resident.name,
            "age": resident.age,
            "innate": resident.innate,
            "home": resident.home,
            "work": resident.work,
        }
        for resident in town.residents.values()
    )
    columns = tuple(map(Column, ("name", "age", "innate", "home", "work")))
    people = Table("residents", "Residents", columns, rows, "Select a row to read it.")
    if row := table.draw(people, selectable=True, titled=False, max_height=TALLEST):
        _resident(town.residents[str(row["name"])])


def _resident(resident: Resident) -> None:
    with st.container(border=True):
        st.markdown(f"**{plain(resident.name)}**, {resident.age}, {plain(resident.innate)}")
        for text in (resident.learned, resident.currently, resident.lifestyle):
            if text:
                st.text(text)
        hours = f", works {resident.hours[0]} to {resident.hours[1]}" if resident.work else ""
        st.caption(f"Awake {resident.wakes} to {resident.sleeps}{hours}")
        for name, relation in resident.knows.items():
            st.caption(plain(f"Knows {name}: {relation}"))


# ── Import ────────────────────────────────────────────────────────────────────────────────────────────────


def _dropped(label: str, key: str, kinds: Sequence[str] = ("json",)) -> tuple[str, Upload] | None:
    """A file that was dropped: its name without the ending, and where it is."""
    file = st.file_uploader(label, type=list(kinds), max_upload_size=LARGEST, key=key)
    if file is None:
        return None
    return file.name.rpartition(".")[0], upload_of(file.file_id, file)


def _import(town_name: str) -> None:
    """Published tasks for this town, or published people as a town of their own."""
    st.markdown("**Tasks for this town**")
    if drop := _dropped("The published tasks (JSON), or yours in that form", "task file"):
        _import_tasks(town_name, *drop)
    st.markdown("**People, as a town of their own with the places of this one**")
    if drop := _dropped("The published personas (JSON)", "people file"):
        _import_people(town_name, *drop)


def _import_tasks(town_name: str, name: str, upload: Upload) -> None:
    try:
        imported = imports.tasks_for(workspace(), upload.path, town_name)
    except ConcordError as error:
        st.error(plain(upload.sentence(error)), icon=":material/error:")
        return
    st.markdown(
        plain(
            f"{quantity(len(imported.tasks), 'task')}; {len(imported.playable)} of them can be played in "
            f"{imported.town.name}."
        )
    )
    _lacking(imported.town, Counter(name for absent in imported.lacking.values() for name in absent))
    sets = [system.TEMPLATES, *system.task_sets(materials(workspace()))]
    new = _new_name("Name of the task set", name, sets, "task set name")
    st.button(
        f"Import {quantity(len(imported.tasks), 'task')}",
        type="primary",
        icon=":material/upload_file:",
        disabled=not new,
        on_click=_store_tasks,
        args=(imported.tasks, new),
    )


def _lacking(town: Town, absent: Counter[str]) -> None:
    if absent:
        places = ", ".join(f"{name} ({count})" for name, count in absent.items())
        st.warning(
            plain(
                f"{town.name} lacks these people and places (with the number of tasks that name them): "
                f"{places}. Import the people as a town of their own first, or name them in published.toml."
            ),
            icon=":material/wrong_location:",
        )


def _new_name(label: str, start: str, names: Sequence[str], key: str) -> str:
    """A name that nothing has yet; “” until there is one."""
    name = st.text_input(label, start, max_chars=60, key=key).strip()
    if name in names:
        st.warning(plain(f"“{name}” is there already. Choose another name."), icon=":material/error:")
        return ""
    return name


def _store_tasks(tasks: Sequence[SocialTask], name: str) -> None:
    try:
        with person.as_here():
            st.session_state[LAST] = imports.store_tasks(workspace(), tasks, name)
    except ConcordError as error:
        notice.failure(error)
    else:
        st.query_params["part"] = "tasks"
        st.query_params["task_set"] = name
        notice.success(f"{quantity(len(tasks), 'task')} imported as the task set {name}.")


def _import_people(town_name: str, name: str, upload: Upload) -> None:
    try:
        residents = imports.people_for(workspace(), upload.path, town_name)
    except ConcordError as error:
        st.error(plain(upload.sentence(error)), icon=":material/error:")
        return
    st.markdown(plain(f"{quantity(len(residents), 'person', 'people')}: {', '.join(residents)}."))
    new = _new_name("Name of the new town", name, list(system.towns(materials(workspace()))), "town name")
    st.button(
        f"Import {quantity(len(residents), 'person', 'people')}",
        type="primary",
        icon=":material/group_add:",
        disabled=not new,
        on_click=_store_people,
        args=(residents, new, town_name),
    )


def _store_people(residents: Mapping[str, Mapping[str, object]], name: str, town_name: str) -> None:
    try:
        with person.as_here():
            st.session_state[LAST] = imports.store_people(workspace(), residents, name, town_name)
    except ConcordError as error:
        notice.failure(error)
    else:
        st.query_params["part"] = "residents"
        st.query_params["town"] = name
        notice.success(f"{quantity(len(residents), 'person', 'people')} live in the new town {name}.")


# ── Scenes ────────────────────────────────────────────────────────────────────────────────────────────────


def _scenes(_town_name: str) -> None:
    """Freeze scenes of the simulations, and play them."""
    st.caption(
        "A scene is the moment before a performer talked with another resident on day 1. Runs of the "
        "language level of STSS play scenes without a world."
    )
    left, middle, right = st.columns(3)
    number = int(left.number_input("Scenes", 0, value=0, help="0: all. The paper has 325."))
    per_pair = int(middle.number_input("Scenes of the same two people in a task", 1, value=scenes.PER_PAIR))
    seed = int(right.number_input("Seed", 0, value=0, key="seed of scenes"))
    selection = scenes.selected(workspace(), number, per_pair, seed)
    kinds = Counter(task_from(scene.body["task"]).kind for scene in selection.scenes)
    by_kind = ", ".join(f"{kinds[kind]} {title.lower()}" for kind, title in TITLES.items() if kinds[kind])
    st.markdown(
        plain(f"{quantity(len(selection.scenes), 'scene')} ({by_kind}), {len(selection.new)} of them new.")
    )
    if len(selection.scenes) < number:
        st.caption(
            f"The simulations hold {selection.possible} scenes. Simulate more tasks, models or repeats, or "
            "allow more scenes of the same two people."
        )
    st.button(
        f"Freeze {quantity(len(selection.new), 'new scene')}",
        type="primary",
        icon=":material/ac_unit:",
        disabled=not selection.new,
        on_click=_freeze,
        args=(number, per_pair, seed),
    )
    with st.container(horizontal=True):
        link("runs", "Let models play the scenes", benchmark=LANGUAGE_LEVEL)
        link("samples", "Draw a sample for annotators")


def _freeze(number: int, per_pair: int, seed: int) -> None:
    try:
        with person.as_here():
            frozen: Frozen = scenes.freeze(workspace(), number, per_pair, seed)
    except ConcordError as error:
        notice.failure(error)
    else:
        st.session_state[LAST] = frozen.new
        notice.success(f"{quantity(len(frozen.new), 'scene')} frozen.")


# ── Trajectories of other simulators ──────────────────────────────────────────────────────────────────────


def _score(_town_name: str) -> None:
    """Score the tasks of a file on what another simulator recorded; nothing is stored."""
    st.caption("Scores by rule what another simulator recorded. No model is asked, nothing is stored.")
    tasks = _dropped("Tasks (JSON), in the form of the published ones", "tasks to score")
    records = _dropped(
        "Trajectory: who did what where (JSON Lines, JSON, CSV, Parquet)",
        "trajectory",
        ("json", "jsonl", "csv", "parquet"),
    )
    if not tasks or not records:
        return
    try:
        by_id = {task.id: task for task in read_tasks(tasks[1].path)}
        trajectory, notes = read_trajectory(records[1].path)
    except ConcordError as error:
        st.error(plain(records[1].sentence(ConcordError(tasks[1].sentence(error)))), icon=":material/error:")
        return
    scores = list[Score]()
    for task in by_id.values():
        try:
            scores.append(scoring.score(scoring.covered(task, trajectory), trajectory))
        except ConcordError as error:
            st.warning(plain(str(error)), icon=":material/error:")
    for scored in views.scores(scores, notes) if scores else ():
        table.draw(scored)


page()
