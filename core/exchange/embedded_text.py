"""Texts that hold more than text: values as JSON or as Python writes them, messages, a whole dialogue."""

import ast
import re
from collections.abc import Mapping
from typing import Any

from concord.conversation import Role
from concord.files import parse_json

_PYTHON = re.compile(r"\s*(\[\s*)?\{\s*'")
_PYTHON_TEXT = 2**20
"""Characters of a text that is read as Python writes lists and dicts."""


_TALK = re.compile(
    r"(?:^\s*|\n\n)(Human|Assistant|User|System|AI|Bot): ?"
    r"|(?:^|\s*)### (Human|Assistant|User|System|Instruction|Input|Response):\s*"
    r"|\s*<\|im_start\|>(\w+)\n"
    r"|\s*(?:<\|begin_of_text\|>)?<\|start_header_id\|>(\w+)<\|end_header_id\|>\s*"
)
_TALK_ENDS = re.compile(r"\s*(?:<\|im_end\|>|<\|eot_id\|>|<\|end_of_text\|>)\s*$")


def talk(value: Any) -> Any:
    """The messages of a text in which “Human:” and “Assistant:”, or the marks of a chat template, begin what
    they say; of a list of texts that two say by turns; any other as it is.
    """
    texts = (
        [text for element in value for text in (element if isinstance(element, list) else [element])]
        if isinstance(value, list)
        else []
    )
    if len(texts) > 1 and all(isinstance(text, str) for text in texts):
        return [{"role": "user" if n % 2 == 0 else "assistant", "content": t} for n, t in enumerate(texts)]
    places = [*_TALK.finditer(value)] if isinstance(value, str) else []
    if not places or value[: places[0].start()].strip():
        return value
    ends = [*(place.start() for place in places[1:]), len(value)]
    turns = [
        (next(filter(None, place.groups())), _TALK_ENDS.sub("", value[place.end() : end]))
        for place, end in zip(places, ends, strict=True)
    ]
    return [{"role": speaker, "content": words} for speaker, words in turns if words]


def chat(value: Any, role: Role) -> Any:
    """The messages with roles that a text holds as JSON, a reply's none of a user's; any other as it is."""
    inner = parsed(value)
    entries = inner if isinstance(inner, list) else [inner]
    roles = [entry.get("role", entry.get("type")) for entry in entries if isinstance(entry, Mapping)]
    has_roles = len(roles) == len(entries) and all(isinstance(role_name, str) for role_name in roles)
    return inner if has_roles and not (role == "assistant" and {*roles} & {"user", "human"}) else value


def parsed(value: Any) -> Any:
    """A text that holds a list, object or text as JSON or as Python writes it; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{", '"'):
        try:
            inner = parse_json(value)
        except ValueError:
            inner = _of_python(value)
        if isinstance(inner, list | dict | str) and inner:
            return inner
    return value


def _of_python(text: str) -> Any:
    """What a cell holds where pandas wrote a list or a dict as Python does; None for any other."""
    if not _PYTHON.match(text) or len(text) > _PYTHON_TEXT:
        return None
    try:
        # NumPy puts no commas between objects; in a text a line break is written as an escape.
        return ast.literal_eval(text.replace("}\n {", "}, {"))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
