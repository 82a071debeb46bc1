"""The plan DSL: build, check, pin and render plans (spec §6)."""
