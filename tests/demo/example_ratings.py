"""Simulate data/examples/ratings.csv: `python -m tests.demo.example_ratings` writes it anew.

Replies of a support desk, good ones and bad ones. Two people rate some of them and err now and then; the
large judge errs seldom, the small one often, and takes long replies for good. Nobody rated anything.
"""

import csv
import io
import random
from pathlib import Path

FILE = Path(__file__).parents[2] / "data" / "examples" / "ratings.csv"
ROWS, RATED, SEED = 240, 160, 11
PERSON, LARGE, SMALL = 0.08, 0.02, 0.18
"""Shares of answers that are wrong."""
WORSE = {"assistant-1": 0.35, "assistant-2": 0.55}
"""Shares of bad replies, by model."""
LONG = 2
"""From so many courtesies on the small judge lets half of the bad replies pass."""
COURTESIES = (
    "Thank you for writing to us.",
    "Anything else I can help with?",
    "I am sorry for the trouble.",
    "Have a good trip!",
)
REPLIES = {
    "cancel order": ("It has not left yet, so I have cancelled it.", "Orders cannot be cancelled."),
    "discount": ("There is no discount on this tent at the moment.", "I can give you 80 percent off."),
    "invoice": ("I have sent the invoice again to your address.", "Look in your spam folder."),
    "late parcel": ("Parcels from abroad take up to ten working days.", "It comes on Thursday, I promise."),
    "refund": ("The refund takes five working days from the day we have it back.", "You have it tomorrow."),
    "stove smell": (
        "Please stop using it and let a colleague look at it with you.",
        "All stoves smell at first.",
    ),
    "talk to a person": ("Of course, I hand over to a colleague now.", "I am as good as a person."),
    "torn tent": ("Send it back unused with the receipt number within 30 days.", "Patch it with tape."),
    "warranty": ("Zips have two years of warranty, a photo is enough.", "Zips break, that is life."),
    "wrong size": ("We change it for free, please give me the order number.", "Sizes are on the page."),
}


def text() -> str:
    """The file."""
    rng = random.Random(SEED)
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["id", "topic", "model", "response", "human_1", "human_2", "large_judge", "small_judge"])
    rated = {*rng.sample(range(ROWS), RATED)}

    def answer(good: bool, wrong: float) -> str:
        return "pass" if good != (rng.random() < wrong) else "fail"

    for row in range(ROWS):
        topic, model = rng.choice([*REPLIES]), rng.choice([*WORSE])
        good = rng.random() >= WORSE[model]
        courtesies = rng.sample(COURTESIES, rng.choice((0, 0, 1, 1, 2, 3, 4)))
        reply = " ".join([REPLIES[topic][0 if good else 1], *courtesies])
        people = [answer(good, PERSON) if row in rated else "" for _ in range(2)]
        swayed = not good and len(courtesies) >= LONG and rng.random() < 0.5
        judges = [answer(good, LARGE), answer(good or swayed, SMALL)]
        write([f"r{row + 1:03}", topic, model, reply, *people, *judges])
    return out.getvalue()


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
