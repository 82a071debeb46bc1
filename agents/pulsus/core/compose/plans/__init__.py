"""Build, check, pin and render plans of several tools (spec §6)."""
