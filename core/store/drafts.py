"""Drafts: what somebody typed on a page and has not saved, so that Back, a reload or a lost session keep "
"it."""

import json
from typing import NamedTuple

from sqlite_utils import Database

from concord.store import settings
from concord.store.actor import actor

LONGEST = 200_000
"""Characters of a draft that are kept."""


class Draft(NamedTuple):
    """A text that is not saved, and the saved one on which it is based."""

    text: str
    base: str


def get(db: Database, subject: str) -> Draft | None:
    """The draft that `actor` has of something; None for none."""
    value = settings.get(db, _name(subject))
    return Draft(*json.loads(value)) if value else None


def keep(db: Database, subject: str, draft: Draft) -> None:
    """Keep a draft in place of the one before; one that is too long, or says what is saved, is removed."""
    if draft.text == draft.base or len(draft.text) > LONGEST:
        remove(db, subject)
    else:
        settings.put(db, _name(subject), json.dumps(draft))


def remove(db: Database, subject: str) -> None:
    """Forget a draft, if there is one."""
    settings.remove(db, _name(subject))


def _name(subject: str) -> str:
    return f"draft of {subject} by {actor()}"
