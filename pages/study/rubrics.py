"""Rubrics: edit one, and see at once what a judge is sent and what annotators are asked."""

import tomllib
from dataclasses import replace
from typing import Any

import streamlit as st

from concord.conversation import Conversation
from concord.errors import ConcordError, ConfigError
from concord.files import file_name, read_text
from concord.questions import COMPARED, TYPES, Name
from concord.rating import Criterion, conditions_in_words
from concord.rubrics import rubric_store, writing
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import EXAMPLE, STARTER, Rubric, SystemPrompt, shown
from concord.runs import rubric_judge
from concord.runs.registry import BENCHMARKS
from concord.store import conversations
from concord.store.conversations import Filter
from pages.desk.form import as_text
from pages.parts.address import go, link, listed
from pages.parts.drafted import TextDraft
from pages.parts.navigation import heading
from pages.parts.plain import plain, with_code
from pages.parts.session import workspace
from pages.parts.transcript import conversation_name, transcript

NEW = "new rubric …"
NAME = "name of the new rubric"
LONGEST = 100_000
"""Characters of a rubric written here."""
MOST_PREVIEWS = 30
"""Conversations that the preview offers."""


def page() -> None:
    """The rubrics of the workspace, one at a time."""
    heading("rubrics")
    names = rubric_store.names(workspace())
    choices = [NEW, *names]
    box, button = st.columns([4, 1], vertical_alignment="bottom")
    button.button("New rubric", icon=":material/add:", width="stretch", on_click=_choose, args=(NEW,))
    with box:
        selected = listed("Rubric", "rubric", choices, (names or [NEW])[0])
    head = st.container()
    name = selected
    begin = writing.toml({"title": "", "criteria": [STARTER]})
    if selected == NEW:
        name = _rubric_name(head.text_input("Name", placeholder="support", max_chars=60, key=NAME))
    else:
        begin = read_text(rubric_store.folder(workspace()) / f"{selected}.toml")
    draft = _draft(selected, begin)
    text = draft.text
    with head:
        rubric = _read(name or "new", text)
        if draft.stale:
            draft.versions("toml")
        else:
            _steps(name, rubric, new=selected == NEW, changed=text != begin)
            draft.line()
    left, right = st.columns(2, gap="large")
    with left:
        _add(draft)
        if rubric is not None:
            _system_prompt(draft, rubric)
        st.text_area(
            "The rubric as TOML",
            height=560,
            max_chars=max(LONGEST, len(text)),
            key=draft.key,
            on_change=draft.keep,
        )
    if rubric is not None:
        with right:
            _preview(rubric)


def _draft(name: str, begin: str = "") -> TextDraft:
    """The text of a rubric, as it is edited; `begin` is the saved one."""
    return TextDraft(f"the rubric {'' if name == NEW else name}", begin, "rubric")


def _add(draft: TextDraft) -> None:
    """Writes a question of a type behind the others, for whoever does not know the fields of it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        type_ = st.selectbox("Type of answer", list(TYPES), format_func=lambda name: TYPES[name].words)
        st.button("Add a question", icon=":material/add:", on_click=_add_question, args=(draft, type_))


SEES: dict[SystemPrompt, str] = {
    "none": "hidden from annotators and judges",
    "judges": "only judges see it",
    "everyone": "annotators and judges see it",
}
"""Who sees a conversation's system prompt."""


def _system_prompt(draft: TextDraft, rubric: Rubric) -> None:
    """Who sees the system prompt; the preview shows what each side sees then."""
    now = rubric.system_prompt
    st.selectbox(
        "System prompt of a conversation",
        list(SEES),
        list(SEES).index(now),
        format_func=SEES.__getitem__,
        key=f"system prompt of {draft.subject} {now}",
        help="It may reveal to annotators which model they rate.",
        on_change=_system_prompt_set,
        args=(draft, f"system prompt of {draft.subject} {now}"),
    )


def _system_prompt_set(draft: TextDraft, key: str) -> None:
    text = st.session_state[draft.key]
    st.session_state[draft.key] = writing.with_setting(text, "system_prompt", st.session_state[key])
    draft.keep()


def _add_question(draft: TextDraft, type_: Name) -> None:
    text = st.session_state[draft.key]
    number = 1 + text.count("[[criteria]]")
    entry = {"name": f"question_{number}", "statement": "What is asked?", "type": type_}
    question = writing.criterion({**entry, **TYPES[type_].begins})
    st.session_state[draft.key] = f"{text.rstrip()}\n\n{question}"
    draft.keep()


def _choose(name: str) -> None:
    st.session_state["rubric"] = name


def _rubric_name(typed: str) -> str:
    """The name of a rubric's file; “” where none was typed."""
    return file_name(typed.strip()) if typed.strip() else ""


def _read(name: str, text: str) -> Rubric | None:
    """The rubric that a text describes; None, and the sentence that says why, where it is none."""
    try:
        return rubric_of(name, tomllib.loads(text), name)
    except tomllib.TOMLDecodeError as error:
        st.error(plain(f"This is not valid TOML: {error}."), icon=":material/error:")
    except ConfigError as error:
        st.error(plain(str(error)), icon=":material/error:")
    return None


