"""Whether judges were sent the guidelines that people read: the sentences that every report prints."""

from collections.abc import Mapping

from sqlite_utils import Database

from concord.store import ratings, rubrics


def sent(db: Database) -> dict[str, str | None]:
    """The guidelines that judges were sent, by the version of their prompt; “” where a rubric sends none.

    None stands for a benchmark's own prompt. Versions by which nobody was asked here are missing.
    """
    texts: dict[str, str | None] = {prompt["version"]: None for prompt in ratings.prompts(db)}
    for version in rubrics.versions(db):
        from concord.rubrics.reading import rubric_of  # loads pydantic

        texts[version.variant] = rubric_of(version.name, version.body, version.variant).sent
    return texts


def sentences(
    judges: Mapping[str, str], sent: Mapping[str, str | None], people: str | None = None
) -> list[str]:
    """Which judges (name → version of the prompt) were sent guidelines, and whether people read the same.

    `people` are the guidelines that people read, “” where there are none; None for figures without people.
    [] without judges.
    """
    alike: dict[str, list[str]] = {}
    for judge, version in judges.items():
        alike.setdefault(_worded(version, sent, people), []).append(judge)
    lines = []
    for worded, names in alike.items():
        everybody = "The judge" if len(names) == 1 else "The judges"
        who = everybody if len(alike) == 1 else ", ".join(names)
        lines.append(f"{who} {'was' if len(names) == 1 else 'were'} {worded}.")
    return lines


def _worded(version: str, sent: Mapping[str, str | None], people: str | None) -> str:
    if version not in sent:
        return "not asked in this workspace: whether with guidelines is not known"
    text = sent[version]
    if text and people and text.strip() == people.strip():
        return "sent the guidelines that people read"
    how = "sent the guidelines of the rubric" if text else "sent no guidelines"
    how = "asked by the benchmark's prompt, without guidelines" if text is None else how
    if not people:
        return how if people is None else f"{how}; people had none"
    return f"{how}; {'people read others' if text else 'the guidelines went to people only'}"
