"""Run the steps of a plan: in order, recorded in a journal, and resumed after a fault.

`plan_run.py` has the loop, `schedule.py` the order, `retry.py` the retries, `resume_decision.py`
the rules of a resume.
"""
