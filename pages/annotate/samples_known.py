"""Gold and training items of a study: conversations with known answers, marked one by one or from a file."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from concord.errors import StudyError
from concord.questions import Scale
from concord.rating import Criterion
from concord.store import answers, conversations, known
from concord.store import studies as stored
from concord.store.conversations import Filter
from concord.store.known import Gold, KnownKind, UnitKey
from concord.store.studies import Study
from concord.studies import running
from concord.studies.purposes import gold, training
from pages.parts import notice
from pages.parts.plain import quantity
from pages.parts.session import workspace
from pages.parts.transcript import conversation_name

CANDIDATES = 300
"""Conversations that are offered to be marked."""
UNKNOWN = "not known"
LARGEST = 5
"""Megabytes of a file of gold items at most."""


EXPLANATIONS: Mapping[KnownKind, str] = {
    "gold": "A gold item is a further conversation whose answer you know. Gold items are mixed unannounced "
    "into each annotator's items. They are excluded from all figures of agreement.",
    "training": "A training item is a conversation whose answer you know and explain. Annotators see the "
    "study's items after they pass the training.",
}


def known_items(study: Study, kind: KnownKind) -> None:
    """The gold or training items there are, and the ways to add some."""
    st.caption(EXPLANATIONS[kind])
    with workspace().read() as db:
        golds = known.gold(db, study.name, kind)
        keys = {one.unit: _item_name(db, one.unit) for one in golds}
        rule = training.rule_of(study)
    _listed(study, kind, golds, keys)
    if kind == "training":
        _rule(study, rule or training.PassRule(), bool(golds))
    if not study.pairs:
        st.markdown("**Mark a conversation**")
        _mark(study, kind, golds)
    st.markdown("**Or upload a file**")
    file = st.file_uploader(
        "CSV file with the columns key, criterion, answer; optional: turn, other, tolerance, explanation, "
        "attention",
        type=["csv"],
        max_upload_size=LARGEST,
        key=f"file {kind} {study.name}",
    )
    if file is not None:
        replaces = f" They replace the {quantity(len(keys), 'item')} above." if keys else ""
        st.button(
            f"Use the items of this file.{replaces}",
            key=f"use {kind}",
            on_click=_use,
            args=(study.name, kind, file.name, file.getvalue()),
        )


def _item_name(db: Any, unit: UnitKey) -> str:
    name = conversation_name(conversations.listed(db, unit.conversation_id))
    return name if unit.turn is None else f"{name}, turn {unit.turn}"


def _listed(study: Study, kind: KnownKind, golds: Sequence[Gold], keys: Mapping[UnitKey, str]) -> None:
    """The items there are, and the way to remove one."""
    if not golds:
        return
    scales = {c.name: (c.label, c.scale) for c in study.criteria}
    rows = [
        {
            "item": keys[one.unit],
            "question": scales[one.criterion][0],
            "answer": scales[one.criterion][1].word(one.answer),
            "tolerance": one.tolerance,
            "explanation": one.explanation,
            "attention check": "yes" if one.attention else "no",
        }
        for one in golds
        if one.criterion in scales
    ]
    st.dataframe(rows, hide_index=True, height="content")
    field, button = st.columns([4, 1], vertical_alignment="bottom")
    unit = field.selectbox("Item", list(keys), format_func=lambda unit: keys[unit], key=f"item {kind}")
    button.button("Remove", key=f"remove {kind}", on_click=_unmark, args=(study.name, unit, kind))


def _mark(study: Study, kind: KnownKind, golds: Sequence[Gold]) -> None:
    """A conversation beside the study's own, and the answers that are known of it."""
    with workspace().read() as db:
        study_ids = {place.conversation_id for place in answers.places(db, study.name).values()}
        source = Filter(benchmark=study.benchmark)
        candidates = {
            one.id: one
            for one in conversations.search(db, source, "oldest", CANDIDATES + len(study_ids))
            if one.id not in study_ids
        }
    marked = {one.unit.conversation_id for one in golds}
    if not candidates:
        st.caption(
            "All stored conversations are in the study already. Import more conversations to use as "
            "gold or training items."
        )
        return
    number = st.selectbox(
        "Conversation",
        sorted(candidates, key=lambda one: one in marked),
        format_func=lambda one: conversation_name(candidates[one]),
        key=f"mark {kind}",
    )
    with workspace().read() as db:
        conversation = conversations.load(db, number)
    turns = conversation.replied_turns
    turn = st.selectbox("Turn", turns, key=f"turn {kind}") if study.per_turn and turns else None
    with st.container(border=True, height=260):
        for message in conversation.messages:
            st.caption(message.role)
            st.text(message.content[:4000])
    for criterion in study.criteria:
        if not criterion.scale.kind.content:
            st.selectbox(
                criterion.label,
                [UNKNOWN, *_answers(criterion.scale)],
                key=f"known {kind} {number} {criterion.name}",
                help=criterion.statement.strip(),
                accept_new_options=criterion.scale.kind.continuous,
            )
    left, right = st.columns(2)
    left.number_input("Allowed difference", 0.0, value=0.0, step=1.0, key=f"tolerance {kind}")
    if kind == "gold":
        right.toggle(
            "An attention check",
            key=f"attention {kind}",
            help="A missed attention check is reported separately.",
        )
    st.text_input(
        "Explanation of the answer" if kind == "training" else "Explanation",
        max_chars=2000,
        key=f"explanation {kind}",
        help="Annotators read it during training.",
    )
    st.button(
        "Add training item" if kind == "training" else "Add gold item",
        icon=":material/add:",
        on_click=_marked,
        args=(study.name, study.criteria, kind, number, candidates[number].key, turn),
    )


