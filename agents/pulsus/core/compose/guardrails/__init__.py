"""Rules that generated modules must keep (spec §7). Pure."""
