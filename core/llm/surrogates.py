"""Halves of surrogate pairs, which models write in JSON and no database takes."""

import re

_HALF = re.compile("[\ud800-\udfff]+")


def paired(text: str) -> str:
    """A text that UTF-8 can encode: lone halves of surrogate pairs, one or several, become U+FFFD."""
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)
