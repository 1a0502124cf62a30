"""Links that let somebody in. Of a link's token only the hash is kept; a token opens one kind of door."""

import hashlib
from typing import Any, Literal

from sqlite_utils import Database

from concord.store.database import find, insert, now

Opens = Literal["annotator", "member", "crowd"]
"""An annotator's desk, the workspace to a researcher or adjudicator, a study to a crowd."""


def hashed(token: str) -> str:
    """What is stored of a token. A fast hash is enough for random bytes: there is nothing to guess."""
    return hashlib.sha256(token.encode()).hexdigest()


def put(
    db: Database,
    opens: Opens,
    token: str | None,
    *,
    role: str = "",
    name: str = "",
    rater: int | None = None,
    study: int | None = None,
    expires: str | None = None,
    ended: str | None = None,
    terms: str = "{}",
) -> None:
    """Store a link in place of the one that its person or study has."""
    owner = {"name": name, "rater_id": rater, "study_id": study}
    same = " AND ".join(f"{column} IS ?" for column in owner)
    db.table("links").delete_where(f"opens = ? AND {same}", [opens, *owner.values()])
    link = {"opens": opens, "token_hash": hashed(token) if token else None, "role": role, **owner}
    insert(db, "links", {**link, "made": now(), "expires": expires, "ended": ended, "terms": terms})


def of_token(db: Database, opens: Opens, token: str) -> dict[str, Any] | None:
    """The link of this kind with this token, whatever its state; None where there is none."""
    return find(db, "links", opens=opens, token_hash=hashed(token))


def state(made: str | None, expires: str | None, ended: str | None) -> str:
    """How a link stands: “none”, “works”, “expired” or “withdrawn”."""
    if ended:
        return "withdrawn"
    if expires and expires < now():
        return "expired"
    return "works" if made else "none"


def withdraw(db: Database, link: int) -> None:
    """End a link and forget its token."""
    db.table("links").update(link, {"ended": now(), "token_hash": None})
