"""What went wrong with an attempt: its code, which decides what is done, and the sentence with the remedy."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from concord.codes import Failure
from concord.errors import CallFailed
from concord.llm import refusals
from concord.llm.completions import RAW, Broken, decoded
from concord.llm.models import Model

_THROTTLED = (429, 529)
_DOWN = (502, 503, 504, *range(520, 525))
_TRANSIENT = (408, 409, 425)
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached")
_FILTERED = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")
_SAID = 300
"""Characters of an endpoint's complaint in a sentence."""


class AttemptFailed(CallFailed):
    """An attempt that failed, and the seconds that the endpoint asks to wait (`after`)."""

    def __init__(
        self,
        message: str,
        *,
        code: Failure,
        raw: str = "",
        reason: str = "",
        status: int = 0,
        after: float | None = None,
    ):
        super().__init__(message, code=code, raw=raw, reason=reason, status=status)
        self.after = after


def status_error(status: int, headers: Mapping[str, str], content: bytes, model: Model) -> AttemptFailed:
    """An answer with a status of an error, or of a redirect, which is not followed: the key stays here."""
    name, where = f"“{model.name}”", model.base_url or "the OpenAI endpoint"
    message, code = complaint(content)
    message = message[:_SAID] or "no message"
    failure = Failure.BAD_REQUEST
    sentence = f"{where} rejected a call to {name} ({status}): {message}"
    if status < 400:
        failure = Failure.REDIRECTED
        to = headers.get("location", "another address").split("?")[0][:_SAID]
        sentence = f"{where} redirects calls for {name} to {to} ({status}). Name that address in base_url."
    elif status in (401, 403):
        mend = f"Check the environment variable {model.key_variable}."
        if not model.key_variable:
            mend = "Name its variable in api_key_env."
        failure = Failure.KEY_REFUSED
        sentence = f"{where} refuses the key of {name} ({status}). {mend}"
    elif status == 402 or code in _NO_CREDIT:
        failure = Failure.NO_CREDIT
        sentence = f"{where} says that there is no credit left for {name} ({status}): {message}"
    elif status == 404:
        failure = Failure.UNKNOWN_MODEL
        mend = "Check `model` and `base_url` in models.toml."
        sentence = f"{where} does not know {name} as “{model.served}” (404): {message.rstrip('.')}. {mend}"
    elif status in _THROTTLED:
        mend = "Lower max_concurrency, or wait and run again."
        failure = Failure.RATE_LIMIT
        sentence = f"{where} kept refusing calls for {name} ({status}): {message}. {mend}"
    elif status in (500, 501) and refusals.names_part(content):
        pass  # as llama.cpp says that it cannot follow a schema: the same request fails again
    elif status >= 500 or status in _TRANSIENT:
        failure = Failure.UNAVAILABLE if status in _DOWN else Failure.SERVER
        sentence = f"{where} failed while answering for {name} ({status}): {message}. Run again later."
    elif any(word in (code, *message.split()) or word.encode() in content for word in _FILTERED):
        failure = Failure.REFUSED
        sentence = f"A content filter of {where} refused a call to {name} ({status}): {message}"
    raw = content[:RAW].decode("utf-8", "replace")
    return AttemptFailed(
        sentence,
        code=failure,
        raw=raw,
        reason=f"HTTP {status}",
        status=status,
        after=retry_after(headers),
    )


def body_error(error: Broken, content: bytes, model: Model) -> AttemptFailed:
    """A body of status 200 that is no answer; an error in it counts as if it were the status."""
    if error.status:
        return status_error(error.status, {}, content, model)
    if refusals.names_part(content):
        return status_error(400, {}, content, model)
    return AttemptFailed(
        f"The endpoint of “{model.name}” did not answer in the OpenAI protocol: {error}. Is its base_url "
        "right?",
        code=Failure.FOREIGN_BODY,
        raw=content[:RAW].decode("utf-8", "replace"),
        reason="a body that is no answer",
    )


def connection_error(error: BaseException, model: Model) -> AttemptFailed:
    """A call without an answer: the library's error, or a TimeoutError."""
    import httpx2
    import openai

    name, where = f"“{model.name}”", model.base_url or "the OpenAI endpoint"
    # On the aiohttp transport a refused or dropped connection also arrives as a timeout of connecting.
    connecting = any(
        isinstance(each, httpx2.ConnectTimeout | httpx2.ConnectError) for each in (error, error.__cause__)
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
    return AttemptFailed(f"{where} cannot be reached for {name}. {mend}", code=Failure.UNREACHABLE)


def oversized(most: int, model: Model) -> AttemptFailed:
    """An answer that was given up: the endpoint would send it again, so it is not asked for again."""
    return AttemptFailed(
        f"The endpoint of “{model.name}” sent more than {most:,} bytes in one answer. "
        "The rest was not read. Is its base_url right?",
        code=Failure.OVERSIZED,
        reason="an answer too long",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds an endpoint asks to wait, of a number or a date; None if it asks for no time to come."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        stated = headers.get(name, "")
        try:
            wait = float(stated) * unit
        except ValueError:
            wait = _seconds_until(stated)
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
        body = content if isinstance(content, str) else content.decode("utf-8", "replace")
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return Complaint(" ".join(str(error).split()))
    message = error.get("message") or error.get("detail") or error
    code = error.get("code") or error.get("type")
    return Complaint(" ".join(str(message).split()), str(code or ""))
