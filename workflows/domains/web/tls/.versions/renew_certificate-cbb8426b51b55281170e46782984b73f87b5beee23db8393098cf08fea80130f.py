"""Renew a certificate file: sign the same certificate again with new dates, and keep the old file.

Name, host names, key and extensions stay. A self-signed certificate is signed by its own key, any
other one by the authority that issued it, whose certificate and key have to be on this machine. So
it renews certificates of your own authority, not those of a public one. Other parts of the file
stay, such as the certificates of a chain. Reload the service that uses the file afterwards.

Args:
    path (str): The PEM file; the first certificate in it is renewed. A link is followed.
    key (str): The private key of the certificate, in PEM without a password.
    authority (str): The PEM certificate of the authority; empty if it is self-signed.
    authority_key (str): The private key of the authority, in PEM without a password.
    days (int): How long the new certificate is valid, 1 to 3650.
    dry_run (bool): True changes nothing and shows the command.

Returns:
    path (str): The file that was renewed, without links.
    argv (list[str]): The command.
    not_after (str): When the first certificate of the file runs out, in UTC; empty in a dry run.
    previous_not_after (str): When the renewed one would have run out, in UTC; empty in a dry run.
    backup (str): The copy of the old file beside it; empty in a dry run.
    changed (bool): False in a dry run.

Side effects:
    Replaces the file and creates a backup beside it.

Kind: write

Target: path

Verify: web/tls/certificate_expiry {file: "{{output.path}}", warn_days: 0}
    expect {ok: true, not_after: "{{output.not_after}}", ...: ...}

Undo: config/edit/restore_config {path: "{{output.path}}", backup: "{{output.backup}}"}

Approval: operator

Owner: security

Effects:
    paths: the given path, the given key, the given authority, the given authority key
    hosts: none
    commands: openssl

Secrets: none

Examples:
    - title: a self-signed certificate for another year
      inputs: {path: /tmp/renew/shop.pem, key: /tmp/renew/shop.key, dry_run: true}
      files:
        /tmp/renew/shop.pem: |
          -----BEGIN CERTIFICATE-----
          MIIBejCCASCgAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxzaG9wLmV4
          -----END CERTIFICATE-----
        /tmp/renew/shop.key: the private key
      output:
        path: /tmp/renew/shop.pem
        argv: [openssl, x509, -signkey, /tmp/renew/shop.key, -days, "365", -set_serial, random]
        not_after: ""
        previous_not_after: ""
        backup: ""
        changed: false
    - title: one that our own authority issued, for 90 days
      inputs:
        path: /tmp/renew/db.pem
        key: /tmp/renew/db.key
        authority: /tmp/renew/ca.pem
        authority_key: /tmp/renew/ca.key
        days: 90
        dry_run: true
      files:
        /tmp/renew/db.pem: |
          -----BEGIN CERTIFICATE-----
          MIIBejCCASCgAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxzaG9wLmV4
          -----END CERTIFICATE-----
        /tmp/renew/db.key: the private key
        /tmp/renew/ca.pem: the certificate of the authority
        /tmp/renew/ca.key: its private key
      output:
        argv: [openssl, x509, -req, -copy_extensions, copyall, -CA, /tmp/renew/ca.pem, -CAkey,
               /tmp/renew/ca.key, -days, "90", -set_serial, random]
        ...: ...
"""

from __future__ import annotations

import os
import re
import secrets
import ssl
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_CERTIFICATE = re.compile(
    rb"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\n?"
)
_RANDOM = "random"
"""Stands for the new serial number, which is chosen when the command runs."""
_OPEN = ("-passin", "pass:")
"""A key with a password is an error, where openssl would ask at the terminal."""


