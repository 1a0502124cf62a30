"""Text as a terminal or a log shows it letter for letter: what it would obey is escaped."""

import re

from concord.files.limits import SHOWN

# Control characters but tab and line feed, separators of lines, marks that turn the direction of writing, and
# halves of surrogate pairs, which no encoding can write.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def plain(text: str) -> str:
    """The text with such characters written as \\uXXXX, which JSON reads back as the same."""
    return _OBEYED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def plain_line(text: str) -> str:
    """The text on one line: every run of white space is one space."""
    return plain(" ".join(text.split()))


def brief(text: str) -> str:
    """The text with lines of at most SHOWN characters: an error may quote a whole file."""
    return "\n".join(
        line if len(line) <= SHOWN else f"{line[: SHOWN // 2]} … {line[-SHOWN // 2 :]}"
        for line in text.split("\n")
    )


_COMMAND = re.compile(
    r"(?:(?<=`)|(?<=: )|(?<=^))concord "
    r"(?!(?:check|compare-systems|demo|drift|gate|mock|plan|schema)\b)(?=[a-z])",
    re.MULTILINE,
)


def pasteable(text: str, command: str) -> str:
    """A text whose commands name the workspace, so that each can be copied as it stands.

    `command` is what `Workspace.command` says. Only commands that are about a workspace are changed, where
    they stand between backticks, behind a colon or at the beginning of a line.
    """
    return _COMMAND.sub(lambda _: f"{command} ", text)
