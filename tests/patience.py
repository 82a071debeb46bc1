"""The waiting times of tests, so that no verdict depends on the speed of the machine.

A tool that hangs on purpose hangs for `HANG_SECONDS`. The code that must end it has
`PATIENCE_SECONDS`: far more than a busy machine needs, and far less than the hang.
"""

HANG_SECONDS = 300
PATIENCE_SECONDS = 90
