"""Some rows of each test that has many, for runs that repeat the suite (`pytest --rows some`).

`make test` and `make test-all` run every row once. As another user or on another Python, a row of
a pure function seldom tells more than its neighbours do, and each costs as much again. There every
test function still runs. One of the sandbox keeps all its rows: it does depend on both.
"""

import pytest

MANY = 8
"""A function with no more rows keeps them all."""

STEP = 4
"""Of more rows, every fourth is kept, the first one included."""


def chosen(items):
    """Return (the tests to run, the tests to leave out), both in their order."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(_function_of(item), []).append(item)
    left_out = {
        row
        for rows in functions.values()
        if len(rows) > MANY and rows[0].get_closest_marker("sandbox") is None
        for number, row in enumerate(rows)
        if number % STEP
    }
    return [i for i in items if i not in left_out], [i for i in items if i in left_out]


def _function_of(item):
    return item.nodeid.partition("[")[0]
