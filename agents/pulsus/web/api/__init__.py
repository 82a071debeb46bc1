"""The HTTP API under `/api/v1`, exactly as in the contracts."""
