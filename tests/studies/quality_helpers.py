"""What several tests take from `test_quality`: item."""

from concord.store.progress import Item


def item(annotator: str = "Ada", unit: int = 1, **fields: object) -> Item:
    values = {
        "annotator": annotator,
        "unit": unit,
        "conversation_id": unit,
        "key": f"k{unit}",
        "turn": None,
        "stratum": "",
        "state": "open",
        "reason": "",
        "flag": "",
        "seconds": 0.0,
        "reply_chars": 600,
        "submitted": None,
    }
    return Item(**{**values, **fields})  # type: ignore[arg-type]
