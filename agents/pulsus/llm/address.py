"""Parse and check the address of the model's server (`model.base_url`), and tell if it is local.

It refuses an address with a password, a query, or the name of an endpoint. If the API key may go
there, encrypted or not, is decided in `connect.py`.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from pulsus.errors import ConfigError
from pulsus.fast_dataclass import dataclass

# Names that public DNS cannot hold: RFC 6761, RFC 6762, RFC 8375, and ICANN's reservation.
_LOCAL_ENDINGS = (".localhost", ".local", ".home.arpa", ".internal")
# Narrow on purpose: what two readers of URLs may read in two ways is refused.
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\.?\Z", re.I)
_PATH = re.compile(r"[A-Za-z0-9._~%:@+,=/-]*\Z")
_ENDPOINTS = (
    *("/chat/completions", "/completions", "/messages", "/models"),
    *("/api/chat", "/api/generate", "/api/tags"),
)


@dataclass(frozen=True, slots=True)
class Address:
    """A base URL without its last slash. `local`: this machine or a private network."""

    base: str
    local: bool
    encrypted: bool
    host: str = ""
    port: int | None = None

    @property
    def place(self) -> str:
        """Return host and port as `model.key_hosts` names them: HTTPS has no port."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return (
            shown if self.port in (None, 443) and self.encrypted else f"{shown}:{self.port or 80}"
        )

    def of(self, path: str) -> str:
        """Return the URL of an endpoint below the base."""
        return f"{self.base}/{path}"


def parse_address(base_url: str) -> Address:
    """Return the address of `model.base_url`. Raises ConfigError, which shows no password."""
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname, parts.port
        if host and ":" in host:
            ipaddress.IPv6Address(host)
    except ValueError as error:
        raise _address_error("is no URL", str(error)) from None
    if parts.scheme not in ("http", "https") or not host:
        raise _address_error(
            f"= {base_url!r} is no http(s) URL", "for example http://127.0.0.1:11434/v1"
        )
    if parts.username is not None or parts.password is not None:
        raise _address_error(
            "holds a user name", "put the key in the variable that model.api_key_env names"
        )
    if not (":" in host or _NAME.match(host)) or not _PATH.match(parts.path):
        raise _address_error(
            f"has an invalid host name or path: {host + parts.path!r}",
            "write other letters of the host as punycode (xn--…), of the path as %XX",
        )
    if parts.query or parts.fragment:
        raise _address_error("holds a query or fragment", "end it at /v1")
    base = f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
    for endpoint in _ENDPOINTS:
        if base.endswith(endpoint):
            raise _address_error(
                f"= {base!r} ends in {endpoint}", f"use {base.removesuffix(endpoint)}"
            )
    name = host.lower().rstrip(".")
    return Address(base, is_local(host), parts.scheme == "https", name, parts.port)


def is_local(host: str) -> bool:
    """Return True if `host` is this machine or on a private network.

    True for addresses outside the public ranges, names without a dot, and names public DNS cannot
    hold. No name is looked up: an answer may change between the look and the request.
    """
    name = host.lower().rstrip(".")
    try:
        ip = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        # A number without dots is an address too, in a spelling of its own.
        dotless = "." not in name and name[:1].isalpha()
        return dotless or name.endswith(_LOCAL_ENDINGS)
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return not (mapped or ip).is_global


def _address_error(what: str, hint: str) -> ConfigError:
    return ConfigError(f"setting model.base_url {what}", hint=hint, key="model.base_url")
