"""Which parameter an endpoint refuses in its error, and what is sent to its model from then on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from concord.llm.models import UNSET, Adapted, Model
from concord.llm.trouble import complaint

STATUSES = (400, 422)
"""Answers that may say so."""
LENGTHS = ("max_tokens", "max_completion_tokens")
"""The two names of the length limit, which is renamed and never left out."""
OPTIONAL = ("top_p", "temperature", "seed", "frequency_penalty", "presence_penalty", "response_format")
"""What can be left out, the first of two that exclude each other first."""

_FORMATS = {"json_schema": "json_object", "json_object": UNSET}
_NOT_BOTH = re.compile(
    r"cannot both|can ?not be (?:used|specified|set) together|mutually exclusive|only one of", re.I
)
_REFUSED = re.compile(
    r"(?:un|not |n.t |no longer )support|does not accept|(?:un(?:known|recognized|expected)|invalid|extra)\b"
    r".{0,20}\b(?:param|argument|field|input|key)|not (?:permitted|allowed|available)|unavailable|deprecated"
    r"|only the default|only be set to|unsupported_(?:parameter|value)",
    re.I,
)
_ABOUT_THE_VALUE = re.compile(r"at (?:most|least)|too (?:large|small|high|low)|exceed|must be", re.I)
"""Said of a value that is out of range: another parameter would be no remedy."""


def refused(content: str, sent: Mapping[str, Any], own: Mapping[str, Any]) -> Adapted:
    """What to change of a call that an endpoint refused with an error's body; {} where it names nothing.

    `own` are the parameters that models.toml sets itself: of those only the length limit is changed.
    """
    message, code, named = complaint(content)
    message = f"{message} {code}"
    if _ABOUT_THE_VALUE.search(message):
        return {}
    for name, other in (LENGTHS, LENGTHS[::-1]):
        if name in sent and _names(message, other) and (_names(message, name) or named == name):
            return {name: other}
    wanted = [name for name in OPTIONAL if name in sent and name not in own]
    if _NOT_BOTH.search(message):
        both = [name for name in OPTIONAL if _names(message, name)]
        return _changes(sent, [name for name in wanted if name in both][:1]) if len(both) > 1 else {}
    if not _REFUSED.search(message):
        return {}
    candidates = [name for name in wanted if name == named] or [
        name for name in wanted if _names(message, name)
    ]
    # The first one named: where more are refused, the next answer says so.
    return _changes(sent, sorted(candidates, key=message.find)[:1])


def sentence(model: Model, adapted: Adapted) -> str:
    """What a model is sent from now on, and the lines of models.toml that say so."""
    parts, unset, renamed, lines = [], [], [], []
    for name, other in adapted.items():
        if name == "response_format":
            parts.append(f"{name} {other}" if other != UNSET else f"no {name}")
            lines.append(f'replies = "{other if other != UNSET else "text"}"')
        elif name == "seed":
            parts.append("no seed")
            lines.append("seed = false")
        elif other == UNSET:
            parts.append(f"no {name}")
            unset.append(f'{name} = "{UNSET}"')
        else:
            parts.append(f"{other} in place of {name}")
            renamed.append(f'{name} = "{other}"')
    lines += [f"params = {{ {', '.join(unset)} }}"] if unset else []
    lines += [f"rename = {{ {', '.join(renamed)} }}"] if renamed else []
    where = model.base_url or "the OpenAI endpoint"
    return f"{where} refused a parameter: “{model.name}” is sent {' and '.join(parts)} from now on. " + (
        f"To say so in models.toml: {'; '.join(lines)}."
    )


def _changes(sent: Mapping[str, Any], names: list[str]) -> dict[str, str]:
    formats = {"response_format": _FORMATS.get(sent.get("response_format", {}).get("type", ""), UNSET)}
    return {name: formats.get(name, UNSET) for name in names}


def _names(message: str, parameter: str) -> bool:
    return re.search(rf"(?<![\w.]){parameter}(?!\w)", message) is not None
