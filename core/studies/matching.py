"""Items that go only to annotators with their language or skill, by the labels of annotators."""

from collections.abc import Iterable

from sqlite_utils import Database

from concord.errors import not_found
from concord.store import access, frames, studies
from concord.store.studies import Study


def matchable(db: Database, name: str) -> list[str]:
    """What the labels of annotators can be matched with: “language”, and the facets of a study's items."""
    return ["language", *frames.facet_values(db, name)]


def unfit(db: Database, study: Study, people: Iterable[str], match: str | None = None) -> dict[str, set[str]]:
    """The people who lack the label that a conversation of a study asks for, by its key. Raises NotFound."""
    facet = study.match if match is None else match
    if not facet:
        return {}
    if facet not in (facets := matchable(db, study.name)):
        raise not_found("facet", facet, facets)
    labels = {person: {label.casefold() for label in names} for person, names in access.labels(db).items()}
    by_language = facet == "language"
    values = studies.languages(db, study.name) if by_language else frames.facet_values(db, study.name)[facet]
    everybody = set(people)
    return {
        unit["key"]: {
            person for person in everybody if values[unit["id"]].casefold() not in labels.get(person, ())
        }
        for unit in studies.units(db, study.name)
        if unit["id"] in values
    }
