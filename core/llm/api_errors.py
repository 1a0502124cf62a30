"""What went wrong with an attempt: its code, which decides what is done, and the sentence with the remedy."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from concord import messages
from concord.codes import Failure
from concord.errors import CallFailed
from concord.llm import refusals
from concord.llm.completions import RAW, Broken, decoded
from concord.llm.models import Model

_THROTTLED = (429, 529)
_DOWN = (502, 503, 504, *range(520, 525))
_TRANSIENT = (408, 409, 425)
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached")
_MODERATES = re.compile(
    r"content[ _-]?(?:filter|policy|management)|moderat(?:ion|ed)|\bflagged\b|ResponsibleAI|invalid_prompt|"
    r"data_inspection_failed|content exists risk|high[ -]risk|guardrail|prohibited[ _]content|"
    r"sensitive (?:content|information|words)|inappropriate content|unsafe (?:content|prompt)|"
    r"(?:usage|content|safety|acceptable use) polic(?:y|ies)|blockReason|不安全|敏感",
    re.I,
)
"""Words of an endpoint that refuses a request for what it says."""
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|"
    r"(?:prompt|input|request(?: entity)?|message) (?:is )?too (?:long|large)|"
    r"too many (?:input |prompt )?tokens|input length|exceeds? the (?:available )?context",
    re.I,
)
"""Words of an endpoint whose model cannot read so long a request."""
_PASSES = re.compile(
    r"overload|try again|temporar|\bbusy\b|capacity|timed? ?out|rate.?limit|too many|unavailable|upstream",
    re.I,
)
"""Words of an endpoint that may answer the same request later."""
_QUOTED_CHARACTERS = 300
"""Characters of an endpoint's complaint in a sentence."""


class AttemptFailed(CallFailed):
    """An attempt that failed, the seconds that the endpoint asks to wait (`after`), and its `words`."""

    def __init__(
        self,
        message: str,
        *,
        code: Failure,
        raw: str = "",
        reason: str = "",
        status: int = 0,
        after: float | None = None,
        words: str = "",
    ):
        super().__init__(message, code=code, raw=raw, reason=reason, status=status)
        self.after = after
        self.words = words
        """What the endpoint said."""


def status_error(status: int, headers: Mapping[str, str], content: bytes, model: Model) -> AttemptFailed:
    """An answer with a status of an error, or of a redirect, which is not followed: the key stays here."""
    name = f"“{model.name}”"
    endpoint = model.base_url or "the OpenAI endpoint"
    complete, code = complaint(content)
    message = complete[:_QUOTED_CHARACTERS] or "no message"
    failure = Failure.BAD_REQUEST
    sentence = f"{endpoint} rejected a call to {name} ({status}): {message}"
    if status < 400:
        failure = Failure.REDIRECTED
        target = headers.get("location", "another address").split("?")[0][:_QUOTED_CHARACTERS]
        sentence = (
            f"{endpoint} redirects calls for {name} to {target} ({status}). Use that address as base_url."
        )
    elif status in (400, 403, 413, 422, 451) and _MODERATES.search(f"{code} {complete}"):
        failure = Failure.REFUSED
        sentence = messages.request_refused(endpoint, model.name, status, message)
    elif status in (401, 403):
        mend = f"Check the environment variable {model.key_variable}."
        if not model.key_variable:
            mend = "Set its variable in api_key_env."
        failure = Failure.KEY_REFUSED if status == 401 else Failure.FORBIDDEN
        act = "refuses the key of" if status == 401 else "refuses calls to"
        if status == 403:
            mend = f"May the key's organisation, project and region use the model? {mend}"
        sentence = f"{endpoint} {act} {name} ({status}): {message.rstrip('.')}. {mend}"
    elif status in (400, 413, 422) and _TOO_LONG.search(complete):
        failure = Failure.CONTEXT_EXCEEDED
        sentence = f"the request is too long for {name} ({status}): {message}"
    elif status == 402 or code in _NO_CREDIT:
        failure = Failure.NO_CREDIT
        sentence = f"{endpoint} reports that there is no credit left for {name} ({status}): {message}"
    elif status == 404:
        failure = Failure.UNKNOWN_MODEL
        mend = "Check `model` and `base_url` in models.toml."
        sentence = f"{endpoint} does not know {name} as “{model.served}” (404): {message.rstrip('.')}. {mend}"
    elif status in _THROTTLED:
        mend = "Lower max_concurrency, or wait and run again."
        failure = Failure.RATE_LIMIT
        sentence = f"{endpoint} kept refusing calls for {name} ({status}): {message}. {mend}"
    elif status in (500, 501) and refusals.names_part(content):
        pass  # as llama.cpp says that it cannot follow a schema: the same request fails again
    elif status >= 500 or status in _TRANSIENT:
        failure = Failure.UNAVAILABLE if status in _DOWN else Failure.SERVER
        sentence = f"{endpoint} failed while answering for {name} ({status}): {message}. Run again later."
    raw = content[:RAW].decode("utf-8", "replace")
    return AttemptFailed(
        sentence,
        code=failure,
        raw=raw,
        reason=f"HTTP {status}",
        status=status,
        after=retry_after(headers),
        words=message,
    )


