"""Check the keys that `audit.trusted_signers` may list (ADR 31). Pure.

Short key ids are refused. If a record is signed by one of the keys is decided in
`routing/maintenance/audit_signatures.py`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

from pulsus.late_pattern import late_pattern

_OPENPGP = late_pattern(r"(?:0x)?([0-9A-F]{16}|[0-9A-F]{40}|[0-9A-F]{64})", re.IGNORECASE)
_SSH = late_pattern(r"((?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+)\s+([A-Za-z0-9+/]+={0,2})(?:\s[^\n]*)?")


def signer_error(signer: str) -> str | None:
    """Return why an entry of the setting names no key; None if it names one.

    Short key ids are refused: anybody can make a key that has one.
    """
    if openpgp_key(signer) or ssh_key(signer):
        return None
    return (
        "give an OpenPGP fingerprint (40 or 64 hex digits) or long key id (16), or an SSH public "
        "key such as 'ssh-ed25519 AAAA...'"
    )


def openpgp_key(signer: str) -> str | None:
    """Return the fingerprint or long key id in capital hex digits; None for anything else."""
    found = _OPENPGP.fullmatch(signer.replace(" ", ""))
    return found[1].upper() if found else None


def ssh_key(signer: str) -> tuple[str, str] | None:
    """Return an SSH key's line for a file of allowed signers, and its fingerprint; None for no
    key.
    """
    found = _SSH.fullmatch(signer.strip())
    if found is None:
        return None
    try:
        blob = base64.b64decode(found[2], validate=True)
    except (ValueError, binascii.Error):
        return None
    named = found[1].encode("ascii")
    if blob[:4] != len(named).to_bytes(4, "big") or blob[4 : 4 + len(named)] != named:
        return None
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode("ascii").rstrip("=")
    return f'* namespaces="git" {found[1]} {found[2]}', f"SHA256:{digest}"