def _steps(name: str, rubric: Rubric | None, *, new: bool, changed: bool) -> None:
    """The page's one primary button: it saves what was changed, and leads on from what is saved."""
    if rubric is not None and not new and not changed:
        with st.container(horizontal=True, vertical_alignment="center"):
            pairs = not rubric.criteria
            label = "Create a study of pairs" if pairs else "Draw a sample for annotators"
            if st.button(label, type="primary", icon=":material/arrow_forward:"):
                go("comparisons") if pairs else go("samples", rubric=name)
            if not pairs:
                link("runs", "Let judges rate by it", rubric=name)
        return
    name_exists = new and name in rubric_store.names(workspace())
    if name_exists:
        st.caption(f"{plain(name)} exists already. Choose another name.")
    elif not name:
        st.caption("Give the rubric a name to save it.")
    st.button(
        "Save",
        type="primary",
        icon=":material/save:",
        disabled=not name or name_exists or rubric is None,
        on_click=_save,
        args=(NEW if new else name,),
    )


def _save(selected: str) -> None:
    # Read here and not handed over: a press that follows typing at once would bring what stood there before.
    name = _rubric_name(st.session_state[NAME]) if selected == NEW else selected
    draft = _draft(selected)
    text = st.session_state[draft.key]
    name_exists = selected == NEW and name in rubric_store.names(workspace())
    if not name or name_exists or _read(name, text) is None:
        return
    folder = rubric_store.folder(workspace())
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / f"{name}.toml"
    if selected != NEW and file.is_file() and read_text(file) != draft.base:
        return  # saved elsewhere since the page was drawn: the next run shows both versions
    file.write_text(text, encoding="utf-8")
    draft.forget()
    for rubric_name in (NEW, name):
        st.session_state.pop(_draft(rubric_name).key, None)
    _choose(name)
    st.toast(f"{plain(name)} is saved.", icon=":material/check:")


def _preview_conversations() -> dict[str, str]:
    """Conversations to preview with, by key, with their names: imported ones, else of the first benchmark."""
    with workspace().read() as db:
        benchmarks = sorted(conversations.values(db)["benchmark"], key=lambda name: name in BENCHMARKS)
        conditions = Filter(benchmark=benchmarks[0] if benchmarks else "")
        candidates = conversations.search(db, conditions, "oldest", MOST_PREVIEWS)
    return {one.key: conversation_name(one) for one in candidates}


def _preview(rubric: Rubric) -> None:
    """What a judge is sent about a stored conversation, and what annotators see."""
    names = _preview_conversations()
    look: dict[str, Any] = {"format_func": names.__getitem__, "key": "shown with"}
    key = st.selectbox("Preview with the conversation", list(names), **look) if names else ""
    with workspace().read() as db:
        conversation = conversations.load(db, key) if key else EXAMPLE
        nobody = rubric_store.unasked(db, rubric)
    for sentence in nobody:
        st.warning(plain(sentence))
    people, prompt = st.tabs(["As annotators see it", "As judges see it"], key="preview", on_change="rerun")
    if people.open:
        with people:
            _desk(rubric, conversation)
        return
    with prompt:
        _as_asked(rubric, conversation)


def _desk(rubric: Rubric, conversation: Conversation) -> None:
    with st.container(border=True):
        system = rubric.system_prompt == "everyone"
        for heading, value in shown(conversation, rubric.show, system=system):
            with st.expander(plain(heading)):
                st.write(plain(as_text(value)))
        # A system prompt is shown to annotators above, where the rubric says so.
        transcript(
            replace(conversation, messages=tuple(m for m in conversation.messages if m.role != "system"))
        )
        for number, criterion in enumerate((*rubric.criteria, *rubric.pairs)):
            _question(
                criterion, f"{number} {criterion.name}", conditions_in_words(criterion, rubric.criteria)
            )


def _question(criterion: Criterion, key: str, condition: str) -> None:
    scale = criterion.scale
    optional_note = "" if criterion.required else " · optional"
    restrictions = "".join(f" · only {name}: {', '.join(values)}" for name, values in criterion.only.items())
    st.markdown(f"**{plain(criterion.label)}**  \n{with_code(criterion.statement.strip())}")
    if scale.kind.ranks:
        st.caption("A rank for each reply; 1 is the best.")
    elif answers := scale.kind.options(scale):
        words = [f"{o.shown} {o.say or (o.label if o.label != o.shown else '')}" for o in answers]
        st.pills(criterion.label, list(map(plain, words)), label_visibility="collapsed", key=f"preview {key}")
    else:
        st.caption(f"A number from {scale.low:g} to {scale.high:g}.")
    if criterion.explain:
        st.caption(plain(f"A reason is needed if the answer is {criterion.explain.words(scale)}."))
    elif criterion.reason:
        st.caption("With a reason.")
    comparison = f"compared {COMPARED[scale.kind.level]}"
    condition_note = f" · asked if {condition}" if condition else ""
    st.caption(plain(f"{scale.kind.words}, {comparison}{optional_note}{restrictions}{condition_note}"))


def _as_asked(rubric: Rubric, conversation: Conversation) -> None:
    """What a judge is sent about a conversation."""
    try:
        requests = list(rubric_judge.requests(rubric, "preview", conversation))
    except ConcordError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    for message in (message for request in requests for message in request.messages):
        st.caption(message.role)
        st.code(message.content, language=None, wrap_lines=True)


page()
