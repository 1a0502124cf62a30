"""What a run would cost is said only where every model has a price."""

from __future__ import annotations

from concord.commands.progress import estimated
from concord.runs.planning import Survey


def test_a_missing_price_is_never_a_sum_without_it():
    assert Survey(cost=1234.5).price("EUR") == "1,234.50 EUR"
    assert Survey(cost=0.0, unpriced={"local"}).price("EUR") == "not known"
    told = estimated(Survey(cost=2.5, unpriced={"local"}), "EUR")
    assert "Estimated cost: not known (the other models: 2.50 EUR); models.toml has no price of local" in told
    assert "0.00" not in estimated(Survey(unpriced={"local"}))
