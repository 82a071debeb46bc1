"""Carry out an approved migration plan, action by action, and verify each on its node (§32.4).

The approval is in `web/migration_cards.py`; the plan is made in `placement/`. Other migrations, of
the tables in `state.db`, are in `core/storage/state_db/state_tables.py`.
"""
