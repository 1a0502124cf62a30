"""Who can open an address of the app: this machine only, its network, or everybody."""

import ipaddress
from urllib.parse import urlsplit

from concord.codes import Reach


def reach(url: str) -> Reach:
    """Who can open an address. A name without a dot, and `.local`, are taken for those of a network."""
    try:
        host = (urlsplit(url if "//" in url else f"//{url}").hostname or "").rstrip(".")
    except ValueError:
        return Reach.ANYWHERE
    if host == "localhost" or host.endswith(".localhost"):
        return Reach.MACHINE
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return (
            Reach.NETWORK
            if host.endswith((".local", ".lan", ".internal")) or "." not in host
            else Reach.ANYWHERE
        )
    if number.is_loopback or number.is_unspecified:
        return Reach.MACHINE
    return Reach.NETWORK if number.is_private or number.is_link_local else Reach.ANYWHERE
