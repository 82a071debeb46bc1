"""Decide what may happen, for agent and plans alike: pure functions over values.

Shell commands: the verdict (is it a read?) is `commands/classify.py`, the policy (allow, approve,
block) `command_policy.py`. Calls of the agent are judged in `agent/control/call_verdict.py`;
approvals of plans and promotions are in `approvals/`.
"""
