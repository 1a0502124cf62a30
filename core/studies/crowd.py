"""Crowd platforms: a link a study, by which each who comes gets a share of the items; what is owed to whom.

Nothing of a platform is called: its numbers come in the address, and a completion code goes back by hand.
"""

from __future__ import annotations

import random
import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, TypedDict
from urllib.parse import urlencode

from sqlite_utils import Database

from concord import messages
from concord.codes import AuditAct, CrowdOutcome
from concord.errors import StudyError
from concord.store import acts, closings, crowds, known, placements, settings, studies
from concord.store.crowds import Crowd, Platform, Visitor, Worker
from concord.store.sessions import LinkRefused
from concord.studies import annotation_flow
from concord.studies.dealing import refuse_undealable
from concord.studies.purposes import gold, training
from concord.table import Column, Table, record

PARAMETERS: Mapping[Platform, tuple[str, str, str]] = {
    "prolific": ("PROLIFIC_PID", "SESSION_ID", "STUDY_ID"),
    "mturk": ("workerId", "assignmentId", "hitId"),
}
"""The parameters with the number of the person, of the submission and of the task."""
NAMES = {name for names in PARAMETERS.values() for name in names}
PLACEHOLDERS: Mapping[Platform, str] = {"prolific": "{{%%%s%%}}", "mturk": "${%s}"}
"""How a platform writes what it replaces by a parameter's value."""
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What MTurk says in place of an assignment that was not accepted."""
COMPLETE = "https://app.prolific.com/submissions/complete?"
"""Where a person confirms the end of their submission by Prolific's code."""
_NUMBER = re.compile(r"[A-Za-z0-9]{1,64}")
_CODE = re.compile(r"[A-Za-z0-9-]{1,40}")


def open_link(db: Database, crowd: Crowd, base_url: str | None = None) -> str:
    """The address for the platform, in place of the one before; the token in it is stored nowhere.

    Whoever came before keeps their desk. Nobody is promised more items than the study has. Raises NotFound,
    and StudyError for a study that cannot be dealt, where no item has room for another rater, and for numbers
    that make no sense.
    """
    refuse_undealable(studies.get(db, crowd.study))
    crowd = replace(crowd, items=min(crowd.items, len(studies.units(db, crowd.study))))
    if closings.is_closed(db, crowd.study):
        raise StudyError(f"The study “{crowd.study}” is closed.")
    if min(crowd.quota, crowd.items, crowd.minutes) < 1:
        raise StudyError("Annotators, items per annotator and minutes must be at least 1.")
    codes = (crowd.code, crowd.failed_code, crowd.screen_out_code)
    if any(code and not _CODE.fullmatch(code) for code in codes):
        raise StudyError("A code has up to 40 letters, digits and hyphens.")
    if len(set(filter(None, codes))) < len([*filter(None, codes)]):
        raise StudyError(
            "Each code must be different, because the code tells the platform how an annotator ended."
        )
    if crowd.misses < 1:
        raise StudyError("The number of missed attention checks must be at least 1.")
    free(db, crowd.study)
    at_work = any(one.state == "at work" for one in crowds.workers(db, crowd.study))
    if not at_work and not share(db, crowd, ""):  # who is at work may leave items to the next who comes
        overlap = studies.get(db, crowd.study).overlap
        raise StudyError(
            f"No item of “{crowd.study}” can take another rater: the overlap is {overlap}, and each item "
            f"has that many. `concord study deal {crowd.study} --overlap 0` sets no limit, "
            "and assigns every item to each annotator who has items. Or draw a study for the "
            "crowd alone, without an assignment."
        )
    token = secrets.token_urlsafe(24)
    crowds.keep(db, crowd, token)
    terms = f"{crowd.platform}: {crowd.quota} annotators, {crowd.items} items each, {crowd.minutes} minutes"
    acts.record(db, crowd.study, AuditAct.OPENED_TO_A_CROWD, terms)
    mark = PLACEHOLDERS[crowd.platform]
    numbers = "&".join(f"{name}={mark % name}" for name in PARAMETERS[crowd.platform])
    return f"{(base_url or settings.address(db)).rstrip('/')}/rate?{urlencode({'token': token})}&{numbers}"


