"""Select, plan and render (spec §5, §6)."""
