"""What a call may do: self-protection, grounding, control levels, approvals and grants."""
