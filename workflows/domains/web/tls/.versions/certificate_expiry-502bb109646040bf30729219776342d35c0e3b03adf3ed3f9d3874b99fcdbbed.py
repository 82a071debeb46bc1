"""Show when the TLS certificate of a site, or a certificate file, runs out.

Connects to the host and reads the certificate it presents, also when that is expired or
self-signed, then connects a second time to see whether this machine trusts it. Or reads every
certificate in a PEM or DER file; then the one that runs out first counts. Times are UTC. A site
that cannot be reached is a result with `ok` false and an `error`, not an exception.

Args:
    host (str): The site, for example `example.org`; give this or `file`.
    port (int): TCP port of the site.
    file (str): A certificate file; give this or `host`.
    warn_days (float): A certificate that runs out within this many days is not ok.
    ca_file (str): A PEM file of authorities to trust instead of the machine's own.
    as_of (str): The moment to judge by, such as `2030-01-31`; empty means now.
    timeout_seconds (float): How long each connection may take.

Returns:
    rows (list[dict[str, Any]]): One a certificate: `subject`, `issuer`, `names` (list of host
        names it is for), `not_before`, `not_after`, `days_left`, `state` (`valid`, `expiring`,
        `expired` or `not yet valid`).
    not_after (str): When the first of them runs out; null where none was read.
    days_left (float): Days until then, negative where it is past; null where none was read.
    trusted (bool): Whether the site's certificate is trusted and for this host; null for files.
    ok (bool): Whether every certificate is valid and none expires soon; trust is not counted.
    error (str): Why nothing was read, or why it is not trusted; null where all is well.

Side effects:
    Opens TLS connections, which the other side may log.

Kind: read

Effects:
    paths: the certificate file, the authorities file
    hosts: the given host
    commands: none

Secrets: none

Examples:
    - title: a certificate file, three weeks before it runs out
      inputs: {file: /tmp/certificate_expiry/shop.pem, as_of: "2023-12-11"}
      files:
        /tmp/certificate_expiry/shop.pem: |
          -----BEGIN CERTIFICATE-----
          MIIBejCCASCgAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxzaG9wLmV4
          YW1wbGUwHhcNMjMwMTAxMDAwMDAwWhcNMjQwMTAxMDAwMDAwWjAXMRUwEwYDVQQD
          DAxzaG9wLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQemYHVkFUB
          aA9e3/xzF4apj1TIRASw1ksV1O+Kem4iKHsFLdHdB6nRqniIk2oZjSAYjjY8eM8e
          3gwJqEhmqDono10wWzAPBgNVHRMBAf8EBTADAQH/MCkGA1UdEQQiMCCCDHNob3Au
          ZXhhbXBsZYIQd3d3LnNob3AuZXhhbXBsZTAdBgNVHQ4EFgQUeog0NUWfp5l/07yn
          jvSaoDLNdBcwCgYIKoZIzj0EAwIDSAAwRQIhANYG0NogygDLucUhf4paUjQbpcEu
          V5iva8erJgsLjLpFAiBam3KJQEDaGrUV1r7yCTI1VYgHsKAgBjC0HeV4Vhw6KQ==
          -----END CERTIFICATE-----
      output:
        rows:
          - {subject: shop.example, issuer: shop.example, names: [shop.example, www.shop.example],
             not_before: "2023-01-01T00:00:00+00:00", not_after: "2024-01-01T00:00:00+00:00",
             days_left: 21.0, state: expiring}
        not_after: "2024-01-01T00:00:00+00:00"
        days_left: 21.0
        trusted: null
        ok: false
        error: null
    - title: a site that does not answer
      inputs: {host: 127.0.0.1, port: 9, timeout_seconds: 2}
      output: {rows: [], not_after: null, days_left: null, trusted: null, ok: false, error: ...}
"""

from __future__ import annotations

import base64
import re
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

PEM = re.compile(rb"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----")
COMMON_NAME, ORGANISATION, ALT_NAMES = b"\x55\x04\x03", b"\x55\x04\x0a", b"\x55\x1d\x11"
UTC_TIME, BMP_STRING, VERSION, EXTENSIONS, DNS_NAME = 0x17, 0x1E, 0xA0, 0xA3, 0x82


def run(
    host: str = "",
    port: int = 443,
    file: str = "",
    warn_days: float = 30.0,
    ca_file: str = "",
    as_of: str = "",
    timeout_seconds: float = 10.0,
) -> dict[str, Any]:
    """Read the certificates and judge their dates."""
    if bool(host) == bool(file):
        raise ValueError(f"host {host!r} and file {file!r}: give exactly one of the two")
    if not 1 <= port <= 65_535:
        raise ValueError(f"port {port} is no TCP port: give 1 to 65535")
    now = _moment(as_of)
    trusted, error = None, None
    if file:
        ders = _from_file(Path(file))
    else:
        ders, trusted, error = _from_host(host, port, ca_file, timeout_seconds)
    rows = [_row(_certificate(der), now, warn_days) for der in ders]
    first = min(rows, key=lambda row: row["days_left"], default=None)
    return {
        "rows": rows,
        "not_after": first["not_after"] if first else None,
        "days_left": first["days_left"] if first else None,
        "trusted": trusted,
        "ok": bool(rows) and all(row["state"] == "valid" for row in rows),
        "error": error,
    }


