"""SimulBench on the leaderboard page: toxicity, below the benchmark's tables."""

import streamlit as st

from concord.benchmarks.simulbench import toxicity
from concord.store import moderations
from pages.parts import table
from pages.parts.plain import plain
from pages.parts.session import workspace


def more() -> None:
    """The toxicity of texts. It reads every text: only on demand."""
    folded = st.expander("Toxicity of tasks, scripts and replies", key="toxicity", on_change="rerun")
    if folded.open:
        with folded:
            _toxicity()


def _toxicity() -> None:
    with workspace().read() as db:
        models = sorted(moderations.models(db))
    if not models:
        st.caption(
            "Nothing was scored yet: `concord simulbench toxicity --model NAME`, a model whose endpoint "
            "offers moderations."
        )
        return
    by = st.selectbox("Scored by", models, format_func=plain) if len(models) > 1 else models[0]
    table.draw(toxicity.toxicity(workspace(), by))