def run(
    path: str,
    key: str,
    authority: str = "",
    authority_key: str = "",
    days: int = 365,
    dry_run: bool = False,
) -> dict[str, Any]:
    if not 1 <= days <= 3650:
        raise ValueError(f"days {days} is out of range: give 1 to 3650")
    if bool(authority) != bool(authority_key):
        raise ValueError("authority and authority_key belong together: give both or none")
    file = Path(path).resolve(strict=True)
    text = file.read_bytes()
    found = _CERTIFICATE.search(text)
    if found is None:
        raise ValueError(f"{file} holds no PEM certificate: name the file of the certificate")
    for each in filter(None, (key, authority, authority_key)):
        if not Path(each).is_file():
            raise ValueError(f"{each!r} is no file: name a PEM file of this machine")
    signer = ["-signkey", key]
    if authority:
        signer = ["-req", "-copy_extensions", "copyall", "-CA", authority, "-CAkey", authority_key]
    argv = ["openssl", "x509", *signer, "-days", str(days), "-set_serial", _RANDOM]
    result: dict[str, Any] = {"path": str(file), "argv": argv}
    if dry_run:
        empty = {"not_after": "", "previous_not_after": "", "backup": ""}
        return {**result, **empty, "changed": False}
    new = _sign(found[0], argv, key, authority)
    changed = text.replace(found[0], new, 1)
    return {
        **result,
        "not_after": min(map(_runs_out, _CERTIFICATE.findall(changed))).isoformat(),
        "previous_not_after": _runs_out(found[0]).isoformat(),
        "backup": _replace(file, changed),
        "changed": True,
    }


def _sign(old: bytes, argv: list[str], key: str, authority: str) -> bytes:
    """Return the new certificate. It has the key of the old one, and its signature holds."""
    issuer, subject = (_field(old, name).partition(b"=")[2] for name in ("-issuer", "-subject"))
    if authority:
        signs = _field(Path(authority).read_bytes(), "-subject").partition(b"=")[2]
        if signs != issuer:
            raise ValueError(
                f"{authority!r} is {_shown(signs)}, but {_shown(issuer)} issued the certificate: "
                "name the certificate of its authority"
            )
    elif subject != issuer:
        raise ValueError(
            f"the certificate was issued by {_shown(issuer)}: name the certificate of this "
            "authority and its key, or let the authority renew it"
        )
    if _ask(["openssl", "pkey", "-in", key, "-pubout", *_OPEN]) != _field(old, "-pubkey"):
        raise ValueError(f"{key!r} is not the key of the certificate: name its own key")
    # Sixteen bytes and positive, within what RFC 5280 allows.
    serial = f"0x{secrets.randbits(126) | 1 << 126:x}"
    signed = [serial if word == _RANDOM else word for word in argv]
    asked = old
    if authority:
        ask = ["openssl", "x509", "-x509toreq", "-copy_extensions", "copyall", "-signkey", key]
        asked = _ask([*ask, *_OPEN], old)
    new = _ask([*signed, *_OPEN], asked)
    if authority:
        _ask(["openssl", "verify", "-partial_chain", "-CAfile", authority], new)
    return new


def _shown(name: bytes) -> str:
    return repr(name.decode("utf-8", "replace").strip())


def _field(certificate: bytes, name: str) -> bytes:
    return _ask(["openssl", "x509", "-noout", name], certificate)


def _runs_out(certificate: bytes) -> datetime:
    line = _field(certificate, "-enddate").decode("ascii").strip()
    seconds = ssl.cert_time_to_seconds(line.removeprefix("notAfter="))
    return datetime.fromtimestamp(seconds, UTC)


def _ask(argv: list[str], given: bytes = b"") -> bytes:
    done = subprocess.run(argv, input=given, capture_output=True, timeout=60, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"{' '.join(argv[:2])} failed with status {done.returncode}: {said}")
    return done.stdout


def _replace(file: Path, content: bytes) -> str:
    """Write the file in one step with its mode and owner, and return the backup of the old one."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    backup = file.with_name(f"{file.name}.{stamp}-{secrets.token_hex(2)}.bak")
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(6)}.tmp")
    try:
        _write(backup, file.read_bytes(), file.stat())
        _write(temporary, content, file.stat())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
    return str(backup)


def _write(target: Path, content: bytes, like: os.stat_result) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, like.st_uid, like.st_gid)
        os.fchmod(descriptor, like.st_mode & 0o7777)
        stream.write(content)
        stream.flush()
        os.fsync(descriptor)
