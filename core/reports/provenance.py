"""What a study's figures rest on, as plain values and in sentences: sample, ratings, models, prompts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd
from sqlite_utils import Database

from concord.files import VERSION
from concord.reports.agreement_report import AgreementReport
from concord.store import configurations, studies
from concord.table import SCHEMA


def sums(checksums: Mapping[str, Any]) -> str:
    """The hashes of `provenance_values`, in one sentence."""
    sample = checksums["sample_sha256"]
    ratings = checksums["ratings_sha256"]
    return f"{checksums['units']} units, SHA-256 {sample}; {checksums['ratings']} ratings, SHA-256 {ratings}."


def provenance_values(db: Database, report: AgreementReport) -> dict[str, Any]:
    """What the figures rest on and what they say in words, ready for JSON.

    `sample_sha256` is of the units (key of the conversation, turn), `ratings_sha256` of every rating that was
    measured; neither depends on the workspace: a study exported and imported elsewhere has the same.
    """
    study = report.data.study
    units = studies.units(db, study.name)
    return {
        "schema": SCHEMA,
        "concord": VERSION,
        "study": study.name,
        "title": study.title,
        "source": study.source,
        "simulated": list(report.data.simulated),
        "summary": report.summary,
        "missing": report.missing,
        "basis": {name: part.basis for name, part in report.agreement.criteria.items()},
        "left_out": report.left_out,
        "options": asdict(report.options),
        "units": len(units),
        "sample_sha256": _digest(f"{unit['key']}\t{unit['turn'] or ''}" for unit in units),
        "sample": {
            "seed": study.seed,
            "overlap": study.overlap,
            "per_turn": study.per_turn,
            **study.sampling,
        },
        "ratings": len(report.data.table),
        "ratings_sha256": _digest(_ratings(report.data.table, {unit["id"]: unit["key"] for unit in units})),
        "guidelines_sha256": _digest([study.guidelines]) if study.guidelines else None,
        "criteria": [
            {"name": c.name, "title": c.label, "statement": c.statement}
            | {"scale": asdict(c.scale), "counted": c.counted}
            for c in study.criteria
        ],
        "provenance": provenance(db, study.name),
        "judges": [judge for judge, _ in configurations.of_study_judges(db, study.name)],
    }


def provenance(db: Database, study: str) -> list[str]:
    """Which models made a study's conversations and judgements, in sentences: configuration, reported models,
    judges' prompts, judgements that failed. Raises NotFound.
    """
    players = [
        f"model “{name}”, in {count} conversations: {use}."
        for name, count, use in configurations.of_study_models(db, study)
    ]
    judges = []
    for configuration, use in configurations.of_study_judges(db, study):
        prompt = (
            f"prompt {configuration['variant']} sha256 {configuration['prompt']}"
            if configuration["prompt"]
            else "its prompt unknown"
        )
        model, _, reported = str(use).partition("; ")
        counts = f"{configuration['judgements']} judgements, {configuration['failed']} of them failed"
        model_words = f"{model}, {prompt}{'; ' if reported else ''}{reported}"
        judges.append(f"judge “{configuration['judge']}”, {counts}: {model_words}.")
    return [*players, *judges]


def _ratings(table: pd.DataFrame, keys: Mapping[int, str]) -> list[str]:
    turns = table.turn.astype("Int64").astype("string").fillna("")
    rows = zip(
        table.unit.map(keys), turns, table.criterion, table.kind, table.rater, table.score, strict=True
    )
    return sorted("\t".join(map(str, row)) for row in rows)


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
