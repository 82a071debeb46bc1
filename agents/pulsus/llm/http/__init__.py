"""Ask a language model's server over HTTP: exchange, retries, dialects.

`retries.py` decides which HTTP statuses are retried, and `failures.py` which error one becomes.
"""
