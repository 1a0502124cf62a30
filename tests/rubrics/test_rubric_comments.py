"""Comments of a rubric's TOML, which the form does not write again."""

import tomllib

import pytest

from concord.rubrics import writing
from concord.rubrics.rubric import STARTER


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        ("# field\nx = 1 # one\n", ["field", "one"]),
        ('x = "# a \\" # b"\n', []),
        ("x = '# a' # b\n", ["b"]),
        ('x = """\n# a\n"b" # c\\""" # d"""" # e "f"\n', ['e "f"']),
        ("x = '''\n# a 'b' # c'''' # d\n", ["d"]),
        ('x = ["", \'\', """""", "a"] # b\n', ["b"]),
    ],
)
def test_a_comment_is_told_from_a_text(text: str, comments: list[str]) -> None:
    tomllib.loads(text)
    assert writing.comments(text) == comments


def test_what_concord_writes_has_none() -> None:
    assert writing.comments(writing.toml({"title": "# 1", "criteria": [STARTER]})) == []
