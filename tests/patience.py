"""How long tests wait, so that no verdict depends on how fast the machine is.

What hangs in a test hangs for `HANG_SECONDS`. What should end it has `PATIENCE_SECONDS`: far more
than a busy machine needs, and far less than the hang.
"""

HANG_SECONDS = 300
PATIENCE_SECONDS = 90
