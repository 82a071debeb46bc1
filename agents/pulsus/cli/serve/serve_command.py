"""`pulsus serve`: the pages and the API where people approve what waits.

Refused here: an address beyond this machine (not loopback) without TLS, a certificate without its
key, and a port that is taken. Sign-in limits and sessions are set up in `web/server_setup.py`. The
default port is the setting `serve.port`. Ctrl-C is a normal end (0), and SIGTERM ends the server
with TERMINATED (143), SIGHUP with HUNG_UP (129). All give open requests a moment to end.
"""

from __future__ import annotations

import errno
import ipaddress
import logging
import signal
import socket  # noqa: TID251 - the port is bound here, so that a taken one is an error of its own
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import GivenFile, common
from pulsus.errors import HungUp, Terminated, UsageError

if TYPE_CHECKING:
    from types import FrameType

    import uvicorn

    from pulsus.web.notices.card_notifier import FailedDelivery

_LISTEN_HINTS = {
    errno.EADDRINUSE: "choose another port with --port, or end what listens there",
    errno.EACCES: "ports below 1024 belong to root: choose another one with --port",
    errno.EADDRNOTAVAIL: "give an address of this machine as --host (`ip address` lists them)",
}
_CUT_OFF = "ASGI callable returned without completing response."
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

EPILOG = page_end(
    "pulsus serve",
    "pulsus serve --port 9000",
    "pulsus serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem",
    notes=(
        "\n".join(
            (
                "Roles:",
                "  viewer    sees what waits and what was decided",
                "  operator  starts the agent too",
                "  approver  decides too",
            )
        ),
    ),
    exits={
        0: "ended by Ctrl-C",
        2: "usage, settings, or the port is taken",
        129: "ended by SIGHUP",
        143: "ended by SIGTERM",
    },
)


@click.command(epilog=EPILOG)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="Address to listen on. [default: 127.0.0.1]",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port; 0 picks a free one. [default: serve.port, 8765]",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="Accept this host name in addresses of browsers, for example ops.example.org; repeatable.",
)
@click.option(
    "--tls-cert",
    type=GivenFile(),
    metavar="FILE",
    help="Certificate, for https.",
)
@click.option(
    "--tls-key",
    type=GivenFile(),
    metavar="FILE",
    help="Key of the certificate.",
)
@click.option(
    "--insecure-remote",
    is_flag=True,
    help="Listen beyond this machine without TLS: others can then read passwords.",
)
@common()
def command(
    session: CommandSession,
    host: str,
    port: int | None,
    names: tuple[str, ...],
    tls_cert: Path | None,
    tls_key: Path | None,
    insecure_remote: bool,
) -> None:
    """Serve the pages and the API where people see and approve what waits.

    At the first start the terminal shows a link, with which you make the first user. It works once.
    More users: pulsus users add.
    """
    from pulsus.cli.serve.web_extra import require_web_extra

    if session.output != "text":
        raise UsageError("pulsus serve prints text only", hint="a program reads GET /healthz")
    if (tls_cert is None) != (tls_key is None):
        raise UsageError("a certificate needs its key", hint="give both --tls-cert and --tls-key")
    tls = tls_cert is not None
    if tls_cert is not None and tls_key is not None:
        _require_pair(tls_cert, tls_key)
    _require_safe(host, tls=tls, insecure=insecure_remote)
    require_web_extra()
    import uvicorn

    from pulsus.cli.serve.project_views import ProjectViews
    from pulsus.web.application import make_application
    from pulsus.web.server_setup import ServerAddress, make_server_state

    listening = _bind(host, session.app.settings.serve.port if port is None else port)
    port = listening.getsockname()[1]
    shown = names[0] if names else ("localhost" if host == "127.0.0.1" else host)
    address = ServerAddress(port, f"{'https' if tls else 'http'}://{shown}:{port}")
    views = ProjectViews(session.app)
    state = make_server_state(session.app, address, views, _tell_failure, console.warn)
    allowed = [name.casefold() for name in (*_LOOPBACK, host, *names)]
    hosts = {f"{name}:{port}" for name in allowed} | set(allowed if port in (80, 443) else ())
    application = make_application(state, hosts, tls=tls)
    if state.setup.code is not None:
        console.note(f"make the first user: {address.url}/setup/{state.setup.code}")
    console.note(f"serving {state.project} at {address.url}; Ctrl-C ends it")
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,  # an address may hold the code of the setup link
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
        ssl_certfile=tls_cert,
        ssl_keyfile=tls_key,
    )
    server = uvicorn.Server(config)
    # Each open page follows a stream, which the end cuts off: no fault.
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: not (server.should_exit and record.msg == _CUT_OFF)
    )
    # uvicorn raises a signal again once it has shut down.
    signal.signal(signal.SIGTERM, _raise_terminated)
    hung_up = _end_at_hangup(server)
    try:
        with suppress(KeyboardInterrupt):  # Ctrl-C is how a server ends
            server.run(sockets=[listening])
        if hung_up:
            raise HungUp("SIGHUP ended the server")
    finally:
        state.runs.close()
        state.migrations.close()
        state.requests.close()
        state.notifier.close(2.0)
        state.database.close()
        listening.close()


