"""A shell script as a tool: parameters, variables, its usage text, and its syntax check."""
