"""The calls of one turn of the agent: their verdicts, results and records.

`turn_calls.py` runs them, `turn_record.py` writes the trace and the counters.
"""
