"""Tests that CI has to run: a skip for a missing component fails there (PULSUS_FORBID_SKIPS=1).

On other machines such a test is skipped with its reason. Without this switch a broken start of the
sandbox would look like a machine that has no sandbox, and 240 tests would be skipped in silence.
"""

import os
import re

REQUIRED = re.compile(
    r"no sandbox|no confinement|cannot be watched|is not installed|no git|no bash|pseudo-terminals"
    r"|no ssh-keygen|no shipped catalogue|needs /proc|no limits on forked|needs the extra"
    r"|could not import|no throw-away root here"
)
"""Reasons to skip that name a component which every machine of CI has."""

VARIABLE = "PULSUS_FORBID_SKIPS"


def refuse_skip(report) -> None:
    """Turn the skip into a failure if VARIABLE is set and the reason names a required component."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if os.environ.get(VARIABLE) and REQUIRED.search(reason):
        report.outcome = "failed"
        report.longrepr = f"{reason}: this test must run where {VARIABLE} is set: mend the machine"
