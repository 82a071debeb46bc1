"""One agent run: turns of checking, running and absorbing what a model proposes.

`agent_loop.py` has the order of a turn, `check_calls.py` the verdicts before a call runs.
"""
