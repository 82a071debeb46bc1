"""Find the effects of a script in its text, without running it."""
