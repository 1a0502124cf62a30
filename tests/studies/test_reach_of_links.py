"""Who can open an address of the app."""

import pytest

from concord.codes import Reach
from concord.studies.addresses import reach


@pytest.mark.parametrize(
    ("url", "who"),
    [
        ("http://localhost:8501", Reach.MACHINE),
        ("http://LOCALHOST:8501/rate?token=x", Reach.MACHINE),
        ("http://app.localhost", Reach.MACHINE),
        ("http://127.0.0.1:8501", Reach.MACHINE),
        ("http://127.8.9.1", Reach.MACHINE),
        ("http://[::1]:8501", Reach.MACHINE),
        ("http://0.0.0.0:8501", Reach.MACHINE),
        ("localhost:8501", Reach.MACHINE),
        ("http://192.168.1.20:8501", Reach.NETWORK),
        ("http://10.0.0.7", Reach.NETWORK),
        ("http://lab-server:8501", Reach.NETWORK),
        ("http://lab.local", Reach.NETWORK),
        ("http://[fe80::1]", Reach.NETWORK),
        ("https://concord.example.org", Reach.ANYWHERE),
        ("https://localhost.example.org", Reach.ANYWHERE),
        ("http://93.184.216.34", Reach.ANYWHERE),
        ("http://[", Reach.ANYWHERE),
    ],
)
def test_who_can_open_an_address(url, who):
    assert reach(url) is who