def _answers(scale: Scale) -> list[str]:
    return [scale.word(value) for value in scale.offered]


def _marked(
    name: str, criteria: Sequence[Criterion], kind: KnownKind, number: int, key: str, turn: int | None
) -> None:
    state = st.session_state
    row = {
        "key": key,
        "turn": "" if turn is None else str(turn),
        "tolerance": str(state.get(f"tolerance {kind}") or 0),
        "explanation": str(state.get(f"explanation {kind}") or ""),
        "attention": "yes" if state.get(f"attention {kind}") else "",
    }
    choices = {c.name: state.get(f"known {kind} {number} {c.name}") for c in criteria}
    rows = [
        {**row, "criterion": field, "answer": str(values)}
        for field, values in choices.items()
        if values not in (None, UNKNOWN)
    ]
    with notice.writing() as db:
        if not rows:
            notice.failure(StudyError("Choose the known answer to at least one question."))
            return
        running.mark_gold(db, name, rows, kind)
        notice.success(f"{key} is now a {kind} item of “{name}”.")


def _unmark(name: str, unit: UnitKey, kind: KnownKind) -> None:
    with notice.writing() as db:
        running.unmark_gold(db, name, unit, kind)
        notice.success(f"The item is no longer a {kind} item of “{name}”.")


def _use(name: str, kind: KnownKind, file: str, data: bytes) -> None:
    with notice.writing() as db:
        golds = gold.from_csv(db, name, data.decode("utf-8-sig", errors="replace"), file, kind)
        if kind == "gold":
            running.set_gold(db, name, golds)
        else:
            rule = training.rule_of(stored.get(db, name)) or training.PassRule()
            running.set_training(db, name, golds, rule)
        notice.success(f"“{name}” has {quantity(len({one.unit for one in golds}), f'{kind} item')}.")


def _rule(study: Study, rule: training.PassRule, link: bool) -> None:
    """When an attempt is passed, and how many there are."""
    share, attempts, button = st.columns(3, vertical_alignment="bottom")
    share.number_input("Least share of right items", 0.0, 1.0, rule.bound, 0.05, key=f"pass {study.name}")
    attempts.number_input("Attempts", 1, None, rule.attempts, key=f"attempts {study.name}")
    button.button("Save the rule", disabled=not link, on_click=_ruled, args=(study.name,))
    if not link:
        st.caption("Add training items first.")


def _ruled(name: str) -> None:
    rule = training.PassRule(
        float(st.session_state[f"pass {name}"]), int(st.session_state[f"attempts {name}"])
    )
    with notice.writing() as db:
        running.set_training(db, name, [], rule)
        notice.success(f"“{name}” opens to annotators who pass its training: {rule.words}.")
