"""Limits of a call: self-protection, grounding, control levels, approvals and grants.

`call_verdict.py` decides, in the order of its rules. Shell commands themselves are judged in
`commands/classify.py` and `gates/command_policy.py`.
"""
