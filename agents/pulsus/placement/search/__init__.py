"""Search for a placement: greedy, by CP-SAT on the whole cluster, and on growing neighbourhoods."""
