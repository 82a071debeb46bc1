"""The marker `further_row`: most rows of a test that has many, which `make test` leaves out.

`make test-all` and CI run every row once. In the fast suite, as another user and on another Python,
a row of a pure function seldom tells more than its neighbours do, and each costs as much again.
There every test function still runs. One of the sandbox keeps all its rows: it depends on the user,
on the kernel and on Python.
"""

import pytest

MANY = 8
"""A function with no more rows keeps them all."""

STEP = 4
"""Of more rows, every fourth is no further row, the first one included."""


def mark(items):
    """Give every further row its marker."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for rows in functions.values():
        if len(rows) > MANY and rows[0].get_closest_marker("sandbox") is None:
            for number, row in enumerate(rows):
                if number % STEP:
                    row.add_marker("further_row")
