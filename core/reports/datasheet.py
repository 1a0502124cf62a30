"""What a study is, in words and as plain values: its datasheet, and what its figures rest on.

Report, dataset card and datasheet have it from here. The headings are those of Gebru et al. (2021),
“Datasheets for Datasets”, with the ones on annotators of the dataset cards of Hugging Face. What nobody
stated is called not stated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd
from sqlite_utils import Database

from concord.errors import StudyError, check_known
from concord.files import VERSION
from concord.reports.agreement_report import AgreementReport
from concord.reports.coefficient import metric_of
from concord.reports.registered import registered
from concord.store import configurations, conversations, crowds, exclusions, known, registrations, studies
from concord.store.conversations import Filter
from concord.studies.purposes import repeat
from concord.table import SCHEMA, Column, as_values, markdown_text, shown

NOT_STATED = "Not stated."
ASKED: Mapping[str, tuple[str, str]] = {
    "motivation": ("Motivation", "For what purpose, by whom and with whose money the dataset was made"),
    "sources": ("Composition", "What the conversations are, and what they may hold that is sensitive"),
    "recruitment": ("Collection process", "How annotators were found, and what they agreed to"),
    "annotators": ("Annotators", "Who they are: languages, background, relation to the researchers"),
    "payment": ("Annotators", "What they were paid, in which currency, for which time"),
    "ethics": ("Collection process", "Whether an ethics board looked at the study, and what it said"),
    "preprocessing": ("Preprocessing", "What was cleaned, left out or rewritten before or after rating"),
    "uses": ("Uses", "What the dataset was used for, and what it should not be used for"),
    "distribution": ("Distribution", "How and under which licence it is given to others"),
    "maintenance": ("Maintenance", "Who answers questions and corrects errors"),
    "limits": ("Limits", "What readers of the figures should be wary of"),
}
"""What researchers are asked, by the name of the answer: the heading it stands under, and the question."""
HEADINGS = (
    "Motivation",
    "Composition",
    "Collection process",
    "Annotators",
    "Agreement",
    "Preprocessing",
    "Uses",
    "Distribution",
    "Maintenance",
    "Limits",
    "Provenance",
)
LONGEST = 5_000
_ALPHA = Column("alpha", digits=3, interval="ends")


def stated(study: studies.Study) -> dict[str, str]:
    """What researchers stated of a study, by name."""
    return dict(study.meta.get("datasheet", {}))


def state(db: Database, name: str, said: Mapping[str, str]) -> None:
    """Keep answers for the datasheet; an empty one takes away what was kept. Raises NotFound, StudyError."""
    kept = stated(studies.get(db, name))
    for key, text in said.items():
        check_known("entry of the datasheet", key, ASKED)
        if len(text) > LONGEST:
            raise StudyError(f"“{key}” has more than {LONGEST:,} characters.")
        kept |= {key: text.strip()}
    studies.remember(db, name, "datasheet", {key: text for key, text in kept.items() if text})


def datasheet(db: Database, name: str, report: AgreementReport | None) -> str:
    """The datasheet as Markdown; without a report it says that nothing was measured. Raises NotFound."""
    study = studies.get(db, name)
    said = stated(study)
    facts = {
        "Composition": _composition(db, study),
        "Collection process": _process(db, study),
        "Annotators": _people(db, study),
        "Agreement": _agreement(report),
        "Limits": [*report.limits, *report.notes] if report else [],
        "Provenance": [*provenance(db, name), *_hashes(db, report)],
    }
    lines = [f"# Datasheet of “{markdown_text(study.title or name)}”"]
    for heading in HEADINGS:
        lines += ["", f"## {heading}", ""]
        lines += [f"- {markdown_text(unnamed(db, name, fact))}" for fact in facts.get(heading, ())]
        for key, (under, question) in ASKED.items():
            if under == heading:
                lines.append(f"- {question}: {markdown_text(said[key]) if key in said else NOT_STATED}")
    return "\n".join([*lines, ""])


def unnamed(db: Database, study: str, text: str) -> str:
    """A text with annotators' names replaced by the numbers that a dataset folder gives them."""
    numbers = {name: f"annotator {n}" for n, (name, _) in enumerate(studies.raters(db, study), 1)}
    if not numbers:
        return text
    names = "|".join(re.escape(name) for name in sorted(numbers, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda found: numbers[found[0]], text)


def _composition(db: Database, study: studies.Study) -> Iterator[str]:
    found = conversations.table(db, Filter(study=study.name))
    units = len(studies.units(db, study.name))
    what = "replies, one by one" if study.per_turn else "whole conversations"
    yield f"{units} units of {len(found)} conversations are rated as {what}."
    yield f"Languages: {', '.join(sorted(set(found.language))) or 'none'}."
    yield f"{found.player.nunique()} players wrote the replies."
    drawn = study.meta.get("drawn")
    if drawn:
        by = f", spread over {', '.join(drawn['by'])}" if drawn["by"] else ""
        yield f"Drawn from {drawn['candidates']} conversations with seed {study.seed}{by}."
    else:
        yield f"The sample was not drawn by Concord; its source is “{study.source}”."


def _process(db: Database, study: studies.Study) -> Iterator[str]:
    for criterion in study.criteria:
        answers = "; ".join(criterion.scale.legend)
        yield f"{criterion.label} ({criterion.name}): {criterion.statement} Answers: {answers}."
    yield "Guidelines are in guidelines.md." if study.guidelines else "There were no guidelines."
    each = f"{study.overlap} people" if study.overlap else "everybody who takes part"
    if not study.anonymous:
        yield f"Each unit was meant for {each}."
    gold, (repeated, _) = {one.unit for one in known.gold(db, study.name)}, repeat.settings_of(study)
    if gold or repeated:
        yield f"{len(gold)} gold items and {repeated:.0%} repeats lay hidden among the items."
    made = registrations.binding(registrations.every(db, study.name))
    yield f"{made.line}." if made else "The study was not registered before people rated."


def _people(db: Database, study: studies.Study) -> Iterator[str]:
    if study.anonymous:
        yield "People's ratings have no names, so that their number is not known here."
        return
    raters = studies.raters(db, study.name)
    mocks = sum(simulated for _, simulated in raters)
    yield f"{len(raters) - mocks} people rated" + (
        f", beside {mocks} simulated annotators." if mocks else "."
    )
    came = crowds.workers(db, study.name)
    crowd = crowds.of_study(db, study.name)
    if crowd and came:
        yield f"{len(came)} of them came from a crowd platform ({crowd.platform})."
    out = exclusions.excluded(db, study.name)
    yield f"{len(out)} are left out of the figures by a decision: " + (
        "; ".join(one.reason for one in out.values()) + "." if out else "nobody."
    )


def _agreement(report: AgreementReport | None) -> Iterator[str]:
    if report is None:
        yield "Nothing was measured."
        return
    yield from (*report.summary, *report.missing)
    for name, part in report.agreement.criteria.items():
        metric = "interval" if metric_of(report, name) == "interval" else "ordinal"
        alpha = part.alpha[metric]
        figure = shown(alpha, _ALPHA) if alpha.defined else f"undefined ({alpha.reason})"
        people = f"{part.people} people on {part.items} items"
        yield f"{report.label(name)}: Krippendorff's alpha of people ({metric}) {figure}, {people}."


def _hashes(db: Database, report: AgreementReport | None) -> Iterator[str]:
    if report:
        of = about(db, report)
        if of["simulated"]:
            yield f"Mock models, neither people nor language models: {', '.join(of['simulated'])}."
        yield sums(of)
    yield f"Concord {VERSION}."


def sums(of: Mapping[str, Any]) -> str:
    """The hashes of `about`, in one sentence."""
    sample, ratings = of["sample_sha256"], of["ratings_sha256"]
    return f"{of['units']} units, SHA-256 {sample}; {of['ratings']} ratings, SHA-256 {ratings}."


def about(db: Database, report: AgreementReport) -> dict[str, Any]:
    """What the figures rest on and what they say in words, ready for JSON.

    `sample_sha256` is of the units (key of the conversation, turn), `ratings_sha256` of every rating that was
    measured; neither depends on the workspace: a study exported and imported elsewhere has the same.
    """
    study = report.of.study
    units = studies.units(db, study.name)
    drawn = study.meta.get("drawn", {})
    return {
        "schema": SCHEMA,
        "concord": VERSION,
        "study": study.name,
        "title": study.title,
        "source": study.source,
        "simulated": list(report.of.simulated),
        "summary": report.summary,
        "missing": report.missing,
        "basis": {name: part.basis for name, part in report.agreement.criteria.items()},
        "left_out": report.left_out,
        "options": asdict(report.options),
        "units": len(units),
        "sample_sha256": _digest(f"{unit['key']}\t{unit['turn'] or ''}" for unit in units),
        "sample": {"seed": study.seed, "overlap": study.overlap, "per_turn": study.per_turn, **drawn},
        "ratings": len(report.of.table),
        "ratings_sha256": _digest(_ratings(report.of.table, {unit["id"]: unit["key"] for unit in units})),
        "guidelines_sha256": _digest([study.guidelines]) if study.guidelines else None,
        "criteria": [
            {"name": c.name, "title": c.label, "statement": c.statement}
            | {"scale": asdict(c.scale), "counted": c.counted}
            for c in study.criteria
        ],
        "registration": _registered(report),
        "provenance": provenance(db, study.name),
        "judges": configurations.origins(db, study.name),
    }


def _registered(report: AgreementReport) -> dict[str, Any] | None:
    """The registration and what differs from it; None where there is none."""
    made = report.of.registered
    if made is None:
        return None
    told = {"sha256": made.sha256, "registered": made.registered, "by": made.by, "answers": made.ratings}
    return told | {"late": made.late, "items": as_values(registered(report))["rows"]}


def provenance(db: Database, study: str) -> list[str]:
    """Which models made a study's conversations and judgements, in sentences: configuration, reported models,
    judges' prompts, judgements that failed. Raises NotFound.
    """
    players = [
        f"model “{name}”, in {count} conversations: {use}."
        for name, count, use in configurations.of_study_models(db, study)
    ]
    judges = []
    for name, variant, prompt, use in configurations.of_study_judges(db, study):
        asked = f", prompt {variant} sha256 {prompt}" if prompt else ", its prompt unknown"
        model, _, reported = str(use).partition("; ")
        judges.append(f"judge “{name}”: {model}{asked}{'; ' if reported else ''}{reported}.")
    return [*players, *judges, *map(_origin, configurations.origins(db, study))]


def _origin(judge: Mapping[str, Any]) -> str:
    """A judge in one sentence: how often it judged, how often it failed, and with which prompt."""
    name = f"{judge['judge']} {judge['variant']}".rstrip()
    prompt = f"prompt {judge['prompt']}" if judge["prompt"] else "imported, its prompt unknown"
    return f"{name}: {judge['judgements']} judgements, {judge['failed']} of them failed; {prompt}."


def _ratings(table: pd.DataFrame, keys: Mapping[int, str]) -> list[str]:
    turns = table.turn.astype("Int64").astype("string").fillna("")
    rows = zip(
        table.unit.map(keys), turns, table.criterion, table.kind, table.rater, table.score, strict=True
    )
    return sorted("\t".join(map(str, row)) for row in rows)


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
