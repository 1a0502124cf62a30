"""Who may come in: by a secret link (only its hash is kept) annotators, and members, who are researchers and
adjudicators; owners by a passphrase (only a slow hash). `sessions` is about who is in.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import NotAllowed, StudyError, not_found
from concord.rating import Rater
from concord.store import audit, ratings, sessions, settings
from concord.store.database import find, insert, now, records, scalar
from concord.store.purposes import RATED

PASSPHRASE = "passphrase"
"""The setting that holds the hash of the researchers' passphrase."""

PASSPHRASE_LENGTH = 12
LONGEST_NAME = 80
InvitedRole = Literal["annotator", "researcher", "adjudicator"]

LINK_DAYS = 90
"""How long a link works unless told otherwise."""
_SCRYPT = {"n": 2**17, "r": 8, "p": 1}
"""OWASP, Password Storage Cheat Sheet: the first of its settings for scrypt. It takes 128 MiB."""


@dataclass(frozen=True)
class Annotator:
    """A person who rates, whether their link works, and when and from which address it was last used."""

    id: int
    name: str
    simulated: bool
    invited: str | None
    revoked: str | None
    expires: str | None
    used: str | None
    source: str | None
    done: int
    skipped: int
    items: int
    seconds: float

    @property
    def can_enter(self) -> bool:
        """Has a link that works."""
        return self.link == "works"

    @property
    def link(self) -> str:
        """The state of their link: “none”, “works”, “expired” or “withdrawn”."""
        return _state(self.invited, self.expires, self.revoked)


class Invitation(NamedTuple):
    """Whose link it is, an annotator's or, with another `role`, a member's; `expires` is None for never."""

    rater_id: int | None
    name: str
    expires: str | None
    role: InvitedRole = "annotator"
    created: str = ""
    revoked: str | None = None

    @property
    def for_member(self) -> bool:
        """Whether it lets a member in, not an annotator."""
        return self.role != "annotator"

    @property
    def state(self) -> str:
        """“works”, “expired” or “withdrawn”."""
        return _state(self.created, self.expires, self.revoked)


def _state(created: str | None, expires: str | None, revoked: str | None) -> str:
    if revoked:
        return "withdrawn"
    if expires and expires < now():
        return "expired"
    return "works" if created else "none"


def invite(
    db: Database, name: str, role: str = "annotator", *, simulated: bool = False, days: int = LINK_DAYS
) -> str:
    """Make (or renew) somebody's link; returns the secret, which is shown once and kept nowhere. An older
    link stops working, and sessions begun by it end. The link expires after so many days, 0: never.

    Raises StudyError for a role that no link has, and for a name that cannot be used: empty, too long to be
    shown, an annotator's with a comma, which separates names.
    """
    if role not in ("annotator", "researcher", "adjudicator"):
        raise StudyError(
            f"“{role}” is not a role for a link. Roles are annotator, researcher and adjudicator."
        )
    if not _is_valid_name(name, role):
        raise StudyError(_invalid_name(name, role))
    rater = None
    if role == "annotator":
        rater = ratings.rater_id(db, Rater(name, "human", simulated=simulated))
    token = secrets.token_urlsafe(32)
    row = {
        "rater_id": rater,
        "name": name if rater is None else "",
        "token_hash": sessions.hashed(token),
        "role": role,
        "created": now(),
        "expires": now(timedelta(days=days)) if days else None,
    }
    db.table("invitations").delete_where("rater_id IS ? AND name = ?", [row["rater_id"], row["name"]])
    insert(db, "invitations", row)
    if role == "annotator":
        sessions.end_all(db, "annotator", name=name)
    else:
        audit.record(db, AuditAct.LET_IN, about=name, target=role)
        sessions.end_all(db, "member", name=name)
    return token


def _is_valid_name(name: str, role: str) -> bool:
    if not name.strip() or len(name) > LONGEST_NAME:
        return False
    if role == "annotator":
        return "," not in name
    return name.isprintable()


def _invalid_name(name: str, role: str) -> str:
    """Why a name cannot be used, as a sentence."""
    excerpt = f"{name[:40]}…" if len(name) > 40 else name
    article = "a" if role == "researcher" else "an"
    need = f"1 to {LONGEST_NAME} characters"
    if role == "annotator":
        need += " and no comma"
    return f"“{excerpt}” is not a valid name for {article} {role}: it needs {need}."


