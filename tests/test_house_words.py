"""Sentences that readers meet use the field's words: house words are counted, and their number only falls."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FEWEST_WORDS = 4
"""Words of a literal from which it is a sentence."""
SQL = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|JOIN|WHERE|CREATE|REPLACE)\b")
ALLOWED = {
    "anybody": 0,
    "come again|comes again": 0,
    "could not be read": 0,
    "cut reply|cut replies": 0,
    "everybody": 0,
    "goes on": 0,
    "leave out|left out": 0,
    "nobody": 0,
    "one more person": 0,
    "somebody": 1,
    "told apart": 0,
    "whoever": 0,
}
"""House words, and how many sentences may have each. Lower a number after a rewrite; never raise it."""


def sentences(tree: ast.Module) -> Iterator[str]:
    """The string literals of a module that are sentences; texts below a name, such as docstrings, are not."""
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in notes else None
        if isinstance(text, str) and len(text.split()) >= FEWEST_WORDS and not SQL.search(text):
            yield text


def counts() -> tuple[Counter[str], dict[str, list[str]]]:
    """How many sentences have each house word, and which."""
    numbers: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for package in ("core", "pages"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for text in sentences(ast.parse(path.read_text(encoding="utf-8"))):
                for words in ALLOWED:
                    if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE):
                        numbers[words] += 1
                        examples.setdefault(words, []).append(f"{path.relative_to(ROOT)}: {text[:100]}")
    return numbers, examples


@pytest.fixture(scope="module")
def found() -> tuple[Counter[str], dict[str, list[str]]]:
    return counts()


@pytest.mark.parametrize("words", ALLOWED)
def test_house_words_only_fall(words, found):
    numbers, examples = found
    assert numbers[words] == ALLOWED[words], "\n".join(examples.get(words, ["fewer: lower the number"]))


def test_a_house_word_in_a_sentence_is_seen():
    tree = ast.parse(
        '"""Nobody reads this docstring here."""\nraise ValueError("Nobody has rated the study yet.")'
    )
    assert [*sentences(tree)] == ["Nobody has rated the study yet."]


def test_no_sentence_shows_the_code_that_fills_it():
    """A call within braces is of an f-string that lacks its f."""
    shown = [
        f"{path.relative_to(ROOT)}: {text[:100]}"
        for package in ("core", "pages")
        for path in sorted((ROOT / package).rglob("*.py"))
        for text in sentences(ast.parse(path.read_text(encoding="utf-8")))
        if re.search(r"\{[\w.,' ]*\w\([\w.,' ]*\)\}", text)
    ]
    assert not shown
