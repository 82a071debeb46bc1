"""Connect to allowed hosts, after a check of the addresses behind their names (spec §17).

A name that leads to a private, local or metadata address is refused (DNS rebinding, SSRF);
`core/system/public_address.py` decides which addresses are public. Before, `network_relay.py`
compares the host with the allowlist. This is for dry runs: hosts of a real run are decided in
`execution/confinement/declared_effects.py`, those of shell commands in `gates/egress.py`. Effect:
looks up names and connects.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from contextlib import suppress

from pulsus.config import host_names
from pulsus.core.system.public_address import is_public

CONNECT_SECONDS = 10.0
"""Time limit for all addresses of a name together."""


class HostNotAllowed(Exception):
    """The host must not be reached; the message is the reason."""


def connect_to(target: str) -> socket.socket:
    """Return a connection to a canonical `host:port`. Raises HostNotAllowed or OSError.

    A name is looked up once, here. The connection goes to one of the addresses that were checked.
    So a name that leads into this machine or its networks is refused. Such an address is reached
    only if the allowlist names the address itself.
    """
    host, port = host_names.split_host_port(target)
    literal = host_names.parse_address(host)
    if literal is not None:
        return _connect_first([str(literal)], port)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
    allowed = [each for each in addresses if _is_public(each)]
    if not allowed:
        raise HostNotAllowed(
            f"{host} leads to {', '.join(addresses[:3])}, which is not on the public internet: "
            f"allow the address itself"
        )
    return _connect_first(allowed, port)


def _is_public(text: str) -> bool:
    found = host_names.parse_address(text)  # None for an address with a zone: link-local
    return found is not None and is_public(found)


def _connect_first(addresses: list[str], port: int) -> socket.socket:
    until = time.monotonic() + CONNECT_SECONDS
    failure: OSError = TimeoutError()
    for each in addresses:
        remaining = until - time.monotonic()
        if remaining <= 0:
            break
        version = ipaddress.ip_address(each).version
        family = socket.AF_INET6 if version == 6 else socket.AF_INET
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            connection.settimeout(remaining)
            connection.connect((each, port))
            connection.settimeout(None)
            with suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            connection.close()
            failure = error
        else:
            return connection
    raise failure
