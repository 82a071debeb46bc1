"""The time of a redaction of repeated units: it grows with the text, and not with its square."""

import time

import pytest

from pulsus.core.telemetry.redaction import redact


def check_time_is_linear(unit):
    """Fail if 16 times as much text takes more than three times 16 times as long."""
    small = large = 0.0
    for _ in range(3):  # a busy machine is slow now and then; a square always is
        small, large = _seconds(unit, 2_000), _seconds(unit, 32_000)
        if large < 0.01 + small * 16 * 3:
            return
    pytest.fail(f"{small:.3f} s for 2 kB, {large:.3f} s for 32 kB")


def _seconds(unit, size):
    text = unit * (size // len(unit))
    started = time.process_time()
    redact(text)
    return time.process_time() - started