def _moment(as_of: str) -> datetime:
    try:
        when = datetime.fromisoformat(as_of) if as_of else datetime.now(UTC)
    except ValueError:
        raise ValueError(f"as_of {as_of!r} is no date: give one like 2030-01-31") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _from_file(path: Path) -> list[bytes]:
    raw = path.read_bytes()
    ders = [base64.b64decode(body) for body in PEM.findall(raw)]
    if not ders and raw[:1] != b"\x30":
        raise ValueError(f"{path} holds no certificate: give a PEM or DER file")
    return ders or [raw]


def _from_host(
    host: str, port: int, ca_file: str, timeout: float
) -> tuple[list[bytes], bool | None, str | None]:
    """The certificate the host presents, whether it is trusted, and what went wrong."""
    anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anyone.check_hostname = False
    anyone.verify_mode = ssl.CERT_NONE
    strict = ssl.create_default_context(cafile=ca_file or None)
    try:
        ders = [_handshake(host, port, anyone, timeout)]
    except (OSError, UnicodeError) as error:
        return [], None, f"{host} port {port}: {getattr(error, 'strerror', None) or error}"
    try:
        _handshake(host, port, strict, timeout)
    except ssl.SSLCertVerificationError as error:
        return ders, False, error.verify_message
    except OSError as error:
        return ders, None, f"trust could not be checked: {error.strerror or error}"
    return ders, True, None


def _handshake(host: str, port: int, context: ssl.SSLContext, timeout: float) -> bytes:
    with (
        socket.create_connection((host, port), timeout=timeout) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        return secure.getpeercert(binary_form=True) or b""


def _row(found: dict[str, Any], now: datetime, warn_days: float) -> dict[str, Any]:
    before, after = found.pop("before"), found.pop("after")
    if now > after:
        state = "expired"
    elif now < before:
        state = "not yet valid"
    else:
        state = "expiring" if (after - now) / timedelta(days=1) < warn_days else "valid"
    dates = {"not_before": before.isoformat(), "not_after": after.isoformat()}
    left = round((after - now) / timedelta(days=1), 1)
    return found | dates | {"days_left": left, "state": state}


def _certificate(der: bytes) -> dict[str, Any]:
    """Names and dates of one X.509 certificate (RFC 5280, section 4.1)."""
    try:
        fields = _children(_children(_children(der)[0][1])[0][1])
        if fields[0][0] == VERSION:
            fields = fields[1:]
        issuer, validity, subject = (content for _, content in fields[2:5])
        before, after = (_time(*item) for item in _children(validity))
        extras = [content for tag, content in fields if tag == EXTENSIONS]
        names = _alt_names(extras[0]) if extras else []
    except (IndexError, ValueError) as error:
        raise ValueError(f"this is no X.509 certificate: {error}") from None
    owner = {"subject": _name(subject), "issuer": _name(issuer), "names": names}
    return owner | {"before": before, "after": after}


def _children(der: bytes) -> list[tuple[int, bytes]]:
    """Tag and content of each DER element, one after the other."""
    found, at = [], 0
    while at < len(der):
        tag, length, at = der[at], der[at + 1], at + 2
        if length & 0x80:
            size = length & 0x7F
            length, at = int.from_bytes(der[at : at + size], "big"), at + size
        if at + length > len(der):
            raise ValueError("it is cut short")
        found.append((tag, der[at : at + length]))
        at += length
    return found


def _time(tag: int, content: bytes) -> datetime:
    text = content.decode("ascii")
    if tag == UTC_TIME:  # two digits for the year: 50 and above are 19xx
        text = ("19" if text[:2] >= "50" else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _name(content: bytes) -> str:
    """The common name, else the organisation."""
    parts = {}
    for _, group in _children(content):
        for _, pair in _children(group):
            (_, kind), (tag, value) = _children(pair)[:2]
            parts[kind] = value.decode("utf-16-be" if tag == BMP_STRING else "utf-8", "replace")
    return parts.get(COMMON_NAME) or parts.get(ORGANISATION) or ""


def _alt_names(content: bytes) -> list[str]:
    for _, extension in _children(_children(content)[0][1]):
        parts = _children(extension)
        if parts[0][1] == ALT_NAMES:
            general = _children(_children(parts[-1][1])[0][1])
            return [text.decode("ascii", "replace") for tag, text in general if tag == DNS_NAME]
    return []
