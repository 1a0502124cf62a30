"""Who may come in: annotators by a secret link (only its hash is kept), researchers by a passphrase (only
a slow hash).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass

from sqlite_utils import Database

from core.errors import NotAllowed, StudyError, not_found
from core.rating import Rater
from core.store import ratings
from core.store.database import find, now

PASSPHRASE = "passphrase"
"""The setting that holds the hash of the researchers' passphrase."""

PASSPHRASE_LENGTH = 12
LONGEST_NAME = 80
_SCRYPT = {"n": 2**15, "r": 8, "p": 1, "maxmem": 64 * 1024 * 1024}


@dataclass(frozen=True)
class Annotator:
    """A person who rates, and whether their link works."""

    id: int
    name: str
    simulated: bool
    invited: str | None
    revoked: str | None
    done: int
    skipped: int
    items: int
    seconds: float

    @property
    def can_enter(self) -> bool:
        """Has a link that was not revoked."""
        return self.invited is not None and self.revoked is None


def invite(db: Database, name: str, *, simulated: bool = False) -> str:
    """Make (or renew) an annotator's link; returns the secret, which is shown once and kept nowhere. An older
    link stops working.

    Raises StudyError for a name that cannot be used: empty, too long to be shown, or with a comma, which
    separates names.
    """
    if not name.strip() or len(name) > LONGEST_NAME or "," in name:
        shown = f"“{name[:40]}{'…' if len(name) > 40 else ''}”"
        raise StudyError(
            f"{shown} is no name for an annotator: it needs 1 to {LONGEST_NAME} characters and no comma."
        )
    rater = ratings.rater_id(db, Rater(name, "human", simulated=simulated))
    token = secrets.token_urlsafe(24)
    link = {"rater_id": rater, "token_hash": _hash(token), "invited": now(), "revoked": None}
    db.table("annotators").upsert(link, pk="rater_id")
    return token


def revoke(db: Database, name: str) -> None:
    """Close an annotator's link; their ratings stay. Raises NotFound."""
    rater = annotator_id(db, name)
    if find(db, "annotators", rater_id=rater):
        db.table("annotators").update(rater, {"revoked": now(), "token_hash": None})


def annotator_of(db: Database, token: str) -> tuple[int, str]:
    """The annotator a link belongs to: (rater id, name). Raises NotAllowed for a link that is unknown or
    was revoked.
    """
    row = db.execute(
        "SELECT r.id, r.name FROM annotators a JOIN raters r ON r.id = a.rater_id WHERE "
        "a.token_hash = ? AND a.revoked IS NULL",
        [_hash(token)],
    ).fetchone()
    if row is None:
        raise NotAllowed(
            "This link is not valid, or it was withdrawn. Ask the person who invited you for a new one."
        )
    return row[0], row[1]


def annotators(db: Database, study: str = "") -> list[Annotator]:
    """Every person who was invited or has items (in the study), with their progress."""
    return [
        Annotator(**{**row, "simulated": bool(row["simulated"])})
        for row in db.query(
            "SELECT x.id, x.name, x.simulated, a.invited, a.revoked, ifnull(sum(s.state = 'done'), "
            "0) AS done, "
            "ifnull(sum(s.state = 'skipped'), 0) AS skipped, count(s.id) AS items, "
            "ifnull(sum(s.seconds), 0) AS seconds FROM raters x "
            "LEFT JOIN annotators a ON a.rater_id = x.id "
            "LEFT JOIN assignments s ON s.rater_id = x.id AND (? = '' OR s.unit_id IN "
            "(SELECT u.id FROM study_units u JOIN studies t ON t.id = u.study_id WHERE t.name = ?)) "
            "WHERE x.kind = 'human' AND (a.rater_id IS NOT NULL OR s.id IS NOT NULL) GROUP BY x.id "
            "HAVING ? = '' OR count(s.id) > 0 OR a.invited IS NOT NULL ORDER BY x.name",
            [study, study, study],
        )
    ]


def annotator_id(db: Database, name: str) -> int:
    """An annotator's rater id. Raises NotFound."""
    row = find(db, "raters", "id", kind="human", name=name)
    if row is None:
        people = db.table("raters").rows_where("kind = 'human'", select="name")
        raise not_found("annotator", name, (person["name"] for person in people))
    found: int = row["id"]
    return found


def set_passphrase(db: Database, passphrase: str) -> None:
    """Set the researchers' passphrase (12 characters or more), kept as an scrypt hash. Raises NotAllowed
    if one is set or it is short.
    """
    if has_passphrase(db):
        raise NotAllowed(
            "A passphrase is set already. `concord passphrase --renew` on the server's machine replaces it."
        )
    if len(passphrase) < PASSPHRASE_LENGTH:
        raise NotAllowed(f"The passphrase needs at least {PASSPHRASE_LENGTH} characters.")
    salt = secrets.token_bytes(16)
    digest = hashlib.scrypt(passphrase.encode(), salt=salt, **_SCRYPT)
    db.table("settings").insert({"key": PASSPHRASE, "value": f"{salt.hex()}${digest.hex()}"})


def forget_passphrase(db: Database) -> None:
    """Remove the passphrase, so that a new one can be set."""
    db.table("settings").delete_where("key = ?", [PASSPHRASE])


def has_passphrase(db: Database) -> bool:
    """Whether researchers have set a passphrase."""
    return find(db, "settings", key=PASSPHRASE) is not None


def check_passphrase(db: Database, passphrase: str) -> bool:
    """Whether this is the passphrase; False where none is set. Takes a tenth of a second by design."""
    row = find(db, "settings", key=PASSPHRASE)
    if row is None:
        return False
    salt, digest = (bytes.fromhex(part) for part in row["value"].split("$"))
    return hmac.compare_digest(hashlib.scrypt(passphrase.encode(), salt=salt, **_SCRYPT), digest)


def ticket(db: Database, hours: float = 12.0) -> str:
    """What a researcher's browser shows instead of the passphrase, for so many hours; renewing the passphrase
    voids it.

    It is the time it ends, signed with the stored hash: nothing more has to be kept. Raises NotAllowed where
    no passphrase is set.
    """
    ends = f"{time.time() + hours * 3600:.0f}"
    return f"{ends}.{_signature(db, ends)}"


def ticket_holds(db: Database, shown: str) -> bool:
    """Whether this is a ticket of ours that has not run out."""
    ends, _, signature = shown.partition(".")
    if not (has_passphrase(db) and ends.isdecimal() and signature.isascii()):
        return False
    return hmac.compare_digest(signature, _signature(db, ends)) and float(ends) > time.time()


def _signature(db: Database, text: str) -> str:
    row = find(db, "settings", key=PASSPHRASE)
    if row is None:
        raise NotAllowed("No passphrase is set. Set one with `concord passphrase` on the server's machine.")
    return hmac.new(row["value"].encode(), f"ticket {text}".encode(), hashlib.sha256).hexdigest()


def _hash(token: str) -> str:
    # The token is 24 random bytes: a fast hash is enough, there is nothing to guess.
    return hashlib.sha256(token.encode()).hexdigest()
