"""Tools of the catalogue as tools of the agent: their schemas, their runs, the search."""