def revoke(db: Database, name: str, *kinds: Literal["annotator", "member"]) -> None:
    """Withdraw somebody's links, or those of these kinds, and sign them out; what they rated or decided stays
    under their name. Raises NotFound.
    """
    kinds = kinds or ("annotator", "member")
    links = db.execute(
        "UPDATE invitations SET revoked = :now, token_hash = NULL WHERE revoked IS NULL "
        "AND iif(role = 'annotator', role, 'member') IN (SELECT value FROM json_each(:kinds)) "
        "AND (rater_id IS NULL AND name = :name "
        "OR rater_id = (SELECT id FROM raters WHERE kind = 'human' AND name = :name))",
        {"now": now(), "kinds": json.dumps(kinds), "name": name},
    ).rowcount
    if not links:
        annotator_id(db, name)
    sessions.end_all(db, *kinds, name=name)
    audit.record(db, AuditAct.LINK_WITHDRAWN, about=name)


def members(db: Database) -> list[Invitation]:
    """The invitations of members, by name."""
    columns = ", ".join(Invitation._fields)
    return records(
        db, Invitation, f"SELECT {columns} FROM invitations WHERE role <> 'annotator' ORDER BY name"
    )


def of_token(db: Database, token: str) -> Invitation:
    """The annotator or member whose link this is. Raises LinkRefused for one that is unknown, was withdrawn
    or has expired.
    """
    row = find(db, "invitations", token_hash=sessions.hashed(token), revoked=None)
    if row is None:
        raise sessions.LinkRefused("unknown")
    if row["expires"] and row["expires"] < now():
        raise sessions.LinkRefused("expired")
    rater = row["rater_id"]
    name = row["name"] if rater is None else ratings.rater_of(db, rater).name
    return Invitation(rater, name, row["expires"], row["role"], row["created"])


def is_withdrawn(db: Database, token: str) -> bool:
    """Whether the session with this token, which may be over, was begun by a link that is withdrawn now."""
    sql = (
        "SELECT 1 FROM sessions s JOIN invitations i ON i.rater_id = s.rater_id "
        "WHERE s.token_hash = ? AND i.revoked IS NOT NULL"
    )
    return bool(scalar(db, sql, [sessions.hashed(token)]))


def annotators(db: Database, study: str = "") -> list[Annotator]:
    """Every person who was invited or has items (in the study), with their progress."""
    return records(
        db,
        Annotator,
        "SELECT x.id, x.name, x.simulated, a.created AS invited, a.revoked, a.expires, "
        "(SELECT max(used) FROM sessions z WHERE z.rater_id = x.id) AS used, "
        "(SELECT source FROM sessions z WHERE z.rater_id = x.id ORDER BY used DESC LIMIT 1) AS source, "
        "count(DISTINCT iif(s.state = 'done', s.entry, NULL)) AS done, "
        "count(DISTINCT iif(s.state = 'skipped', s.entry, NULL)) AS skipped, "
        "count(DISTINCT s.entry) AS items, ifnull(sum(s.seconds), 0) AS seconds FROM raters x "
        "LEFT JOIN invitations a ON a.rater_id = x.id "
        "LEFT JOIN (SELECT p.rater_id, p.state, p.seconds, p.entry FROM placed_items p "
        "JOIN studies t ON t.id = p.study_id "
        f"WHERE p.purpose IN {RATED} AND ? IN ('', t.name) AND p.asked) s ON s.rater_id = x.id "
        "WHERE x.kind = 'human' AND (a.rater_id IS NOT NULL OR s.entry IS NOT NULL) GROUP BY x.id "
        "HAVING ? = '' OR count(s.entry) > 0 OR a.created IS NOT NULL ORDER BY x.name",
        [study, study],
    )


def labels(db: Database) -> dict[str, tuple[str, ...]]:
    """The languages and skills of annotators, by name; who has none is not there."""
    by_annotator: dict[str, tuple[str, ...]] = {}
    sql = "SELECT x.name, l.label FROM annotator_labels l JOIN raters x ON x.id = l.rater_id ORDER BY 1, 2"
    for name, label in db.execute(sql):
        by_annotator[name] = (*by_annotator.get(name, ()), label)
    return by_annotator


def set_labels(db: Database, name: str, texts: Collection[str]) -> None:
    """Say which languages and skills an annotator has, in place of those before.

    Raises NotFound, and StudyError for a label that is too long or has a comma.
    """
    rater = annotator_id(db, name)
    cleaned = sorted({" ".join(label.split()) for label in texts} - {""})
    for label in cleaned:
        if len(label) > LONGEST_NAME or "," in label:
            raise StudyError(
                f"“{label[:40]}” is not a valid label: a label has up to {LONGEST_NAME} characters and no "
                "comma."
            )
    db.table("annotator_labels").delete_where("rater_id = ?", [rater])
    db.table("annotator_labels").insert_all({"rater_id": rater, "label": label} for label in cleaned)
    audit.record(db, AuditAct.LABELS_SET, about=name, detail=", ".join(cleaned) or "none")


def items_of(db: Database, study: str) -> dict[str, int]:
    """How many items, or groups, to rate everybody has who has any of a study, by name."""
    return {annotator.name: annotator.items for annotator in annotators(db, study) if annotator.items}


