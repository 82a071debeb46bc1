"""What a generated module may not do (spec §7). Pure."""
