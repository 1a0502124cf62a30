"""The messages of a chat that WhatsApp exported as text."""

import re
from collections.abc import Iterator
from pathlib import Path

from concord.errors import ImportRefused
from concord.exchange.file_row import FileRow
from concord.files import read_text

CHAT_MESSAGE = re.compile(
    r"\u200e?\[?(\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[APap]\.?[Mm]\.?)?)"
    r"(?:\]| -) (?:([^:\n]{1,80}): )?(.*)",
    re.S,
)
"""The first line of a message as WhatsApp exports it: when, who unless it is a notice, and what was said."""


def chat_rows(path: Path) -> Iterator[FileRow]:
    """The messages of a chat that WhatsApp exported as text; a line without a date goes on with one."""
    location = ""
    message = dict[str, str]()
    lines = read_text(path, ImportRefused).replace("\r\n", "\n").removesuffix("\n").split("\n")
    for number, line in enumerate([*lines, None], 1):
        if line is not None and not (parts := CHAT_MESSAGE.fullmatch(line)):
            message["text"] += f"\n{line}"
            continue
        if message:
            yield FileRow(location, message)
        if line is not None and parts:
            location = f"{path}, line {number}"
            message = {"sent": parts[1], **({"speaker": parts[2]} if parts[2] else {}), "text": parts[3]}
