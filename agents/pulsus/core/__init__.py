"""Engine parts; no CLI, no network."""
