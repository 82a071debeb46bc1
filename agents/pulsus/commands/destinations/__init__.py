"""Find the places that a call connects to, by the `connects` key of its table.

`connections.py` collects them. If a host is known, and so allowed, is decided in `gates/egress.py`.
"""