def _raise_terminated(_: int, __: FrameType | None) -> None:
    raise Terminated("SIGTERM ended the server")


def _end_at_hangup(server: uvicorn.Server) -> list[int]:
    """Let SIGHUP shut the server down, and return the list of the signals of this kind.

    uvicorn handles SIGINT and SIGTERM only. Under `nohup` the signal stays ignored.
    """
    seen: list[int] = []

    def hang_up(number: int, _: FrameType | None) -> None:
        seen.append(number)
        server.should_exit = True

    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, hang_up)
    return seen


def _tell_failure(failure: FailedDelivery) -> None:
    console.warn(
        f"the notice of {failure.card_id} did not reach {failure.target}: {failure.reason}"
    )


def _require_safe(host: str, *, tls: bool, insecure: bool) -> None:
    """Raise UsageError for a host without an address, or beyond this machine without TLS."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as failure:
        raise UsageError(
            f"--host {host!r} is no address of this machine: "
            f"{getattr(failure, 'strerror', None) or failure}",
            hint="give an address of this machine, such as 127.0.0.1, or leave --host out",
        ) from None
    if tls or insecure:
        return
    if not all(ipaddress.ip_address(each[4][0]).is_loopback for each in found):
        raise UsageError(
            f"{host} is reachable from other machines, and passwords would travel unencrypted",
            hint="add --tls-cert FILE --tls-key FILE, or put a TLS proxy before it and add "
            "--insecure-remote",
        )


def _require_pair(cert: Path, key: Path) -> None:
    """Raise UsageError unless the files are a certificate and its key, both in the form PEM.

    A key with a password is not checked: uvicorn asks for the password when it starts.
    """
    import ssl

    class HasPassword(Exception):
        pass

    def refuse_password() -> str:
        raise HasPassword

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, refuse_password)
    except HasPassword:
        return
    except OSError as failure:
        reason = failure.strerror or "at least one of them is not in the form PEM"
        if getattr(failure, "reason", None) == "KEY_VALUES_MISMATCH":
            reason = "the key is that of another certificate"
        raise UsageError(
            f"--tls-cert {cert} and --tls-key {key} are not a certificate and its key: {reason}",
            hint="name two files in the form PEM that belong together",
        ) from None


def _bind(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, proto, _, address = found[0]
        listening = socket.socket(family, kind, proto)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)  # who reads the address below may connect at once
    except OSError as failure:
        raise UsageError(
            f"cannot listen on {host}:{port}: {failure.strerror or failure}",
            hint=_LISTEN_HINTS.get(failure.errno or 0, "choose another --host or --port"),
        ) from None
    return listening
