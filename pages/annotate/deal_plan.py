"""What a deal would be, on the pages that make one: its balance in sentences, and the table behind it."""

from typing import Any

import streamlit as st

from concord.errors import ConcordError, NotAllowed
from concord.studies import dealing
from pages.parts.plain import plain
from pages.parts.session import sentence, workspace
from pages.parts.table import draw


def deal_plan(name: str, key: str, *annotators: str, **asked: Any) -> None:
    """An expander with what `concord.studies.dealing.plan` says of these arguments.

    The plan takes time where there are thousands of items: it is made when it is looked at.
    """
    more = st.expander("What the deal would be", icon=":material/balance:", key=key, on_change="rerun")
    if not more.open:
        return
    with more:
        try:
            with workspace().read() as db:
                plan = dealing.plan(db, name, annotators, **asked)
        except NotAllowed as error:
            st.caption(str(error))
        except ConcordError as error:
            sentence(error)
        else:
            st.caption(plain(plan.balance))
            draw(plan.table)
