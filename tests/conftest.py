"""What every test shares."""

from hypothesis import settings

# No example database: a suite run by a user who does not own the checkout must not write to it.
# No deadline: the machines that run this are noisy.
settings.register_profile("pulsus", database=None, deadline=None)
settings.load_profile("pulsus")
