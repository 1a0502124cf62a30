"""`concord app`: open a workspace in the browser; `concord link` and `concord passphrase`: ways into it."""

import errno
import ipaddress
import os
import socket
import sys
import webbrowser
from contextlib import suppress

import click

from concord.commands import options
from concord.commands.printing import echo, require_output
from concord.errors import ConcordError, WorkspaceError
from concord.files import SHIPPED, extras
from concord.store import access, sessions, settings
from concord.workspace import LOCAL, PUBLIC_URL, Workspace


@click.command()
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to serve on; 0.0.0.0 for all."
)
@click.option(
    "--port", default=8501, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free one."
)
@click.option("--browser/--no-browser", default=True, help="Open a browser window.")
@click.option(
    "--sign-in", is_flag=True, help="Require a sign-in on this machine too, for a server behind a proxy."
)
@click.option(
    "--public-url",
    metavar="URL",
    help="The address behind a proxy, such as https://concord.example.org: only its pages may connect.",
)
@click.pass_obj
def command(
    workspace: str, host: str, port: int, browser: bool, sign_in: bool, public_url: str | None
) -> None:
    """Open a workspace in the browser.

    The printed link opens it on this machine, once; `concord link` prints another one. From other machines,
    researchers sign in, and annotators use their link.
    """
    os.environ["CONCORD_WORKSPACE"] = str(options.workspace(workspace).path)
    if public_url is not None:
        os.environ[PUBLIC_URL] = public_url
    serve(host, port, browser=browser, sign_in=sign_in)


@click.command()
@click.option("--url", help="The address of the app; default: where it last listened.")
@click.pass_obj
def link(workspace: str, url: str | None) -> None:
    """Print a link that opens the app on this machine, once, without signing in. It works for a day."""
    require_output()
    workspace_ = Workspace.open(workspace, create=False)
    if not url:
        with workspace_.read() as db:
            url = settings.address(db)
    echo(one_time_link(workspace_, url.rstrip("/")))


@click.command()
@click.option("--renew", is_flag=True, help="Forget the present passphrase first.")
@click.password_option("--passphrase", "given", help="The passphrase; default: read from the terminal.")
@click.pass_obj
def passphrase(workspace: str, renew: bool, given: str) -> None:
    """Set the passphrase researchers sign in with when the app is served beyond this machine."""
    with options.workspace(workspace).write() as db:
        if renew:
            access.forget_passphrase(db)
        access.set_passphrase(db, given)
    echo("The passphrase is set.")


def serve(
    host: str = "127.0.0.1",
    port: int = 8501,
    *,
    browser: bool = True,
    sign_in: bool = False,
    application: str = "pages.parts.server:app",
    page: str = "",
    listening: socket.socket | None = None,
) -> None:
    """Serve the workspace named by CONCORD_WORKSPACE until stopped, and open `page` (“” for the overview).

    `listening` is a socket from `listen`; without it, one is opened on `host` and `port`.

    Where it listens on a loopback address only, a link is printed and opened that lets one browser in without
    signing in. Raises ConcordError where the port cannot be had.
    """
    extras.require("streamlit", "uvicorn", purpose="`concord app`")
    import uvicorn

    workspace = Workspace.chosen()
    listening = listening or listen(host, port)
    address, number = listening.getsockname()[:2]
    local = ipaddress.ip_address(address).is_loopback and not sign_in
    os.environ[LOCAL] = "1" if local and not os.environ.get(PUBLIC_URL) else "0"
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        # What a researcher may send; pages.parts.server.bounds has closer limits for others.
        ws_max_size=2**20,
        ws_per_message_deflate=True,
        # pages.parts.connection reads what a proxy says.
        proxy_headers=False,
        server_header=False,
    )
    if str(SHIPPED) not in sys.path:
        sys.path.append(str(SHIPPED))  # `pages` lies there
    # Loaded before anything is said, so that a setting which cannot be used is refused first.
    config.load()
    url = f"http://{_host_words(host)}:{number}"
    with workspace.write() as db:
        settings.listens_at(db, os.environ.get(PUBLIC_URL) or url)
    if os.environ[LOCAL] == "1":
        url = one_time_link(workspace, url, page)
    echo(f"Concord is at {url} (workspace {workspace.path}). Stop it with Ctrl+C.")
    if browser:
        # The socket listens already, so that the browser waits until the server answers.
        webbrowser.open(url)
    # Ctrl+C is how it is stopped: no failure.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


def call(workspace: Workspace) -> str:
    """How the command is called on a workspace, to be copied."""
    return workspace.command


def one_time_link(workspace: Workspace, url: str, page: str = "") -> str:
    """A link that opens a page at this address on this machine, once, without signing in."""
    address, _, query = page.partition("?")
    with workspace.write() as db:
        token = f"token={sessions.one_time(db, 'local')}"
    return f"{url}/{address}?{'&'.join(filter(None, [token, query]))}"


def listen(host: str = "127.0.0.1", port: int = 8501) -> socket.socket:
    """A socket that listens there; port 0 takes any free one. Raises ConcordError where none can be had."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # asyncio turns Nagle's algorithm, which delays answers by 40 ms, off only where the protocol is
        # named.
        listening = socket.socket(family, kind, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(256)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise WorkspaceError(
                f"Port {port} is in use, perhaps by Concord itself. Choose another port with --port, or "
                "any free one with --port 0."
            ) from error
        raise ConcordError(f"Concord cannot listen on {host}:{port}: {error.strerror or error}.") from error
    return listening


def _host_words(host: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified or address.is_loopback:
        return "localhost"
    return f"[{host}]" if address.version == 6 else host