def annotator_id(db: Database, name: str) -> int:
    """An annotator's rater id. Raises NotFound."""
    row = find(db, "raters", "id", kind="human", name=name)
    if row is None:
        people = db.table("raters").rows_where("kind = 'human'", select="name")
        raise not_found("annotator", name, (person["name"] for person in people))
    number: int = row["id"]
    return number


def set_passphrase(db: Database, passphrase: str) -> None:
    """Set the researchers' passphrase (12 characters or more), kept as an scrypt hash with its salt and
    parameters. Takes half a second and 128 MiB by design. Raises NotAllowed if one is set or it is short.
    """
    if stored_passphrase(db):
        raise NotAllowed(
            "A passphrase is set already. `concord passphrase --renew` on the server's machine replaces it."
        )
    if len(passphrase) < PASSPHRASE_LENGTH:
        raise NotAllowed(f"The passphrase needs at least {PASSPHRASE_LENGTH} characters.")
    salt = secrets.token_bytes(16)
    parameters = "$".join(f"{name}={value}" for name, value in _SCRYPT.items())
    digest = _scrypt(passphrase, salt, _SCRYPT)
    settings.put(db, PASSPHRASE, f"{parameters}${salt.hex()}${digest.hex()}")


def forget_passphrase(db: Database) -> None:
    """Remove the passphrase, so that a new one can be set, and sign out everybody who came by it."""
    settings.remove(db, PASSPHRASE)
    sessions.end_all(db, "passphrase")


def stored_passphrase(db: Database) -> str | None:
    """The hash of the researchers' passphrase; None as long as none is set."""
    return settings.get(db, PASSPHRASE)


def is_passphrase(passphrase_hash: str, passphrase: str) -> bool:
    """Whether this is the passphrase of the stored hash. Takes as long as making the hash."""
    *settings_of_hash, salt, digest = passphrase_hash.split("$")
    parameters: dict[str, int] = {}
    for setting in settings_of_hash:
        name, _, value = setting.partition("=")
        parameters[name] = int(value)
    return hmac.compare_digest(_scrypt(passphrase, bytes.fromhex(salt), parameters), bytes.fromhex(digest))


def _scrypt(passphrase: str, salt: bytes, parameters: dict[str, int]) -> bytes:
    memory = 128 * parameters["r"] * (parameters["n"] + parameters["p"] + 2)
    return hashlib.scrypt(
        passphrase.encode(), salt=salt, n=parameters["n"], r=parameters["r"], p=parameters["p"], maxmem=memory
    )


def forget(db: Database, name: str, reason: str) -> str:
    """Replace an annotator's name by a pseudonym, which is returned, and remove what else tells who they are.

    Gone are their link, their sessions with addresses and browsers, and the numbers of a crowd platform.
    Their answers, comments included, stay under the pseudonym, and so does every figure. They are signed out
    and get nothing more. The log keeps the pseudonym, not the name; SQLite's own log of changes has it until
    the last program closes the workspace. Raises NotFound, and StudyError without a reason.
    """
    if not reason.strip():
        raise StudyError("The removal of a name needs its reason, such as “asked for by e-mail”.")
    rater = annotator_id(db, name)
    pseudonym = f"annotator-{secrets.token_hex(4)}"
    audit.record(db, AuditAct.NAME_REMOVED, about=pseudonym, detail=reason.strip())
    db.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten in the file
    db.table("raters").update(rater, {"name": pseudonym})
    db.table("sessions").delete_where("rater_id = ?", [rater])
    db.table("invitations").delete_where("rater_id = ?", [rater])
    db.execute(
        "UPDATE crowd_workers SET worker = ? || '-' || id, submission = '', task = '', code = '' "
        "WHERE rater_id = ?",
        [pseudonym, rater],
    )
    for table in db.tables:
        for column in _NAMES & table.columns_dict.keys():
            db.execute(f"UPDATE [{table.name}] SET {column} = ? WHERE {column} = ?", [pseudonym, name])
        for column in _TEXTS & table.columns_dict.keys():
            _replace(db, table.name, column, name, pseudonym)
    return pseudonym


_NAMES = {"by", "decided_by", "about"}
_TEXTS = {"reason", "detail"}
"""Columns with somebody's name, and with sentences that may name somebody."""


def _replace(db: Database, table: str, column: str, name: str, pseudonym: str) -> None:
    """Replace a name where it stands as words of its own: “Ann” neither in “Annabel” nor in “Ann-Marie”."""
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    sql = f"SELECT DISTINCT {column} FROM [{table}] WHERE instr({column}, ?)"
    for (text,) in db.execute(sql, [name]).fetchall():
        anonymous_text = word.sub(pseudonym, text)
        db.execute(f"UPDATE [{table}] SET {column} = ? WHERE {column} = ?", [anonymous_text, text])
