"""Simulate data/examples/rated.csv: `python -m tests.demo.example_rated` writes it anew.

Replies of a support desk as three simulated people rated them, for docs/lab.md. What a reply does for the
customer and how polite it is are drawn apart; people rate what it does, and nobody of them is real.
"""

import csv
import io
import itertools
import json
import random
from pathlib import Path

from concord.demo.rules import quality

FILE = Path(__file__).parents[2] / "data" / "examples" / "rated.csv"
SEED, NOISE = 5, 0.1
PEOPLE = ("Ada (simulated)", "Ben (simulated)", "Cleo (simulated)")
ASSISTANTS = ("assistant-1", "assistant-2", "assistant-3")
GOODS = ("tent", "stove", "lamp", "jacket", "rucksack", "mat", "flask", "rope", "axe", "map")
PROBLEMS = (
    "My {} came damaged.",
    "My {} has been on its way for two weeks.",
    "I want to send the {} back.",
    "You charged the {} twice.",
)
DEEDS = (
    "Your money for the {} is refunded.",
    "A new {} leaves our house right away.",
    "Here is the label for the old {}.",
    "Your case about the {} is solved.",
)
REFUSALS = (
    "Unfortunately that is how it is with a {}.",
    "It is impossible to help with a {}.",
    "Our policy on a {} decides that.",
    "We cannot look into the {}.",
)
COURTESIES = (
    "Thank you for your message.",
    "I am so sorry for the trouble.",
    "I am glad that you wrote.",
    "What a great choice that was.",
    "I am always happy to talk.",
)


def text() -> str:
    """The file: a row an item and person; the dialogue stands in the first row of its item."""
    rng = random.Random(SEED)
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["item_id", "model", "text", "criterion", "rater_type", "rater", "score", "simulated"])
    for number, (problem, good) in enumerate(itertools.product(PROBLEMS, GOODS), 1):
        for assistant in ASSISTANTS:
            deeds = rng.choice(range(-3, 4))
            done = rng.sample(DEEDS, max(deeds, 0)) + rng.sample(REFUSALS, max(-deeds, 0))
            sentences = [*done, *rng.sample(COURTESIES, rng.choice(range(5)))] or ["I have read that."]
            rng.shuffle(sentences)
            messages = [
                {"role": "user", "content": problem.format(good)},
                {"role": "assistant", "content": " ".join(sentences).format(*[good] * len(sentences))},
            ]
            talk = json.dumps(messages)
            for person in PEOPLE:
                place = quality(" ".join(done)) + rng.gauss(0, NOISE)
                level = min(5, max(1, round(1 + 4 * place)))
                item = f"r{number:02}-{assistant[-1]}"
                write([item, assistant, talk, "helpful", "human", person, level, 1])
                talk = ""
    return out.getvalue()


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
