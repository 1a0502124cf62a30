"""What a study may have beside its items: gold items, training, extra raters, second answers, a crowd."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from concord.questions import Scale
from concord.rating import Criterion
from concord.store import answers, closings, conversations, crowds, known
from concord.store import studies as stored
from concord.store.conversations import Filter
from concord.store.crowds import Crowd, Platform
from concord.store.known import Gold, KnownKind, UnitKey
from concord.store.studies import Study
from concord.studies import crowd, dealing, running
from concord.studies.purposes import adjudicate, extra, gold, second, training
from pages.parts import handout, notice
from pages.parts.plain import counted
from pages.parts.session import opened_at, workspace
from pages.parts.table import draw
from pages.parts.transcript import conversation_name

CANDIDATES = 300
"""Conversations that are offered to be marked."""
UNKNOWN = "not known"
LARGEST = 5
"""Megabytes of a file of gold items at most."""


def sections_of(study: Study) -> None:
    """The sections, each folded until it is opened."""
    if study.anonymous:
        return
    sections: list[tuple[str, str, Callable[[], None]]] = [
        ("Gold items", "verified", lambda: _items_known(study, "gold")),
        ("Training items", "school", lambda: _items_known(study, "training")),
        ("Extra raters where annotators differ", "group_add", lambda: _extra(study)),
        ("Second answers", "quickreply", lambda: _second(study)),
        ("A crowd's link: Prolific or MTurk", "public", lambda: _crowd(study)),
    ]
    if study.ranks:  # of an order no answer is known
        sections = sections[4:]
    for title, icon, draw_section in sections:
        expander = st.expander(
            title, icon=f":material/{icon}:", key=f"{title} of {study.name}", on_change="rerun"
        )
        if expander.open:
            with expander:
                draw_section()


# ── Gold items and training ───────────────────────────────────────────────────────────────────────────────


EXPLANATIONS: Mapping[KnownKind, str] = {
    "gold": "A gold item is a further conversation whose answer you know. Gold items are mixed unannounced "
    "into each annotator's items. They are excluded from all figures of agreement.",
    "training": "A training item is a conversation whose answer you know and explain. Annotators see the "
    "study's items after they pass the training.",
}


def _items_known(study: Study, kind: KnownKind) -> None:
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
        replaces = f" They replace the {counted(len(keys), 'item')} above." if keys else ""
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
            notice.done("Choose the known answer to at least one question.")
            return
        running.mark_gold(db, name, rows, kind)
        notice.done(f"{key} is now a {kind} item of “{name}”.")


def _unmark(name: str, unit: UnitKey, kind: KnownKind) -> None:
    with notice.writing() as db:
        running.unmark_gold(db, name, unit, kind)
        notice.done(f"The item is no longer a {kind} item of “{name}”.")


def _use(name: str, kind: KnownKind, file: str, data: bytes) -> None:
    with notice.writing() as db:
        golds = gold.from_csv(db, name, data.decode("utf-8-sig", errors="replace"), file, kind)
        if kind == "gold":
            running.set_gold(db, name, golds)
        else:
            rule = training.rule_of(stored.get(db, name)) or training.PassRule()
            running.set_training(db, name, golds, rule)
        notice.done(f"“{name}” has {counted(len({one.unit for one in golds}), f'{kind} item')}.")


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
        notice.done(f"“{name}” opens to annotators who pass its training: {rule.words}.")


# ── Extra raters, second answers ──────────────────────────────────────────────────────────────────────────


def _extra(study: Study) -> None:
    st.caption(
        "If the first annotators of an item differ, a further annotator rates it. Agreement is measured "
        "without extra ratings, because they would bias it."
    )
    rule = extra.rule_of(study) or adjudicate.Rule(0)
    labels = {"": "any question", **{c.name: c.label for c in study.criteria}}
    distance_field, question_field, button = st.columns(3, vertical_alignment="bottom")
    distance_field.number_input(
        "Least difference of answers (0: no extra raters)",
        0.0,
        None,
        float(rule.least),
        key=f"least {study.name}",
    )
    question_field.selectbox(
        "On",
        list(labels),
        list(labels).index(rule.criterion) if rule.criterion in labels else 0,
        format_func=lambda one: labels[one],
        key=f"extra on {study.name}",
    )
    button.button("Save", key="save extra", on_click=_extra_saved, args=(study.name,))


def _extra_saved(name: str) -> None:
    rule = adjudicate.Rule(
        float(st.session_state[f"least {name}"]), str(st.session_state[f"extra on {name}"])
    )
    with notice.writing() as db:
        dealing.deal_study(db, name, extra=rule)
        notice.done(dealing.plan(db, name).balance if rule.least else f"“{name}” has no extra raters.")


def _second(study: Study) -> None:
    st.caption(
        "Annotators who have answered all items can see a judge's scores, or the other annotators' "
        "answers, and answer again. Second answers are stored separately."
    )
    with workspace().read() as db:
        judges = second.judges_of(db, study.name)
    judge_shown = second.judge_of(study)
    now = next((label for label, rater in judges.items() if rater == judge_shown), "")
    st.selectbox(
        "Show the scores and reasons of",
        ["", *judges],
        ["", *judges].index(now),
        format_func=lambda one: one or "no judge",
        key=f"reveal {study.name}",
    )
    st.toggle(
        "Show the other annotators' answers, without names, once every annotator has rated all items",
        study.discussion,
        key=f"discuss {study.name}",
    )
    st.warning(
        "Annotators who see them cannot change their first answers and get no further items of this study.",
        icon=":material/lock:",
    )
    st.button("Save", key="save second", on_click=_second_saved, args=(study.name, now))


def _second_saved(name: str, before: str) -> None:
    judge, reveals_others = st.session_state[f"reveal {name}"], bool(st.session_state[f"discuss {name}"])
    with notice.writing() as db:
        if judge != before:
            second.show_judge(db, name, judge)
        if reveals_others != stored.get(db, name).discussion:
            second.show_others(db, name, reveals_others)
        sources = [f"the scores of {judge}"] if judge else []
        sources += ["others' answers"] if reveals_others else []
        notice.done(f"Shown after the last item: {' and '.join(sources) or 'nothing'}.")


# ── A crowd ───────────────────────────────────────────────────────────────────────────────────────────────

PLATFORMS: Mapping[Platform, str] = {"prolific": "Prolific", "mturk": "MTurk"}
CROWD = "a crowd's link"


def _crowd(study: Study) -> None:
    st.caption(
        "One link for the annotators of a crowd platform. Each annotator who opens it gets a share of the "
        "items, and a completion code at the end. Concord sends nothing to the platform."
    )
    with workspace().read() as db:
        link = crowds.of_study(db, study.name)
        people = crowds.workers(db, study.name)
        payments = crowd.payments(db, study.name)
        closed = closings.is_closed(db, study.name)
    address: tuple[str, str] | None = st.session_state.get(CROWD)
    if address and address[0] == study.name:
        st.markdown(
            "**Copy this address to the platform now.** It is shown only now. Anyone with it can rate."
        )
        handout.warn(address[1])
        st.code(address[1], language=None, wrap_lines=True)
    if link is not None:
        _places(study, link, people)
    _terms(study, link or Crowd(study.name, "prolific", 20, 20, 120), new=link is None, closed=closed)
    if people:
        draw(payments)


def _places(study: Study, terms: Crowd, people: Sequence[crowds.Worker]) -> None:
    """How many places of the link are taken, and how many are free again."""
    states = [one.state for one in people]
    overdue = [one for one in people if one.state == "timed out" and not one.returned]
    occupied = sum(1 for one in people if not one.returned)
    st.markdown(
        f"{occupied} of {counted(terms.quota, 'place')} taken: {states.count('at work')} at work, "
        f"{states.count('finished')} finished. Freed: {len(people) - occupied}."
    )
    if overdue:
        st.button(
            f"Free the places of {counted(len(overdue), 'person', 'people')} whose time ran out",
            on_click=_freed,
            args=(study.name,),
        )


def _freed(name: str) -> None:
    with notice.writing() as db:
        freed = crowd.free(db, name)
        notice.done(f"{counted(len(freed), 'place')} freed. Answers stay.")


CODES = {
    "code": ("Code for completion", "Empty: each annotator gets their own code."),
    "failed_code": ("Code after missed attention checks", "Empty: the completion code."),
    "screen_out_code": ("Code for screen-out", "For annotators who fail the training. Empty: no code."),
}


def _terms(study: Study, terms: Crowd, *, new: bool, closed: bool) -> None:
    key = f"crowd {study.name}"
    platforms = list(PLATFORMS)
    columns = st.columns(4)
    columns[0].selectbox(
        "Platform",
        platforms,
        platforms.index(terms.platform),
        format_func=PLATFORMS.__getitem__,
        key=f"{key} platform",
    )
    for column, name, label in (
        (columns[1], "quota", "Annotators"),
        (columns[2], "items", "Items per annotator"),
        (columns[3], "minutes", "Minutes per annotator"),
    ):
        column.number_input(label, 1, None, getattr(terms, name), key=f"{key} {name}")
    columns = st.columns(4)
    for column, (name, (label, says)) in zip(columns, CODES.items(), strict=False):
        column.text_input(label, getattr(terms, name), max_chars=40, key=f"{key} {name}", help=says)
    columns[3].number_input(
        "Missed attention checks",
        1,
        None,
        terms.misses,
        key=f"{key} misses",
        help="Number of missed attention checks from which this code is shown.",
    )
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    left.text_input("Address of this app for annotators", opened_at(), max_chars=2000, key=f"{key} address")
    right.button(
        "Create link" if new else "Make a new link",
        disabled=closed,
        on_click=_make_link,
        args=(study.name,),
        help="A new link replaces the old one. Annotators who used the old link keep their items.",
    )


def _make_link(name: str) -> None:
    key, state = f"crowd {name}", st.session_state
    quota, items, minutes, misses = (
        int(state[f"{key} {field}"]) for field in ("quota", "items", "minutes", "misses")
    )
    code, failed, screened = (str(state[f"{key} {field}"]).strip() for field in CODES)
    platform: Platform = state[f"{key} platform"]
    terms = Crowd(name, platform, quota, items, minutes, code, failed, screened, misses)
    with notice.writing() as db:
        st.session_state[CROWD] = name, crowd.open_link(db, terms, state[f"{key} address"])
        notice.done("The link is made. Copy it below.")
