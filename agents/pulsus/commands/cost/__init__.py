"""Estimate how long a call runs, from the counts, times, retries and sizes in its words."""
