"""The form of a rubric, beside its TOML: each is written from the other, and the TOML is what is stored."""

import re
import tomllib
from collections.abc import Callable
from typing import Any

import streamlit as st

from concord.conversation import Conversation
from concord.errors import ConfigError
from concord.questions import TYPES, Name, meant
from concord.rubrics import writing
from concord.rubrics.rubric import STARTER, Rubric
from concord.runs import rubric_judge
from pages.parts.plain import plain

UNITS = {
    "conversation": "the conversation as a whole",
    "each-reply": "each reply",
    "last-reply": "the last reply",
    "marked-reply": "a marked reply",
}
"""What is judged, in words."""
ANSWERS = {
    "likert": "one step of a scale",
    "yes-no": "yes or no",
    "categories": "one of several answers",
    "multi-label": "any of several labels",
    "number": "a number that is typed",
    "slider": "a point between two words",
    "passages": "passages marked in a reply",
    "correction": "a corrected reply",
    "pairwise": "which of two conversations is better",
    "ranking": "the order of several conversations",
}
"""Types of answers, in words."""
OPEN = 3
"""Questions of a rubric that are all unfolded in the form."""
Fields = dict[str, Any]
"""The TOML of a rubric, or of a question of it, read."""
EDITED: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("title", "unit", "name", "statement", "type"), str),
    "scale": (str, list),
    "anchors": dict,
    "categories": list,
    "required": bool,
}
"""Fields that the form edits, of the rubric and of its questions, with the types it can edit."""


def key_of(chosen: str) -> str:
    """Where the session keeps the text of a rubric."""
    return f"text of {chosen}"


def draw(chosen: str, text: str) -> None:
    """The fields that most rubrics need. A change is written into the TOML, which has all of them."""
    try:
        rubric = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        rubric = {}
    if not editable(rubric):
        st.caption("The TOML cannot be read as questions: mend it there first.")
        return
    if writing.comments(text):
        st.caption(
            "The TOML has comments. A change in the form writes it anew without them: to keep them, change "
            "the TOML itself."
        )
    questions = rubric["criteria"]
    field = _fields(chosen)
    field(st.text_input, "Title that annotators see", ("title",), rubric.get("title", ""))
    unit = rubric.get("unit", "conversation")
    unit = unit if unit in UNITS else "conversation"
    field(st.selectbox, "What is judged", ("unit",), unit, options=list(UNITS), format_func=UNITS.__getitem__)
    for place, entry in enumerate(questions):
        label = str(entry.get("title") or entry.get("name") or "")
        expanded = len(questions) <= OPEN
        one = st.expander(
            plain(f"{place + 1}. {label}"), expanded, key=f"question {place}", on_change="rerun"
        )
        if not one.open:
            continue
        with one:
            _question_form(field, place, entry)
            st.button(
                "Remove this question",
                icon=":material/delete:",
                on_click=_removed,
                args=(chosen, place),
                key=f"remove {place}",
                disabled=len(questions) == 1,
            )
    st.button("Add a question", icon=":material/add:", on_click=_added, args=(chosen,))


def as_asked(rubric: Rubric, conversation: Conversation) -> None:
    """What a judge is sent about a conversation."""
    try:
        requests = list(rubric_judge.requests(rubric, "preview", conversation))
    except ConfigError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    for message in (message for request in requests for message in request.messages):
        st.caption(message.role)
        st.code(message.content, language=None, wrap_lines=True)


def editable(rubric: Fields) -> bool:
    """Whether a rubric has questions, and what the form edits has types that it can edit."""
    questions = rubric.get("criteria")
    return isinstance(questions, list) and all(
        isinstance(table, dict) and _typed(table) for table in (rubric, *questions)
    )


def _typed(table: Fields) -> bool:
    right = all(isinstance(table[name], types) for name, types in EDITED.items() if name in table)
    return right and all(isinstance(category, str) for category in table.get("categories", ()))


