"""Choose tools for a request, plan several of them, and write new ones (spec §5 to §7)."""
