"""What every request passes before a route sees it: host, origin, size, rate and headers."""
