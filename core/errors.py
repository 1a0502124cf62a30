"""The errors that Concord raises. Every message is a sentence that names the thing and the remedy.

Every class has a `code`, which stays when sentences are reworded; commands print it with `--format json`.
"""

import difflib
from collections.abc import Collection, Iterable
from enum import StrEnum
from pathlib import Path

from concord.codes import ErrorCode, Failure
from concord.rating import NOTHING_SPENT, Spent


class ConcordError(Exception):
    """An error that one sentence explains to a user. Commands exit with 1; pages show the sentence."""

    code: StrEnum = ErrorCode.FAILED


class ConfigError(ConcordError):
    """A file written by the user (models.toml, a prompt, a character) cannot be used."""

    code = ErrorCode.CONFIGURATION


class WorkspaceError(ConcordError):
    """The workspace folder or its database cannot be opened."""

    code = ErrorCode.WORKSPACE


class DatabaseReplaced(WorkspaceError):
    """Another file lies where the database was. `copy` holds what the old one held, None if none was made."""

    code = ErrorCode.DATABASE_REPLACED

    def __init__(self, message: str, copy: Path | None) -> None:
        super().__init__(message)
        self.copy = copy


class NotFound(ConcordError):
    """A name that does not exist; the message suggests or lists those that do."""

    code = ErrorCode.NOT_FOUND


class ImportRefused(ConcordError):
    """A foreign file cannot be read; nothing of it was stored."""

    code = ErrorCode.IMPORT_REFUSED


class StudyError(ConcordError):
    """A study cannot be drawn, assigned or measured with these options."""

    code = ErrorCode.STUDY


class NotAllowed(ConcordError):
    """The role of this user does not allow it."""

    code = ErrorCode.NOT_ALLOWED


class RunStopped(ConcordError):
    """A run ended early on purpose; what is stored stays, the same command continues."""

    code = ErrorCode.RUN_STOPPED


class CallFailed(ConcordError):
    """One call to a model failed for good: a value to be stored and counted.

    `code` says what failed, and so what is done. `raw` is the model's last reply where there was one, else
    the body of the answer; `reason` is the short name under which failures are counted, `model` the model
    that was asked, `spent` what the attempts cost, `status` the HTTP status of the answer (0 without one).
    """

    code: Failure

    def __init__(
        self,
        message: str,
        *,
        code: Failure,
        raw: str = "",
        spent: Spent = NOTHING_SPENT,
        reason: str = "",
        status: int = 0,
    ):
        super().__init__(message)
        self.code = code
        self.raw = raw
        self.spent = spent
        self.reason = reason or code.value
        self.status = status
        self.model = ""


def not_found(what: str, name: str, known: Iterable[str]) -> NotFound:
    """A NotFound that suggests the nearest known name, or lists them all."""
    names = sorted(filter(None, known))
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        hint = f"Did you mean “{close[0]}”?"
    elif names:
        shown = ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
        hint = f"Known: {shown}."
    else:
        return NotFound(f"There is no {what} “{name}”, and no other yet.")
    return NotFound(f"There is no {what} “{name}”. {hint}")


def check_known(what: str, names: str | Iterable[str], known: Collection[str]) -> None:
    """Raise NotFound for the first of these names, or the one, that is not known."""
    for name in [names] if isinstance(names, str) else names:
        if name not in known:
            raise not_found(what, name, known)
