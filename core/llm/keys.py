"""What looks like an API key: it is refused where a setting may be printed or stored, and never quoted."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_WORD = re.compile(r"[A-Za-z0-9]{16,}")
_MIXED = re.compile(r"[0-9][A-Za-z]+[0-9]")
_ISSUED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk|xai|pplx|nvapi|sess)-[\w-]{12,}|(?:gsk|hf|r8|gh[pousr]|github_pat|fw)_\w{16,}"
    r"|AIza[\w-]{20,}|AKIA[A-Z0-9]{12,}|eyJ[\w-]{10,}\.eyJ[\w-]*|(?:Bearer|Basic)\s+\S{8,})"
)
"""Keys as providers issue them, tokens of the form JWT, and what a header of authorization holds."""
_NAMES = {"authorization", "apikey", "xapikey", "subscriptionkey", "accesstoken", "authtoken", "password"}
"""What settings that are keys are called, in small letters alone."""


def variable(name: str) -> str:
    """The name of an environment variable as it is. Raises ValueError, which does not quote it."""
    random = any(_MIXED.search(word) for word in _WORD.findall(name))
    if not _VARIABLE.fullmatch(name) or _ISSUED.search(name) or random:
        raise ValueError(
            "is not the name of an environment variable. If it is the key itself, put it into a variable and "
            "give the variable's name here"
        )
    return name


def holds_key(value: Any) -> bool:
    """Whether a setting, or anything in it, is a key by its form or by what it is called."""
    return any(_ISSUED.search(text) for text in _texts(value)) or any(
        re.sub("[^a-z]", "", name.lower()) in _NAMES for name in _names(value)
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _names(inner)
