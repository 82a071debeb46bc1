"""Compute the checksum of one file: SHA-256, MD5, SHA-1, SHA-512 or BLAKE2.

Reads the file in pieces, so its size does not matter. With an expected checksum the result also
says whether the two are equal, regardless of upper or lower case.

Args:
    path (str): The file to read.
    algorithm (str): One of sha256, sha512, sha384, sha224, sha1, md5, blake2b, blake2s, sha3_256.
    expected (str): A checksum to compare with; nothing is compared when empty.

Returns:
    path (str): The file, as given.
    algorithm (str): The algorithm used.
    digest (str): The checksum in lower-case hexadecimal.
    bytes (int): How many bytes were read.
    matches (bool | None): Whether the digest equals the expected one; None without one.

Side effects:
    none

Kind: read

Effects:
    paths: the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/data.txt, algorithm: md5, expected: 5D41402ABC4B2A76B9719D911017C592}
      files: {/tmp/data.txt: hello}
      output:
        path: /tmp/data.txt
        algorithm: md5
        digest: 5d41402abc4b2a76b9719d911017c592
        bytes: 5
        matches: true
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

_ALGORITHMS = (
    "sha256",
    "sha512",
    "sha384",
    "sha224",
    "sha1",
    "md5",
    "blake2b",
    "blake2s",
    "sha3_256",
)
_CHUNK = 1 << 20


def run(path: str, algorithm: str = "sha256", expected: str = "") -> dict[str, Any]:
    name = algorithm.lower().replace("sha-", "sha").replace("-", "_")
    if name not in _ALGORITHMS:
        known = ", ".join(_ALGORITHMS)
        raise ValueError(f"algorithm {algorithm!r} is not offered: use one of {known}")
    digest = hashlib.new(name, usedforsecurity=False)
    wanted = expected.strip().lower()
    if wanted and len(wanted) != digest.digest_size * 2:
        raise ValueError(
            f"expected {expected!r} has {len(wanted)} characters, a {name} checksum has "
            f"{digest.digest_size * 2}: check the algorithm"
        )
    size = 0
    with Path(path).open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return {
        "path": path,
        "algorithm": name,
        "digest": digest.hexdigest(),
        "bytes": size,
        "matches": digest.hexdigest() == wanted if wanted else None,
    }
