"""Engine parts; no command line, no language model."""