def visitor(platform: Platform, query: Sequence[tuple[str, str]]) -> Visitor:
    """Who comes, by an address's parameters. Raises LinkRefused for what a platform would not say."""
    values_of_parameters = [
        [value for name, value in query if name == parameter_names]
        for parameter_names in PARAMETERS[platform]
    ]
    if PREVIEW in values_of_parameters[1]:
        raise LinkRefused("preview")
    numbers = values_of_parameters[:2]
    tasks = values_of_parameters[2]
    if any(len(values) != 1 for values in numbers) or len(tasks) > 1:
        raise LinkRefused("number")
    came = Visitor(numbers[0][0], numbers[1][0], *tasks)
    if not all(_NUMBER.fullmatch(value) for value in came if value):
        raise LinkRefused("number")
    if not came.worker or not came.submission:
        raise LinkRefused("number")
    return came


def enter(db: Database, crowd: Crowd, came: Visitor) -> Worker:
    """Let somebody in: at the first visit they become an annotator and get their share, later they find it.

    To be called in a transaction that writes, so that of two visits at once the second finds the first.
    Raises LinkRefused where nobody new is let in, where their time is over, and for a number that is known
    from another submission.
    """
    free(db, crowd.study)
    everybody = crowds.workers(db, crowd.study)
    worker = next((one for one in everybody if one.worker == came.worker), None)
    if worker is not None:
        if worker.submission != came.submission:
            raise LinkRefused("twice")
        if worker.returned and not worker.open:  # else they finish what they began
            raise LinkRefused("over")
        return worker
    if closings.is_closed(db, crowd.study):
        raise LinkRefused("ended")
    present = sum(1 for one in everybody if not one.returned)
    units = share(db, crowd, came.worker)
    if present >= crowd.quota or not units:
        raise LinkRefused("full")
    new = crowds.add(db, crowd, came, crowd.code or secrets.token_hex(4).upper())
    placements.assign(db, new.rater, units)
    annotation_flow.deal(db, crowd.study)
    return new


def share(db: Database, crowd: Crowd, worker: str) -> list[int]:
    """The units for somebody new: of the conversations with fewest raters, in an order of their own.

    None has more raters than the study's overlap, if it has one. Items of people whose time ran out count
    once they are submitted. Turns of a conversation stay together; the first one is never too long.
    """
    study = studies.get(db, crowd.study)
    returned_workers = crowds.returned(db, crowd.study)
    raters: Counter[int] = Counter()
    for entry in placements.queues(db, crowd.study):
        if entry.closed or entry.person not in returned_workers:
            raters[entry.item] += 1
    conversations: dict[str, list[int]] = {}
    for unit in studies.units(db, crowd.study):
        conversations.setdefault(unit["key"], []).append(unit["id"])
    rng = random.Random(f"{study.seed} {crowd.study} {worker}")
    raters_of = {key: max(raters[unit] for unit in units) for key, units in conversations.items()}
    free = list(conversations)
    if study.overlap:
        free = [key for key in conversations if raters_of[key] < study.overlap]
    rng.shuffle(free)
    items: list[list[int]] = []
    for key in sorted(free, key=raters_of.__getitem__):
        extended = [*items, conversations[key]]
        length = len(extended) if study.ranks else sum(map(len, extended))
        if not items or length <= crowd.items:
            items = extended
    rng.shuffle(items)
    return list(chain.from_iterable(items))


class Ending(TypedDict):
    """What a desk shows of a crowd platform at its end: the completion code and, on Prolific, the address
    that takes it; without a code, of how many items somebody's time was over.
    """

    code: str
    link: str
    dealt: int


