"""Tools of one catalogue, ranked for a request, for one of its clauses or for a step."""
