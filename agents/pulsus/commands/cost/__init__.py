"""Estimate how long a call runs, from the counts, times, retries and sizes in its words.

`cost_estimate.py` computes the seconds, `cost_limits.py` refuses what is too long.
"""
