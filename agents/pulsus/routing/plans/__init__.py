"""Plans as files: made from a request, checked against the catalogue, applied and undone."""
