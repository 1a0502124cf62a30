"""Vectors of texts: read from an endpoint's reply, checked, and packed for the journal.

A vector is scaled to length 1 and half precision when it is read, so that the journal keeps it unchanged.
"""

import base64
import json

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float16]

BATCH = 32
"""Texts in one call: the lowest limit of the common servers."""


class BadVectors(ValueError):
    """A reply without one usable vector for each text; the message says why."""


def read(content: bytes, texts: int) -> list[Vector]:
    """The vectors of so many texts, in their order, scaled to length 1.

    Raises BadVectors unless there is one for each text, all of one dimension, of finite numbers not all zero.
    """
    try:
        data = json.loads(content)["data"]
        numbered = [(item.get("index", place), item["embedding"]) for place, item in enumerate(data)]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadVectors("The reply is not what an embeddings endpoint answers") from None
    if len(numbered) != texts:
        raise BadVectors(f"{len(numbered)} vectors came for {texts} texts")
    if sorted(place for place, _ in numbered if isinstance(place, int)) != list(range(texts)):
        raise BadVectors("The vectors are not numbered as the texts are")
    vectors = [_vector(numbers) for _, numbers in sorted(numbered, key=lambda pair: pair[0])]
    lengths = sorted({len(vector) for vector in vectors})
    if len(lengths) > 1:
        raise BadVectors(f"One vector has {lengths[0]} numbers, another {lengths[-1]}")
    return vectors


def _vector(numbers: object) -> Vector:
    if not isinstance(numbers, list) or not numbers or not all(type(n) in (int, float) for n in numbers):
        raise BadVectors("A vector is not a list of numbers")
    try:
        vector = np.array(numbers, dtype=np.float64)
    except OverflowError:
        raise BadVectors("A vector holds a number beyond all bounds") from None
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length):
        raise BadVectors("A vector holds a number that is not finite")
    if length == 0:
        raise BadVectors("A vector is all zeros")
    return (vector / length).astype(np.float16)


def tokens(content: bytes) -> int:
    """The tokens that a reply says were read; 0 if it does not say."""
    try:
        usage = json.loads(content).get("usage") or {}
        return int(usage.get("prompt_tokens") or usage.get("total_tokens") or 0)
    except (ValueError, TypeError, AttributeError):
        return 0


def pack(vector: Vector) -> str:
    """A vector as text: two bytes a number, in base64."""
    return base64.b64encode(vector.astype("<f2").tobytes()).decode("ascii")


def unpack(text: str) -> Vector:
    """The vector that was packed."""
    return np.frombuffer(base64.b64decode(text), dtype="<f2").astype(np.float16)
