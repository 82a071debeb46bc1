"""The rules of axe-core for people who use a screen reader, played on a page."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile

import pytest

from tests.patience import PATIENCE_SECONDS

AXE = "axe-core@4.14.1"
AXE_SHA512 = (
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
)
"""Not shipped: fetched when these tests run (MPL-2.0)."""

SERIOUS = ("serious", "critical")


def axe_script(folder):
    """Return the script of axe-core. `folder` is for the package that is fetched."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    subprocess.run(
        ["npm", "pack", AXE, "--silent"],
        cwd=folder, check=True, capture_output=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    (package,) = folder.glob("*.tgz")
    digest = hashlib.sha512(package.read_bytes()).digest()
    assert base64.b64encode(digest).decode() == AXE_SHA512
    with tarfile.open(package) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode("utf-8")


def faults_of(page, axe, impacts=SERIOUS):
    """Return the faults of a page: the rule, and the first element."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in impacts
    ]
