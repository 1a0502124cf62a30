"""Who is signed in: sessions, and the one-time links that begin them.

A token is 32 random bytes that only the browser has. The store keeps its hash, so that nobody signs in by a
copy of the database.
"""

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple

from sqlite_utils import Database

from concord.errors import NotAllowed, NotFound
from concord.store.audit import moment
from concord.store.database import find, now, records
from concord.table import Column, Table, record

Kind = Literal["local", "passphrase", "oidc", "annotator", "member"]
Role = Literal["owner", "researcher", "adjudicator"]
"""Who signs in by passphrase, account or on the server's machine is an owner; members have a role each."""


class Entrance(NamedTuple):
    """A way to sign in: its words, and after how long a session expires, unused (`idle`) or at all."""

    words: str
    idle: timedelta
    longest: timedelta


ENTRANCES: dict[Kind, Entrance] = {
    "local": Entrance("link on the server's machine", timedelta(days=7), timedelta(days=30)),
    "passphrase": Entrance("passphrase", timedelta(hours=12), timedelta(days=7)),
    "oidc": Entrance("account", timedelta(hours=12), timedelta(days=7)),
    "annotator": Entrance("annotator's link", timedelta(days=14), timedelta(days=90)),
    "member": Entrance("researcher's link", timedelta(hours=12), timedelta(days=7)),
}
ONE_TIME = {"local": timedelta(days=1), "oidc": timedelta(minutes=1)}
"""How long a one-time link works."""
RETENTION = timedelta(days=90)
"""How long a session that is over is kept, to show when and from where it was used."""
USE_INTERVAL = timedelta(minutes=1)
"""The use of a session is written down this often at most."""


REFUSED = {
    "unknown": "This link is not valid, or it was withdrawn. Ask the person who invited you for a new one.",
    "expired": "This link has expired. Ask the person who invited you for a new one.",
    "withdrawn": "Your link was withdrawn. Ask the person who invited you.",
    "used": "This link was used already, or it is too old. Run `concord --workspace DIR link` on the "
    "server's machine for a new one; DIR is the folder of the workspace.",
    "preview": "This is a preview. Accept the task first, and open the link again.",
    "number": "This link lacks the ids that your platform adds. Open the study from the platform.",
    "twice": "Your participant number was used in another submission already. Return this submission, and "
    "write to the researchers on the platform.",
    "over": "Your time for this study is over, and your remaining items went to other annotators. Your "
    "answers are stored. Return the submission on the platform, or write to the researchers there.",
    "full": "All places in this study are taken. Return the submission on the platform; places may become "
    "free later.",
    "ended": "This study no longer accepts new annotators. Return the submission on the platform.",
    "elsewhere": "This link works only on the server's machine. Elsewhere, researchers sign in with the "
    "passphrase or their account.",
}
"""Why a link lets nobody in, by the word that the address then shows."""


class LinkRefused(NotAllowed):
    """A link that lets nobody in. `reason` is a key of REFUSED."""

    def __init__(self, reason: str) -> None:
        super().__init__(REFUSED[reason])
        self.reason = reason


@dataclass(frozen=True)
class Session:
    """A browser that is signed in. `rater_id` is that of an annotator; `source` the address it was used from.

    `name` is the annotator's or the member's name, or the account's e-mail address. `role` is that of a
    member or “owner”; “” for an annotator, and for a member who was withdrawn.
    """

    id: int
    kind: Kind
    rater_id: int | None
    name: str
    source: str
    browser: str
    begun: str
    used: str
    expires: str
    role: Role | Literal[""] = "owner"


_LIVE = (
    "ended IS NULL AND expires > :now AND used > CASE kind WHEN 'local' THEN :local WHEN 'passphrase' "
    "THEN :passphrase WHEN 'oidc' THEN :oidc WHEN 'annotator' THEN :annotator WHEN 'member' THEN :member END"
)
_COLUMNS = (
    "id, kind, rater_id, name, source, browser, begun, used, expires, CASE kind WHEN 'annotator' THEN '' "
    "WHEN 'member' THEN ifnull((SELECT i.role FROM invitations i WHERE i.rater_id IS NULL "
    "AND i.name = sessions.name AND i.revoked IS NULL), '') ELSE 'owner' END AS role"
)


def hashed(token: str) -> str:
    """What is stored of a token. A fast hash is enough for random bytes: there is nothing to guess."""
    return hashlib.sha256(token.encode()).hexdigest()