def refused_alone(failure: CallFailed, model: Model) -> CallFailed:
    """A failure of an endpoint that answers other requests: it refuses this one."""
    endpoint = model.base_url or "the OpenAI endpoint"
    words = getattr(failure, "words", "") or str(failure)
    sentence = messages.request_refused(endpoint, model.name, failure.status, words)
    return AttemptFailed(
        sentence,
        code=Failure.REFUSED,
        raw=failure.raw,
        reason=failure.reason,
        status=failure.status,
        words=words,
    )


def body_error(error: Broken, content: bytes, model: Model) -> AttemptFailed:
    """A body of status 200 that is no answer; an error in it counts as if it were the status."""
    if error.status:
        return status_error(error.status, {}, content, model)
    if refusals.names_part(content):
        return status_error(400, {}, content, model)
    raw = content[:RAW].decode("utf-8", "replace")
    if words := _words_of_body(content):
        failure = Failure.SERVER if _PASSES.search(words) else Failure.BAD_REQUEST
        endpoint = model.base_url or "the OpenAI endpoint"
        name = f"“{model.name}”"
        sentence = f"{endpoint} did not answer a call to {name}; it said: {words[:_QUOTED_CHARACTERS]}"
        if _MODERATES.search(words):
            failure = Failure.REFUSED
            sentence = messages.request_refused(endpoint, model.name, 200, words[:_QUOTED_CHARACTERS])
        return AttemptFailed(sentence, code=failure, raw=raw, reason="an error of status 200", words=words)
    return AttemptFailed(
        f"The endpoint of “{model.name}” did not answer in the OpenAI protocol: {error}. Is its base_url "
        "right?",
        code=Failure.FOREIGN_BODY,
        raw=raw,
        reason="a body that is no answer",
    )


def connection_error(error: BaseException, model: Model) -> AttemptFailed:
    """A call without an answer: the library's error, or a TimeoutError."""
    import httpx2
    import openai

    name = f"“{model.name}”"
    endpoint = model.base_url or "the OpenAI endpoint"
    # On the aiohttp transport a refused or dropped connection also arrives as a timeout of connecting.
    connecting = any(
        isinstance(cause, httpx2.ConnectTimeout | httpx2.ConnectError) for cause in (error, error.__cause__)
    )
    late = isinstance(error, TimeoutError | httpx2.TimeoutException | openai.APITimeoutError)
    if late and not connecting:
        mend = "Raise `timeout` in models.toml, or run again."
        return AttemptFailed(
            f"{name} did not answer within {model.timeout:g} s. {mend}", code=Failure.TIMEOUT
        )
    mend = "Is the server up, and base_url right?"
    if model.simulated:
        mend = "Serve the mock models with `concord mock`, at the port in base_url."
    return AttemptFailed(f"{endpoint} cannot be reached for {name}. {mend}", code=Failure.UNREACHABLE)


def oversized(limit: int, model: Model) -> AttemptFailed:
    """An answer that was given up: the endpoint would send it again, so it is not asked for again."""
    return AttemptFailed(
        f"The endpoint of “{model.name}” sent more than {limit:,} bytes in one answer. "
        "Concord did not read the rest. Is its base_url right?",
        code=Failure.OVERSIZED,
        reason="an answer too long",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds an endpoint asks to wait, of a number or a date; None if it asks for no time to come."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        header = headers.get(name, "")
        try:
            wait = float(header) * unit
        except ValueError:
            wait = _seconds_until(header)
        if math.isfinite(wait) and wait > 0:
            return wait
    return None


def _seconds_until(date: str) -> float:
    """How far a date of HTTP is away; 0 for what is none."""
    try:
        return parsedate_to_datetime(date).replace(tzinfo=UTC).timestamp() - time.time()
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0


class Complaint(NamedTuple):
    """What an error's body says, in one line, and its code; “” where it has none."""

    message: str
    code: str = ""


def complaint(content: bytes | str) -> Complaint:
    """What an error's body says; a body that is no JSON says its text."""
    try:
        body: Any = decoded(content)
    except Broken:
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        body = _MARKUP.sub(" ", text[:PAGE]) if text.lstrip()[:1] == "<" else text
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    error = (body.get("error") or body.get("errors") or body) if isinstance(body, dict) else body
    if isinstance(error, list) and len(error) == 1:
        error = error[0]
    if not isinstance(error, dict):
        return Complaint(" ".join(str(error).split()))
    message = error.get("message") or error.get("detail") or error.get("msg") or error
    code = error.get("code") or error.get("type")
    return Complaint(" ".join(str(message).split()), str(code or ""))


PAGE = 20_000
"""Characters of a page in HTML whose words are looked for."""
_MARKUP = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^<>]{0,2000}>", re.S | re.I)
_SAYS_NO = ("error", "errors", "detail", "details", "message", "msg", "promptFeedback", "prompt_feedback")


def _words_of_body(content: bytes) -> str:
    """What a body of status 200 says in place of an answer; “” where it says nothing."""
    try:
        body = decoded(content)
    except Broken:
        return ""
    if not isinstance(body, dict) or body.get("choices") or not any(body.get(name) for name in _SAYS_NO):
        return ""
    return complaint(content).message
