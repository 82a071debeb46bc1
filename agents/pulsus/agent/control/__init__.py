"""Limits of a call: self-protection, grounding, control levels, approvals and grants."""
