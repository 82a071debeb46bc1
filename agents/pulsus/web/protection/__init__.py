"""Checks of every request before its route: host, origin, size, rate and headers."""
