"""What a run would cost is said only where every model has a price."""

from __future__ import annotations

from concord.commands.progress import estimated
from concord.conversation import Conversation, Message
from concord.llm.models import Model
from concord.runs.planning import Survey
from concord.runs.status import sentence
from concord.store import conversations, ratings, runs
from concord.workspace import Workspace


def test_a_missing_price_is_never_a_sum_without_it():
    assert Survey(cost=1234.5).price("EUR") == "1,234.50 EUR"
    calls = {"local": 3}
    assert Survey(calls=calls, unpriced={"local"}).price("EUR") == "not known"
    told = estimated(Survey(calls=calls, tokens={"local": (9, 9)}, cost=2.5, unpriced={"local"}), "EUR")
    assert "Estimated cost: at least 2.50 EUR; models.toml has no price of local" in told
    none = Survey(calls=calls, tokens={"local": (9, 9)}, unpriced={"local"})
    assert "0.00" not in estimated(none)


def entry(price):
    return Model.model_validate({"name": "m", "model": "m", "base_url": "http://127.0.0.1:1/v1"} | price)


def test_calls_without_a_price_stay_unknown_where_they_are_stored(tmp_path):
    """A price of 0 is a price. What is unknown is neither shown as 0.00 nor lost in a sum."""
    free, unknown = entry({"price": {"input": 0, "output": 0}}), entry({})
    dear = entry({"price": {"input": 1e6, "output": 0}})
    assert free.usage((5, 5, 0), 1.0).price() == "0.00"
    assert unknown.usage((5, 5, 0), 1.0).price("EUR") == "not known"
    with Workspace.open(tmp_path).write() as db:
        assert ratings.total_spent(db).price() == "0.00"
        number = runs.start(db, "pingpong", {}, 1)
        for name, model, total, of_run in (
            ("a", free, "0.00", "0.00"),
            ("b", unknown, "not known", "not known"),
            ("c", dear, "at least 2.00", "at least 2.00"),
        ):
            spent = model.usage((2, 3, 0), 1.0)
            said = Conversation("pingpong", name, "p", (Message("user", "Hi"), Message("assistant", "Ho")))
            which = conversations.save(db, said, spent)
            runs.spend(db, number, spent)
            assert conversations.cost(db, which) == spent
            assert ratings.total_spent(db).price() == total
            assert f"cost {of_run}" in sentence(runs.get(db, number))
