"""Find the values of a request that one input may take, by the input's type and role. Pure."""
