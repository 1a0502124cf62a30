"""The town at one moment: a slider over its time, the map, who is where, and one resident's day."""

from datetime import date, datetime, time, timedelta
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from concord.benchmarks.stss import views
from concord.benchmarks.stss.town import Town, hour_of
from concord.benchmarks.stss.trajectory import Talk
from concord.benchmarks.stss.views import Here, Simulation, clock
from concord.table import Column, Table
from pages.parts import table
from pages.parts.address import held
from pages.parts.charts import in_rows, legend, name_axis, show, text_colour
from pages.parts.plain import plain
from pages.parts.theme import on_phone

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
GREY, TALKING = "#8a8f98", "#d2701f"
HEIGHT, ROW = 520, 34


def go(time: datetime, resident: str = "") -> None:
    """Show a moment, and a resident if one is named."""
    st.query_params[AT] = _address(time)
    if resident:
        st.query_params[RESIDENT] = resident


def draw(of: Simulation) -> None:
    """Draw the moment that the address names, else the one where something counted first."""
    people = list(of.parts)
    now = _time(of)
    town = st.container()
    resident = held(
        RESIDENT,
        people[0],
        lambda key: st.selectbox("Resident", people, key=key),
        read=lambda name: name if name in people else None,
        always=True,
    )
    with town:
        _town(of, views.people_at(of, now), resident, now)
    st.markdown(f"##### {plain(resident)}: {now:%a} {now.day} {now:%b}")
    rows = views.day(of, resident, now.date())
    if rows:
        show(_bars(rows, now.date(), now), f"The day of {resident}: plan and what happened")
    if views.LIVED not in rows:
        st.caption("Nothing is recorded on this day.")


def _town(of: Simulation, here: list[Here], resident: str, now: datetime) -> None:
    """The map, who does what, and what is said at the moment."""
    if of.town is None:
        st.caption("The file of this town is not at hand, so that there is no map.")
    else:
        off = [h.name for h in here if h.at is None]
        words = "Map of the town: " + "; ".join(f"{h.name}: {h.place}" for h in here)
        show(_map(of.town, of.sectors, here, resident), words)
        st.caption(
            "Faint: asleep. Ring: in conversation. Bold place: where the task is to be done."
            + (plain(f" At places that the map lacks: {', '.join(off)}.") if off else "")
        )
    rows = [
        {"who": h.name, "does": h.action, "where": ", ".join(h.room), "since": clock(h.since)} for h in here
    ]
    columns = tuple(map(Column, ("who", "does", "where", "since")))
    table.draw(Table("people", "Who is where", columns, tuple(rows)), titled=False)
    for number in sorted({h.talk for h in here if h.talk is not None}):
        talk = of.lived.talks[number - 1]
        with st.expander(plain(f"What {' and '.join(talk.pair)} say"), icon=":material/forum:"):
            transcript(talk, of.task.performer)


def _time(of: Simulation) -> datetime:
    """The slider; the moment chosen."""
    first, last = of.lived.times[0], of.lived.times[-1]
    if first == last:
        st.markdown(f"**{clock(first)}**")
        return first
    step, form = timedelta(minutes=of.minutes), "ddd D MMM, HH:mm"
    return held(
        AT,
        views.opens(of),
        lambda key: st.slider("Town time", first, last, step=step, format=form, key=key),
        read=lambda text: _moment(of, text),
        told=_address,
        always=True,
    )


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


