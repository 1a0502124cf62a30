"""What several tests take from `test_three_files`: BETTER, ITEMS, RUBRIC, arena, fed."""

import json

ITEMS = 12


RUBRIC = """
title = "Would you talk to it again?"
[[criteria]]
name = "pleasant"
statement = "It is pleasant to talk to."
scale = "1..5"
"""


BETTER = """
title = "Which answer is better?"
[[criteria]]
name = "better"
statement = "Which answer helps more?"
type = "pairwise"
"""


def fed(folder):
    rows = [
        {
            "dialog": [
                {"speaker": "human", "text": f"Hi! It is the {place}th today."},
                {"speaker": "model", "text": "Hey! How are you?" * (1 + place % 3)},
            ],
            "annotations": {"Coherent": [2, 2, 1, 2, 2], "Overall": [3, 1, 2, 3, 4]},
            "model": "Meena",
            "dialogue_id": f"fed-dial_{place:05d}",
        }
        for place in range(ITEMS)
    ]
    file = folder / "fed_human_annotations.json"
    file.write_text(json.dumps(rows, indent=4))
    return file, "of the form “FED dialogues”, 12 rows"


def arena(folder):
    """Twelve battles of three models, as `lmsys/chatbot_arena_conversations` has them."""
    models, won = ("elm", "oak", "ash"), ("model_a", "model_b", "tie", "tie (bothbad)", "model_b")
    rows = []
    for place in range(ITEMS):
        asked = {"content": f"How do I cook dish {place}?", "role": "user"}
        said = [{"content": "Boil it. " * (1 + (place * k) % 5), "role": "assistant"} for k in (1, 2)]
        rows.append(
            {
                "question_id": f"{place:032x}",
                "model_a": models[place % 3],
                "model_b": models[(place + 1) % 3],
                "winner": won[place % 5],
                "judge": f"arena_user_{place % 4}",
                "conversation_a": [asked, said[0]],
                "conversation_b": [asked, said[1]],
                "turn": 1,
                "anony": True,
                "language": "English",
                "tstamp": 1682351591.1322 + place,
                "openai_moderation": {"categories": {"hate": False}, "flagged": False},
                "toxic_chat_tag": {"roberta-large": {"flagged": False, "probability": 0.01}},
            }
        )
    file = folder / "arena.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file
