"""Rubrics: edit one, and see at once what a judge is sent and what annotators are asked."""

import tomllib

import streamlit as st

from concord.conversation import Conversation
from concord.errors import ConfigError
from concord.files import file_name, read_text
from concord.rating import Criterion
from concord.rubrics import shelf, writing
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import EXAMPLE, STARTER, Rubric, shown
from concord.runs import rubric_judge as judge
from concord.store import conversations, rubrics
from concord.store.conversations import Filter
from pages.desk.form import as_text
from pages.parts import table
from pages.parts.address import asked
from pages.parts.navigation import heading
from pages.parts.plain import plain, with_code
from pages.parts.session import workspace

NEW = "new rubric …"
LONGEST = 100_000
"""Characters of a rubric written here."""


def page() -> None:
    """The rubrics of the workspace, one at a time."""
    heading("rubrics")
    known = shelf.names(workspace())
    offered = [*known, NEW]
    first = offered.index(asked("rubric", offered, offered[0]))
    chosen = st.selectbox("Rubric", offered, index=first, key="rubric")
    name = chosen
    if chosen == NEW:
        name = st.text_input("Name", placeholder="support", max_chars=60).strip()
        begin = writing.toml({"title": "", "criteria": [STARTER]})
    else:
        begin = read_text(shelf.folder(workspace()) / f"{chosen}.toml")
    above = st.container()
    left, right = st.columns(2, gap="large")
    with left:
        text = st.text_area(
            "The rubric as TOML",
            begin,
            height=560,
            max_chars=max(LONGEST, len(begin)),
            key=f"text of {chosen}",
        )
        with above:
            rubric = _read(name or "new", text)
        _save(name, text, begin, new=chosen == NEW, valid=rubric is not None)
    valid = f"valid rubric of {chosen}"
    if rubric is not None:
        st.session_state[valid] = rubric
    with right:
        if rubric is None and valid in st.session_state:
            st.caption("The preview is of the last text that was valid.")
        if valid in st.session_state:
            _preview(st.session_state[valid])
    if chosen != NEW:
        _versions(chosen)


def _read(name: str, text: str) -> Rubric | None:
    """The rubric that a text describes; None, and the sentence that says why, where it is none."""
    try:
        return rubric_of(name, tomllib.loads(text), name)
    except tomllib.TOMLDecodeError as error:
        st.error(plain(f"This is not valid TOML: {error}."), icon=":material/error:")
    except ConfigError as error:
        st.error(plain(str(error)), icon=":material/error:")
    return None


def _save(name: str, text: str, begin: str, *, new: bool, valid: bool) -> None:
    taken = new and name in shelf.names(workspace())
    if taken:
        st.caption(f"{plain(name)} is there already. Choose another name.")
    bad = bool(name) and name != file_name(name)
    if bad:
        st.caption(f"Write the name as {plain(file_name(name))}.")
    ready = bool(name) and not taken and not bad and valid and (new or text != begin)
    if st.button("Save", type="primary", icon=":material/save:", disabled=not ready):
        folder = shelf.folder(workspace())
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
        st.query_params["rubric"] = name
        st.session_state.pop("rubric", None)
        st.toast(f"{plain(name)} is saved.", icon=":material/check:")
        st.rerun()


def _preview(rubric: Rubric) -> None:
    """What a judge is sent about a stored conversation, and what annotators see."""
    with workspace().read() as db:
        keys = [key for _, key in conversations.keys_after(db, Filter(), limit=30)]
        key = st.selectbox("Shown with", keys, key="shown with") if keys else ""
        conversation = conversations.load(db, key) if key else EXAMPLE
    people, prompt, schema = st.tabs(["As annotators see it", "As the judge is asked", "The judge's reply"])
    with people:
        _desk(rubric, conversation)
    with prompt:
        try:
            sent = list(judge.requests(rubric, "preview", conversation))
        except ConfigError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return
        for message in (message for request in sent for message in request.messages):
            st.caption(message.role)
            st.code(message.content, language=None, wrap_lines=True)
    with schema:
        for request in sent:
            st.json(request.schema or {})


def _desk(rubric: Rubric, conversation: Conversation) -> None:
    with st.container(border=True):
        for heading, value in shown(conversation, rubric.show):
            with st.expander(plain(heading)):
                st.write(plain(as_text(value)))
        for number, criterion in enumerate((*rubric.criteria, *rubric.pairs)):
            _question(criterion, f"{number} {criterion.name}")


def _question(criterion: Criterion, key: str) -> None:
    scale = criterion.scale
    needed = "" if criterion.required else " · may be left out"
    only = "".join(f" · only {name}: {', '.join(values)}" for name, values in criterion.only.items())
    st.markdown(f"**{plain(criterion.label)}**  \n{with_code(criterion.statement.strip())}")
    if answers := scale.kind.options(scale):
        words = [f"{o.shown} {o.say or (o.label if o.label != o.shown else '')}" for o in answers]
        st.pills(criterion.label, list(map(plain, words)), label_visibility="collapsed", key=f"preview {key}")
    else:
        st.number_input(
            criterion.label,
            min_value=int(scale.low),
            max_value=int(scale.high),
            value=None,
            placeholder=f"{scale.low:g}–{scale.high:g}",
            label_visibility="collapsed",
            key=f"preview {key}",
        )
    if criterion.reason:
        st.text_input("Why?", key=f"why {key}", label_visibility="collapsed", placeholder="Why?")
    st.caption(plain(f"{scale.type}, measured as {scale.kind.level}{needed}{only}"))


def _versions(name: str) -> None:
    with workspace().read() as db:
        found = rubrics.versions(db, name)
    if not found:
        st.caption("No version was used yet: a version is frozen when judges or a study first use it.")
        return
    st.subheader("Versions that were used", anchor=False)
    for version in found:
        st.caption(
            plain(f"{version.variant} · {version.hash} · first used {version.created[:16].replace('T', ' ')}")
        )
    if len(found) > 1:
        table.draw(writing.differences(found), wrapped=True)


page()
