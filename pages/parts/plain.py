"""Escapes names, comments and models' output, so that Markdown shows them as they are."""

import re

# Streamlit's Markdown makes links of bare addresses, escaped or not; a word joiner, which is invisible, keeps
# it from that.
_ADDRESS = re.compile(r"(?<=http:)(?=//)|(?<=https:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
_JOINER = "\u2060"
# A colon begins Streamlit's directives and icons, a dollar its formulas; a line break would end a table's
# cell.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=\"'])")


def plain(text: object) -> str:
    """The text, escaped for Markdown, on one line; addresses in it are no links."""
    return _SPECIAL.sub(r"\\\1", _ADDRESS.sub(_JOINER, " ".join(str(text).split())))


def breakable(text: str) -> str:
    """The text with places to break a line in words of more than 1,000 signs.

    A browser takes seconds to lay out a megabyte without white space.
    """
    return re.sub(r"\S{1000,}", lambda word: re.sub(r"(.{200})(?=.)", "\\1\u200b", word[0]), text)
