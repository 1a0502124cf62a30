"""The fixture `concord_check` for pytest: `concord_check("labels.csv").agrees(at_least=0.6)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from concord.library.result import Agreement


@pytest.fixture
def concord_check() -> Callable[..., Agreement]:
    """`concord.check`, whose result has `agrees`."""
    from concord.library.study import check  # loads pandas, which every other test would wait for

    return check