def _question_form(field: Callable[..., None], place: int, entry: Fields) -> None:
    type_ = _type(entry)
    kind = TYPES[type_]

    def ask(widget: Callable[..., Any], label: str, name: str, value: Any, **look: Any) -> None:
        field(widget, label, ("criteria", place, name), value, **look)

    ask(st.text_input, "Name in figures", "name", entry.get("name", ""), write=_slug)
    ask(st.text_area, "What is asked", "statement", entry.get("statement", ""), height="content")
    ask(st.selectbox, "Type of answer", "type", type_, options=list(TYPES), format_func=ANSWERS.__getitem__)
    for name in filter(OWN.__contains__, kind.fields):
        label, widget, help_, read, write = OWN[name]
        value = entry.get(name) or (kind.usual if widget is st.text_input else "")
        ask(widget, label, name, read(value), write=write, help=help_)
    if not kind.of_two:
        needed = bool(entry.get("required", True))
        ask(st.toggle, "Has to be answered", "required", needed, write=lambda on: None if on else False)


def _fields(chosen: str) -> Callable[..., None]:
    """Draws a field of the form; `way` leads to its value in the TOML, `write` makes it of the widget's."""
    turn = st.session_state.get("turn of the form", 0)

    def field(
        widget: Callable[..., Any],
        label: str,
        way: tuple[str | int, ...],
        value: Any,
        *,
        write: Callable[[Any], Any] = lambda given: given,
        **look: Any,
    ) -> None:
        key = f"{chosen} {way} {turn}"
        st.session_state.setdefault(key, value)
        widget(label, key=key, on_change=_changed, args=(chosen, way, key, write), **look)

    return field


def _changed(chosen: str, way: tuple[str | int, ...], key: str, write: Callable[[Any], Any]) -> None:
    """Write a field of the form into the text; a question of another type loses what that cannot have."""
    rubric: Any = tomllib.loads(st.session_state[key_of(chosen)])
    *to, last = way
    at = rubric
    for step in to:
        at = at[step]
    at[last] = write(st.session_state[key])
    if at[last] in ("", None, [], {}):
        del at[last]
    if last == "type":
        foreign = {name for kind in TYPES.values() for name in kind.fields} - {*TYPES[at["type"]].fields}
        for name in foreign & at.keys():
            del at[name]
    st.session_state[key_of(chosen)] = writing.toml(rubric)


def _added(chosen: str) -> None:
    rubric = tomllib.loads(st.session_state[key_of(chosen)])
    taken = {entry.get("name") for entry in rubric["criteria"]}
    name = next(name for n in range(1, len(taken) + 3) if (name := f"question_{n}") not in taken)
    rubric["criteria"].append({**STARTER, "name": name, "statement": ""})
    st.session_state[key_of(chosen)] = writing.toml(rubric)


def _removed(chosen: str, place: int) -> None:
    rubric = tomllib.loads(st.session_state[key_of(chosen)])
    del rubric["criteria"][place]
    st.session_state[key_of(chosen)] = writing.toml(rubric)
    turned()


def turned() -> None:
    """Have the form take its values from the text."""
    st.session_state["turn of the form"] = st.session_state.get("turn of the form", 0) + 1


def _type(entry: Fields) -> Name:
    name = entry.get("type", "likert")
    return meant(name if name in TYPES else "likert", entry)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def _values(scale: Any) -> str:
    return ", ".join(map(str, scale)) if isinstance(scale, list) else str(scale)


def _scale(text: str) -> str | list[int]:
    values = text.split(",")
    whole = len(values) > 1 and all(re.fullmatch(r"\s*-?\d{1,9}\s*", value) for value in values)
    return [int(value) for value in values] if whole else text.strip()


def _pairs(anchors: Any) -> str:
    words = anchors.items() if isinstance(anchors, dict) else ()
    return "\n".join(f"{value} = {word}" for value, word in words)


def _anchors(text: str) -> dict[str, str]:
    parts = (line.partition("=") for line in _lines(text))
    return {value.strip(): words.strip() for value, _, words in parts}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


OWN: dict[str, tuple[str, Callable[..., Any], str, Callable[[Any], str], Callable[[str], Any]]] = {
    "scale": ("Scale", st.text_input, "1..7, or single values: 0, 1, 2, 4", _values, _scale),
    "anchors": ("What values mean", st.text_area, "One a line, such as: 1 = Not at all", _pairs, _anchors),
    "categories": ("Answers, one a line", st.text_area, "Any words.", "\n".join, _lines),
}
"""Fields that only some types have: label, widget, help, the text that is edited, and what it means."""
