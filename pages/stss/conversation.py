"""A conversation of the benchmark as the conversations page shows it, with a link to the town.

`head` is called by that page.
"""

import streamlit as st

from concord.benchmarks.stss import system
from concord.store.conversations import Found
from pages.parts.address import link


def head(row: Found) -> bool:
    """Link to the town. True for a simulation, which is scored by rule and not by judges."""
    if row.benchmark == system.NAME:
        st.caption("A simulation is scored by rule from what everybody did in the town, not by judges.")
        icon = ":material/location_city:"
        link("town", "See the score and who counted", icon=icon, simulation=str(row.id))
    return row.benchmark == system.NAME