def ending(db: Database, study: str, rater: int) -> Ending | None:
    """How somebody's work for a crowd platform ended; None for others, and as long as there is something to
    rate.
    """
    crowd = crowds.of_study(db, study)
    worker = next(iter(crowds.workers(db, study, rater)), None) if crowd else None
    if worker is None or crowd is None:
        return None
    outcome = _outcome(crowd, worker, screened_out(db, study, rater), _missed(db, study).get(worker.name, 0))
    if outcome is CrowdOutcome.AT_WORK:
        return None
    code = code_of(crowd, worker, outcome)
    if not code:
        return Ending(code="", link="", dealt=max(worker.dealt, worker.done + worker.skipped))
    by_code = crowd.platform == "prolific" and code in (crowd.code, crowd.failed_code, crowd.screen_out_code)
    link = COMPLETE + urlencode({"cc": code}) if by_code else ""
    return Ending(code=code, link=link, dealt=0)


def screened_out(db: Database, study: str, rater: int) -> bool:
    """Whether somebody has failed the last attempt at a study's training, and was not admitted."""
    rule = training.rule_of(studies.get(db, study))
    if rule is None or not placements.untrained(db, study, rater):
        return False
    attempts = training.attempts(db, study, rater)
    return bool(attempts) and attempts[-1].is_over and attempts[-1].number >= rule.attempts


def _missed(db: Database, study: str) -> dict[str, int]:
    """How many attention checks each annotator has missed."""
    checks_by_name = gold.hits(known.checks(db, study))
    return {
        name: sum(attention and not hit for hit, attention in checks)
        for name, checks in checks_by_name.items()
    }


def _outcome(crowd: Crowd, worker: Worker, screened: bool, missed: int) -> CrowdOutcome:
    if screened:
        return CrowdOutcome.SCREENED_OUT
    if worker.returned and not worker.open:
        return CrowdOutcome.TIMED_OUT
    if worker.open:
        return CrowdOutcome.AT_WORK
    return CrowdOutcome.MISSED_ATTENTION if missed >= crowd.misses else CrowdOutcome.COMPLETED


def code_of(crowd: Crowd, worker: Worker, outcome: CrowdOutcome) -> str:
    """The code that somebody is shown at the end; “” for none."""
    if outcome is CrowdOutcome.SCREENED_OUT:
        return crowd.screen_out_code
    if outcome is CrowdOutcome.MISSED_ATTENTION:
        return crowd.failed_code or worker.code
    return worker.code if outcome is CrowdOutcome.COMPLETED else ""


def free(db: Database, study: str) -> list[str]:
    """Take back what people have not begun who are out of time or failed the training; returns their names.

    Their places are free for others. Answers stay. Raises NotFound.
    """
    failed = {one.name for one in crowds.workers(db, study) if screened_out(db, study, one.rater)}
    return crowds.expire(db, study, failed)


def payments(db: Database, study: str) -> Table:
    """What everybody who came by a study's link has done, on which payments rest.

    Minutes are those at work at the desk, whose pauses do not count. Raises NotFound.
    """
    crowd = crowds.of_study(db, study)
    missed = _missed(db, study)
    people = crowds.workers(db, study)
    rows: list[dict[str, Any]] = []
    for worker in people:
        outcome_words = ""
        code = worker.code
        if crowd:
            failed = screened_out(db, study, worker.rater)
            outcome = _outcome(crowd, worker, failed, missed.get(worker.name, 0))
            outcome_words = messages.CROWD_OUTCOMES[outcome]
            code = code_of(crowd, worker, outcome)
        rows.append(
            {
                **record(worker),
                "annotator": worker.name,
                "participant": worker.worker,
                "state": worker.state,
                "items": worker.done + worker.skipped,
                "left": worker.open,
                "minutes": worker.seconds / 60,
                "missed": missed.get(worker.name, 0),
                "outcome": outcome_words,
                "code": code,
            }
        )
    columns = (
        *map(Column, ("annotator", "participant", "submission", "task", "state")),
        *(Column(name, digits=0) for name in ("items", "skipped", "left")),
        Column("minutes", digits=1, help="Time at work at the desk, without pauses."),
        Column("missed", "missed attention checks", digits=0),
        Column("outcome"),
        Column("code", help="The code that they were shown."),
    )
    note = f"{len(rows)} people." if rows else "No annotator has used a crowd link yet."
    return Table("payments", f"Payments of {study}", columns, tuple(rows), notes=(note,))
