"""The terms of pages, commands and documents: one sentence each, and the paper it comes from
(data/glossary.toml).
"""

import tomllib
from functools import cache
from typing import NamedTuple

from concord.errors import check_known
from concord.files import SHIPPED

FILE = SHIPPED / "data" / "glossary.toml"


class Term(NamedTuple):
    """What a term means, in one sentence, and where it comes from."""

    sentence: str
    source: str


@cache
def glossary() -> dict[str, Term]:
    """Every term by its name."""
    return {name: Term(**term) for name, term in tomllib.loads(FILE.read_text(encoding="utf-8")).items()}


def explain(term: str) -> str:
    """The sentence that explains a term, as help icons show it. Raises NotFound."""
    terms = glossary()
    check_known("term", term, terms)
    return terms[term].sentence
