"""Records whose commit carries a good signature of a listed key (`audit.trusted_signers`, ADR 31).

A team that signs its commits need not accept each pull. The signature covers the commit's tree, so
the module must have the record's bytes in that very commit. Effect: asks git and what it verifies
with (gpg, ssh-keygen), found on this user's PATH and never by the repository's configuration.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pulsus.config.trust.signers import openpgp_key, ssh_key
from pulsus.core.storage.records import metadata, version_archive
from pulsus.core.storage.records.metadata import Record
from pulsus.core.validators.git_objects import GitObjects

GOOD = frozenset({"G", "U"})
"""Git's letters for a good signature. U: the keyring does not rate the key, which is listed."""

_FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}")
_NO_PROGRAM = "/bin/false"


@dataclass(frozen=True, slots=True)
class SignedRecords:
    """Looks for the commits that brought records, and whose signature they carry."""

    workflows_root: Path
    signers: tuple[str, ...]

    def signed(self, record: Record, module: Path) -> bool:
        """True if the commit that brought the record is signed by a listed key.

        The module must have the record's bytes in that commit. False if any of it cannot be told.
        """
        repository = GitObjects.around(self.workflows_root) if self.signers else None
        if repository is None:
            return False
        line = _line(module.with_name(metadata.FILE_NAME), record)
        commit = line and repository.introduced(module.with_name(metadata.FILE_NAME), line)
        if not commit:
            return False
        source = repository.blob(commit, module)
        if source is None or version_archive.digest(source) != record.tool_hash:
            return False
        with _verifying(self.signers) as settings:
            letter, keys = repository.signature(commit, settings)
        return letter in GOOD and any(_is_listed(key, self.signers) for key in keys)


def _line(path: Path, record: Record) -> bytes | None:
    """The record's line as it is in the file; None if it is not there once."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return None
    found = [line for line in lines if line.strip() and _is(line, record)]
    return found[0] if len(found) == 1 else None


def _is(line: bytes, record: Record) -> bool:
    try:
        return metadata.parse(line.decode("utf-8") + "\n") == (record,)
    except ValueError:
        return False


def _is_listed(key: str, signers: Sequence[str]) -> bool:
    """True if a fingerprint that git printed is that of a listed key."""
    if _FINGERPRINT.fullmatch(key):
        return any(found and found[1] == key for found in map(ssh_key, signers))
    upper = key.upper()
    listed = [found for found in map(openpgp_key, signers) if found]
    return any(upper == one or (len(one) == 16 and upper.endswith(one)) for one in listed)


@contextmanager
def _verifying(signers: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Settings of git that name the programs to verify with, and the listed SSH keys."""
    gpg = shutil.which("gpg") or _NO_PROGRAM
    ssh = shutil.which("ssh-keygen") or _NO_PROGRAM
    with tempfile.TemporaryDirectory(prefix="pulsus-signers-") as folder:
        allowed = Path(folder, "allowed_signers")
        lines = [found[0] for found in map(ssh_key, signers) if found]
        allowed.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        yield (
            f"gpg.program={gpg}",
            f"gpg.openpgp.program={gpg}",
            f"gpg.ssh.program={ssh}",
            f"gpg.ssh.allowedSignersFile={allowed}",
        )
