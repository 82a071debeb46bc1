"""Files, processes and small caches of the host."""
