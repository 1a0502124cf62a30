"""What people would say of everything that judges judged in files, and how a running job stands."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import altair as alt
import pandas as pd
import streamlit as st

from concord.errors import ConcordError
from concord.lake import page as html
from concord.lake import status
from concord.lake.counting import MISSING, by_of
from concord.lake.estimate import LakeEstimate, LakeEstimateOptions, estimated
from concord.lake.plan import judge_folders
from concord.llm.models import currency
from concord.store import progress, studies
from concord.table import Table
from pages.parts import table
from pages.parts.address import link, listed, several_of
from pages.parts.charts import GREEN, GREY, VALUE, Chart, forest, legend, show, tips
from pages.parts.navigation import heading
from pages.parts.plain import plain, with_code
from pages.parts.reports import studies_called
from pages.parts.session import live, sentence, workspace

EVERY_SECONDS = 2.0
LARGEST = 2
BEST = "the judge that follows annotators best"
PEOPLE = "as annotators would rate"
JUDGE = "the judge alone"
HEIGHT = 280
"""Pixels of a trend."""


@st.cache_resource(max_entries=16, show_spinner="Counting the answers …")
def _estimated(
    folder: str, _stamp: str, study: str, _mark: str, options: LakeEstimateOptions
) -> LakeEstimate | str:
    """The estimate, or why there is none; the stamps change with the files and with people's answers."""
    with workspace().read() as db:
        try:
            return estimated(db, Path(folder), study, options)
        except ConcordError as error:
            return str(error)


def page() -> None:
    """Draw the page."""
    heading("estimate")
    folders = {str(path): path for path in status.folders_near(workspace().path)}
    if not folders:
        st.info("There are no judged files in the folder of the workspace or next to it.")
        command = f"{workspace().command} judge FILES --rubric NAME --judges NAME --out judged"
        st.markdown("Judge files first. `FILES` are Parquet or JSON Lines:")
        st.code(command, language=None, wrap_lines=True)
        return
    name = listed("Judged files", "folder", [*folders], next(iter(folders)), format_func=_short)
    folder = folders[name]
    try:
        _job(folder)
        _estimate(folder)
    except ConcordError as error:
        sentence(error)


def _short(folder: str) -> str:
    return Path(folder).name


def _job(folder: Path) -> None:
    """How the job of the folder stands, again and again while a process works on it."""
    current = status.standing(folder)
    if current is None:
        return
    live(_standing, seconds=EVERY_SECONDS if current.running else None)(folder, current.running)


def _standing(folder: Path, running: bool) -> None:
    current = status.standing(folder)
    if current is None:
        return
    if running and not current.running:
        st.rerun()
    job = current.progress
    line = status.sentence(job, currency(workspace().models_path))
    if current.running:
        st.progress(current.share, text=plain(f"A job is running: {line}"))
    elif job.left or current.started < current.shards:
        st.info(plain(f"The job is not complete: {line}. Run the same command again to continue."))
    if current.shards > 1:
        st.caption(f"{current.started} of {current.shards} shards have started.")
    if job.message and (current.running or job.left):
        st.caption(plain(job.message))
    for problem in job.problems[:5]:
        st.warning(plain(problem))


def _estimate(folder: Path) -> None:
    """Ask what is estimated, and answer."""
    with workspace().read() as db:
        names = list(studies.names(db))
    judges = list(dict.fromkeys(one.judge for one in judge_folders(folder) if one.parts))
    if not judges:
        st.info("No partition is judged yet. The estimate appears with the first one.")
        return
    if not names:
        st.info("There is no study yet. Draw a sample of these conversations for annotators first:")
        st.code(
            f"{workspace().command} sample {folder} --study people --n 400", language=None, wrap_lines=True
        )
        return
    groupings = status.groupings_of(folder)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        study = listed(
            "Study whose annotators correct the judge",
            "study",
            names,
            names[-1],
            format_func=studies_called(),
        )
        judge = listed("Judge", "judge", [BEST, *judges], BEST) if judges[1:] else BEST
        with workspace().read() as db:
            criteria = {one.name: one.label for one in studies.get(db, study).criteria}
        criterion = ""
        if len(criteria) > 1:
            criterion = listed(
                "Question", "criterion", [*criteria], next(iter(criteria)), format_func=criteria.get
            )
    columns = (
        several_of("Group by", "by", groupings, _grouping, placeholder="all together", max_selections=LARGEST)
        if groupings
        else []
    )
    options = LakeEstimateOptions(by_of(columns), criterion, "" if judge == BEST else judge)
    with workspace().read() as db:
        mark = progress.mark(db, study)
    result = _estimated(str(folder), status.stamp(folder), study, mark, options)
    if isinstance(result, str):
        st.error(with_code(result), icon=":material/error:")
        link("samples", "Samples")
        return
    _answer(result, options)


