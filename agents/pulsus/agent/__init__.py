"""The loop that lets a language model propose tool calls, which code decides (assistant spec).

A call is judged in `agent/loop/check_calls.py` and `agent/control/call_verdict.py`; limits of a run
are in `agent/loop/turn_budget.py`, tokens in `llm/budgeted_model.py`.
"""
