"""The glossary: every term has one sentence and a source, and docs/glossary.md says the same as help on
pages.

`python tests/test_glossary.py` writes docs/glossary.md anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from concord.errors import NotFound
from concord.glossary import explain, glossary

PAGE = Path(__file__).parent.parent / "docs" / "glossary.md"
HEAD = """\
# Glossary

The terms of pages, commands and documents. Help on the pages uses the same sentences: change them in
`data/glossary.toml` and run `python tests/test_glossary.py`.
"""


def page() -> str:
    terms = sorted(glossary().items(), key=lambda found: found[0].lower())
    return HEAD + "".join(f"\n**{name}**: {term.sentence}\n*{term.source}*\n" for name, term in terms)


def test_the_page_says_what_help_says():
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_term_is_one_sentence_with_a_source():
    for name, (sentence, source) in glossary().items():
        assert re.fullmatch(r"[A-Z].*[^.]\.", sentence), name
        assert not re.search(r"\. [A-Z]", sentence), f"{name} has two sentences"
        assert source == "Concord" or re.search(r"\b(1[89]|20)\d\d\b", source), f"{name} names no year"


def test_a_term_is_explained_and_an_unknown_one_is_refused():
    assert explain("MAE").startswith("Mean absolute error")
    with pytest.raises(NotFound, match="term"):
        explain("gut feeling")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
