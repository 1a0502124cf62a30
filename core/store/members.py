"""Members: researchers and adjudicators, each with a name and a secret link (only its hash is kept)."""

import secrets
from datetime import timedelta
from typing import NamedTuple

from sqlite_utils import Database

from concord.errors import StudyError, not_found
from concord.store import audit, links, sessions
from concord.store.access import LINK_DAYS, LONGEST_NAME
from concord.store.database import find, now
from concord.store.sessions import Role


class Member(NamedTuple):
    """A researcher or an adjudicator. `expires` is None for a link that works until it is withdrawn."""

    name: str
    role: Role
    invited: str
    expires: str | None
    revoked: str | None

    @property
    def link(self) -> str:
        """The state of their link: “works”, “expired” or “withdrawn”."""
        if self.revoked:
            return "withdrawn"
        return "expired" if self.expires and self.expires < now() else "works"


def invite(db: Database, name: str, role: Role, *, days: int = LINK_DAYS) -> str:
    """Make (or renew) a member's link; returns the secret, which is kept nowhere.

    An older link stops working, and sessions begun by it end. Raises StudyError for a name or a role
    that cannot be used.
    """
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise StudyError(f"A researcher's name has 1 to {LONGEST_NAME} characters.")
    if role not in ("researcher", "adjudicator"):
        raise StudyError(f"“{role}” is no role for a link: researcher or adjudicator.")
    token = secrets.token_urlsafe(32)
    expires = now(timedelta(days=days)) if days else None
    _sign_out(db, name)
    links.put(db, "member", token, role=role, name=name, expires=expires)
    audit.record(db, f"let in as {role}", about=name)
    return token


def revoke(db: Database, name: str) -> None:
    """Close a member's link and sign them out; what they decided stays under their name. Raises NotFound."""
    link = find(db, "links", "id", opens="member", name=name)
    if link is None:
        raise not_found("researcher", name, [one.name for one in every(db)])
    links.withdraw(db, link["id"])
    _sign_out(db, name)
    audit.record(db, "kept out", about=name)


def of_token(db: Database, token: str) -> Member | None:
    """The member whose link this is; None for an unknown one. Raises LinkRefused for one that has expired."""
    row = links.of_token(db, "member", token)
    member = Member(*(row[column] for column in _COLUMNS)) if row and not row["ended"] else None
    if member and member.link == "expired":
        raise sessions.LinkRefused("expired")
    return member


def every(db: Database) -> list[Member]:
    """The members, by name."""
    rows = db.execute(f"SELECT {', '.join(_COLUMNS)} FROM links WHERE opens = 'member' ORDER BY name")
    return [Member(*row) for row in rows]


_COLUMNS = ("name", "role", "made", "expires", "ended")


def _sign_out(db: Database, name: str) -> None:
    db.execute(
        "UPDATE sessions SET ended = ? WHERE kind = 'member' AND name = ? AND ended IS NULL", [now(), name]
    )
