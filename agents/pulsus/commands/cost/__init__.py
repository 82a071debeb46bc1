"""How long a call runs by its own words: one kind for counts, times, retries and sizes."""