def _grouping(code: str) -> str:
    """A grouping in words: of a time, its unit behind the name."""
    [column] = by_of([code])
    return column.name


def _answer(result: LakeEstimate, options: LakeEstimateOptions) -> None:
    """The answer, warnings, a picture and tables of each grouping, and the file of all of it."""
    first, *details = result.sentences
    st.subheader(plain(first), anchor=False)
    for text in details:
        st.markdown(plain(text))
    for warning in result.warnings:
        st.warning(plain(warning.text), icon=":material/warning:")
    tables = {one.name: one for one in result.tables}
    for column in options.columns:
        groups = result.groups[column.name]
        if column.unit:
            st.markdown(f"##### By {plain(column.name)}")
            show(_trend(result, column.name), f"{result.criterion.label} by {column.name}")
        else:
            figures = [(name, group.corrected.value) for name, group in groups.items()]
            forest(figures, f"By {column.name}", f"{result.criterion.label}, {PEOPLE}, 95% interval")
        _table(tables, f"lake-by-{column.column}")
        with st.expander("Differences of groups", icon=":material/difference:"):
            _table(tables, f"lake-differences-{column.column}")
        _table(tables, f"lake-next-{column.column}")
    if "lake-by-both" in tables:
        with st.expander("By both", icon=":material/grid_on:"):
            _table(tables, "lake-by-both")
    _table(tables, "lake-overall")
    st.download_button(
        "Download as a page",
        html.page(result, created=date.today()),
        file_name="estimate.html",
        mime="text/html",
        icon=":material/download:",
    )


def _table(tables: dict[str, Table], name: str) -> None:
    if name in tables:
        table.draw(tables[name])


def _trend(result: LakeEstimate, grouping: str) -> Chart:
    """What people would say over time with its band, and the judge alone."""
    rows = []
    for name, group in result.groups[grouping].items():
        if name == MISSING:
            continue
        people = group.corrected.value
        judge = group.corrected.judges
        rows.append((name, PEOPLE, people.value, people.low, people.high, people.n))
        rows.append((name, JUDGE, judge.value, None, None, judge.n))
    data = pd.DataFrame(rows, columns=["time", "kind", "value", "low", "high", "n"])
    data = data.astype(dict.fromkeys(("value", "low", "high"), float))
    colours = alt.Scale(domain=[PEOPLE, JUDGE], range=[GREEN, GREY])
    axis = alt.Axis(labelOverlap=True, title=None)
    base = alt.Chart(data).encode(
        x=alt.X("time:O", axis=axis),
        color=alt.Color("kind:N", scale=colours, legend=legend([PEOPLE, JUDGE])),
    )
    value = alt.Y("value:Q", title=f"{result.criterion.label}, 95% band", scale=alt.Scale(zero=False))
    band = base.transform_filter(alt.datum.kind == PEOPLE).mark_area(opacity=0.25)
    ends = (("low:Q", "from", ".3f"), ("high:Q", "to", ".3f"), ("n:Q", "items"))
    points = tips(("time:N", "of"), ("kind:N", "by"), VALUE, *ends)
    dashes = alt.StrokeDash(
        "kind:N", scale=alt.Scale(domain=[PEOPLE, JUDGE], range=[[1, 0], [4, 4]]), legend=None
    )
    return alt.layer(
        band.encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line().encode(y=value, strokeDash=dashes),
        base.mark_point(filled=True, size=60, opacity=1).encode(y=value, tooltip=points),
    ).properties(height=HEIGHT)


page()