def begin(
    db: Database,
    kind: Kind,
    *,
    name: str = "",
    rater: int | None = None,
    source: str = "",
    browser: str = "",
    expires: str | None = None,
) -> str:
    """Begin a session; returns its token. It ends at `expires` at the latest, if that is given."""
    token = secrets.token_urlsafe(32)
    began = now()
    longest = now(ENTRANCES[kind].longest)
    row = {"kind": kind, "rater_id": rater, "name": name, "source": source, "browser": browser[:200]}
    row |= {"begun": began, "used": began, "expires": min(expires or longest, longest)}
    db.table("sessions").delete_where("coalesce(ended, expires) < ?", [now(-RETENTION)])
    db.table("sessions").insert({"token_hash": hashed(token), **row})
    return token


def of(db: Database, token: str) -> Session | None:
    """The session of this token; None where there is none, or it is over."""
    rows = db.query(
        f"SELECT {_COLUMNS} FROM sessions WHERE token_hash = :token AND {_LIVE}",
        {"token": hashed(token), **_times()},
    )
    for row in rows:
        session = Session(**row)
        if session.kind != "member" or session.role:
            return session
    return None


def live(db: Database) -> list[Session]:
    """Sessions that are not over, the last used one first."""
    sql = f"SELECT {_COLUMNS} FROM sessions WHERE {_LIVE} ORDER BY used DESC, id DESC"
    return records(db, Session, sql, _times())


def table(db: Database, reader: int = 0) -> Table:
    """The same as a table; `reader` is the session in which it is read."""
    rows = tuple(
        record(one)
        | {"name": one.name or "researcher", "used": moment(one.used), "begun": moment(one.begun)}
        | {"kind": ENTRANCES[one.kind].words + (" (this browser)" if one.id == reader else "")}
        for one in live(db)
    )
    columns = (
        Column("id", "number"),
        Column("name"),
        Column("kind", "signed in by"),
        Column("used", "last used (UTC)"),
        Column("source", "from"),
        Column("begun", "since (UTC)"),
        Column("browser"),
    )
    return Table("sessions", "Sessions", columns, rows, notes=() if rows else ("No one is signed in.",))


def was_signed_in(db: Database, token: str) -> int | None:
    """The number of a researcher's session with this token, over or not; None for an unknown token."""
    row = find(db, "sessions", "id, kind", token_hash=hashed(token))
    return row["id"] if row and row["kind"] != "annotator" else None


def overdue(session: Session, source: str) -> bool:
    """Whether this use has to be written down."""
    return session.used < now(-USE_INTERVAL) or session.source != source


def use(db: Database, session: Session, source: str) -> None:
    """Write down that a session is used, and from where."""
    db.table("sessions").update(session.id, {"used": now(), "source": source})


def end(db: Database, number: int) -> None:
    """End one session. Raises NotFound."""
    if find(db, "sessions", "id", id=number, ended=None) is None:
        raise NotFound(f"There is no session {number} to end. The page Sessions lists them.")
    db.table("sessions").update(number, {"ended": now()})


def end_all(db: Database, *kinds: Kind, name: str | None = None) -> None:
    """End every session of these kinds (under a name)."""
    db.execute(
        f"UPDATE sessions SET ended = :now WHERE {_LIVE} AND kind IN (SELECT value FROM json_each(:kinds)) "
        "AND (:name IS NULL OR name = :name)",
        {"kinds": json.dumps(kinds), "name": name, **_times()},
    )


def one_time(db: Database, kind: Kind, name: str = "") -> str:
    """The token of a new one-time link, which begins one session."""
    token = secrets.token_urlsafe(32)
    db.table("one_time_links").delete_where("expires < ?", [now(-RETENTION)])
    row = {"token_hash": hashed(token), "kind": kind, "name": name, "expires": now(ONE_TIME[kind])}
    db.table("one_time_links").insert(row)
    return token


def is_one_time(db: Database, token: str) -> bool:
    """Whether this is the token of a one-time link, used or not."""
    return find(db, "one_time_links", "kind", token_hash=hashed(token)) is not None


def redeem(db: Database, token: str, kind: Kind) -> str:
    """Use a one-time link of this kind up: the name for the session that it begins.

    Raises LinkRefused for a link that is unknown, was used, or has expired.
    """
    link = find(db, "one_time_links", token_hash=hashed(token), kind=kind)
    if link is None:
        raise LinkRefused("unknown")
    if link["used"] or link["expires"] < now():
        raise LinkRefused("used")
    db.execute("UPDATE one_time_links SET used = ? WHERE token_hash = ?", [now(), hashed(token)])
    name: str = link["name"]
    return name


def _times() -> dict[str, str]:
    return {"now": now(), **{kind: now(-way.idle) for kind, way in ENTRANCES.items()}}
