"""Requests of a promotion or a plan: described for an approver, and carried out once approved."""
