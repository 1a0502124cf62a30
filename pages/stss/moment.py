"""The town at one moment: a slider over its time, the map, who is where, and one resident's day."""

from datetime import date, datetime, time, timedelta
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from concord.benchmarks.stss import replay, views
from concord.benchmarks.stss.replay import Here, Mark
from concord.benchmarks.stss.views import Simulation
from pages.parts.address import held
from pages.parts.charts import in_rows, legend, name_axis, show, text_colour
from pages.parts.plain import plain
from pages.parts.table import rows_as_cards
from pages.stss.town_tables import clock, transcript

AT, RESIDENT = "at", "resident"
"""What the address says of the moment shown."""
SHAPES = {"performer": "diamond", "counted": "circle", "came close": "triangle-up", "others": "square"}
KINDS = {
    "the task": "#3a927e",
    "conversation": "#d2701f",
    "on the way": "#9a6fc0",
    "asleep": "#8a8f98",
    "anything else": "#2f7fc2",
}
MARKS = {
    replay.WINDOW: "#8a8f98",
    replay.COUNTED: "#3a927e",
    replay.CLOSE: "#c2566e",
    replay.TALK: "#d2701f",
}
HEIGHT, STRIP = 520, 110
NAMED = 3
"""So many of a crowd are written out; the others are a number."""
ROW = 34


def go(time: datetime, resident: str = "") -> None:
    """Show a moment, and a resident if one is named."""
    st.query_params[AT] = _address(time)
    if resident:
        st.query_params[RESIDENT] = resident


def draw(of: Simulation) -> None:
    """Draw the moment that the address names, else the one where something counted first."""
    people = replay.people(of)
    marks = replay.marks(of)
    now = _time(of, marks)
    town = st.container()
    resident = held(
        RESIDENT,
        people[0],
        lambda key: st.selectbox("Resident", people, key=key),
        read=lambda name: name if name in people else None,
        always=True,
    )
    with town:
        _town(of, replay.people_at(of, now), resident, now)
    _day(of, resident, now)


def _town(of: Simulation, here: list[Here], resident: str, now: datetime) -> None:
    """The map, who does what, and what is said at the moment."""
    if of.town is None:
        st.caption("The file of this town is not at hand, so that there is no map.")
    else:
        off = [h.name for h in here if h.at is None]
        show(_map(of, here, resident), "Map of the town: " + "; ".join(f"{h.name}: {h.place}" for h in here))
        st.caption(
            "Faint: asleep. Ring: in conversation. Bold place: where the task is to be done."
            + (plain(f" At places that the map lacks: {', '.join(off)}.") if off else "")
        )
    _people(here, now)
    for number in sorted({h.talk for h in here if h.talk is not None}):
        talk = of.talks[number - 1].talk
        with st.expander(plain(f"What {' and '.join(talk.pair)} say"), icon=":material/forum:"):
            transcript(talk, of.task.performer)


def _time(of: Simulation, marks: list[Mark]) -> datetime:
    """The slider with the moments worth going to; the moment chosen."""
    first, last = of.lived.times[0], of.lived.times[-1]
    if first == last:
        st.markdown(f"**{clock(first)}**")
        return first
    recorded = [(of.lived.times[of.lived.moment(mark.time)], mark) for mark in marks]
    show(_line(marks, first, last), "Events: " + "; ".join(map(_words, marks)))
    now = held(
        AT,
        replay.opens(of),
        lambda key: st.slider(
            "Town time",
            first,
            last,
            step=timedelta(minutes=of.minutes),
            format="ddd D MMM, HH:mm",
            key=key,
        ),
        read=lambda text: _moment(of, text),
        told=_address,
        always=True,
    )
    stops = sorted({stop for stop, _ in recorded})
    before = [stop for stop in stops if stop < now]
    after = [stop for stop in stops if stop > now]
    with st.container(horizontal=True):
        for label, icon, times in (
            ("Previous event", ":material/skip_previous:", before[-1:]),
            ("Next event", ":material/skip_next:", after[:1]),
        ):
            st.button(label, icon=icon, disabled=not times, on_click=go, args=(times or [now])[:1])
    for stop, mark in recorded:
        if stop == now:
            st.caption(plain(_words(mark)))
    return now


def _moment(of: Simulation, text: str) -> datetime | None:
    try:
        wanted = datetime.fromisoformat(text)
    except ValueError:
        return None
    if wanted.tzinfo or not of.lived.times[0] <= wanted <= of.lived.times[-1]:
        return None
    return of.lived.times[of.lived.moment(wanted)]


def _address(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M}"


def _words(mark: Mark) -> str:
    return f"{clock(mark.time)}: {f'{mark.who}: ' if mark.who else ''}{mark.what}"


def _line(marks: list[Mark], first: datetime, last: datetime) -> Any:
    """The moments worth going to, along the time of the town."""
    data = pd.DataFrame(
        [{**m._asdict(), "words": _words(m)} for m in marks] or [{"time": None, "kind": None}]
    )
    x = alt.X(
        "time:T",
        title=None,
        scale=alt.Scale(domain=[first, last]),
        axis=alt.Axis(format="%a %H:%M", grid=True),
    )
    color = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=list(MARKS), range=list(MARKS.values())),
        legend=legend(5),
    )
    chart = alt.Chart(data).mark_tick(thickness=4, size=18).encode(x=x, color=color, tooltip="words:N")
    return chart.properties(height=STRIP)


