"""Replies to any schema."""

import random
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from concord.llm.schemas import bounds, fill


class Inner(BaseModel):
    mark: Annotated[int, Field(ge=1, le=10)]
    sure: bool
    kind: Literal["a", "b"]


class Outer(BaseModel):
    inner: Inner
    several: Annotated[list[Inner], Field(min_length=2)]
    maybe: str | None
    share: Annotated[float, Field(ge=0, le=1)]
    name: Annotated[str, Field(min_length=40, max_length=50)]
    tree: "Outer | None" = None


@pytest.mark.parametrize("seed", range(5))
def test_what_is_filled_is_valid(seed):
    value = fill(Outer.model_json_schema(), random.Random(seed))
    got = Outer.model_validate(value)
    assert len(got.several) == 2
    assert got.inner.sure is False


def test_the_same_chance_fills_the_same():
    schema = Inner.model_json_schema()
    assert fill(schema, random.Random(1)) == fill(schema, random.Random(1))
    assert len({fill(schema, random.Random(s))["mark"] for s in range(20)}) > 3


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, (1, 5)),
        ({"minimum": 0, "maximum": 10}, (0, 10)),
        ({"minimum": 3}, (3, 7)),
        ({"maximum": 3}, (-1, 3)),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 11}, (1, 10)),
    ],
)
def test_bounds(schema, expected):
    assert bounds(schema) == expected
