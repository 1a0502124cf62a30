"""Which models a study's conversations and judgements were made with, one sentence each."""

from __future__ import annotations

from sqlite_utils import Database

from core.store import configurations


def provenance(db: Database, study: str) -> list[str]:
    """The players and judges of a study: the configuration of each, the prompt of judges, and the models
    reported.

    Raises NotFound for an unknown study.
    """
    players = [
        f"model “{name}”, in {count} conversations: {use}."
        for name, count, use in configurations.of_study_models(db, study)
    ]
    judges = []
    for name, version, prompt, use in configurations.of_study_judges(db, study):
        asked = f", prompt {version} sha256 {prompt}" if prompt else ", its prompt unknown"
        model, _, reported = str(use).partition("; ")
        judges.append(f"judge “{name}”: {model}{asked}{'; ' if reported else ''}{reported}.")
    return [*players, *judges]
