"""docs/rubrics.md: its example is a rubric, and it explains every field and type there is."""

import re
from pathlib import Path

from concord.questions import TYPES
from concord.rubrics import reading, templates
from tests.rubrics.rubric_files_helpers import rubric

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "rubrics.md").read_text(encoding="utf-8")


def test_the_example_is_a_rubric_with_every_type_of_question():
    example = re.search(r"```toml\n(.*?)```", PAGE, re.S)
    assert example
    read = rubric(example[1])
    more = re.search(r"two\s+more\s+types\s+ask\s+for\s+words.*?```toml\n(.*?)```", PAGE, re.S)
    assert more
    words = rubric('unit = "each-reply"\n' + more[1])
    order = re.search(r"## Several replies in order.*?```toml\n(.*?)```", PAGE, re.S)
    assert order
    types = [c.scale.type for c in (*read.criteria, *read.pairs, *words.criteria, *rubric(order[1]).pairs)]
    assert sorted(types) == sorted(TYPES)


def test_every_field_type_and_variable_is_explained():
    names = {*reading._File.model_fields, *reading._Judge.model_fields, *reading._Criterion.model_fields}
    said = set(re.findall(r"`(?:\[\[|\[judge\] )?(\w+)(?:\]\])?`", PAGE))
    assert names <= said | {"judge"}
    assert {*templates.VARIABLES, *templates.OF_PAIRS} <= said
    assert set(TYPES) <= set(re.findall(r"^\| ([\w-]+) \|", PAGE, re.M))
