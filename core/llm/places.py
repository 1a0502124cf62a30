"""Where a verdict stands in a reply, and whether it counts there: it is said, or only quoted."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_TOKEN = (
    r"</s>|<eos>|<end_of_turn>|<start_of_turn>(?:model)?|<｜[^<>\n]{1,40}｜>|"
    r"<\|(?:im_end|eot_id|eom_id|end|return|call|endoftext|end_of_text|END_RESPONSE|START_RESPONSE|"
    r"begin_of_solution|end_of_solution|begin_of_box|end_of_box|python_tag|assistant|"
    r"tool_calls?(?:_section)?(?:_begin|_end)?|tool_call_argument_begin|start_header_id|end_header_id)\|>|"
    r"<\|im_start\|>(?:assistant)?|\[TOOL_CALLS\]|\[/?INST\]"
)
"""Special tokens that a server leaves in a reply."""
_NAMING = (
    "json|output|answer|final_answer|final|response|results?|verdict|evaluation|judge?ment|ratings?|scores?|"
    "solution|conclusion|tool_call|tool_code|function_call|tool_use"
)
_TAG = (
    rf"</?(?:{_NAMING})(?:\s[^<>\n]{{0,100}})?>|</?function(?:=[\w.:-]{{1,64}})?>|"
    r"</?parameter(?:=\w{1,64})?>"
)
"""Tags that hold a verdict."""
_FENCE = r"(?:`{3,}|~{3,})"
_LABEL = (
    r"[*_#]{0,3}[ \t]*(?:(?:here is )?my[ \t]+|the[ \t]+final[ \t]+|final[ \t]+|overall[ \t]+)?"
    r"(?:answer|verdict|ratings?|scores?|evaluation|judge?ment|decision|result|output|response|json|"
    r"assistant)(?:[ \t]+is)?[*_]{0,3}[ \t]*[:=][*_]{0,3}"
)
"""What a line may begin with before its verdict."""
_OPENERS = re.compile(
    rf"(?:\A|\n)[ \t]*+(?P<openers>(?:(?:{_TOKEN}|{_TAG}|{_FENCE}[ \t]*[\w+-]{{0,20}}|{_LABEL})\s*+)*+"
    r"[*`]{0,3})\Z",
    re.I,
)
_CLOSERS = re.compile(rf"(?:{_TOKEN}|{_TAG}|{_FENCE}|[*`.]|\s)*+", re.I)
_WRAPPERS = re.compile(rf"(?:[ \t]*+(?:\n[ \t]*+)?(?:{_TOKEN}|{_TAG}|{_FENCE}))*+[ \t*`]*+", re.I)
_WHOLE_OPENS = re.compile(rf"(?:\s*+(?:{_TOKEN}|{_TAG}))*+", re.I)
_NEAR = 300
"""Characters before a verdict that are looked at."""
_OPENED = "`\"'“”‘’«»„(*|>[{"
"""Signs that open a quotation, a call, a template or another value."""

_NOT = (
    r"(?:(?:will|can|shall|may|must|do|am|are|is) not|cannot|can['’]?t|won['’]?t|don['’]t|unable|"
    r"not able|refus(?:e|es|ed|ing)|declin(?:e|es|ed|ing)|"
    r"not (?:going|willing|prepared|allowed))\b(?:\s{1,3}to\b)?"
)
_RATE = (
    r"(?:rate|rating|score|scoring|judge|judging|evaluate|evaluating|assess|grade|grading|assist|help|comply|"
    r"continue|do (?:that|so|this|it)|"
    r"(?:give|provide|assign|award)(?: \w+){0,3} (?:scores?|ratings?|verdict|marks?))\b"
)
_WORD = r"(?:\s{1,3}[\w’']+)"
_REFUSALS = (
    rf"\b(?:I|we|this judge)(?:['’](?:m|ll|d|ve|re))?{_WORD}{{0,3}}?\s{{1,3}}{_NOT}"
    rf"{_WORD}{{0,3}}?\s{{1,3}}{_RATE}",
    rf"(?:\A|[.!?:;\n])[\s\"'*_]{{0,20}}(?:so |therefore,? |thus,? )?{_NOT}{_WORD}{{0,2}}?\s{{1,3}}{_RATE}",
    r"\b(?:cannot|can['’]t|can not|will not|won['’]t|must not|should not|is not|was not|not to) be "
    r"(?:rated|scored|judged|evaluated|assessed|graded)\b",
    r"\bI (?:must |have to |will )?(?:refuse|decline|abstain)\b",
    r"\b(?:give|assign|award|get)s? no (?:score|rating|verdict|marks?)\b",
    r"\bno (?:score|rating|verdict|judge?ment)s?(?: (?:is|was|will|from me|given)\b|[.!]|\s{0,9}\Z)",
    r"\b(?:score|rating|verdict|marks?) (?:is |was )?withheld\b",
    r"\bnicht (?:bewerten|beurteilen)",
    r"\b(?:refuse|peux|veux|vais)(?: pas)? (?:de |d['’])?(?:noter|évaluer|juger)",
    r"\b(?:me niego a|no (?:puedo|voy a|quiero)) (?:evaluar|calificar|puntuar)",
    r"не (?:буду|могу|стану) (?:\w+ )?(?:оценивать|ставить)|отказываюсь",
    r"(?:无法|不能|拒绝|不会|不予).{0,12}(?:评分|评价|评估|打分|评判)",
)
_REFUSES = re.compile("|".join(_REFUSALS), re.I)
"""Words by which a judge says that it does not rate."""
_SPEAKERS = (
    r"(?:repl(?:y|ies)|responses?|assistant|users?|models?|texts?|conversation|messages?|customer|it|answer|"
    r"transcript|log|lines?|output|(?:chat)?bot|agent|player|he|she|they|somebody|someone|that|which|who|"
    r"speaker|author|attacker)(?:['’]s last \w+| itself)?"
)
_SAYS = (
    r"(?:says?|said|wrote|writes?|written|contains?|contained|holds?|held|includes?|included|prints?|printed|"
    r"reads?|ends?|begins?|starts?|ended|began|quotes?|quoted|outputs?|claims?|claimed|tells?|told|embeds?|"
    r"embedded|inject(?:s|ed)?|insert(?:s|ed)?|append(?:s|ed)?|smuggl\w+|hid(?:es|e|den)?|sends?|sent|returns?|"
    r"returned|replied|answered|instructs?|demands?|asks?|asked|gives?|gave|shows?|puts?|posts?|posted|"
    r"dictates?)"
)
_QUOTES_IT = re.compile(
    rf"\b{_SPEAKERS}(?: (?:also|even|then|only|again|just|simply|\w+ly|has|had|(?:tries|attempts|tried|wants"
    rf" me) to))?\s{{1,3}}(?P<says>{_SAYS})\b[^.;]{{0,80}}\Z"
    r"|\b(?:quot(?:e|es|ed|ing|ation)|verbatim|inject(?:ion|ed)|planted|smuggled)\b[^.;]{0,80}\Z",
    re.I,
)
"""Words right before a verdict that quote another speaker."""
_OWN_WORDS = re.compile(
    r"\b(?:my|mine|I|I['’]ve|I['’]d|here(?:['’]s| is| are)|below)\b"
    r"|,[^,]*\b(?:ratings?|scores?|verdict|evaluation)\b",
    re.I,
)
"""Words by which a judge leads to a verdict of its own."""
_LEAD = 12
"""Characters between such a word and the end of its line, where no colon ends it."""
_SENTENCE_ENDS = re.compile(r"[.!?…。！？][\"'”’)*_`]*(?:\s|$)|\n\s*\n|[}\]]\s*\n")


@dataclass(frozen=True)
class VerdictPlace:
    """Where a verdict stands: `first` and `last` have nothing but wrappers before and behind them; `line`
    begins a line, and `paragraph` one after an empty line, or in a wrapper; `goes_on` is in a sentence that
    goes on behind it; `quoted` stands in quotes, in brackets, or after words that quote somebody.
    """

    first: bool
    line: bool
    paragraph: bool
    last: bool
    goes_on: bool
    quoted: bool

    @property
    def is_complete(self) -> bool:
        """Whether the reply is nothing but the verdict."""
        return self.first and self.last

    def counts(self, before: str, behind: str) -> bool:
        """Whether a verdict that stands there, between these texts, is what the reply says."""
        if self.is_complete:
            return True
        if self.quoted or refuses(behind):
            return False
        if self.line and (self.first or not self.goes_on):
            return True
        return self.last and not refuses(before)


def place(text: str, start: int, end: int) -> VerdictPlace:
    """Where in a text a verdict stands."""
    near = ("\0" if start > _NEAR else "") + text[max(0, start - _NEAR) : start]
    opens = _OPENERS.search(near)
    prose = near[: opens.start()] if opens else near
    blank = opens is not None and not prose.strip()
    first = blank and start <= _NEAR
    wrapped = opens is not None and bool(opens["openers"])
    after_blank_line = opens is not None and near.rstrip(" \t").endswith("\n\n")
    leads = introduced(prose, line=opens is not None, is_separate=after_blank_line)
    return VerdictPlace(
        first=first,
        line=opens is not None,
        paragraph=first or wrapped or after_blank_line,
        last=closes(text, end),
        goes_on=_goes_on(text, end),
        quoted=not first and (_opens_quote(near, opens) or leads),
    )


def _opens_quote(near: str, opens: re.Match[str] | None) -> bool:
    if opens is not None:
        return False
    line = near[near.rfind("\n") + 1 :]
    return line.lstrip().startswith(">") or near.endswith(tuple(_OPENED))


def introduced(prose: str, *, line: bool = False, is_separate: bool = False) -> bool:
    """Whether the words right before, in the sentence that leads to it, quote somebody else.

    On a `line` of its own it is led to by words that end in a colon or in saying so (“It ends with”); where
    an empty line stands between (`is_separate`), only by a colon.
    """
    colon = prose.rstrip().endswith((":", "："))
    if is_separate and not colon:
        return False
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(prose)]
    # What leads to a verdict may end its own line.
    leads = prose[ends[-1] if ends else 0 :]
    quotes = _QUOTES_IT.search(leads)
    if quotes is None or _OWN_WORDS.search(leads):
        return False
    near_end = quotes["says"] is None or len(leads.rstrip()) - quotes.end("says") <= _LEAD
    return colon or not line or near_end


def _goes_on(text: str, end: int) -> bool:
    """Whether the sentence that a verdict stands in goes on behind it."""
    wrappers = _WRAPPERS.match(text, end)
    position = wrappers.end() if wrappers else end
    lines = text[position : position + 200].split("\n", 2)
    following = lines[0].strip() or (lines[1].strip() if len(lines) > 1 else "")
    return bool(following) and (following[0].islower() or following[0] in ",;)]}\"'”’|")


def leading(text: str) -> str:
    """A reply without the tokens and tags that wrap the whole of it."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n")
    opens = _WHOLE_OPENS.match(text)
    return text[opens.end() :] if opens else text


def closes(text: str, end: int) -> bool:
    """Whether only wrappers, a full stop and white space stand behind a place in a text."""
    closers = _CLOSERS.match(text, end)
    return closers is not None and closers.end() == len(text)


def refuses(prose: str) -> bool:
    """Whether somebody says there that nothing is rated."""
    return _REFUSES.search(prose) is not None


class JudgedText:
    """The judged text, which may contain a verdict by another writer."""

    def __init__(self, texts: Iterable[str] = ()):
        self._texts: Sequence[str] = tuple(texts)
        self._bare: str | None = None

    def holds(self, verdict: str) -> bool:
        """Whether it holds a verdict in these signs, white space and emphasis aside."""
        if self._bare is None:
            self._bare = "\0".join(map(_bare, self._texts))
        bare = _bare(verdict)
        return bool(bare) and bare in self._bare


_UNSEEN = re.compile(r"[\s*_`\u200b\ufeff]+")


def _bare(text: str) -> str:
    return _UNSEEN.sub("", text).casefold()
