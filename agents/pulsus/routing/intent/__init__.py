"""Words of a request become a domain and an action (spec §3)."""
