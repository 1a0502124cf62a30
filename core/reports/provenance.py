"""Sentences that say which models made a study's conversations and judgements."""

from sqlite_utils import Database

from concord.store import configurations


def provenance(db: Database, study: str) -> list[str]:
    """Configuration, reported models and judges' prompt of each model of a study. Raises NotFound."""
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
