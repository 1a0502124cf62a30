"""Escapes names, comments and models' output, so that Markdown shows them as they are."""

from __future__ import annotations

import re

# A colon begins Streamlit's directives and icons, a dollar its formulas; a line break would end a table's
# cell.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=\"'])")


def plain(text: object) -> str:
    """The text, escaped for Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))
