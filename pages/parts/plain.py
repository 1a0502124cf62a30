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


def with_code(text: str) -> str:
    """The text as `plain` has it, but words between backticks and addresses, which are copied, are code."""
    parts = re.split(r'`([\w .="…/~:,+@%\'-]+)`|(https?://[\w./:-]*[\w/])', text)
    code = [words or address for words, address in zip(parts[1::3], parts[2::3], strict=True)]
    return "".join(
        _lines(said) + (f"`{code[place]}`" if place < len(code) else "")
        for place, said in enumerate(parts[::3])
    )


def quantity(n: int, one: str, plural: str = "") -> str:
    """A number with its noun: 1 item, 2 items."""
    return f"{n:,} {one if n == 1 else plural or one + 's'}"


def first_words(text: str, longest: int) -> str:
    """A text on one line, of so many characters at most."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def breakable(text: str) -> str:
    """The text with places to break a line in words of more than 1,000 signs.

    A browser takes seconds to lay out a megabyte without white space.
    """
    return re.sub(r"\S{1000,}", lambda word: re.sub(r"(.{200})(?=.)", "\\1\u200b", word[0]), text)


def excerpt(text: str, words: str, around: int = 60) -> str:
    """Where a text first holds `said`, whatever its case, between ⟦ and ⟧; empty where it does not."""
    match = re.search(re.escape(words), text, re.IGNORECASE)
    if match is None:
        return ""
    before = text[max(0, match.start() - around) : match.start()]
    after = text[match.end() :][:around]
    cut = "…" if match.start() > around else "", "…" if len(text) > match.end() + around else ""
    return " ".join(f"{cut[0]}{before}⟦{match[0]}⟧{after}{cut[1]}".split())


def _lines(text: str) -> str:
    """Escaped for Markdown line by line; spaces at the ends of the text are kept."""
    return "  \n".join(
        f"{' ' * line[:1].isspace()}{plain(line)}{' ' * (line[-1:].isspace() and bool(line.strip()))}"
        for line in text.split("\n")
    )
