"""The number of examples that each property test tries.

The fast suite (`-m "not seconds ..."`) tries 30 in 100. Every other run tries all of them:
`make test-all` repeats the property tests in full.
"""

from hypothesis import settings

_FULL, _FAST = "pulsus", "pulsus-fast"
_FEWEST = 20  # with fewer examples, a property test rarely meets its edge cases

# No example database: a user who does not own the checkout can run the suite without writing to it.
# No deadline: the machines that run this are noisy.
settings.register_profile(_FULL, max_examples=100, database=None, deadline=None)
settings.register_profile(_FAST, parent=settings.get_profile(_FULL), max_examples=30)


def choose(marks):
    """Load the profile for the marks that this run selects (`pytest -m`)."""
    settings.load_profile(_FAST if "not seconds" in marks else _FULL)


def examples(count):
    """Return the number of examples to try in this run, if a full run tries `count`."""
    profile = settings.get_profile(settings.get_current_profile_name())
    return min(count, max(_FEWEST, count * profile.max_examples // 100))
