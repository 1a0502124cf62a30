"""Thinking in the text of a reply: the tags and channels of models, taken apart from what is said."""

import re
from typing import NamedTuple

from concord.llm.json_values import values

LONGEST = 100_000
"""Characters of a text in which JSON is looked for: a tag inside a JSON value is a text of that value."""
_MODELS = "think|thinking|thought|thoughts|reasoning|seed:think|antml:thinking|antthinking"
"""Names of tags in which models think."""
_PROMPTED = "scratchpad|reflection|analysis|rationale|inner_monologue|chain_of_thought|cot|internal|draft"
"""Names of tags in which models are asked to think, or think of themselves: in a judge's reply alone."""
_TOKENS = (
    (r"\[THINK\]", r"\[/THINK\]"),
    ("◁think▷", "◁/think▷"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|think\|>", r"<\|/think\|>"),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    (r"<\|channel>thought", r"<channel\|>"),
    (r"<unused94>thought", "<unused95>"),
)
"""Special tokens of models that begin and end thinking."""


def _tags(names: str) -> re.Pattern[str]:
    tokens = "|".join(f"(?P<o{n}>{opens})|(?P<c{n}>{closes})" for n, (opens, closes) in enumerate(_TOKENS))
    tag = rf"<(?P<end>/?)(?P<name>{names})(?:\s[^<>]{{0,100}})?>"
    # The first sign is looked for alone, which is ten times as fast.
    return re.compile(rf"(?=[<\[◁])(?!\[[^T/])(?:{tag}|{tokens})", re.I)


_OF_MODELS = _tags(_MODELS)
_OF_JUDGES = _tags(f"{_MODELS}|{_PROMPTED}")
_QUOTES = "`\"'“”‘’«»"
_BLANK_LINES = re.compile(r"\s*\n|\s+$")

_CHANNEL = re.compile(r"<\|channel\|>\s*(\w*)([^<]{0,200})(?:<\|constrain\|>\s*\w*\s*)?(<\|message\|>)?")
_CHANNEL_ENDS = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_START = re.compile(r"<\|start\|>\s*\w*")
_BARE_ANALYSIS = re.compile(r"""\s*analysis(?=[A-Z"'“‘{\[(<*])""")
_BARE_FINAL = re.compile(r"assistant\s*final")


class Said(NamedTuple):
    """A reply taken apart: what is said, what was thought, and a `draft`: thinking that was closed and never
    opened, so that the reply, had it ended there, would have been taken as said.
    """

    text: str
    thinking: str = ""
    draft: str = ""


def said(text: str, *, judged: bool = False) -> Said:
    """What a reply says, without its thinking.

    Thinking ends where as many tags of its kind are closed as were opened; in quotes or inside a JSON value
    a tag is none. A reply that closes what it has not opened was begun inside its thinking: all before is
    thinking. One that opens with a tag and never closes it is thinking only. A tag in the midst that is never
    closed stays, unless a verdict is read (`judged`): then nothing behind it is said.
    """
    channels = _of_channels(text, judged=judged)
    tags = _OF_JUDGES if judged else _OF_MODELS
    if not tags.search(channels.text):
        return channels
    inner = _of_tags(channels.text, tags, judged=judged)
    thinking = "\n".join(filter(None, (channels.thinking, inner.thinking)))
    return Said(inner.text, thinking, inner.draft)


def _of_tags(text: str, tags: re.Pattern[str], *, judged: bool) -> Said:
    pieces, thoughts, draft = list[str](), list[str](), ""
    kind, depth, at, opened = "", 0, 0, 0
    inside = _Inside(text)
    for tag in tags.finditer(text):
        name = tag["name"]
        group = tag.lastgroup or ""
        this, opens = (name.lower(), not tag["end"]) if name else (group[1:], group[0] == "o")
        if depth and (this != kind or _quoted(text, tag, "`")):
            continue
        if depth:
            depth += 1 if opens else -1
            if not depth:
                thoughts.append(text[opened : tag.start()])
                at = tag.end()
        elif inside.json(tag.start()) or _quoted(text, tag, _QUOTES):
            continue
        elif opens:
            pieces.append(text[at : tag.start()])
            kind, depth, at, opened = this, 1, tag.start(), tag.end()
        else:
            draft = "".join([*pieces, text[at : tag.start()]])
            thoughts.append(draft)
            pieces, at = [], tag.end()
    if not depth:
        pieces.append(text[at:])
    elif not "".join(pieces).strip():
        thoughts.append(text[opened:])
    elif not judged:
        pieces.append(text[at:])
    rest = "".join(pieces)
    if thoughts and (blank := _BLANK_LINES.match(rest)):
        rest = rest[blank.end() :]
    thinking = "\n".join(filter(None, (tags.sub("", thought).strip() for thought in thoughts)))
    return Said(rest, thinking, draft)


def _quoted(text: str, tag: re.Match[str], quotes: str) -> bool:
    """Whether a tag is spoken of, in quotes of these kinds."""
    start, end = tag.span()
    return start > 0 and end < len(text) and text[start - 1] in quotes and text[end] in quotes


class _Inside:
    """Whether a place in a text is inside a JSON value; places are asked for in their order."""

    def __init__(self, text: str):
        found = values(text) if len(text) <= LONGEST else iter(())
        self._spans = ((value.start, value.end) for value in found if not value.problem)
        self._span = next(self._spans, None)

    def json(self, place: int) -> bool:
        while self._span is not None and self._span[1] <= place:
            self._span = next(self._spans, None)
        return self._span is not None and self._span[0] < place


def _of_channels(text: str, *, judged: bool) -> Said:
    """What stands in the final channel of a reply whose channels were not read by its server."""
    if "<|channel|>" in text:
        return _of_tokens(text)
    begun = _BARE_ANALYSIS.match(text)
    if begun is None:
        return Said(text)
    final = _BARE_FINAL.search(text, begun.end())
    if final:
        return Said(text[final.end() :], text[begun.end() : final.start()])
    return Said("", text[begun.end() :]) if judged else Said(text)


def _of_tokens(text: str) -> Said:
    pieces, thoughts, at = list[str](), list[str](), 0
    inside = _Inside(text)
    for header in _CHANNEL.finditer(text):
        if header.start() < at or inside.json(header.start()):
            continue
        pieces.append(_START.sub("", text[at : header.start()]))
        ends = _CHANNEL_ENDS.search(text, header.end())
        at = len(text) if ends is None else ends.start() if ends[0] == "<|channel|>" else ends.end()
        part = text[header.end() : len(text) if ends is None else ends.start()]
        if ends is not None and ends[0] == "<|start|>":
            at = ends.start()
        is_said = header[3] and (header[1].lower() == "final" or "to=" in header[2])
        (pieces if is_said else thoughts).append(part)
    pieces.append(_START.sub("", text[at:]))
    return Said("".join(pieces), "\n".join(filter(None, (t.strip() for t in thoughts))))