def _map(town: Town, task: tuple[str, ...], here: list[Here], resident: str) -> Any:
    """Places, ways between them, and people where they stand."""
    there: dict[str, list[str]] = {}
    for h in here:
        there.setdefault(h.room[0], []).append(h.name)
    room = alt.Scale(zero=False, nice=False, padding=36)
    x, y = alt.X("x:Q", axis=None, scale=room), alt.Y("y:Q", axis=None, scale=room)
    ends = [(town.sectors[a].at, town.sectors[b].at) for a, b in town.doors]
    ways = pd.DataFrame([(*a, *b) for a, b in ends], columns=["x", "y", "x2", "y2"])
    places = pd.DataFrame(
        {
            "x": s.at[0],
            "y": s.at[1],
            "task": name in task,
            "name": name if name in task or name in there else "",
            "words": f"{name}: {', '.join(s.arenas)}. Here: {', '.join(there.get(name, [])) or 'nobody'}.",
        }
        for name, s in town.sectors.items()
    )
    label = text_colour()
    base = alt.Chart(places).encode(x=x, y=y, tooltip="words:N")
    names = base.mark_text(dy=20, color=label, fontSize=12).encode(text="name:N")
    layers = [
        alt.Chart(ways).mark_rule(color=GREY, opacity=0.4).encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        base.mark_square(size=260, color=GREY, opacity=0.35),
        names.transform_filter("!datum.task"),
        names.mark_text(dy=20, color=label, fontSize=12, fontWeight="bold").transform_filter("datum.task"),
    ]
    placed = [
        h._asdict() | {"x": h.at[0], "y": h.at[1], "words": f"{h.name}: {h.action}, {h.place}"}
        for h in here
        if h.at is not None
    ]
    if placed:
        people = pd.DataFrame(placed)[["x", "y", "name", "part", "kind", "words"]]
        people["talks"] = [h["talk"] is not None for h in placed]
        people["followed"] = people.name == resident
        dots = alt.Chart(people).encode(x=x, y=y, tooltip="words:N")
        shapes = alt.Scale(domain=list(SHAPES), range=list(SHAPES.values()))
        layers += [
            dots.mark_point(size=330, shape="circle", color=TALKING).transform_filter("datum.talks"),
            dots.mark_point(size=520, shape="circle", color=label).transform_filter("datum.followed"),
            dots.mark_point(size=110, filled=True, opacity=1).encode(
                shape=alt.Shape(
                    "part:N",
                    scale=shapes,
                    legend=legend(1 if on_phone() else 2, symbolFillColor=label, symbolStrokeColor=label),
                ),
                color=_kinds(),
                opacity=alt.condition("datum.kind == 'asleep'", alt.value(0.35), alt.value(1)),
            ),
            dots.mark_text(dy=-14, color=label, fontSize=11)
            .transform_calculate(first="split(datum.name, ' ')[0]")
            .encode(text="first:N"),
        ]
    return alt.layer(*layers).properties(height=HEIGHT)


def _kinds() -> alt.Color:
    scale = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    return alt.Color("kind:N", scale=scale, legend=legend(3))


def _bars(rows: Any, day: date, now: datetime) -> Any:
    """The morning's plan, the last plan, and what happened, with a line at the moment shown."""
    midnight = datetime.combine(day, time())
    data = pd.DataFrame(
        {
            "row": row,
            "start": midnight + timedelta(minutes=s.start),
            "end": midnight + timedelta(minutes=s.end),
            "kind": s.kind,
            "words": f"{hour_of(s.start)} – {hour_of(s.end)}: {s.action}, {s.place}",
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


def transcript(talk: Talk, performer: str) -> None:
    """What was said, as plain text, and what each of the two kept of it."""
    for speaker, text in talk.messages:
        icon = ":material/flag:" if speaker == performer else ":material/person:"
        with st.chat_message("assistant" if speaker == performer else "user", avatar=icon):
            st.caption(plain(speaker))
            st.text(text or "(nothing)")
    for name in talk.pair if talk.summary else ():
        st.caption(plain(f"What {name} kept of it"))
        st.text(talk.summary.get(name) or "(nothing)")


def planned(what: dict[str, str]) -> None:
    """What the performer had planned for its task; nothing where it did not."""
    if what:
        with st.expander("What the performer planned (TDP)", icon=":material/checklist:"):
            for heading, text in what.items():
                st.caption(heading)
                st.text(text)
