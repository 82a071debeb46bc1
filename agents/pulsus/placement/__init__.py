"""Plan which virtual machine runs on which host, in an order that never overloads a host.

The rules of a placement are in `placement_rules.py`; an approved plan is carried out by
`infra/migrations/`. The command is `cli/place/place_command.py`.
"""
