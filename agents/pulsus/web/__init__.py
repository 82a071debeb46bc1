"""`pulsus serve`: the pages and the HTTP API where people see and approve what waits."""
