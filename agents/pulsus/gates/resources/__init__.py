"""Resources that a session has discovered, and what may be done with them (assistant §4, §5).

Expiry is in `resolved_context.py`, unknown and ambiguous names are refused in
`strict_resolution.py`.
"""
