"""The desk as one would write it with Streamlit's own elements: a form with a radio per question. The
baseline of bench/desk.py.
"""

from __future__ import annotations

import streamlit as st

from concord.store import access, conversations, placements, studies
from concord.workspace import Workspace

st.set_page_config(layout="wide")
workspace = st.cache_resource(Workspace.chosen)()
with workspace.read() as db:
    rater = access.of_token(db, st.query_params["token"]).rater_id
    unit = next((u for u, state, _ in placements.on_desk(db, rater, "keeper") if state == "open"), None)
    item = None if unit is None else placements.find_id(db, rater, unit)
    study = studies.get(db, "keeper")
    if item is not None:
        task = placements.get(db, rater, item)
        dialogue = conversations.load(db, task.conversation_id)


def submit() -> None:
    """Store the answers; the rerun that a callback is part of shows the next item."""
    with workspace.write() as db:
        for criterion in study.criteria:
            placements.answer(
                db, rater, item, criterion.name, float(st.session_state[f"{criterion.name} {item}"][0])
            )
        placements.submit(db, rater, item)


if item is None:
    st.title("All done")
    st.stop()
talk, ask = st.columns([3, 2])
with talk:
    for message in dialogue.messages:
        st.chat_message(message.role).text(message.content)
with ask, st.form("ask"):
    st.caption(f"Item {task.id}")
    for criterion in study.criteria:
        labels = [
            f"{v:g} {label}" for v, label in zip(criterion.scale.values, criterion.scale.labels, strict=True)
        ]
        st.radio(
            criterion.label,
            labels,
            index=None,
            key=f"{criterion.name} {item}",
            horizontal=True,
            help=criterion.statement,
        )
    st.form_submit_button("Submit", on_click=submit)
