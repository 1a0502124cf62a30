"""Members: researchers and adjudicators, each with a name and a secret link (only its hash is kept)."""

import secrets
from datetime import timedelta
from typing import NamedTuple

from sqlite_utils import Database

from concord.errors import StudyError, not_found
from concord.store import audit, sessions
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


def invite(db: Database, name: str, role: Role, by: str, *, days: int = LINK_DAYS) -> str:
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
    row = {"name": name, "role": role, "token_hash": sessions.hashed(token), "invited": now()}
    _sign_out(db, name)
    db.table("members").upsert({**row, "expires": expires, "revoked": None}, pk="name")
    audit.record(db, by, f"let in as {role}", about=name)
    return token


def revoke(db: Database, name: str, by: str) -> None:
    """Close a member's link and sign them out; what they decided stays under their name. Raises NotFound."""
    if not find(db, "members", "name", name=name):
        raise not_found("researcher", name, [one.name for one in every(db)])
    db.table("members").update(name, {"revoked": now(), "token_hash": None})
    _sign_out(db, name)
    audit.record(db, by, "kept out", about=name)


def of_token(db: Database, token: str) -> Member | None:
    """The member whose link this is; None for an unknown one. Raises LinkRefused for one that has expired."""
    row = find(
        db,
        "members",
        "name, role, invited, expires, revoked",
        token_hash=sessions.hashed(token),
        revoked=None,
    )
    member = Member(**row) if row else None
    if member and member.link == "expired":
        raise sessions.LinkRefused("expired")
    return member


def every(db: Database) -> list[Member]:
    """The members, by name."""
    rows = db.table("members").rows_where(select="name, role, invited, expires, revoked", order_by="name")
    return [Member(**row) for row in rows]


def _sign_out(db: Database, name: str) -> None:
    db.execute(
        "UPDATE sessions SET ended = ? WHERE kind = 'member' AND name = ? AND ended IS NULL", [now(), name]
    )