def _map(of: Simulation, here: list[Here], resident: str) -> Any:
    """Places, ways between them, and people where they stand."""
    sectors = replay.sectors(of)
    there: dict[str, list[str]] = {}
    for h in here:
        there.setdefault(h.room[0], []).append(h.name)
    x, y = (alt.X("x:Q", axis=None, scale=_room()), alt.Y("y:Q", axis=None, scale=_room()))
    ways = pd.DataFrame(
        [{"x": a[0], "y": a[1], "x2": b[0], "y2": b[1]} for a, b in replay.doors(of)],
        columns=["x", "y", "x2", "y2"],
    )
    places = pd.DataFrame(
        {
            "x": s.at[0],
            "y": s.at[1],
            "name": s.name,
            "task": s.task,
            "written": s.name if s.task or s.name in there else "",
            "who": _names(there.get(s.name, [])),
            "words": f"{s.name}{f' ({s.kind})' if s.kind else ''}: {', '.join(s.arenas)}. "
            f"Here: {', '.join(there.get(s.name, [])) or 'nobody'}.",
        }
        for s in sectors
    )
    people = pd.DataFrame(
        {
            "x": h.at[0],
            "y": h.at[1],
            "name": h.name,
            "part": h.part,
            "kind": h.kind,
            "talks": h.talk is not None,
            "followed": h.name == resident,
            "words": f"{h.name}: {h.action}, {h.place}",
        }
        for h in here
        if h.at is not None
    )
    base = alt.Chart(places).encode(x=x, y=y, tooltip="words:N")
    label = text_colour()
    layers = [
        alt.Chart(ways).mark_rule(color="#8a8f98", opacity=0.4).encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        base.mark_square(size=260, color="#8a8f98", opacity=0.35),
        base.mark_text(dy=20, color=label, fontSize=11)
        .encode(text="written:N")
        .transform_filter("!datum.task"),
        base.mark_text(dy=20, color=label, fontSize=12, fontWeight="bold")
        .encode(text="written:N")
        .transform_filter("datum.task"),
        base.mark_text(dy=-18, color=label, fontSize=12).encode(text="who:N"),
    ]
    if len(people):
        dots = alt.Chart(people).encode(x=x, y=y, tooltip="words:N")
        layers += [
            dots.mark_point(size=330, shape="circle", color="#d2701f").transform_filter("datum.talks"),
            dots.mark_point(size=520, shape="circle", color=label).transform_filter("datum.followed"),
            dots.mark_point(size=110, filled=True, opacity=1).encode(
                shape=alt.Shape(
                    "part:N",
                    scale=alt.Scale(domain=list(SHAPES), range=list(SHAPES.values())),
                    legend=legend(4, symbolFillColor=label, symbolStrokeColor=label),
                ),
                color=_kinds(),
                opacity=alt.condition("datum.kind == 'asleep'", alt.value(0.35), alt.value(1)),
            ),
        ]
    return alt.layer(*layers).properties(height=HEIGHT)


def _room() -> alt.Scale:
    return alt.Scale(zero=False, nice=False, padding=36)


def _kinds() -> alt.Color:
    return alt.Color(
        "kind:N",
        scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
        legend=legend(5),
    )


def _names(names: list[str]) -> str:
    more = f" +{len(names) - NAMED}" if len(names) > NAMED else ""
    return ", ".join(name.split()[0] for name in names[:NAMED]) + more


def _people(here: list[Here], now: datetime) -> None:
    """Who does what, where, and since when."""
    rows = [
        {
            "who": h.name,
            "part": "" if h.part == "others" else h.part,
            "does": h.action,
            "where": ", ".join(h.room),
            "since": f"{h.since:%H:%M}" if h.since.date() == now.date() else clock(h.since),
        }
        for h in here
    ]
    if not rows:
        st.caption("Nothing is recorded at this moment.")
    elif not rows_as_cards("who is where", rows):
        st.dataframe(rows, hide_index=True, alt="Who is where", placeholder="")


def _day(of: Simulation, name: str, now: datetime) -> None:
    """The morning's plan, the last plan, and what happened, with a line at the moment shown."""
    day = now.date()
    st.markdown(f"##### {plain(name)}: {day:%a} {day.day} {day:%b}")
    rows = replay.day(of, name, day)
    if rows:
        show(_bars(rows, day, now), f"The day of {name}: plan and what happened")
    st.caption(plain(views.plan_told(of, name, day)))


def _hour(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def _bars(rows: Any, day: date, now: datetime) -> Any:
    midnight = datetime.combine(day, time())
    data = pd.DataFrame(
        {
            "row": row,
            "start": midnight + timedelta(minutes=s.start),
            "end": midnight + timedelta(minutes=s.end),
            "kind": s.kind,
            "words": f"{_hour(s.start)} – {_hour(s.end)}: {s.action}, {s.place}",
        }
        for row, stretches in rows.items()
        for s in stretches
    )
    ends = alt.Scale(domain=[midnight, midnight + timedelta(days=1)])
    x = alt.X("start:T", title=None, scale=ends, axis=alt.Axis(format="%H:%M", tickCount=9))
    y = alt.Y("row:N", sort=list(rows), title=None, axis=name_axis(140))
    bars = alt.Chart(data).mark_bar()
    bars = bars.encode(x=x, x2="end:T", y=y, color=_kinds(), tooltip="words:N")
    line = alt.Chart(pd.DataFrame({"start": [now]})).mark_rule(color=text_colour(), strokeWidth=2)
    return in_rows(alt.layer(bars, line.encode(x=x)), ROW, len(rows))
