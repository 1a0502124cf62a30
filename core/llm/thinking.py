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


class VisibleReply(NamedTuple):
    """A reply taken apart: what is said, what was thought, and a `draft`: thinking that was closed and never
    opened, so that the reply, had it ended there, would have been taken as said.
    """

    text: str
    thinking: str = ""
    draft: str = ""


def visible_reply(text: str, *, judged: bool = False) -> VisibleReply:
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
    return VisibleReply(inner.text, thinking, inner.draft)


def _of_tags(text: str, tags: re.Pattern[str], *, judged: bool) -> VisibleReply:
    pieces = list[str]()
    thoughts = list[str]()
    draft = ""
    kind = ""
    depth = 0
    position = 0
    thought_start = 0
    inside = _Inside(text)
    for tag in tags.finditer(text):
        name = tag["name"]
        group = tag.lastgroup or ""
        tag_kind, opens = (name.lower(), not tag["end"]) if name else (group[1:], group[0] == "o")
        if depth and (tag_kind != kind or _quoted(text, tag, "`")):
            continue
        if depth:
            depth += 1 if opens else -1
            if not depth:
                thoughts.append(text[thought_start : tag.start()])
                position = tag.end()
        elif inside.json(tag.start()) or _quoted(text, tag, _QUOTES):
            continue
        elif opens:
            pieces.append(text[position : tag.start()])
            kind = tag_kind
            depth = 1
            position = tag.start()
            thought_start = tag.end()
        else:
            draft = "".join([*pieces, text[position : tag.start()]])
            thoughts.append(draft)
            pieces = []
            position = tag.end()
    if not depth:
        pieces.append(text[position:])
    elif not "".join(pieces).strip():
        thoughts.append(text[thought_start:])
    elif not judged:
        pieces.append(text[position:])
    rest = "".join(pieces)
    if thoughts and (blank := _BLANK_LINES.match(rest)):
        rest = rest[blank.end() :]
    thinking = "\n".join(filter(None, (tags.sub("", piece).strip() for piece in thoughts)))
    return VisibleReply(rest, thinking, draft)


def _quoted(text: str, tag: re.Match[str], quotes: str) -> bool:
    """Whether a tag is spoken of, in quotes of these kinds."""
    start, end = tag.span()
    return start > 0 and end < len(text) and text[start - 1] in quotes and text[end] in quotes


class _Inside:
    """Whether a place in a text is inside a JSON value; places are asked for in their order."""

    def __init__(self, text: str):
        spans = values(text) if len(text) <= LONGEST else iter(())
        self._spans = ((value.start, value.end) for value in spans if not value.problem)
        self._span = next(self._spans, None)

    def json(self, place: int) -> bool:
        while self._span is not None and self._span[1] <= place:
            self._span = next(self._spans, None)
        return self._span is not None and self._span[0] < place


def _of_channels(text: str, *, judged: bool) -> VisibleReply:
    """What stands in the final channel of a reply whose channels were not read by its server."""
    if "<|channel|>" in text:
        return _of_tokens(text)
    match = _BARE_ANALYSIS.match(text)
    if match is None:
        return VisibleReply(text)
    final = _BARE_FINAL.search(text, match.end())
    if final:
        return VisibleReply(text[final.end() :], text[match.end() : final.start()])
    return VisibleReply("", text[match.end() :]) if judged else VisibleReply(text)


def _of_tokens(text: str) -> VisibleReply:
    pieces = list[str]()
    thoughts = list[str]()
    position = 0
    inside = _Inside(text)
    for header in _CHANNEL.finditer(text):
        if header.start() < position or inside.json(header.start()):
            continue
        pieces.append(_START.sub("", text[position : header.start()]))
        ends = _CHANNEL_ENDS.search(text, header.end())
        position = len(text) if ends is None else ends.start() if ends[0] == "<|channel|>" else ends.end()
        part = text[header.end() : len(text) if ends is None else ends.start()]
        if ends is not None and ends[0] == "<|start|>":
            position = ends.start()
        is_said = header[3] and (header[1].lower() == "final" or "to=" in header[2])
        (pieces if is_said else thoughts).append(part)
    pieces.append(_START.sub("", text[position:]))
    return VisibleReply("".join(pieces), "\n".join(filter(None, (t.strip() for t in thoughts))))
